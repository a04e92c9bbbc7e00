//! What programs were found to do, in `docs/conformance.md`, between two marks.

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;

use super::judge::{Disagreement, Judged, Results};
use crate::page::Marks;

const MARKS: Marks = Marks {
    begin: "<!-- begin: cargo xtask interop --all --judge --write -->\n",
    end: "<!-- end: cargo xtask interop -->\n",
};

/// Writes the results into the page, in place of those that are there.
///
/// # Errors
///
/// Fails when the page cannot be read or written, or has no marks.
pub(super) fn write(page: &Path, results: &Results) -> Result<()> {
    MARKS.write(page, &shown(results)).map(|_| ())
}

fn shown(results: &Results) -> String {
    let mut text = String::new();
    table(&mut text, &results.programs);
    for judged in &results.programs {
        if judged.disagreements.is_empty() {
            continue;
        }
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "\n### {}, {}\n",
            judged.program,
            article(&judged.role)
        );
        for disagreement in &judged.disagreements {
            tell(&mut text, disagreement);
        }
    }
    text
}

fn article(role: &str) -> &'static str {
    match role {
        "client" => "a client",
        _ => "an agent",
    }
}

fn table(text: &mut String, programs: &[Judged]) {
    text.push_str("| program | role | passed | failed | warned | doubtful | not exercised | skipped | date |\n");
    text.push_str("|---|---|---|---|---|---|---|---|---|\n");
    for judged in programs {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            judged.program,
            judged.role,
            judged.count(&["passed"]),
            judged.count(&["failed"]),
            judged.count(&["warned"]),
            judged.count(&["doubtful"]),
            judged.count(&["not exercised", "undecided"]),
            judged.count(&["skipped"]),
            judged.date
        );
    }
}

fn tell(text: &mut String, disagreement: &Disagreement) {
    let scenario = &disagreement.scenario;
    let _ = writeln!(text, "**{}** in `{scenario}`", disagreement.state);
    text.push('\n');
    for rule in &disagreement.rules {
        let _ = writeln!(
            text,
            "* {} {}: {} ({})",
            rule.id, rule.level, rule.text, rule.source
        );
    }
    if disagreement.rules.is_empty() {
        text.push_str("* no rule of its own: the conversation went otherwise than it has to\n");
    }
    let _ = writeln!(text, "* seen: {}", disagreement.seen);
    if let Some(note) = &disagreement.note {
        let word = match disagreement.state.as_str() {
            "doubtful" => "but",
            _ => "to know",
        };
        let _ = writeln!(text, "* {word}: {note}");
    }
    if !disagreement.transcript.is_empty() {
        let _ = writeln!(
            text,
            "\n```text\n{}\n```",
            disagreement.transcript.join("\n")
        );
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_page_shows_what_is_kept() {
        let root = crate::workspace::root();
        let results = Results::load(&root.join(super::super::RESULTS)).expect("there are results");
        assert!(results.programs.len() >= 6, "too few programs were judged");
        let page = fs::read_to_string(root.join("docs/conformance.md")).expect("there is a page");
        let fresh = MARKS.replace(&page, &shown(&results));
        let fresh = fresh.expect("the page has its marks");
        assert!(
            page == fresh,
            "the page does not show what is in {}",
            super::super::RESULTS
        );
    }
}
