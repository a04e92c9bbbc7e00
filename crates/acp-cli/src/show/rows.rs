//! The rows that are drawn again and again: what runs, what is planned, what goes on.

use std::time::Duration;

use acp_protocol::v1::UsageUpdate;

use super::excerpt::count;
use super::line::Line;
use super::plan::Steps;
use super::said;
use super::style::{Style, Tone};
use super::thought;
use super::tools::ShownCall;
use super::usage;
use acp_text::{Clean, clean};

/// Rows at most, of each sort.
const MAX_TOOLS: usize = 5;
const MAX_STEPS: usize = 5;

/// What they are made of.
pub(super) struct Rows<'a> {
    /// How long it has been going on.
    pub(super) took: Duration,
    pub(super) running: Vec<ShownCall<'a>>,
    pub(super) plan: Steps,
    pub(super) thought: Option<&'a str>,
    pub(super) usage: Option<&'a UsageUpdate>,
    /// What goes on; without it there is nothing to show.
    pub(super) status: Option<&'a Clean<'static>>,
}

impl Rows<'_> {
    /// Returns the rows, as many as this at most.
    pub(super) fn lines(&self, height: usize, style: &Style) -> Vec<Line> {
        let Some(status) = self.status else {
            return Vec::new();
        };
        let turning = style.turning(self.took.as_millis());
        let mut lines = Vec::new();
        // The status has its row in any window.
        let mut left = height.saturating_sub(1);
        let shown = self.running.len().min(MAX_TOOLS).min(left);
        let hidden = self.running.len() - shown;
        let newest = &self.running[hidden..];
        lines.extend(
            newest
                .iter()
                .map(|call| said::running(call, turning, style)),
        );
        left -= shown;
        if left > 0
            && let Some(thought) = self.thought.and_then(|it| thought::row(it, style))
        {
            lines.push(thought);
            left -= 1;
        }
        // Two rows of it, one for what is left out, or none.
        if left > 2 {
            lines.extend(self.plan.lines(MAX_STEPS.min(left - 1), style));
        }
        lines.push(self.status(status, hidden, turning, style));
        lines
    }

    fn status(
        &self,
        status: &Clean<'static>,
        hidden: usize,
        turning: &Clean<'_>,
        style: &Style,
    ) -> Line {
        let mut words = vec![status.clone(), said::in_seconds(self.took)];
        if hidden > 0 {
            words.push(count(hidden, &clean!("more tool"), &clean!("more tools")));
        }
        if !self.plan.is_empty() {
            words.push(clean!("plan {}", self.plan.progress()));
        }
        words.extend(usage::words(self.usage));
        let room = style.width.unwrap_or(usize::MAX).saturating_sub(2);
        let joined = |words: &[Clean<'static>]| {
            Clean::join(words.iter().map(Clean::borrowed), &style.signs.dot)
        };
        while words.len() > 2 && joined(&words).width() > room {
            words.pop();
        }
        Line::new()
            .with(Tone::Busy, turning)
            .with(Tone::Faint, clean!(" {}", joined(&words)))
    }
}
