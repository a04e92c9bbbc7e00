//! The tool calls of a turn as a screen sees them: since when they run, and which of
//! their content it shows already. All else the conversation knows.

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

use acp_conversation::limits::MAX_TOOL_CALLS;
use acp_conversation::{ToolCallChange, ToolCallPart, ToolCallState, ToolCalls};
use acp_protocol::v1::{ToolCallId, ToolCallStatus};
use acp_text::{Clean, clean};
use indexmap::IndexMap;

use super::excerpt::Excerpt;
use super::line::one_line;
use super::part::{Part, short_path};

/// Commands whose output is kept until the call ends that shows it.
const MAX_OUTPUTS: usize = 64;

/// Parts of the content of a call that are shown.
const MAX_PARTS: usize = 8;

/// What a screen knows of the tool calls of a turn.
#[derive(Default)]
pub(super) struct Tools {
    marks: IndexMap<ToolCallId, CallMark>,
    /// What commands wrote, by their terminals; the oldest first.
    outputs: VecDeque<(String, Excerpt)>,
}

#[derive(Default)]
struct CallMark {
    /// When it began, if it did not end at once.
    began: Option<Instant>,
    is_running: bool,
    /// The revision of its content that is on the screen.
    shown: Option<u64>,
}

/// A call, and what is shown of it.
pub(super) struct ShownCall<'a> {
    pub(super) call: &'a ToolCallState,
    /// Whether its status counts: not where nothing more is heard of it.
    pub(super) has_status: bool,
    /// How long it has been running, or ran.
    pub(super) took: Option<Duration>,
    pub(super) parts: Vec<Part<'a>>,
    cwd: &'a Path,
}

impl Tools {
    /// Takes note of what changed in a call.
    pub(super) fn note(&mut self, change: &ToolCallChange<'_>, now: Instant) {
        let id = &change.call.id;
        if change.begins && !change.ends {
            // Calls run in the order in which they began, also where an id is used again.
            let shown = self.marks.shift_remove(id).and_then(|mark| mark.shown);
            *self.mark(id) = CallMark {
                began: Some(now),
                is_running: true,
                shown,
            };
        }
    }

    /// A command wrote this, in the terminal of that id.
    pub(super) fn wrote(&mut self, terminal: &str, output: &Excerpt) {
        self.outputs.retain(|(id, _)| id != terminal);
        if self.outputs.len() == MAX_OUTPUTS {
            self.outputs.pop_front();
        }
        self.outputs
            .push_back((terminal.to_owned(), output.clone()));
    }

    /// Returns the calls that run, in the order in which they began.
    pub(super) fn running<'a>(
        &self,
        calls: &'a ToolCalls,
        cwd: &'a Path,
        now: Instant,
    ) -> Vec<ShownCall<'a>> {
        let running = self.marks.iter().filter(|(_, mark)| mark.is_running);
        let known = running.filter_map(|(id, mark)| Some((calls.get(id)?, mark)));
        known
            .map(|(call, mark)| ShownCall::new(call, mark.took(now), Vec::new(), cwd))
            .collect()
    }

    /// Ends what runs: nothing more will be heard of it.
    pub(super) fn end_all(&mut self) -> Vec<ToolCallId> {
        let running = self.marks.iter_mut().filter(|(_, mark)| mark.is_running);
        let ended = running.map(|(id, mark)| {
            mark.is_running = false;
            id.clone()
        });
        ended.collect()
    }

    /// Returns a call with what is to be shown of it, and takes note that it is shown;
    /// content that is on the screen already is not shown once more.
    pub(super) fn show<'a>(
        &mut self,
        call: &'a ToolCallState,
        cwd: &'a Path,
        now: Instant,
    ) -> ShownCall<'a> {
        let mark = self.mark(&call.id);
        let revision = Some(call.revision);
        mark.is_running &= call.ended.is_none();
        let is_shown = std::mem::replace(&mut mark.shown, revision) == revision;
        let took = mark.took(now);
        let parts = if is_shown {
            Vec::new()
        } else {
            self.parts(call, cwd)
        };
        ShownCall::new(call, took, parts, cwd)
    }

    fn parts<'a>(&self, call: &'a ToolCallState, cwd: &Path) -> Vec<Part<'a>> {
        let content = &call.content;
        let mut parts: Vec<_> = content
            .iter()
            .take(MAX_PARTS)
            .filter_map(|part| match part {
                ToolCallPart::Terminal(terminal) => {
                    let known = |(id, _): &&(String, Excerpt)| *id == terminal.as_str();
                    let (_, output) = self.outputs.iter().find(known)?;
                    Some(Part::Text(output.clone()))
                }
                other => Part::of(other, cwd),
            })
            .collect();
        let more = content.len().saturating_sub(MAX_PARTS) + call.more_parts;
        if more > 0 {
            parts.push(Part::Other(clean!("and {} more parts", more)));
        }
        parts
    }

    fn mark(&mut self, id: &ToolCallId) -> &mut CallMark {
        if self.marks.len() == MAX_TOOL_CALLS && !self.marks.contains_key(id) {
            self.marks.shift_remove_index(0);
        }
        self.marks.entry(id.clone()).or_default()
    }
}

impl CallMark {
    fn took(&self, now: Instant) -> Option<Duration> {
        self.began.map(|began| now.saturating_duration_since(began))
    }
}

impl<'a> ShownCall<'a> {
    fn new(
        call: &'a ToolCallState,
        took: Option<Duration>,
        parts: Vec<Part<'a>>,
        cwd: &'a Path,
    ) -> Self {
        Self {
            call,
            has_status: true,
            took,
            parts,
            cwd,
        }
    }

    /// Returns the status, where it counts.
    pub(super) fn status(&self) -> Option<&'a ToolCallStatus> {
        self.call.status.as_ref().filter(|_| self.has_status)
    }

    /// Returns the title, on one line.
    pub(super) fn title(&self) -> Clean<'static> {
        one_line(self.call.title.as_deref().unwrap_or_default())
    }

    /// Returns what it is called: its title, or else its kind.
    pub(super) fn name(&self) -> Clean<'static> {
        match (self.title(), &self.call.kind) {
            (title, Some(kind)) if title.is_empty() => one_line(kind.as_str()),
            (title, None) if title.is_empty() => clean!("a call that was not announced"),
            (title, _) => title,
        }
    }

    /// Returns the first place it names, and how many more there are, unless its title
    /// names the file.
    pub(super) fn place(&self) -> Option<Clean<'static>> {
        let (first, others) = self.call.locations.split_first()?;
        let mut place = short_path(&first.path, self.cwd);
        let file = place.as_str();
        let file = file.rsplit('/').next().unwrap_or(file);
        let file = file.split(':').next().unwrap_or(file);
        if self.title().as_str().contains(file) {
            return None;
        }
        if let Some(line) = first.line {
            place = clean!("{}:{}", place, line);
        }
        if !others.is_empty() {
            place = clean!("{} +{}", place, others.len());
        }
        Some(place)
    }
}
