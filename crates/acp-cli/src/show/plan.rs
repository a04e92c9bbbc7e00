//! The agent's plan, as a list.

use acp_conversation::Conversation;
use acp_protocol::v1::{PlanEntry, PlanEntryStatus};
use acp_text::{Clean, clean};

use super::line::{Line, one_line};
use super::style::{Style, Tone};

/// Entries of a plan that are shown.
const MAX_ENTRIES: usize = 24;

/// The newest plan.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Steps {
    steps: Vec<(Step, Clean<'static>)>,
    /// Steps there are, and those that are done.
    all: usize,
    done: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Waiting,
    Current,
    Done,
}

impl Steps {
    pub(super) fn of(conversation: &Conversation) -> Self {
        let entries = conversation
            .plan
            .as_ref()
            .map_or(&[][..], |plan| &plan.entries);
        let steps = entries.iter().take(MAX_ENTRIES).map(|entry| {
            let step = match entry.status {
                PlanEntryStatus::Completed => Step::Done,
                PlanEntryStatus::InProgress => Step::Current,
                _ => Step::Waiting,
            };
            (step, one_line(&entry.content))
        });
        let done = |entry: &&PlanEntry| entry.status == PlanEntryStatus::Completed;
        Self {
            steps: steps.collect(),
            all: entries.len() + conversation.more_plan_entries,
            done: entries.iter().filter(done).count(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Says how far it is.
    pub(super) fn progress(&self) -> Clean<'static> {
        clean!("{}/{}", self.done, self.all)
    }

    /// Returns the lines of `limit` steps: those around the one that is worked on.
    pub(super) fn lines(&self, limit: usize, style: &Style) -> Vec<Line> {
        let limit = limit.max(1);
        let current = self.steps.iter().position(|(step, _)| *step != Step::Done);
        let current = current.unwrap_or(self.steps.len());
        let from = current
            .saturating_sub(1)
            .min(self.steps.len().saturating_sub(limit));
        let window = self.steps.iter().skip(from).take(limit);
        let mut lines: Vec<_> = window.map(|step| line(step, style)).collect();
        let behind = self.all - from - lines.len();
        if from + behind > 0 {
            let more = more_steps(from + behind);
            let more = clean!("{} {}", style.signs.more, more);
            lines.push(Line::new().with(Tone::Faint, more));
        }
        lines
    }

    /// Says which steps went on since then, or `None` when it is another plan.
    pub(super) fn since(&self, before: &Self) -> Option<Clean<'static>> {
        let same = self.all == before.all
            && self
                .steps
                .iter()
                .map(|(_, text)| text)
                .eq(before.steps.iter().map(|(_, text)| text));
        let news = self
            .steps
            .iter()
            .zip(&before.steps)
            .filter(|(now, then)| now.0 != then.0);
        let changed = news.map(|((step, text), _)| clean!("{} {}", step.in_ascii(), text));
        same.then(|| Clean::join(changed, &clean!("  ")))
    }

    /// Returns all steps in one line.
    pub(super) fn in_one_line(&self) -> Clean<'static> {
        let mut steps: Vec<_> = self
            .steps
            .iter()
            .map(|(step, text)| clean!("{} {}", step.in_ascii(), text))
            .collect();
        if self.all > self.steps.len() {
            steps.push(more_steps(self.all - self.steps.len()));
        }
        Clean::join(steps, &clean!("  "))
    }
}

impl Step {
    fn in_ascii(self) -> Clean<'static> {
        match self {
            Self::Done => clean!("[x]"),
            Self::Current => clean!("[>]"),
            Self::Waiting => clean!("[ ]"),
        }
    }
}

fn more_steps(count: usize) -> Clean<'static> {
    super::excerpt::count(count, &clean!("more step"), &clean!("more steps"))
}

fn line((step, text): &(Step, Clean<'static>), style: &Style) -> Line {
    let (sign, tone, words) = match step {
        Step::Done => (&style.signs.done, Tone::Good, Tone::Faint),
        Step::Current => (&style.signs.current, Tone::Busy, Tone::Plain),
        Step::Waiting => (&style.signs.waiting, Tone::Faint, Tone::Plain),
    };
    Line::new()
        .with(tone, sign)
        .with(words, clean!(" {}", text))
}
