//! What programs were found to do, in `docs/conformance.md`, between two marks.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::judge::{Disagreement, Judged, Results};

const BEGIN: &str = "<!-- begin: cargo xtask interop --all --judge --write -->\n";
const END: &str = "<!-- end: cargo xtask interop -->\n";

/// Writes the results into the page, in place of those that are there.
///
/// # Errors
///
/// Fails when the page cannot be read or written, or has no marks.
pub(super) fn write(page: &Path, results: &Results) -> Result<()> {
    let text = fs::read_to_string(page);
    let text = text.with_context(|| format!("failed to read {}", page.display()))?;
    let text = replaced(&text, &shown(results))?;
    fs::write(page, text).with_context(|| format!("failed to write {}", page.display()))
}

fn replaced(page: &str, results: &str) -> Result<String> {
    let (before, rest) = page
        .split_once(BEGIN)
        .context("the page has no first mark")?;
    let (_, after) = rest.split_once(END).context("the page has no last mark")?;
    Ok(format!("{before}{BEGIN}{results}{END}{after}"))
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
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let page = format!("# Page\n{BEGIN}old\n{END}more\n");
        let new = replaced(&page, "new\n").expect("the page has its marks");
        assert_eq!(new, format!("# Page\n{BEGIN}new\n{END}more\n"));
        assert!(replaced("# Page", "new").is_err());
    }

    #[test]
    fn the_page_shows_what_is_kept() {
        let root = crate::workspace::root();
        let results = Results::load(&root.join(super::super::RESULTS)).expect("there are results");
        assert!(results.programs.len() >= 6, "too few programs were judged");
        let page = fs::read_to_string(root.join("docs/conformance.md")).expect("there is a page");
        let fresh = replaced(&page, &shown(&results)).expect("the page has its marks");
        assert!(
            page == fresh,
            "the page does not show what is in {}",
            super::super::RESULTS
        );
    }
}
