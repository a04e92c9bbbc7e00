//! One scenario on the page: its faults, the conversation, the script.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde_json::Value;

use super::{anchor, kind, shown, slug};
use crate::judge::report::Report;
use crate::judge::report::text::{self, seconds};
use crate::judge::verdict::{Judged, ScenarioFault, ScenarioState};
use acp_recording::{PeerSide, RecordedEvent, RecordingEntry};

/// A line longer than this is folded behind its beginning.
const LONG: usize = 600;

/// How much of it is its beginning.
const BEGINNING: usize = 240;

pub(super) fn case(report: &Report, judged: &Judged) -> Markup {
    let kind = kind(judged);
    // One failure is read at once; many are chosen from.
    let problems = report
        .judged
        .iter()
        .filter(|one| one.is_a_problem())
        .count();
    let alone = judged.is_a_problem() && problems == 1;
    let title = &judged.scenario.header.title;
    let broken = judged.faults.iter().flat_map(|fault| &fault.rules);
    let broken: BTreeSet<&str> = broken.map(|rule| rule.id).collect();
    let broken = broken.into_iter().collect::<Vec<_>>().join(" ");
    let ended = judged
        .ended
        .as_ref()
        .filter(|_| judged.state != ScenarioState::Passed);
    html! {
        details class="case" data-state=(slug(kind)) id=(anchor(&judged.name)) open[alone] {
            summary {
                span class="state" { (if kind == "expected" { "failed, known" } else { kind }) }
                span class="name" { (shown(&judged.name)) }
                span class="time" { (seconds(judged.elapsed)) }
                @if !title.is_empty() || !broken.is_empty() {
                    span class="title" {
                        @if !broken.is_empty() { b { (broken) } " " }
                        (shown(title))
                    }
                }
            }
            div class="inside" {
                @if let Some(why) = &judged.why { p class="summary" { (shown(why)) } }
                @for one in &judged.faults { (fault(judged, one)) }
                @if judged.more_faults > 0 { p { "and " (judged.more_faults) " more" } }
                @for note in &judged.notes { p class="note" { (shown(note)) } }
                (talk(report, judged))
                @if !judged.stderr.trim().is_empty() {
                    h3 { "The end of its stderr" }
                    pre { (shown(judged.stderr.trim_end())) }
                }
                @if let Some(ended) = ended { p class="facts" { "How it ended: " (shown(ended)) } }
                (script(judged))
            }
        }
    }
}

fn fault(judged: &Judged, fault: &ScenarioFault) -> Markup {
    let tone = match (fault.doubtful, fault.fails) {
        (true, _) => "doubtful",
        (false, true) => "failed",
        (false, false) => "warned",
    };
    html! {
        section class="fault" data-state=(tone) {
            @for rule in &fault.rules {
                p class="rule" {
                    span class="id" { (rule.id) }
                    span class="level" { (rule.level) }
                    " " (shown(rule.text)) " "
                    span class="facts" { "(" (shown(rule.source)) ")" }
                }
            }
            p class="summary" { (shown(&fault.summary)) }
            dl {
                @for (word, what) in fault.rows(&judged.scenario) {
                    dt { (word) }
                    @if matches!(&*word, "because" | "known") {
                        dd { (shown(what)) }
                    } @else {
                        dd { code { (shown(what)) } }
                    }
                }
                @if fault.doubtful {
                    dt { "doubtful" }
                    dd { "It only looks so; a person has to decide." }
                }
            }
        }
    }
}

fn talk(report: &Report, judged: &Judged) -> Markup {
    let entries = judged.transcript.entries();
    html! {
        @if !entries.is_empty() {
            h3 { "The conversation, as our " (report.role.other()) " saw it" }
            ol class="talk" {
                @for (index, entry) in entries.iter().enumerate() {
                    (line(entry, judged.faults.iter().find(|fault| fault.entry == Some(index))))
                }
            }
        }
    }
}

fn line(entry: &RecordingEntry, here: Option<&ScenarioFault>) -> Markup {
    let whole = text::entry(entry);
    if text::is_gap(entry) {
        return html! { li class="gap" { span {} span {} (shown(&whole)) } };
    }
    let side = entry.from;
    let arrow = if side == PeerSide::Client {
        "→"
    } else {
        "←"
    };
    let gist = match &entry.what {
        RecordedEvent::Line(line) => gist(line),
        _ => None,
    };
    html! {
        li class={ (side) @if here.is_some() { " here" } } {
            span class="at" { (format!("{:.3}", entry.at.as_secs_f64())) }
            span class="arrow" title={ "the " (side) } { (arrow) }
            span class="what mono" {
                @if let Some(fault) = here {
                    span class="flag" {
                        "here"
                        @for (index, rule) in fault.rules.iter().enumerate() {
                            (if index == 0 { ": " } else { " " }) (rule.id)
                        }
                    }
                }
                @if let Some(gist) = gist { span class="gist" { (shown(&gist)) } }
                @if whole.chars().nth(LONG).is_none() {
                    span class="raw" { (shown(&whole)) }
                } @else {
                    details {
                        summary class="raw" {
                            (shown(acp_text::cut_chars(&whole, BEGINNING))) "… (" (whole.len()) " bytes)"
                        }
                        span class="raw" { (shown(&whole)) }
                    }
                }
            }
        }
    }
}

fn script(judged: &Judged) -> Markup {
    let is_here = |line| judged.faults.iter().any(|fault| fault.line == Some(line));
    html! {
        details class="fold" {
            summary { "The scenario" }
            pre {
                @for (index, line) in judged.scenario.source.lines().enumerate() {
                    @if is_here(index + 1) {
                        span class="here" { (shown(line.trim_end())) }
                    } @else {
                        (shown(line.trim_end())) "\n"
                    }
                }
            }
        }
    }
}

/// Says in a few words what a message is.
fn gist(line: &[u8]) -> Option<String> {
    let message: Value = serde_json::from_slice(line).ok()?;
    let message = message.as_object()?;
    let id = message.get("id").map(ToString::to_string);
    let id = id.map(|id| acp_text::shorten_counted(&id, 40));
    if let Some(method) = message.get("method").and_then(Value::as_str) {
        let method = acp_text::shorten_counted(method, 80);
        let kind = message
            .get("params")
            .and_then(|params| params["update"]["sessionUpdate"].as_str());
        return Some(match (id, kind) {
            (Some(id), _) => format!("{method} #{id}"),
            (None, Some(kind)) => format!("{method} {}", acp_text::shorten_counted(kind, 40)),
            (None, None) => method,
        });
    }
    let id = id?;
    if let Some(error) = message.get("error") {
        return Some(format!(
            "error {} of #{id}",
            acp_text::shorten_counted(&error["code"].to_string(), 20)
        ));
    }
    message
        .contains_key("result")
        .then(|| format!("result of #{id}"))
}
