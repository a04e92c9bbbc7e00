//! Turns what was seen of a play into a judgement.

use acp_process::ExitStatus;

use super::verdict::{Judged, ScenarioFault, ScenarioState};
use super::{Judge, Seen, Unseen};
use crate::language::Scenario;
use crate::player::{PlayOutcome, Verdict};
use acp_recording::{PeerSide, RecordedEvent, Recording, RecordingEntry, Redactor};

/// With this exit code a client says that it cannot do the task.
pub(super) const CANNOT: i32 = 75;

/// So much of a line is shown; of a longer one, the beginning.
const LONGEST_LINE: usize = 64 << 10;

/// So many lines around each fault, at the beginning and at the end are shown.
const AROUND: usize = 500;

/// More faults than this do not each get their surroundings.
const MOST_SURROUNDED: usize = 10;

impl Judge {
    /// Judges what was seen.
    pub(super) fn evidence(&self, scenario: &Scenario, seen: Seen, left: &[String]) -> Judged {
        let failed = |why| Judged {
            faults: vec![plain_fault(why)],
            ..Judged::new(scenario, ScenarioState::Failed)
        };
        let mut judged = match seen.outcome {
            Ok(outcome) => self.outcome(scenario, &outcome),
            Err(Unseen::Stopped(why)) => Judged::because(scenario, ScenarioState::NotRun, why),
            Err(Unseen::Overdue(most)) => failed(format!(
                "the conversation did not come to an end within {most:?}"
            )),
            Err(Unseen::NeverCame(why)) => failed(format!(
                "the client never started the agent of ACP_CHECK_AGENT: {why}"
            )),
        };
        let status = seen.exit.status();
        if self.role == PeerSide::Client && judged.state == ScenarioState::Failed {
            let steps_only = judged.faults.iter().all(|fault| fault.rules.is_empty());
            if status == ExitStatus::Code(CANNOT) && steps_only {
                judged = Judged::because(
                    scenario,
                    ScenarioState::Skipped,
                    format!("the client cannot do the task (exit code {CANNOT})"),
                );
            }
        }
        judged.elapsed = seen.elapsed;
        judged.ended = Some(status.to_string());
        judged.stderr = self.redactor.redact(&seen.exit.stderr_tail());
        judged.notes.extend(seen.notes);
        for process in left {
            let process = self.redactor.redact(process);
            judged
                .notes
                .push(format!("it left a process behind: {process}"));
        }
        judged
    }

    pub(super) fn outcome(&self, scenario: &Scenario, outcome: &PlayOutcome) -> Judged {
        let mut judged = match &outcome.verdict {
            Verdict::Broken(why) => return broken(scenario, why, outcome),
            Verdict::Skipped(why) => Judged::because(scenario, ScenarioState::Skipped, why),
            Verdict::NotExercised(why) => {
                Judged::because(scenario, ScenarioState::NotExercised, why)
            }
            Verdict::Passed | Verdict::Failed => Judged::new(scenario, ScenarioState::Passed),
        };
        judged.complete = judged.state == ScenarioState::Passed && outcome.failure.is_none();
        judged.told = told(&outcome.transcript, self.role);
        judged.faults = faults(outcome);
        judged.more_faults = outcome.more_findings;
        for fault in &mut judged.faults {
            fault.fails |= self.strict && !fault.doubtful;
            self.redact(fault);
        }
        if judged.more_faults > 0 || judged.faults.iter().any(|fault| fault.fails) {
            judged.state = ScenarioState::Failed;
            judged.why = None;
        } else if !judged.faults.is_empty() {
            judged.state = ScenarioState::Warned;
            judged.why = None;
        }
        if judged.state != ScenarioState::Passed {
            judged.transcript = kept(&outcome.transcript, &mut judged.faults, &self.redactor);
        }
        judged
    }

    pub(super) fn redact(&self, fault: &mut ScenarioFault) {
        let redact = |text: &mut String| *text = self.redactor.redact(text);
        redact(&mut fault.summary);
        fault.expected.iter_mut().for_each(redact);
        fault.got.iter_mut().for_each(redact);
        fault.because.iter_mut().for_each(redact);
    }
}

/// Says where a scenario is wrong.
pub(super) fn unplayable(scenario: &Scenario, line: usize, why: &str) -> Judged {
    let source = scenario.source_line(line).trim();
    let why = format!("{why}\nline {line}: {source}");
    Judged::because(scenario, ScenarioState::Broken, why)
}

/// Says where a scenario is wrong, and what would have been sent.
fn broken(scenario: &Scenario, why: &str, outcome: &PlayOutcome) -> Judged {
    let Some(ref failure) = outcome.failure else {
        return Judged::because(scenario, ScenarioState::Broken, why);
    };
    let mut judged = unplayable(scenario, failure.line, why);
    if let Some(why) = &mut judged.why {
        for more in failure.got.iter().chain(&failure.because) {
            why.push_str(&format!("\n{more}"));
        }
    }
    judged
}

fn faults(outcome: &PlayOutcome) -> Vec<ScenarioFault> {
    let mut faults: Vec<ScenarioFault> = outcome
        .breaches
        .iter()
        .filter(|breach| breach.from != outcome.played)
        .map(|breach| ScenarioFault {
            rules: breach.rules.to_vec(),
            fails: breach.is_failure(),
            doubtful: breach.doubtful,
            line: breach.line,
            entry: breach.entry,
            ..plain_fault(breach.text.to_owned())
        })
        .collect();
    // What a step waited for stands with what came in its place.
    if let Some(failure) = &outcome.failure {
        let same = |fault: &ScenarioFault| {
            let line = fault.line == Some(failure.line);
            line && (fault.entry == failure.entry || fault.entry.is_none())
        };
        let at = faults.iter().rposition(same);
        let fault = match at {
            Some(at) => &mut faults[at],
            None if faults.is_empty() && outcome.verdict == Verdict::Failed => {
                let mut fault = plain_fault(failure.summary.to_owned());
                fault.line = Some(failure.line);
                faults.push(fault);
                let last = faults.len() - 1;
                &mut faults[last]
            }
            None => return faults,
        };
        fault.expected = failure.expected.clone();
        fault.got = failure.got.clone();
        let because = failure.because.clone();
        if fault.summary.starts_with("expected ") {
            // It says in one sentence what now stands below it line by line.
            fault.summary = because.unwrap_or_else(|| failure.summary.to_owned());
        } else {
            fault.because = because;
        }
    }
    faults
}

pub(super) fn plain_fault(summary: String) -> ScenarioFault {
    ScenarioFault {
        fails: true,
        summary,
        ..ScenarioFault::default()
    }
}

/// Finds who the program said it is.
pub(super) fn told(transcript: &Recording, role: PeerSide) -> Option<(String, Option<String>)> {
    let own = transcript
        .entries()
        .iter()
        .filter(|entry| entry.from == role);
    own.take(8).find_map(|entry| {
        let message = crate::transcription::message(entry)?;
        let info = match role {
            PeerSide::Agent => &message["result"]["agentInfo"],
            PeerSide::Client => &message["params"]["clientInfo"],
        };
        let text = |key: &str| {
            let text = info[key].as_str()?;
            Some(text.chars().take(80).collect::<String>())
        };
        Some((text("name")?, text("version")))
    })
}

/// Keeps what a reader needs of a conversation: of a very long one the beginning,
/// the end, and what stands around each fault.
pub(super) fn kept(
    transcript: &Recording,
    faults: &mut [ScenarioFault],
    redactor: &Redactor,
) -> Recording {
    let entries = transcript.entries();
    let points = faults.iter().filter_map(|fault| fault.entry);
    let points: Vec<usize> = points.take(MOST_SURROUNDED).collect();
    let near = |index: usize, point: usize| index.abs_diff(point) <= AROUND;
    let keeps = |index: usize| {
        index < AROUND
            || index + AROUND >= entries.len()
            || points.iter().any(|point| near(index, *point))
    };
    let mut recording = Recording::default();
    let mut places = vec![None; entries.len()];
    let mut left = 0;
    for (index, entry) in entries.iter().enumerate() {
        if !keeps(index) {
            left += 1;
            continue;
        }
        if left > 0 {
            recording.push(RecordingEntry {
                what: RecordedEvent::Left(std::mem::take(&mut left)),
                ..*entry
            });
        }
        places[index] = Some(recording.entries().len());
        recording.push(shown(entry, redactor));
    }
    for fault in faults {
        fault.entry = fault
            .entry
            .and_then(|index| places.get(index).copied().flatten());
    }
    recording
}

fn shown(entry: &RecordingEntry, redactor: &Redactor) -> RecordingEntry {
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let mut text = redactor.redact_beginning(&text, LONGEST_LINE);
        if bytes.len() > LONGEST_LINE {
            text.push_str(&format!("… ({} bytes)", bytes.len()));
        }
        text.into_bytes()
    };
    let what = match &entry.what {
        RecordedEvent::Line(bytes) => RecordedEvent::Line(text(bytes)),
        RecordedEvent::Unfinished(bytes) => RecordedEvent::Unfinished(text(bytes)),
        RecordedEvent::Stderr(bytes) => RecordedEvent::Stderr(text(bytes)),
        other => other.clone(),
    };
    RecordingEntry { what, ..*entry }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn line(number: usize) -> RecordingEntry {
        RecordingEntry {
            at: Duration::ZERO,
            from: PeerSide::Agent,
            what: RecordedEvent::Line(number.to_string().into_bytes()),
        }
    }

    #[test]
    fn of_a_long_conversation_is_kept_what_a_reader_needs() {
        let transcript = Recording::new((0..5000).map(line).collect());
        let mut faults = [
            plain_fault("wrong".to_owned()),
            plain_fault("late".to_owned()),
        ];
        faults[0].entry = Some(2500);
        let kept = kept(&transcript, &mut faults, &Redactor::new());
        // The beginning, what stands around the fault, and the end, with two gaps.
        assert_eq!(kept.entries().len(), 500 + 1001 + 500 + 2);
        let at = faults[0].entry.unwrap();
        assert_eq!(kept.entries()[at], line(2500));
        assert_eq!(faults[1].entry, None);
        let left = kept.entries().iter().filter_map(|entry| match entry.what {
            RecordedEvent::Left(left) => Some(left),
            _ => None,
        });
        assert_eq!(left.sum::<u64>(), 5000 - 2001);
    }

    #[test]
    fn what_is_no_text_and_what_is_long_is_shown_all_the_same() {
        let entry = |bytes: &[u8]| RecordingEntry {
            what: RecordedEvent::Line(bytes.to_vec()),
            ..line(0)
        };
        let text = |bytes: &[u8]| match shown(&entry(bytes), &Redactor::new()).what {
            RecordedEvent::Line(bytes) => String::from_utf8(bytes).unwrap(),
            _ => String::new(),
        };
        assert_eq!(text(b"\xff{\"a\": 1"), "\u{fffd}{\"a\": 1");
        let long = text(&vec![b'a'; LONGEST_LINE + 5]);
        assert!(
            long.ends_with("a… (65541 bytes)"),
            "{}",
            &long[LONGEST_LINE - 5..]
        );
        assert_eq!(text(b"Bearer abcdefgh12345678"), "Bearer [redacted]");
    }
}
