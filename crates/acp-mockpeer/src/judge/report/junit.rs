//! The report for systems that run tests: one test case a scenario.

use std::fmt::Write as _;

use super::super::verdict::{Judged, ScenarioState};
use super::text::{self, escaped};
use super::{Report, human};
use crate::judge::report::ReportLook;

pub(super) fn write(report: &Report) -> String {
    let failures = report.judged.iter().filter(|one| is_failure(one)).count();
    let errors = report.judged.iter().filter(|one| is_error(one)).count();
    let skipped = report.judged.iter().filter(|one| is_skipped(one)).count();
    let stale = usize::from(!report.stale.is_empty());
    let (tests, failures) = (report.judged.len() + stale, failures + stale);
    let suite = format!("acp-check.{}", report.role);
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let totals = format!(
        "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" \
         time=\"{:.3}\"",
        report.elapsed.as_secs_f64()
    );
    let _ = writeln!(xml, "<testsuites name=\"acp-check\" {totals}>");
    let _ = writeln!(
        xml,
        "  <testsuite name=\"{suite}\" {totals} timestamp=\"{}\">",
        text::utc(report.began).trim_end_matches('Z')
    );
    let mut properties = vec![("command".to_owned(), report.command.clone())];
    properties.push(("program".to_owned(), report.name()));
    for rule in report.rules() {
        let name = format!("rule.{}", rule.rule.id);
        properties.push((name, rule.state.name().to_owned()));
    }
    write_properties(&mut xml, "    ", &properties);
    for judged in &report.judged {
        case(report, judged, &suite, &mut xml);
    }
    if !report.stale.is_empty() {
        let message = attribute("the list of expected failures is not up to date");
        let _ = write!(
            xml,
            "    <testcase classname=\"{suite}\" name=\"expected failures\" time=\"0\">\n      \
             <failure message=\"{message}\">{}</failure>\n    </testcase>\n",
            escaped(&report.stale.join("\n"))
        );
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

fn case(report: &Report, judged: &Judged, suite: &str, xml: &mut String) {
    let name = attribute(&judged.name);
    let time = judged.elapsed.as_secs_f64();
    let _ = writeln!(
        xml,
        "    <testcase classname=\"{suite}\" name=\"{name}\" time=\"{time:.3}\">"
    );
    let header = &judged.scenario.header;
    let mut properties = vec![
        ("title".to_owned(), header.title.to_owned()),
        ("state".to_owned(), judged.state.name().to_owned()),
    ];
    for rule in &header.proves {
        properties.push(("rule".to_owned(), rule.clone()));
    }
    write_properties(xml, "      ", &properties);
    let whole = || escaped(&human::one(report, judged, ReportLook::default()));
    let reason = judged.why.as_deref().unwrap_or_default();
    if is_failure(judged) {
        let message = judged.faults.iter().find(|fault| fault.fails);
        let message = message.map_or("more faults than are kept", |fault| &fault.summary);
        let _ = writeln!(
            xml,
            "      <failure message=\"{}\">{}</failure>",
            attribute(message),
            whole()
        );
    } else if is_error(judged) {
        let _ = writeln!(
            xml,
            "      <error message=\"{}\">{}</error>",
            attribute(reason),
            whole()
        );
    } else if is_skipped(judged) {
        let reason = match judged.is_expected_failure() {
            true => "failed, as expected",
            false => reason,
        };
        let _ = writeln!(xml, "      <skipped message=\"{}\"/>", attribute(reason));
    } else if judged.state == ScenarioState::Warned {
        let _ = writeln!(xml, "      <system-out>{}</system-out>", whole());
    }
    xml.push_str("    </testcase>\n");
}

fn is_failure(judged: &Judged) -> bool {
    judged.state == ScenarioState::Failed && judged.is_a_problem()
}

fn is_error(judged: &Judged) -> bool {
    matches!(judged.state, ScenarioState::Broken | ScenarioState::NotRun)
}

fn is_skipped(judged: &Judged) -> bool {
    matches!(
        judged.state,
        ScenarioState::Skipped | ScenarioState::NotExercised
    ) || judged.is_expected_failure()
}

fn write_properties(xml: &mut String, indent: &str, properties: &[(String, String)]) {
    let _ = writeln!(xml, "{indent}<properties>");
    for (name, value) in properties {
        let _ = writeln!(
            xml,
            "{indent}  <property name=\"{}\" value=\"{}\"/>",
            attribute(name),
            attribute(value)
        );
    }
    let _ = writeln!(xml, "{indent}</properties>");
}

/// Escapes a text in an attribute, where line ends would be lost.
fn attribute(text: &str) -> String {
    escaped(text).replace('\n', "&#10;").replace('\t', "&#9;")
}
