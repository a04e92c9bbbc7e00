//! The report as one page for a browser: no script, nothing fetched, works on paper.

mod case;

use std::cmp::Reverse;
use std::fmt::Write as _;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::text::{self, count, escaped, seconds};
use super::{Report, RuleReport, RuleState};
use crate::judge::verdict::Judged;

const STYLE: &str = include_str!("../page.css");

/// How many scenarios are named in the row of a rule.
const MOST_NAMED: usize = 3;

/// How many of the rules that were broken are named at the top; the table has them all.
const MOST_BROKEN: usize = 10;

pub(super) fn write(report: &Report) -> String {
    let name = report.name();
    let title = format!("{name} as {}: conformance", report.role);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (shown(&title)) }
                style { (PreEscaped(STYLE)) (PreEscaped(filters())) }
            }
            body {
                div class="sheet" {
                    (head(report, &name))
                    main {
                        h2 { "Scenarios" }
                        div class="cases" {
                            @for kind in KINDS {
                                @for judged in of_kind(report, kind) { (case::case(report, judged)) }
                            }
                        }
                        (rules(report))
                    }
                    footer {
                        "Written by " (env!("CARGO_PKG_NAME")) " " (env!("CARGO_PKG_VERSION"))
                        " on " (text::utc(report.began)) ". What the rules say is taken from the \
                        documents of the protocol and from its schema, in our words."
                    }
                }
            }
        }
    };
    page.into_string()
}

/// Makes a text of a stranger fit for the page.
fn shown(text: &str) -> Markup {
    PreEscaped(escaped(text))
}

/// What a scenario is shown as: its state, or that it failed as expected.
fn kind(judged: &Judged) -> &'static str {
    match judged.is_expected_failure() {
        true => "expected",
        false => judged.state.name(),
    }
}

fn of_kind<'a>(report: &'a Report, kind: &str) -> impl Iterator<Item = &'a Judged> {
    let all = report.judged.iter();
    all.filter(move |judged| self::kind(judged) == kind)
}

/// Every kind, in the order in which people look for them.
const KINDS: [&str; 8] = [
    "failed",
    "broken",
    "not run",
    "warned",
    "expected",
    "passed",
    "not exercised",
    "skipped",
];

/// What hides the scenarios of other kinds, without a script.
fn filters() -> String {
    let mut css = String::new();
    for kind in KINDS {
        let id = slug(kind);
        let _ = writeln!(
            css,
            "body:has(#show-{id}:checked) .case:not([data-state=\"{id}\"]) {{ display: none; }}"
        );
    }
    css
}

fn slug(name: &str) -> String {
    name.replace(' ', "-")
}

fn head(report: &Report, name: &str) -> Markup {
    let began = text::utc(report.began).replace('T', " ");
    let numbers = KINDS.map(|kind| (kind, of_kind(report, kind).count()));
    let numbers = numbers.into_iter().filter(|(_, number)| *number > 0);
    let numbers: Vec<_> = numbers.collect();
    let words = numbers
        .iter()
        .map(|(kind, number)| format!("{number} {kind}"));
    let words: Vec<_> = words.collect();
    html! {
        header {
            h1 { (shown(name)) " as " (report.role) }
            p class="facts" { code { (shown(&report.command)) } }
            p class="facts" {
                (count(report.judged.len(), "scenario")) " in " (seconds(report.elapsed)) ", "
                (began.replace('Z', " UTC"))
            }
            p class={ "verdict " (if report.passed() { "good" } else { "bad" }) } {
                (shown(&report.verdict()))
            }
            @for stale in &report.stale { p class="note" { (shown(stale)) } }
            (broken(report))
            div class="bar" role="img" aria-label=(words.join(", ")) {
                @for ((kind, number), words) in numbers.iter().zip(&words) {
                    span data-state=(slug(kind)) style={ "flex:" (number) } title=(words) {}
                }
            }
            fieldset class="filter" {
                legend { "Show scenarios" }
                (filter("all", report.judged.len(), true))
                @for (kind, number) in numbers { (filter(kind, number, false)) }
            }
        }
    }
}

/// Names the rules that were broken, most often first: one fault may fail everything.
fn broken(report: &Report) -> Markup {
    let mut broken = report.rules();
    for one in &mut broken {
        one.scenarios.retain(|judged| judged.breaks(one.rule.id));
    }
    broken.retain(|one| one.state == RuleState::Failed && !one.scenarios.is_empty());
    broken.sort_by_key(|one| (Reverse(one.scenarios.len()), one.rule.id));
    html! {
        @if !broken.is_empty() {
            ul class="broken" {
                @for RuleReport { rule, scenarios, .. } in broken.iter().take(MOST_BROKEN) {
                    li {
                        a href={ "#" (anchor(&scenarios[0].name)) } { (rule.id) }
                        " " span class="level" { (rule.level) }
                        " " (shown(rule.text))
                        " " span class="facts" { "in " (count(scenarios.len(), "scenario")) }
                    }
                }
                @if broken.len() > MOST_BROKEN {
                    li { "and " (count(broken.len() - MOST_BROKEN, "rule")) " more, below" }
                }
            }
        }
    }
}

fn filter(name: &str, number: usize, checked: bool) -> Markup {
    let id = slug(name);
    html! {
        input type="radio" name="show" id={ "show-" (id) } checked[checked];
        label for={ "show-" (id) } data-state=(id) { (name) " " b { (number) } }
    }
}

fn rules(report: &Report) -> Markup {
    let mut rules = report.rules();
    rules.sort_by_key(|one| (one.state, one.rule.id));
    let number = |state| rules.iter().filter(|one| one.state == state).count();
    let numbers = RuleState::ALL.iter().map(|state| (state, number(*state)));
    let words = numbers.filter(|(_, number)| *number > 0);
    let words: Vec<_> = words
        .map(|(state, number)| format!("{number} {state}"))
        .collect();
    html! {
        @if !rules.is_empty() {
            h2 { "Rules" }
            p class="facts" { (count(rules.len(), "rule")) ": " (words.join(", ")) "." }
            table class="rules" {
                thead {
                    tr {
                        @for head in ["Rule", "How", "Level", "What it says", "Scenarios"] {
                            th scope="col" { (head) }
                        }
                    }
                }
                tbody { @for one in rules { (row(one)) } }
            }
        }
    }
}

fn row(one: RuleReport<'_>) -> Markup {
    let RuleReport {
        rule,
        state,
        mut scenarios,
    } = one;
    // Those that say why come first.
    scenarios.sort_by_key(|judged| (!judged.breaks(rule.id), judged.state));
    html! {
        tr data-state=(slug(state.name())) {
            td class="id" { (rule.id) }
            td class="how" { span class="state" { (state) } }
            td { span class="level" { (rule.level) } }
            td class="text" { (shown(rule.text)) }
            td class="where" {
                @for (index, judged) in scenarios.iter().take(MOST_NAMED).enumerate() {
                    @if index > 0 { ", " }
                    a href={ "#" (anchor(&judged.name)) } { (shown(&judged.name)) }
                }
                @if scenarios.len() > MOST_NAMED {
                    " and " (scenarios.len() - MOST_NAMED) " more"
                }
            }
        }
    }
}

/// Makes a name that can stand in an address.
fn anchor(name: &str) -> String {
    let plain = |c: char| match c {
        '/' => '.',
        c if c.is_ascii_alphanumeric() || c == '_' => c,
        _ => '-',
    };
    format!("scenario-{}", name.chars().map(plain).collect::<String>())
}
