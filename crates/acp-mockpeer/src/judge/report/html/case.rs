//! One scenario on the page: its faults, the conversation, the script.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Page, anchor, escaped, kind, slug};
use crate::judge::report::Report;
use crate::judge::report::text::{self, seconds};
use crate::judge::verdict::{Judged, ScenarioFault, State};
use crate::rules::Rule;
use acp_recording::{RecordedEvent, RecordingEntry};

/// A line longer than this is folded behind its beginning.
const LONG: usize = 600;

/// How much of it is its beginning.
const BEGINNING: usize = 240;

impl Page {
    pub(super) fn case(&mut self, report: &Report, judged: &Judged) {
        let kind = kind(judged);
        // One failure is read at once; many are chosen from.
        let alone = judged.is_a_problem()
            && report
                .judged
                .iter()
                .filter(|one| one.is_a_problem())
                .count()
                == 1;
        self.put(&format!(
            "<details class=\"case\" data-state=\"{}\" id=\"{}\"{}>\n<summary><span \
             class=\"state\">{}</span><span class=\"name\">{}</span><span class=\"time\">{}</span>",
            slug(kind),
            anchor(&judged.name),
            if alone { " open" } else { "" },
            if kind == "expected" {
                "failed, known"
            } else {
                kind
            },
            escaped(&judged.name),
            seconds(judged.elapsed),
        ));
        let title = escaped(&judged.scenario.header.title);
        let broken: BTreeSet<&str> = judged
            .faults
            .iter()
            .flat_map(|fault| &fault.rules)
            .map(|rule| rule.id)
            .collect();
        let broken = broken.into_iter().collect::<Vec<_>>().join(" ");
        let broken = match broken.as_str() {
            "" => String::new(),
            ids => format!("<b>{ids}</b> "),
        };
        if !title.is_empty() || !broken.is_empty() {
            self.put(&format!("<span class=\"title\">{broken}{title}</span>"));
        }
        self.put("</summary>\n<div class=\"inside\">\n");
        if let Some(why) = &judged.why {
            self.put(&format!("<p class=\"summary\">{}</p>\n", escaped(&why)));
        }
        for fault in &judged.faults {
            self.fault(judged, &fault);
        }
        if judged.more_faults > 0 {
            self.put(&format!("<p>and {} more</p>\n", judged.more_faults));
        }
        for note in &judged.notes {
            self.put(&format!("<p class=\"note\">{}</p>\n", escaped(note)));
        }
        self.talk(report, judged);
        if !judged.stderr.trim().is_empty() {
            let stderr = escaped(judged.stderr.trim_end());
            self.put(&format!(
                "<h3>The end of its stderr</h3>\n<pre>{stderr}</pre>\n"
            ));
        }
        if let Some(ended) = &judged.ended
            && judged.state != State::Passed
        {
            self.put(&format!(
                "<p class=\"facts\">How it ended: {}</p>\n",
                escaped(ended)
            ));
        }
        self.script(judged);
        self.put("</div>\n</details>\n");
    }

    fn fault(&mut self, judged: &Judged, fault: &ScenarioFault) {
        let tone = match (fault.doubtful, fault.fails) {
            (true, _) => "doubtful",
            (false, true) => "failed",
            (false, false) => "warned",
        };
        self.put(&format!(
            "<section class=\"fault\" data-state=\"{tone}\">\n"
        ));
        for rule in &fault.rules {
            self.rule(rule);
        }
        self.put(&format!(
            "<p class=\"summary\">{}</p>\n<dl>\n",
            escaped(&fault.summary)
        ));
        let mut row = |word: &str, html: &str| {
            self.put(&format!("<dt>{word}</dt><dd>{html}</dd>\n"));
        };
        let code = |text: &str| format!("<code>{}</code>", escaped(text));
        for (index, expected) in fault.expected.iter().enumerate() {
            row(if index == 0 { "expected" } else { "or" }, &code(expected));
        }
        if let Some(got) = &fault.got {
            row("got", &code(got));
        }
        if let Some(because) = &fault.because {
            row("because", &escaped(because));
        }
        if let Some(line) = fault.line {
            let source = judged.scenario.source_line(line).trim();
            row(&format!("line {line}"), &code(source));
        }
        if let Some(reason) = &fault.expected_because {
            row("known", &escaped(reason));
        }
        if fault.doubtful {
            row("doubtful", "It only looks so; a person has to decide.");
        }
        self.put("</dl>\n</section>\n");
    }

    fn rule(&mut self, rule: &Rule) {
        self.put(&format!(
            "<p class=\"rule\"><span class=\"id\">{}</span><span class=\"level\">{}</span> {} \
             <span class=\"facts\">({})</span></p>\n",
            escaped(rule.id),
            rule.level,
            escaped(rule.text),
            escaped(rule.source),
        ));
    }

    fn talk(&mut self, report: &Report, judged: &Judged) {
        let entries = judged.transcript.entries();
        if entries.is_empty() {
            return;
        }
        let who = report.role.other();
        self.put(&format!(
            "<h3>The conversation, as our {who} saw it</h3>\n<ol class=\"talk\">\n"
        ));
        for (index, entry) in entries.iter().enumerate() {
            let mut faults = judged.faults.iter();
            let here = faults.find(|fault| fault.entry == Some(index));
            self.entry(entry, here);
        }
        self.put("</ol>\n");
    }

    fn entry(&mut self, entry: &RecordingEntry, here: Option<&ScenarioFault>) {
        if text::is_gap(entry) {
            let gap = escaped(&text::entry(entry));
            self.put(&format!(
                "<li class=\"gap\"><span></span><span></span>{gap}</li>\n"
            ));
            return;
        }
        let (side, arrow) = match entry.from {
            acp_recording::PeerSide::Client => ("client", "→"),
            acp_recording::PeerSide::Agent => ("agent", "←"),
        };
        let mark = if here.is_some() { " here" } else { "" };
        self.put(&format!(
            "<li class=\"{side}{mark}\"><span class=\"at\">{:.3}</span><span class=\"arrow\" \
             title=\"the {side}\">{arrow}</span><span class=\"what mono\">",
            entry.at.as_secs_f64(),
        ));
        if let Some(fault) = here {
            let ids: Vec<_> = fault.rules.iter().map(|rule| rule.id).collect();
            let ids = if ids.is_empty() {
                String::new()
            } else {
                format!(": {}", ids.join(" "))
            };
            self.put(&format!(
                "<span class=\"flag\">here{}</span>",
                escaped(&ids)
            ));
        }
        if let RecordedEvent::Line(line) = &entry.what
            && let Some(gist) = gist(line)
        {
            self.put(&format!("<span class=\"gist\">{}</span>", escaped(&gist)));
        }
        let whole = text::entry(entry);
        match whole.char_indices().nth(LONG) {
            None => self.put(&format!("<span class=\"raw\">{}</span>", escaped(&whole))),
            Some(_) => {
                let beginning: String = whole.chars().take(BEGINNING).collect();
                self.put(&format!(
                    "<details><summary class=\"raw\">{}… ({} bytes)</summary>\
                     <span class=\"raw\">{}</span></details>",
                    escaped(&beginning),
                    whole.len(),
                    escaped(&whole)
                ));
            }
        }
        self.put("</span></li>\n");
    }

    fn script(&mut self, judged: &Judged) {
        self.put("<details class=\"fold\"><summary>The scenario</summary>\n<pre>");
        for (index, line) in judged.scenario.source.lines().enumerate() {
            let here = judged
                .faults
                .iter()
                .any(|fault| fault.line == Some(index + 1));
            let line = escaped(line.trim_end());
            match here {
                true => self.put(&format!("<span class=\"here\">{line}</span>")),
                false => self.put(&format!("{line}\n")),
            }
        }
        self.put("</pre></details>\n");
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
