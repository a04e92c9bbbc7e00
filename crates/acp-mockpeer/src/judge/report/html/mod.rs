//! The report as one page for a browser: no script, nothing fetched, works on paper.

mod case;

use std::cmp::Reverse;
use std::fmt::Write as _;

use super::text::{self, count, escaped, seconds};
use super::{Report, RuleState};
use crate::judge::verdict::Judged;
use crate::rules::Rule;

const STYLE: &str = include_str!("../page.css");

/// How many scenarios are named in the row of a rule.
const MOST_NAMED: usize = 3;

/// How many of the rules that were broken are named at the top; the table has them all.
const MOST_BROKEN: usize = 10;

pub(super) fn write(report: &Report) -> String {
    let name = report.name();
    let mut page = Page(String::new());
    page.put("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.put(
        "<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\">\n",
    );
    page.put("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    let title = format!("{name} as {}: conformance", report.role);
    page.put(&format!("<title>{}</title>\n", escaped(&title)));
    page.put(&format!(
        "<style>\n{STYLE}{}</style>\n</head>\n<body>\n",
        filters()
    ));
    page.put("<div class=\"sheet\">\n");
    page.head(report, &name);
    page.cases(report);
    page.rules(report);
    page.put(&format!(
        "<footer>Written by {} {} on {}. What the rules say is taken from the documents of the \
         protocol and from its schema, in our words.</footer>\n</div>\n</body>\n</html>\n",
        env!("CARGO_PKG_NAME"),
        env!("CARGO_PKG_VERSION"),
        text::utc(report.began),
    ));
    page.0
}

/// What a scenario is shown as: its state, or that it failed as expected.
fn kind(judged: &Judged) -> &'static str {
    match judged.is_expected_failure() {
        true => "expected",
        false => judged.state.name(),
    }
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

struct Page(String);

impl Page {
    /// Puts what is HTML already.
    fn put(&mut self, html: &str) {
        self.0.push_str(html);
    }

    fn head(&mut self, report: &Report, name: &str) {
        let (name, role) = (escaped(name), report.role);
        self.put(&format!("<header>\n<h1>{name} as {role}</h1>\n"));
        self.put(&format!(
            "<p class=\"facts\"><code>{}</code></p>\n<p class=\"facts\">{} in {}, {}</p>\n",
            escaped(&report.command),
            count(report.judged.len(), "scenario"),
            seconds(report.elapsed),
            text::utc(report.began)
                .replace('T', " ")
                .replace('Z', " UTC"),
        ));
        let tone = if report.passed() { "good" } else { "bad" };
        let verdict = escaped(&report.verdict());
        self.put(&format!("<p class=\"verdict {tone}\">{verdict}</p>\n"));
        for stale in &report.stale {
            self.put(&format!("<p class=\"note\">{}</p>\n", escaped(&stale)));
        }
        self.broken(report);
        let number = |kind: &str| {
            report
                .judged
                .iter()
                .filter(|one| self::kind(one) == kind)
                .count()
        };
        let numbers = KINDS.map(|kind| (kind, number(kind)));
        let there: Vec<_> = numbers
            .into_iter()
            .filter(|(_, number)| *number > 0)
            .collect();
        let words: Vec<_> = there
            .iter()
            .map(|(kind, number)| format!("{number} {kind}"))
            .collect();
        self.put(&format!(
            "<div class=\"bar\" role=\"img\" aria-label=\"{}\">",
            escaped(&words.join(", "))
        ));
        for (kind, number) in &there {
            self.put(&format!(
                "<span data-state=\"{}\" style=\"flex:{number}\" title=\"{number} {kind}\"></span>",
                slug(kind)
            ));
        }
        self.put("</div>\n<fieldset class=\"filter\"><legend>Show scenarios</legend>\n");
        self.filter("all", "all", report.judged.len(), true);
        for (kind, number) in there {
            self.filter(&slug(kind), kind, number, false);
        }
        self.put("</fieldset>\n</header>\n");
    }

    /// Names the rules that were broken, most often first: one fault may fail everything.
    fn broken(&mut self, report: &Report) {
        let mut broken: Vec<(&Rule, Vec<&Judged>)> = Vec::new();
        for one in report.rules() {
            let rule = one.rule;
            let all = report.judged.iter();
            let scenarios: Vec<_> = all.filter(|judged| judged.breaks(rule.id)).collect();
            if one.state == RuleState::Failed && !scenarios.is_empty() {
                broken.push((rule, scenarios));
            }
        }
        if broken.is_empty() {
            return;
        }
        broken.sort_by_key(|(rule, scenarios)| (Reverse(scenarios.len()), rule.id));
        self.put("<ul class=\"broken\">\n");
        for (rule, scenarios) in broken.iter().take(MOST_BROKEN) {
            self.put(&format!(
                "<li><a href=\"#{}\">{}</a> <span class=\"level\">{}</span> {} <span \
                 class=\"facts\">in {}</span></li>\n",
                anchor(&scenarios[0].name),
                escaped(rule.id),
                rule.level,
                escaped(rule.text),
                count(scenarios.len(), "scenario"),
            ));
        }
        if broken.len() > MOST_BROKEN {
            let more = broken.len() - MOST_BROKEN;
            self.put(&format!(
                "<li>and {} more, below</li>\n",
                count(more, "rule")
            ));
        }
        self.put("</ul>\n");
    }

    fn filter(&mut self, id: &str, name: &str, number: usize, checked: bool) {
        let checked = if checked { " checked" } else { "" };
        self.put(&format!(
            "<input type=\"radio\" name=\"show\" id=\"show-{id}\"{checked}>\
             <label for=\"show-{id}\" data-state=\"{id}\">{name} <b>{number}</b></label>\n"
        ));
    }

    fn cases(&mut self, report: &Report) {
        self.put("<main>\n<h2>Scenarios</h2>\n<div class=\"cases\">\n");
        for kind in KINDS {
            for judged in report.judged.iter().filter(|one| self::kind(one) == kind) {
                self.case(report, judged);
            }
        }
        self.put("</div>\n");
    }

    fn rules(&mut self, report: &Report) {
        let mut rules = report.rules();
        if rules.is_empty() {
            self.put("</main>\n");
            return;
        }
        rules.sort_by_key(|one| (one.state, one.rule.id));
        let number = |state| rules.iter().filter(|one| one.state == state).count();
        let words: Vec<_> = RuleState::ALL
            .iter()
            .filter(|state| number(**state) > 0)
            .map(|state| format!("{} {state}", number(*state)))
            .collect();
        self.put(&format!(
            "<h2>Rules</h2>\n<p class=\"facts\">{}: {}.</p>\n<table class=\"rules\">\n<thead><tr>\
             <th scope=\"col\">Rule</th><th scope=\"col\">How</th><th scope=\"col\">Level</th>\
             <th scope=\"col\">What it says</th><th scope=\"col\">Scenarios</th></tr></thead>\n<tbody>\n",
            count(rules.len(), "rule"),
            words.join(", "),
        ));
        for one in &rules {
            let rule = one.rule;
            self.put(&format!(
                "<tr data-state=\"{}\"><td class=\"id\">{}</td><td class=\"how\"><span \
                 class=\"state\">{}</span></td><td><span class=\"level\">{}</span></td>\
                 <td class=\"text\">{}</td><td class=\"where\">",
                slug(one.state.name()),
                escaped(rule.id),
                one.state,
                rule.level,
                escaped(rule.text),
            ));
            // Those that say why come first.
            let mut scenarios = one.scenarios.to_vec();
            scenarios.sort_by_key(|judged| (!judged.breaks(rule.id), judged.state));
            for (index, judged) in scenarios.iter().take(MOST_NAMED).enumerate() {
                self.put(&format!(
                    "{}<a href=\"#{}\">{}</a>",
                    if index > 0 { ", " } else { "" },
                    anchor(&judged.name),
                    escaped(&judged.name)
                ));
            }
            if scenarios.len() > MOST_NAMED {
                self.put(&format!(" and {} more", scenarios.len() - MOST_NAMED));
            }
            self.put("</td></tr>\n");
        }
        self.put("</tbody>\n</table>\n</main>\n");
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
