//! What is known of the tool calls of a turn: what runs, and what has just ended.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::time::{Duration, Instant};

use acp_protocol::v1::{
    ToolCall, ToolCallContent, ToolCallId, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
    ToolKind,
};

use super::excerpt::Excerpt;
use super::line::one_line;
use super::part::{Part, short_path, size};

/// Tool calls whose state is remembered, so that each line is printed once. Beyond
/// it the oldest are forgotten, and would be announced again.
const MAX_TOOLS: usize = 1024;

/// Bytes of output and files that are kept of all calls that still run. Beyond it
/// lines are counted and their text is not kept.
const MAX_KEPT: usize = 8 << 20;

/// Commands whose output is remembered until the call ends that shows it.
const MAX_OUTPUTS: usize = 64;

/// Parts of the content of a call that are shown.
const MAX_PARTS: usize = 8;

/// The tool calls of a turn.
#[derive(Default)]
pub(super) struct Tools {
    calls: HashMap<ToolCallId, Entry>,
    order: VecDeque<ToolCallId>,
    /// Those that run, in the order in which they began.
    running: Vec<ToolCallId>,
    kept: usize,
    /// What commands wrote, by their terminals; the oldest first.
    outputs: VecDeque<(String, Excerpt)>,
}

/// What an update says of a call.
#[derive(Debug, Default, PartialEq)]
pub(super) struct News {
    /// It was not known to run before.
    pub(super) begins: bool,
    /// It ended.
    pub(super) ended: Option<Ended>,
}

/// What is known of one call.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Call {
    pub(super) title: String,
    pub(super) kind: Option<ToolKind>,
    /// The first place it names, and how many more there are.
    pub(super) place: Option<(String, usize)>,
    pub(super) status: Option<ToolCallStatus>,
    pub(super) began: Option<Instant>,
}

/// A call that ended.
#[derive(Debug, PartialEq)]
pub(super) struct Ended {
    pub(super) call: Call,
    pub(super) took: Option<Duration>,
    pub(super) content: Vec<Part>,
}

#[derive(Default)]
struct Entry {
    call: Call,
    content: Vec<Part>,
    /// Somebody has seen the content.
    is_shown: bool,
    state: State,
}

#[derive(Default, PartialEq)]
enum State {
    #[default]
    Unsaid,
    Begun,
    Ended(ToolCallStatus),
}

impl Tools {
    /// Takes a `tool_call`.
    pub(super) fn call(&mut self, call: &ToolCall, cwd: &Path, now: Instant) -> News {
        let known = self.entry(&call.tool_call_id);
        known.call.title = one_line(&call.title);
        if let Some(kind) = &call.kind {
            known.call.kind = Some(kind.clone());
        }
        known.call.learn_place(&call.locations, cwd);
        self.keep(&call.tool_call_id, call.status.as_ref(), &call.content, cwd);
        self.news(&call.tool_call_id, call.status.as_ref(), now)
    }

    /// Takes a `tool_call_update`, which may come for a call nobody announced.
    pub(super) fn update(&mut self, change: &ToolCallUpdate, cwd: &Path, now: Instant) -> News {
        self.learn(change, change.status.as_ref(), cwd);
        self.news(&change.tool_call_id, change.status.as_ref(), now)
    }

    /// Takes the `toolCall` of a permission request, and returns the call and what it would
    /// do. When it ends the same is not shown once more.
    pub(super) fn preview(
        &mut self,
        change: &ToolCallUpdate,
        cwd: &Path,
        now: Instant,
    ) -> Option<(&Call, &[Part])> {
        self.learn(change, None, cwd);
        self.news(&change.tool_call_id, None, now);
        let entry = self.calls.get_mut(&change.tool_call_id)?;
        entry.is_shown = true;
        Some((&entry.call, &entry.content))
    }

    fn learn(&mut self, change: &ToolCallUpdate, status: Option<&ToolCallStatus>, cwd: &Path) {
        let known = self.entry(&change.tool_call_id);
        if let Some(title) = &change.title {
            known.call.title = one_line(title);
        }
        if let Some(kind) = &change.kind {
            known.call.kind = Some(kind.clone());
        }
        if let Some(places) = &change.locations {
            known.call.learn_place(places, cwd);
        }
        if let Some(content) = &change.content {
            self.keep(&change.tool_call_id, status, content, cwd);
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
    pub(super) fn running(&self) -> impl DoubleEndedIterator<Item = &Call> + ExactSizeIterator {
        self.running.iter().map(|id| &self.calls[id].call)
    }

    /// Ends what runs, without a status: nothing more will be heard of it.
    pub(super) fn end_all(&mut self, now: Instant) -> Vec<Ended> {
        let ids = std::mem::take(&mut self.running);
        ids.iter()
            .map(|id| {
                let mut ended = self.ended(id, now);
                ended.call.status = None;
                ended
            })
            .collect()
    }

    fn entry(&mut self, id: &ToolCallId) -> &mut Entry {
        if !self.calls.contains_key(id) {
            if self.order.len() == MAX_TOOLS
                && let Some(oldest) = self.order.pop_front()
            {
                if let Some(entry) = self.calls.remove(&oldest) {
                    self.kept -= size(&entry.content);
                }
                self.running.retain(|running| *running != oldest);
            }
            self.order.push_back(id.clone());
        }
        self.calls.entry(id.clone()).or_default()
    }

    /// Replaces what a call shows.
    fn keep(
        &mut self,
        id: &ToolCallId,
        status: Option<&ToolCallStatus>,
        content: &[ToolCallContent],
        cwd: &Path,
    ) {
        let Some(entry) = self.calls.get_mut(id) else {
            return;
        };
        let stays_ended = status.is_none_or(is_end);
        if matches!(entry.state, State::Ended(_)) && stays_ended {
            return;
        }
        self.kept -= size(&entry.content);
        let mut parts = Vec::new();
        for part in content.iter().take(MAX_PARTS) {
            let mut part = Part::of(part, cwd);
            if self.kept + part.size() > MAX_KEPT {
                part.forget();
            }
            self.kept += part.size();
            parts.push(part);
        }
        if content.len() > MAX_PARTS {
            let more = format!("and {} more parts", content.len() - MAX_PARTS);
            self.kept += more.len();
            parts.push(Part::Other(more));
        }
        entry.is_shown &= parts == entry.content;
        entry.content = parts;
    }

    fn news(&mut self, id: &ToolCallId, status: Option<&ToolCallStatus>, now: Instant) -> News {
        let Some(entry) = self.calls.get_mut(id) else {
            return News::default();
        };
        let is_end = status.is_some_and(is_end);
        let begins = match &entry.state {
            State::Unsaid => true,
            State::Begun => false,
            // Some agents use an id again.
            State::Ended(_) => status.is_some() && !is_end,
        };
        if begins && !is_end {
            entry.state = State::Begun;
            entry.call.began = Some(now);
            self.running.push(id.clone());
        }
        if let Some(status) = status {
            let ended = State::Ended(status.clone());
            let is_news = is_end && entry.state != ended;
            entry.call.status = Some(status.clone());
            if is_news {
                entry.state = ended;
                self.running.retain(|running| running != id);
                let ended = Some(self.ended(id, now));
                return News { begins, ended };
            }
        }
        News {
            begins,
            ended: None,
        }
    }

    fn ended(&mut self, id: &ToolCallId, now: Instant) -> Ended {
        let Some(entry) = self.calls.get_mut(id) else {
            return Ended {
                call: Call::default(),
                took: None,
                content: Vec::new(),
            };
        };
        self.kept -= size(&entry.content);
        let mut content = std::mem::take(&mut entry.content);
        if std::mem::take(&mut entry.is_shown) {
            content.clear();
        }
        for part in &mut content {
            if let Part::Terminal(terminal) = part
                && let Some((_, output)) = self.outputs.iter().find(|(id, _)| id == terminal)
            {
                *part = Part::Text(output.clone());
            }
        }
        Ended {
            content,
            took: entry.call.running_for(now),
            call: entry.call.clone(),
        }
    }
}

impl Call {
    /// Returns what it is called.
    pub(super) fn name(&self) -> &str {
        match (&self.kind, self.title.as_str()) {
            (Some(kind), "") => kind.as_str(),
            (None, "") => "a call that was not announced",
            (_, title) => title,
        }
    }

    /// Returns how long it has been running.
    pub(super) fn running_for(&self, now: Instant) -> Option<Duration> {
        self.began.map(|began| now.saturating_duration_since(began))
    }

    fn learn_place(&mut self, places: &[ToolCallLocation], cwd: &Path) {
        let [first, others @ ..] = places else {
            return;
        };
        let mut place = short_path(&first.path, cwd);
        if let Some(line) = first.line {
            place.push_str(&format!(":{line}"));
        }
        self.place = Some((place, others.len()));
    }
}

fn is_end(status: &ToolCallStatus) -> bool {
    matches!(status, ToolCallStatus::Completed | ToolCallStatus::Failed)
}

#[cfg(test)]
mod tests {
    use acp_protocol::v1::{ContentBlock, Diff};

    use super::super::changes::MAX_COMPARED;
    use super::*;

    fn call(id: &str, status: &str) -> ToolCall {
        ToolCall::new(id, "Read\nnotes.md")
            .with_kind(ToolKind::Read)
            .with_status(ToolCallStatus::from(status))
    }

    fn change(id: &str, status: &str) -> ToolCallUpdate {
        ToolCallUpdate::new(id).with_status(ToolCallStatus::from(status))
    }

    fn text(text: &str) -> ToolCallContent {
        ToolCallContent::Content(acp_protocol::v1::Content::new(ContentBlock::text(text)))
    }

    /// What one of the calls says, in words.
    fn told(news: News) -> String {
        let begins = if news.begins { "begins " } else { "" };
        let ended = news.ended.map_or_else(String::new, |ended| {
            let status = ended.call.status.as_ref().map_or("?", |s| s.as_str());
            let took = ended.took.map(|took| took.as_millis());
            format!("{} {status} {took:?}", ended.call.name())
        });
        format!("{begins}{ended}")
    }

    #[test]
    fn a_call_begins_once_and_ends_once() {
        let mut tools = Tools::default();
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let cwd = Path::new("/");
        assert_eq!(
            told(tools.call(&call("t", "pending"), cwd, at(0))),
            "begins "
        );
        let progress = tools.update(&change("t", "in_progress"), cwd, at(1));
        assert_eq!(progress, News::default());
        assert_eq!(tools.running().len(), 1);
        let again = tools.call(&call("t", "in_progress"), cwd, at(2));
        assert_eq!(again, News::default(), "said already");
        assert_eq!(
            told(tools.update(&change("t", "completed"), cwd, at(500))),
            "Read notes.md completed Some(500)"
        );
        assert_eq!(tools.running().len(), 0);
        let twice = tools.update(&change("t", "completed"), cwd, at(600));
        assert_eq!(twice, News::default());
        assert_eq!(
            told(tools.update(&change("t", "failed"), cwd, at(700))),
            "Read notes.md failed Some(700)"
        );
        let used_again = tools.call(&call("t", "pending"), cwd, at(800));
        assert_eq!(told(used_again), "begins ");
        assert_eq!(tools.running().len(), 1);
    }

    #[test]
    fn calls_nobody_announced_are_told_too() {
        let mut tools = Tools::default();
        let (cwd, now) = (Path::new("/"), Instant::now());
        assert_eq!(
            told(tools.update(&change("t", "completed"), cwd, now)),
            "begins a call that was not announced completed None"
        );
        let described = ToolCallUpdate::new("u").with_kind(ToolKind::Search);
        assert_eq!(told(tools.update(&described, cwd, now)), "begins ");
        assert_eq!(tools.running().next().unwrap().name(), "search");
        assert_eq!(
            told(tools.call(&call("v", "failed"), cwd, now)),
            "begins Read notes.md failed None"
        );
    }

    #[test]
    fn what_runs_at_the_end_ends_without_a_status() {
        let mut tools = Tools::default();
        let (cwd, now) = (Path::new("/"), Instant::now());
        tools.call(&call("t", "in_progress"), cwd, now);
        let ended = tools.end_all(now);
        assert_eq!(ended.len(), 1);
        assert_eq!(ended[0].call.status, None);
        assert_eq!(tools.running().len(), 0);
    }

    #[test]
    fn the_newest_content_counts_and_goes_with_the_end() {
        let mut tools = Tools::default();
        let (cwd, now) = (Path::new("/code"), Instant::now());
        let diff = Diff::new("/code/a.txt", "new").with_old_text("old");
        tools.call(
            &call("t", "pending").with_content(vec![diff.into()]),
            cwd,
            now,
        );
        let shown = change("t", "in_progress").with_content(vec![text("one\ntwo")]);
        tools.update(&shown, cwd, now);
        let ended = tools
            .update(&change("t", "completed"), cwd, now)
            .ended
            .unwrap();
        assert_eq!(ended.content, [Part::Text(Excerpt::of("one\ntwo"))]);
        assert_eq!(tools.kept, 0);
        let late = change("t", "completed").with_content(vec![text("late")]);
        assert_eq!(tools.update(&late, cwd, now), News::default());
        assert_eq!(tools.kept, 0);
    }

    #[test]
    fn calls_that_are_remembered_have_a_limit() {
        let mut tools = Tools::default();
        let (cwd, now) = (Path::new("/"), Instant::now());
        for n in 0..2 * MAX_TOOLS {
            let call = call(&n.to_string(), "pending");
            tools.call(&call.with_content(vec![text("x")]), cwd, now);
        }
        assert_eq!(tools.calls.len(), MAX_TOOLS);
        assert_eq!(tools.order.len(), MAX_TOOLS);
        assert_eq!(tools.running.len(), MAX_TOOLS);
        assert_eq!(tools.kept, MAX_TOOLS);
    }

    #[test]
    fn content_that_is_kept_has_a_limit() {
        let mut tools = Tools::default();
        let (cwd, now) = (Path::new("/"), Instant::now());
        let large = "x".repeat(MAX_COMPARED - 1) + "\n";
        let calls = 2 * MAX_KEPT / (2 * MAX_COMPARED);
        for n in 0..calls {
            let diff = Diff::new("/a", large.as_str()).with_old_text(large.as_str());
            let call = call(&n.to_string(), "pending");
            tools.call(&call.with_content(vec![diff.into()]), cwd, now);
        }
        let small = calls / 2 + 1;
        assert!(
            tools.kept <= MAX_KEPT + small,
            "{} bytes are kept",
            tools.kept
        );
        let sizes: usize = tools.calls.values().map(|entry| size(&entry.content)).sum();
        assert_eq!(tools.kept, sizes);
        let newest = &tools.calls[&ToolCallId::from((calls - 1).to_string().as_str())];
        let path = "a".to_owned();
        let counted = Part::LargeChange {
            path,
            old: 1,
            new: 1,
        };
        assert_eq!(newest.content, [counted]);
    }
}
