//! The report as one page for a browser: no script, nothing fetched, works on paper.

use std::fmt::Write as _;

use serde_json::Value;

use super::super::verdict::{Fault, Judged, State};
use super::text::{self, count, plain, seconds};
use super::{Report, RuleState};
use crate::Rule;
use crate::recording::{Entry, What};

const STYLE: &str = include_str!("page.css");

/// A line longer than this is folded behind its beginning.
const LONG: usize = 600;

/// How much of it is its beginning.
const BEGINNING: usize = 240;

/// How many scenarios are named in the row of a rule.
const MOST_NAMED: usize = 3;

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
        false => judged.state().name(),
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

/// Escapes a text of a stranger, and shows what would not be seen.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            escaped.push('\n');
        }
        for c in plain(line).chars() {
            match c {
                '&' => escaped.push_str("&amp;"),
                '<' => escaped.push_str("&lt;"),
                '>' => escaped.push_str("&gt;"),
                '"' => escaped.push_str("&quot;"),
                '\'' => escaped.push_str("&#39;"),
                c => escaped.push(c),
            }
        }
    }
    escaped
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
        for stale in report.stale() {
            self.put(&format!("<p class=\"note\">{}</p>\n", escaped(stale)));
        }
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

    fn case(&mut self, report: &Report, judged: &Judged) {
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
            anchor(judged.name()),
            if alone { " open" } else { "" },
            if kind == "expected" {
                "failed, known"
            } else {
                kind
            },
            escaped(judged.name()),
            seconds(judged.elapsed()),
        ));
        let title = judged.scenario().header().title();
        if !title.is_empty() {
            self.put(&format!("<span class=\"title\">{}</span>", escaped(title)));
        }
        self.put("</summary>\n<div class=\"inside\">\n");
        if let Some(why) = judged.why() {
            self.put(&format!("<p class=\"summary\">{}</p>\n", escaped(why)));
        }
        for fault in judged.faults() {
            self.fault(judged, fault);
        }
        if judged.more_faults > 0 {
            self.put(&format!("<p>and {} more</p>\n", judged.more_faults));
        }
        for note in &judged.notes {
            self.put(&format!("<p class=\"note\">{}</p>\n", escaped(note)));
        }
        self.talk(report, judged);
        if !judged.stderr().trim().is_empty() {
            let stderr = escaped(judged.stderr().trim_end());
            self.put(&format!(
                "<h3>The end of its stderr</h3>\n<pre>{stderr}</pre>\n"
            ));
        }
        if let Some(ended) = &judged.ended
            && judged.state() != State::Passed
        {
            self.put(&format!(
                "<p class=\"facts\">How it ended: {}</p>\n",
                escaped(ended)
            ));
        }
        self.script(judged);
        self.put("</div>\n</details>\n");
    }

    fn fault(&mut self, judged: &Judged, fault: &Fault) {
        let tone = match (fault.doubtful(), fault.fails()) {
            (true, _) => "doubtful",
            (false, true) => "failed",
            (false, false) => "warned",
        };
        self.put(&format!(
            "<section class=\"fault\" data-state=\"{tone}\">\n"
        ));
        for rule in fault.rules() {
            self.rule(rule);
        }
        self.put(&format!(
            "<p class=\"summary\">{}</p>\n<dl>\n",
            escaped(fault.summary())
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
            let source = judged.scenario().source_line(line).trim();
            row(&format!("line {line}"), &code(source));
        }
        if let Some(reason) = &fault.expected_because {
            row("known", &escaped(reason));
        }
        if fault.doubtful() {
            row("doubtful", "It only looks so; a person has to decide.");
        }
        self.put("</dl>\n</section>\n");
    }

    fn rule(&mut self, rule: &Rule) {
        self.put(&format!(
            "<p class=\"rule\"><span class=\"id\">{}</span><span class=\"level\">{}</span> {} \
             <span class=\"facts\">({})</span></p>\n",
            escaped(rule.id()),
            rule.level(),
            escaped(rule.text()),
            escaped(rule.source()),
        ));
    }

    fn talk(&mut self, report: &Report, judged: &Judged) {
        let entries = judged.transcript().entries();
        if entries.is_empty() {
            return;
        }
        let who = report.role.other();
        self.put(&format!(
            "<h3>The conversation, as our {who} saw it</h3>\n<ol class=\"talk\">\n"
        ));
        for (index, entry) in entries.iter().enumerate() {
            let mut faults = judged.faults().iter();
            let here = faults.find(|fault| fault.entry == Some(index));
            self.entry(entry, here);
        }
        self.put("</ol>\n");
    }

    fn entry(&mut self, entry: &Entry, here: Option<&Fault>) {
        if text::is_gap(entry) {
            let gap = escaped(&text::entry(entry));
            self.put(&format!(
                "<li class=\"gap\"><span></span><span></span>{gap}</li>\n"
            ));
            return;
        }
        let (side, arrow) = match entry.from {
            crate::Side::Client => ("client", "→"),
            crate::Side::Agent => ("agent", "←"),
        };
        let mark = if here.is_some() { " here" } else { "" };
        self.put(&format!(
            "<li class=\"{side}{mark}\"><span class=\"at\">{:.3}</span><span class=\"arrow\" \
             title=\"the {side}\">{arrow}</span><span class=\"what mono\">",
            entry.at.as_secs_f64(),
        ));
        if let Some(fault) = here {
            let ids: Vec<_> = fault.rules().iter().map(|rule| rule.id()).collect();
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
        if let What::Line(line) = &entry.what
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
        for (index, line) in judged.scenario().source().lines().enumerate() {
            let here = judged
                .faults()
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

    fn rules(&mut self, report: &Report) {
        let mut rules = report.rules();
        if rules.is_empty() {
            self.put("</main>\n");
            return;
        }
        rules.sort_by_key(|one| (one.state(), one.rule().id()));
        let number = |state| rules.iter().filter(|one| one.state() == state).count();
        let words: Vec<_> = RuleState::ALL
            .into_iter()
            .filter(|state| number(*state) > 0)
            .map(|state| format!("{} {state}", number(state)))
            .collect();
        self.put(&format!(
            "<h2>Rules</h2>\n<p class=\"facts\">{}: {}.</p>\n<table class=\"rules\">\n<thead><tr>\
             <th scope=\"col\">Rule</th><th scope=\"col\">How</th><th scope=\"col\">Level</th>\
             <th scope=\"col\">What it says</th><th scope=\"col\">Scenarios</th></tr></thead>\n<tbody>\n",
            count(rules.len(), "rule"),
            words.join(", "),
        ));
        for one in &rules {
            let rule = one.rule();
            self.put(&format!(
                "<tr data-state=\"{}\"><td class=\"id\">{}</td><td class=\"how\"><span \
                 class=\"state\">{}</span></td><td><span class=\"level\">{}</span></td>\
                 <td class=\"text\">{}</td><td class=\"where\">",
                slug(one.state().name()),
                escaped(rule.id()),
                one.state(),
                rule.level(),
                escaped(rule.text()),
            ));
            // Those that say why come first.
            let mut scenarios = one.scenarios().to_vec();
            scenarios.sort_by_key(|judged| (!judged.breaks(rule.id()), judged.state()));
            for (index, judged) in scenarios.iter().take(MOST_NAMED).enumerate() {
                self.put(&format!(
                    "{}<a href=\"#{}\">{}</a>",
                    if index > 0 { ", " } else { "" },
                    anchor(judged.name()),
                    escaped(judged.name())
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

/// Says in a few words what a message is.
fn gist(line: &[u8]) -> Option<String> {
    let message: Value = serde_json::from_slice(line).ok()?;
    let message = message.as_object()?;
    let id = message.get("id").map(ToString::to_string);
    let id = id.map(|id| text::cut(&id, 40));
    if let Some(method) = message.get("method").and_then(Value::as_str) {
        let method = text::cut(method, 80);
        let kind = message
            .get("params")
            .and_then(|params| params["update"]["sessionUpdate"].as_str());
        return Some(match (id, kind) {
            (Some(id), _) => format!("{method} #{id}"),
            (None, Some(kind)) => format!("{method} {}", text::cut(kind, 40)),
            (None, None) => method,
        });
    }
    let id = id?;
    if let Some(error) = message.get("error") {
        return Some(format!(
            "error {} of #{id}",
            text::cut(&error["code"].to_string(), 20)
        ));
    }
    message
        .contains_key("result")
        .then(|| format!("result of #{id}"))
}
