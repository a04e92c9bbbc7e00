//! What a person sees: the agent's text on one side, what it does on the other.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use acp_client::{Decision, Reason, ToolFacts};
use acp_protocol::Patch;
use acp_protocol::v1::{
    CompactionStatus, ContentBlock, ContentChunk, MessageId, Notice, NoticeSeverity, Plan,
    SessionUpdate, ToolCallUpdate,
};

use super::excerpt::{Excerpt, count};
use super::label::{ACP, ALSO, ASKS, LINK, LOST, Label, NEWS, PLAN, THOUGHT, bracketed};
use super::line::{Line, one_line, shown};
use super::page::{Facts, Fit, INDENT, INDENT_BELOW, Look, Page};
use super::plan::Steps;
use super::rows::Rows;
use super::said;
use super::style::Tone;
use super::thought::Thought;
use super::tools::{Ended, News, Tools};
use super::usage::Usage;
use crate::outcome::Failure;

/// Shows a turn.
pub(super) struct Screen<O, E> {
    page: Page<O, E>,
    began: Instant,
    cwd: PathBuf,
    /// Whether a tool call was announced since the last text.
    after_tool: bool,
    message: Option<MessageId>,
    tools: Tools,
    used_tools: usize,
    plan: Steps,
    thought: Option<Thought>,
    usage: Usage,
    /// What goes on, in words; nothing before it begins and after it ended.
    status: Option<String>,
}

impl<O: Write, E: Write> Screen<O, E> {
    pub(super) fn new(out: O, err: E, facts: Facts, look: Look, now: Instant) -> Self {
        Self {
            page: Page::new(out, err, facts, look, now),
            began: now,
            cwd: PathBuf::new(),
            after_tool: false,
            message: None,
            tools: Tools::default(),
            used_tools: 0,
            plan: Steps::default(),
            thought: None,
            usage: Usage::default(),
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
    pub(super) fn status(&mut self, words: &str) {
        self.status = Some(one_line(words));
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
            now,
            tools: &self.tools,
            plan: &self.plan,
            thought: self.thought.as_ref(),
            usage: &self.usage,
            status: self.status.as_deref(),
        };
        self.page.draw(|height, style| rows.lines(height, style));
    }

    /// Tells whether rows are on the screen that have to be taken away.
    pub(super) fn is_up(&self) -> bool {
        self.page.is_up()
    }

    /// Shows one update of the turn.
    pub(super) fn update(&mut self, update: &SessionUpdate) -> io::Result<()> {
        match update {
            SessionUpdate::AgentThoughtChunk(chunk) => {
                if let ContentBlock::Text(text) = &chunk.content {
                    self.thought.get_or_insert_default().add(&text.text);
                }
                self.settle();
                return Ok(());
            }
            SessionUpdate::UsageUpdate(usage) => {
                self.usage = Usage::of(usage);
                return Ok(());
            }
            // Known for the next prompt, not for this one.
            SessionUpdate::UserMessageChunk(_)
            | SessionUpdate::AvailableCommandsUpdate(_)
            | SessionUpdate::ConfigOptionUpdate(_)
            | SessionUpdate::CompactionSummaryChunk(_) => return Ok(()),
            _ => {}
        }
        self.end_thought()?;
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => self.text(chunk),
            SessionUpdate::ToolCall(call) => {
                let news = self.tools.call(call, &self.cwd, self.page.now());
                self.tool(news)
            }
            SessionUpdate::ToolCallUpdate(change) => {
                let news = self.tools.update(change, &self.cwd, self.page.now());
                self.tool(news)
            }
            SessionUpdate::Plan(plan) => self.plan(plan),
            SessionUpdate::Notice(notice) => self.notice(notice),
            SessionUpdate::CurrentModeUpdate(news) => {
                self.news("mode", news.current_mode_id.as_str())
            }
            SessionUpdate::SessionInfoUpdate(news) => match &news.title {
                Patch::Set(title) => self.news("title", title),
                _ => Ok(()),
            },
            SessionUpdate::CompactionUpdate(news) => {
                let words = match news.status {
                    CompactionStatus::InProgress => "is being shortened",
                    CompactionStatus::Completed => "was shortened",
                    _ => "could not be shortened",
                };
                self.news("the conversation", words)
            }
            _ => Ok(()),
        }
    }

    /// Says that updates were lost.
    pub(super) fn gap(&mut self, dropped: u64) -> io::Result<()> {
        let words = format!("{dropped} updates came too fast to be kept");
        self.say_line(&LOST, Line::new().with(Tone::Plain, words))
    }

    /// Says what was answered to a permission request.
    pub(super) fn permission(&mut self, tool: &ToolFacts, decision: &Decision) -> io::Result<()> {
        self.end_thought()?;
        let kind = tool.kind().map_or("tool", |kind| kind.as_str());
        let title = one_line(tool.title().unwrap_or("a tool"));
        let (answer, tone) = match decision.allowed {
            true => ("allowed", Tone::Good),
            false => ("refused", Tone::Bad),
        };
        let hint = match decision.reason {
            _ if decision.allowed => "",
            // No level of it helps.
            Reason::AskedAsChoice => "",
            _ => "; see --allow",
        };
        let reason = one_line(&decision.reason.to_string());
        let line = Line::new()
            .with(Tone::Plain, format!("{} {title}: ", one_line(kind)))
            .with(tone, answer)
            .with(Tone::Faint, format!(" ({reason}{hint})"));
        self.say_line(&ASKS, line)
    }

    /// Says what was answered to a question.
    pub(super) fn asked(&mut self, text: &str) -> io::Result<()> {
        self.end_thought()?;
        self.say_line(&ASKS, Line::new().with(Tone::Plain, text))
    }

    /// A command that was served ended, and wrote this; the call it belongs to shows it.
    pub(super) fn wrote(&mut self, terminal: &str, output: &Excerpt) {
        self.tools.wrote(terminal, output);
    }

    /// Says what the agent was served.
    pub(super) fn served(&mut self, what: &'static str, text: &str) -> io::Result<()> {
        let label = Label::of_served(what);
        self.say_line(&label, Line::new().with(Tone::Plain, text))
    }

    /// Shows what a call would do about which somebody is going to be asked.
    pub(super) fn preview(&mut self, call: &ToolCallUpdate) -> io::Result<()> {
        self.end_thought()?;
        let (style, below) = (self.page.style(INDENT), self.page.style(INDENT_BELOW));
        let (drawn, now) = (self.page.facts().drawn, self.page.now());
        let Some((call, content)) = self.tools.preview(call, &self.cwd, now) else {
            return Ok(());
        };
        let body = said::body(call, content, &below);
        if body.is_empty() {
            // The question says the rest.
            return Ok(());
        }
        let line = match drawn {
            true => said::running(call, now, style.signs.waiting, &style),
            false => bracketed("tool").with(Tone::Plain, format!("{}: would do this", call.name())),
        };
        self.push(line, Fit::Cut, &body)
    }

    /// Shows a question as it is; what is typed stands behind it. Nothing is drawn until it
    /// is [answered](Self::answered).
    pub(super) fn ask(&mut self, text: &str) -> io::Result<()> {
        self.end_thought()?;
        self.page.ask(text)
    }

    /// What was asked is answered, or nobody wants to know any more.
    pub(super) fn answered(&mut self) {
        self.page.answered();
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
    pub(super) fn say(&mut self, text: &str) -> io::Result<()> {
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
        for call in self.tools.end_all(self.page.now()) {
            done = done.and(self.ended(&call));
        }
        let is_live = self.page.facts().live;
        let plan = std::mem::take(&mut self.plan);
        if is_live && !plan.is_empty() {
            let lines = plan.lines(usize::MAX, &self.page.style(INDENT_BELOW));
            let head = Line::new().with(Tone::Faint, format!("plan {}", plan.progress()));
            done = done.and(self.page.push(head, Fit::Cut, &lines));
        }
        done = done.and(self.page.end_text_line());
        if self.status.take().is_some() && is_live {
            let took = self.page.now().saturating_duration_since(self.began);
            let mut words: Vec<_> = said::spoken(took).into_iter().collect();
            if self.used_tools > 0 {
                words.push(count(self.used_tools, "tool", "tools"));
            }
            words.extend(self.usage.words());
            let words = words.join(self.page.style(INDENT).signs.dot);
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
            ContentBlock::Text(text) => {
                if self.begins_message(chunk) {
                    self.page.end_text_line()?;
                }
                self.page.text(&text.text)
            }
            ContentBlock::ResourceLink(link) => {
                self.say_line(&LINK, Line::new().with(Tone::Plain, one_line(&link.uri)))
            }
            other => {
                let words = format!("a piece of {}, which is not shown", one_line(other.tag()));
                self.say_line(&ALSO, Line::new().with(Tone::Plain, words))
            }
        }
    }

    /// Tells whether this text belongs to another message than the text before: by
    /// the id where both have one, else by a tool call in between.
    fn begins_message(&mut self, chunk: &ContentChunk) -> bool {
        let after_tool = std::mem::take(&mut self.after_tool);
        let begins = match (&self.message, &chunk.message_id) {
            (Some(before), Some(now)) => before != now,
            _ => after_tool,
        };
        self.message.clone_from(&chunk.message_id);
        begins
    }

    fn plan(&mut self, plan: &Plan) -> io::Result<()> {
        let before = std::mem::replace(&mut self.plan, Steps::of(plan));
        if self.page.facts().live {
            self.settle();
            return Ok(());
        }
        let words = match self.plan.since(&before) {
            Some(words) if words.is_empty() => return Ok(()),
            Some(words) => words,
            None => self.plan.in_one_line(),
        };
        let words = format!("{} {words}", self.plan.progress());
        self.say_line(&PLAN, Line::new().with(Tone::Plain, words))
    }

    fn tool(&mut self, news: News) -> io::Result<()> {
        self.after_tool |= news.begins;
        self.used_tools += usize::from(news.begins);
        match news.ended {
            Some(ended) => self.ended(&ended),
            None => {
                self.settle();
                Ok(())
            }
        }
    }

    /// Adds the line of a call that ended, and what it showed below.
    fn ended(&mut self, ended: &Ended) -> io::Result<()> {
        let body = said::body(&ended.call, &ended.content, &self.page.style(INDENT_BELOW));
        let line = match self.page.facts().drawn {
            true => said::ended(ended, &self.page.style(INDENT)),
            false => bracketed("tool").and(said::in_words(ended)),
        };
        self.push(line, Fit::Cut, &body)
    }

    fn notice(&mut self, notice: &Notice) -> io::Result<()> {
        let severity = one_line(notice.severity.as_str());
        let label = Label::of_notice(&notice.severity);
        let tone = match notice.severity {
            NoticeSeverity::Info => Tone::Plain,
            _ => label.tone,
        };
        let mut line = Line::new()
            .with(tone, format!("{severity}: "))
            .with(Tone::Plain, one_line(&notice.title));
        if let Some(more) = notice.description.as_deref().map(shown) {
            line = line.with(Tone::Faint, format!(" {more}").trim_end());
        }
        self.say_line(&label, line)
    }

    /// Says what changed in the session, in few words.
    fn news(&mut self, what: &str, how: &str) -> io::Result<()> {
        let words = format!("{what} {}", one_line(how));
        self.say_line(&NEWS, Line::new().with(Tone::Faint, words))
    }

    fn end_thought(&mut self) -> io::Result<()> {
        let Some(thought) = self.thought.take() else {
            return Ok(());
        };
        // What stands before it: the sign, or the word in brackets.
        match thought.words(&self.page.style(2 * INDENT)) {
            Some(words) => self.say_line(&THOUGHT, Line::new().with(Tone::Faint, words)),
            None => Ok(()),
        }
    }

    fn say_line(&mut self, label: &Label, line: Line) -> io::Result<()> {
        let head = label.line(self.page.facts().drawn);
        self.push(head.and(line), Fit::Wrap, &[])
    }

    fn push(&mut self, head: Line, fit: Fit, body: &[Line]) -> io::Result<()> {
        let pushed = self.page.push(head, fit, body);
        self.settle();
        pushed
    }
}
