//! Outcomes for people.

use std::fmt::{Formatter, Result};

use super::describe;
use super::failure::rows;
use super::outcome::{PlayOutcome, Verdict};
use acp_recording::{RecordedEvent, RecordingEntry};

/// How many lines of the transcript are shown before the one that matters, and after.
const BEFORE: usize = 12;
const AFTER: usize = 3;

pub(super) fn write(outcome: &PlayOutcome, f: &mut Formatter<'_>) -> Result {
    let file = &outcome.scenario.file;
    match &outcome.verdict {
        Verdict::Passed => write!(f, "{file}: passed{}", warnings(outcome.demanded.len()))?,
        Verdict::Skipped(why) => write!(f, "{file}: skipped: {why}")?,
        Verdict::NotExercised(why) => write!(f, "{file}: not exercised: {why}")?,
        Verdict::Broken(_) => write!(f, "{file}: this scenario cannot be played as it is")?,
        Verdict::Failed => write!(f, "{file}: failed")?,
    }
    writeln!(f)?;
    if matches!(
        outcome.verdict,
        Verdict::Passed | Verdict::Skipped(_) | Verdict::NotExercised(_)
    ) {
        return demanded(outcome, f);
    }
    let title = &outcome.scenario.header.title;
    if !title.is_empty() {
        writeln!(f, "  {title}")?;
    }
    let proves = &outcome.scenario.header.proves;
    if !proves.is_empty() {
        writeln!(f, "  proves {}", proves.join(", "))?;
    }
    if let Some(failure) = &outcome.failure {
        writeln!(f)?;
        step(outcome, failure.line, f)?;
        writeln!(f, "  {}", failure.summary)?;
        for (word, what) in rows(&failure.expected, &failure.got, &failure.because) {
            writeln!(f, "    {word:>8}  {what}")?;
        }
        for rule in &failure.rules {
            writeln!(f, "    {:>8}  {rule} {}: {}", "rule", rule.level, rule.text)?;
        }
    }
    for found in &outcome.findings {
        writeln!(f)?;
        if let Some(line) = found.line {
            step(outcome, line, f)?;
        }
        writeln!(f, "  the {} broke a check: {}", found.from, found.finding)?;
        writeln!(f, "    {:>8}  {}", "line", found.shown)?;
    }
    demanded(outcome, f)?;
    if outcome.more_findings > 0 {
        writeln!(f, "\n  and {} more", outcome.more_findings)?;
    }
    transcript(outcome, f)?;
    if let Some(ended) = outcome.ended {
        writeln!(f, "\n  the agent ended with {ended}")?;
    }
    if !outcome.stderr.trim().is_empty() {
        writeln!(f, "\n  the end of its stderr")?;
        let lines: Vec<&str> = outcome.stderr.lines().collect();
        for line in &lines[lines.len().saturating_sub(10)..] {
            writeln!(f, "    {}", describe::line(line.as_bytes()))?;
        }
    }
    Ok(())
}

fn warnings(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => ", with a warning".to_owned(),
        count => format!(", with {count} warnings"),
    }
}

/// Shows what rules demanded and was not so.
fn demanded(outcome: &PlayOutcome, f: &mut Formatter<'_>) -> Result {
    for breach in &outcome.demanded {
        writeln!(f)?;
        if let Some(line) = breach.line {
            step(outcome, line, f)?;
        }
        writeln!(f, "  {}", breach.text)?;
        for rule in &breach.rules {
            let doubtful = if breach.doubtful { "doubtful " } else { "" };
            writeln!(
                f,
                "    {:>8}  {doubtful}{rule} {}: {}",
                "rule", rule.level, rule.text
            )?;
        }
    }
    Ok(())
}

/// Shows a line of the scenario.
fn step(outcome: &PlayOutcome, line: usize, f: &mut Formatter<'_>) -> Result {
    let source = outcome.scenario.source_line(line).trim_end();
    writeln!(f, "  {line:>4} | {source}")
}

fn transcript(outcome: &PlayOutcome, f: &mut Formatter<'_>) -> Result {
    let entries = outcome.transcript.entries();
    if entries.is_empty() {
        return Ok(());
    }
    let marked = outcome.failure.as_ref().and_then(|failure| failure.entry);
    let first_found = outcome.findings.first().and_then(|found| found.entry);
    let point = marked.or(first_found).unwrap_or(entries.len());
    let from = point.saturating_sub(BEFORE);
    let to = entries.len().min(point.saturating_add(AFTER + 1));
    writeln!(f, "\n  the conversation, as the {} saw it", outcome.played)?;
    if from > 0 {
        writeln!(f, "    … {from} lines before")?;
    }
    for (index, entry) in entries.iter().enumerate().take(to).skip(from) {
        let mark = if Some(index) == marked { '*' } else { ' ' };
        writeln!(f, "  {mark} {}", shown(entry))?;
    }
    if to < entries.len() {
        writeln!(f, "    … {} lines after", entries.len() - to)?;
    }
    Ok(())
}

fn shown(entry: &RecordingEntry) -> String {
    let what = describe::event(&entry.what, describe::line);
    match entry.what {
        RecordedEvent::Left(_) => format!("          {what}"),
        _ => {
            let arrow = entry.from.arrow();
            format!("{:>8.3} {arrow} {what}", entry.at.as_secs_f64())
        }
    }
}
