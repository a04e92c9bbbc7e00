//! What a person sees: the agent's text on one side, what it does on the other.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use acp_conversation::{Conversation, ConversationChange, MessageRole};
use acp_protocol::Patch;
use acp_protocol::v1::{
    CompactionStatus, ContentBlock, ContentChunk, Notice, NoticeSeverity, SessionUpdate, ToolCallId,
};
use acp_text::{Clean, ScreenWriter, clean};

use super::excerpt::count;
use super::label::{ACP, ALSO, LINK, LOST, Label, NEWS, PLAN, THOUGHT, bracketed};
use super::line::{Line, one_line, shown};
use super::page::{Facts, Fit, INDENT, INDENT_BELOW, Look, Page};
use super::plan::Steps;
use super::rows::Rows;
use super::said;
use super::style::Tone;
use super::thought;
use super::tools::Tools;
use super::usage;
use crate::outcome::Failure;

/// Shows a turn.
pub(super) struct Screen<O, E> {
    pub(super) page: Page<O, E>,
    began: Instant,
    pub(super) cwd: PathBuf,
    pub(super) conversation: Conversation,
    pub(super) tools: Tools,
    pub(super) used_tools: usize,
    /// Where the thought that goes on begins in its message.
    thought: Option<usize>,
    /// What goes on, in words; nothing before it begins and after it ended.
    status: Option<Clean<'static>>,
}

impl<O: Write, E: Write> Screen<O, E> {
    pub(super) fn new(
        out: ScreenWriter<O>,
        err: ScreenWriter<E>,
        facts: Facts,
        look: Look,
        now: Instant,
    ) -> Self {
        Self {
            page: Page::new(out, err, facts, look, now),
            began: now,
            cwd: PathBuf::new(),
            conversation: Conversation::new(),
            tools: Tools::default(),
            used_tools: 0,
            thought: None,
            status: None,
        }
    }

    /// It is this late.
    pub(super) fn at(&mut self, now: Instant) -> &mut Self {
        self.page.at(now);
        self
    }

    /// Paths in this folder are shown without it.
    pub(super) fn in_folder(&mut self, cwd: PathBuf) {
        self.cwd = cwd;
    }

    /// Says what goes on, in the last of the rows that are drawn again and again.
    pub(super) fn status(&mut self, words: &Clean<'_>) {
        self.status = Some(words.clone().into_owned());
        self.settle();
    }

    /// Draws what has changed, if it is time.
    pub(super) fn settle(&mut self) {
        if !self.page.is_time() {
            return;
        }
        let now = self.page.now();
        let rows = Rows {
            took: now.saturating_duration_since(self.began),
            running: self
                .tools
                .running(&self.conversation.tool_calls, &self.cwd, now),
            plan: Steps::of(&self.conversation),
            thought: self
                .thought
                .and_then(|from| thought_of(&self.conversation, from, 0)),
            usage: self.conversation.usage.as_ref(),
            status: self.status.as_ref(),
        };
        self.page.draw(|height, style| rows.lines(height, style));
    }

    /// Tells whether rows are on the screen that have to be taken away.
    pub(super) fn is_up(&self) -> bool {
        self.page.is_up()
    }

    /// Returns the conversation as it was read so far.
    pub(super) fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Takes note of an update of the turn, and shows nothing.
    pub(super) fn read(&mut self, update: &SessionUpdate) {
        self.conversation.update(update);
    }

    /// Takes note that updates of the turn were lost.
    pub(super) fn lose(&mut self, updates: u64) {
        self.conversation.lose(updates);
    }

    /// Shows one update of the turn.
    pub(super) fn update(&mut self, update: &SessionUpdate) -> io::Result<()> {
        match update {
            SessionUpdate::AgentThoughtChunk(chunk) => return self.think(update, chunk),
            // Drawn with whatever comes next, or known for the next prompt and not for
            // this one.
            SessionUpdate::UsageUpdate(_)
            | SessionUpdate::UserMessageChunk(_)
            | SessionUpdate::AvailableCommandsUpdate(_)
            | SessionUpdate::ConfigOptionUpdate(_)
            | SessionUpdate::CompactionSummaryChunk(_) => {
                self.read(update);
                return Ok(());
            }
            SessionUpdate::Plan(_) => {
                self.end_thought()?;
                let before = Steps::of(&self.conversation);
                self.read(update);
                return self.plan(&before);
            }
            _ => {}
        }
        self.end_thought()?;
        match self.conversation.update(update) {
            ConversationChange::ToolCall(change) => {
                let id = change.call.id.clone();
                let (begins, ends) = (change.begins, change.ends);
                self.tools.note(&change, self.page.now());
                self.used_tools += usize::from(begins);
                return match ends {
                    true => self.ended(&id, true),
                    false => {
                        self.settle();
                        Ok(())
                    }
                };
            }
            ConversationChange::Message(change) if change.begins && !change.resumes => {
                self.page.end_text_line()?;
            }
            _ => {}
        }
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => self.text(chunk),
            SessionUpdate::Notice(notice) => self.notice(notice),
            SessionUpdate::CurrentModeUpdate(news) => {
                self.news(&clean!("mode"), &one_line(news.current_mode_id.as_str()))
            }
            SessionUpdate::SessionInfoUpdate(news) => match &news.title {
                Patch::Set(title) => self.news(&clean!("title"), &one_line(title)),
                _ => Ok(()),
            },
            SessionUpdate::CompactionUpdate(news) => {
                let words = match news.status {
                    CompactionStatus::InProgress => clean!("is being shortened"),
                    CompactionStatus::Completed => clean!("was shortened"),
                    _ => clean!("could not be shortened"),
                };
                self.news(&clean!("the conversation"), &words)
            }
            _ => Ok(()),
        }
    }

    /// Says that updates were lost.
    pub(super) fn gap(&mut self, dropped: u64) -> io::Result<()> {
        let words = match dropped {
            1 => clean!("1 update: too long to be read, or too much to be kept"),
            _ => clean!(
                "{} updates: too long to be read, or too many to be kept",
                dropped
            ),
        };
        self.say_line(&LOST, Line::new().with(Tone::Plain, words))
    }

    /// Says that an update could not be read.
    pub(super) fn unreadable(&mut self, why: &Clean<'_>) -> io::Result<()> {
        let words = clean!("1 update that cannot be read: {}", why);
        self.say_line(&LOST, Line::new().with(Tone::Plain, words))
    }

    /// Leaves the terminal as it should be, whatever is unfinished.
    pub(super) fn leave(&mut self) {
        self.status = None;
        self.page.make_way();
    }

    /// Shows what came before the turn: of that, warnings alone are of interest.
    pub(super) fn earlier(&mut self, update: &SessionUpdate) -> io::Result<()> {
        match update {
            SessionUpdate::Notice(_) => self.update(update),
            _ => Ok(()),
        }
    }

    /// Says something of our own.
    pub(super) fn say(&mut self, text: &Clean<'_>) -> io::Result<()> {
        self.say_line(&ACP, Line::new().with(Tone::Plain, text))
    }

    /// Shows a text as it is, and nothing where there is none.
    pub(super) fn report(&mut self, text: &str) -> io::Result<()> {
        self.page.make_way();
        if text.is_empty() {
            return Ok(());
        }
        self.page.text(text)?;
        self.page.end_text_line()
    }

    /// Ends what is unfinished, the line of the text with it, and says what it all took.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        let mut done = self.end_thought();
        for call in self.tools.end_all() {
            done = done.and(self.ended(&call, false));
        }
        let is_live = self.page.facts().live && self.status.take().is_some();
        let plan = Steps::of(&self.conversation);
        if is_live && !plan.is_empty() {
            let lines = plan.lines(usize::MAX, &self.page.style(INDENT_BELOW));
            let head = Line::new().with(Tone::Faint, clean!("plan {}", plan.progress()));
            done = done.and(self.page.push(head, Fit::Cut, &lines));
        }
        done = done.and(self.page.end_text_line());
        if is_live {
            let took = self.page.now().saturating_duration_since(self.began);
            let mut words: Vec<_> = said::spoken(took).into_iter().collect();
            if self.used_tools > 0 {
                words.push(count(self.used_tools, &clean!("tool"), &clean!("tools")));
            }
            words.extend(usage::words(self.conversation.usage.as_ref()));
            let words = Clean::join(words, &self.page.style(INDENT).signs.dot);
            if !words.is_empty() {
                let line = Line::new().with(Tone::Faint, words);
                done = done.and(self.page.push(line, Fit::Wrap, &[]));
            }
        }
        self.page.make_way();
        done
    }

    /// Says what went wrong, and what to do about it.
    pub(super) fn fail(&mut self, failure: &Failure) -> io::Result<()> {
        self.page.fail(failure)
    }

    fn text(&mut self, chunk: &ContentChunk) -> io::Result<()> {
        match &chunk.content {
            ContentBlock::Text(text) if text.text.is_empty() => Ok(()),
            ContentBlock::Text(text) => self.page.text(&text.text),
            ContentBlock::ResourceLink(link) => {
                self.say_line(&LINK, Line::new().with(Tone::Plain, one_line(&link.uri)))
            }
            other => {
                let words = clean!("a piece of {}, which is not shown", one_line(other.tag()));
                self.say_line(&ALSO, Line::new().with(Tone::Plain, words))
            }
        }
    }

    fn plan(&mut self, before: &Steps) -> io::Result<()> {
        if self.page.facts().live {
            self.settle();
            return Ok(());
        }
        let plan = Steps::of(&self.conversation);
        let words = match plan.since(before) {
            Some(words) if words.is_empty() => return Ok(()),
            Some(words) => words,
            None => plan.in_one_line(),
        };
        let words = clean!("{} {}", plan.progress(), words);
        self.say_line(&PLAN, Line::new().with(Tone::Plain, words))
    }

    /// Adds the line of a call that ended, or of which nothing more is heard, and what it
    /// showed below.
    fn ended(&mut self, id: &ToolCallId, has_status: bool) -> io::Result<()> {
        let Some(call) = self.conversation.tool_calls.get(id) else {
            return Ok(());
        };
        let mut shown = self.tools.show(call, &self.cwd, self.page.now());
        shown.has_status = has_status;
        let body = said::body(&shown, &self.page.style(INDENT_BELOW));
        let line = match self.page.facts().drawn {
            true => said::ended(&shown, &self.page.style(INDENT)),
            false => bracketed(&clean!("tool")).and(said::in_words(&shown)),
        };
        self.push(line, Fit::Cut, &body)
    }

    /// Takes note of what the agent thinks; a thought of another id is another one.
    fn think(&mut self, update: &SessionUpdate, chunk: &ContentChunk) -> io::Result<()> {
        let added = chunk.as_text().map_or(0, str::len);
        let ConversationChange::Message(change) = self.conversation.update(update) else {
            return Ok(());
        };
        let length = change.message.text.len();
        let begins = change.begins;
        let before = self.thought.filter(|_| begins);
        let from = self.thought.filter(|_| !begins);
        self.thought = from.or_else(|| Some(length.saturating_sub(added)));
        if let Some(before) = before {
            self.say_thought(before, 1)?;
        }
        self.settle();
        Ok(())
    }

    fn notice(&mut self, notice: &Notice) -> io::Result<()> {
        let severity = one_line(notice.severity.as_str());
        let label = Label::of_notice(&notice.severity);
        let tone = match notice.severity {
            NoticeSeverity::Info => Tone::Plain,
            _ => label.tone,
        };
        let mut line = Line::new()
            .with(tone, clean!("{}: ", severity))
            .with(Tone::Plain, one_line(&notice.title));
        if let Some(more) = notice.description.as_deref().map(shown) {
            line = line.with(Tone::Faint, clean!(" {}", more).trim_end());
        }
        self.say_line(&label, line)
    }

    /// Says what changed in the session, in few words.
    fn news(&mut self, what: &Clean<'_>, how: &Clean<'_>) -> io::Result<()> {
        let words = clean!("{} {}", what, how);
        self.say_line(&NEWS, Line::new().with(Tone::Faint, words))
    }

    pub(super) fn end_thought(&mut self) -> io::Result<()> {
        match self.thought.take() {
            Some(from) => self.say_thought(from, 0),
            None => Ok(()),
        }
    }

    fn say_thought(&mut self, from: usize, back: usize) -> io::Result<()> {
        // What stands before it: the sign, or the word in brackets.
        let style = self.page.style(2 * INDENT);
        let thought = thought_of(&self.conversation, from, back);
        match thought.and_then(|thought| thought::words(thought, &style)) {
            Some(words) => self.say_line(&THOUGHT, Line::new().with(Tone::Faint, words)),
            None => Ok(()),
        }
    }

    pub(super) fn say_line(&mut self, label: &Label, line: Line) -> io::Result<()> {
        let head = label.line(self.page.facts().drawn);
        self.push(head.and(line), Fit::Wrap, &[])
    }

    pub(super) fn push(&mut self, head: Line, fit: Fit, body: &[Line]) -> io::Result<()> {
        let pushed = self.page.push(head, fit, body);
        self.settle();
        pushed
    }
}

/// Returns the last message that is a thought, or one so far back, from there on.
fn thought_of(conversation: &Conversation, from: usize, back: usize) -> Option<&str> {
    let thoughts = conversation.turn.messages(MessageRole::Thought);
    thoughts.rev().nth(back)?.text.get(from..)
}
