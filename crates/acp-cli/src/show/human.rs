//! What a person sees: the agent's text on one side, what it does on the other.

use std::io::{self, Write};

use acp_client::{Decision, Reason, ToolFacts};
use acp_protocol::v1::{
    ContentBlock, ContentChunk, MessageId, Plan, PlanEntryStatus, SessionUpdate,
};

use super::line::{harmless, one_line, shown};
use super::tool_lines::{News, ToolLines};
use crate::outcome::Failure;

/// Which of the two streams are terminals, and whether to use colours.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Terminals {
    pub(crate) out: bool,
    pub(crate) err: bool,
    pub(crate) colour: bool,
}

/// Prints a turn: text to `out`, everything else to `err`.
pub(crate) struct Screen<O, E> {
    out: O,
    err: E,
    terminals: Terminals,
    /// Whether `out` stands at the beginning of a line.
    at_line_start: bool,
    /// Whether a tool call was announced since the last text.
    after_tool: bool,
    message: Option<MessageId>,
    tools: ToolLines,
}

impl<O: Write, E: Write> Screen<O, E> {
    pub(crate) fn new(out: O, err: E, terminals: Terminals) -> Self {
        Self {
            out,
            err,
            terminals,
            at_line_start: true,
            after_tool: false,
            message: None,
            tools: ToolLines::default(),
        }
    }

    /// Shows one update of the turn.
    pub(crate) fn update(&mut self, update: &SessionUpdate) -> io::Result<()> {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => self.text(chunk),
            SessionUpdate::ToolCall(call) => {
                let news = self.tools.call(call);
                self.tool(news)
            }
            SessionUpdate::ToolCallUpdate(change) => {
                let news = self.tools.update(change);
                self.tool(news)
            }
            SessionUpdate::Plan(plan) => self.plan(plan),
            SessionUpdate::Notice(notice) => {
                let severity = one_line(notice.severity.as_str());
                self.line("note", &format!("{severity}: {}", one_line(&notice.title)))
            }
            _ => Ok(()),
        }
    }

    /// Says that updates were lost.
    pub(crate) fn gap(&mut self, dropped: u64) -> io::Result<()> {
        self.line(
            "lost",
            &format!("{dropped} updates came too fast to be kept"),
        )
    }

    /// Says what was answered to a permission request.
    pub(crate) fn permission(&mut self, tool: &ToolFacts, decision: &Decision) -> io::Result<()> {
        let kind = tool.kind().map_or("tool", |kind| kind.as_str());
        let title = one_line(tool.title().unwrap_or("a tool"));
        let answer = if decision.allowed {
            "allowed"
        } else {
            "refused"
        };
        let hint = match decision.reason {
            _ if decision.allowed => "",
            // No level of it helps.
            Reason::AskedAsChoice => "",
            _ => "; see --allow",
        };
        let reason = one_line(&decision.reason.to_string());
        self.line(
            "asks",
            &format!("{} {title}: {answer} ({reason}{hint})", one_line(kind)),
        )
    }

    /// Says what was answered to a question.
    pub(crate) fn asked(&mut self, text: &str) -> io::Result<()> {
        self.line("asks", text)
    }

    /// Says what the agent was served.
    pub(crate) fn served(&mut self, label: &str, text: &str) -> io::Result<()> {
        self.line(label, text)
    }

    /// Shows a question as it is; what is typed stands behind it.
    pub(crate) fn ask(&mut self, text: &str) -> io::Result<()> {
        if self.terminals.out {
            self.end_text_line()?;
        }
        self.err.write_all(text.as_bytes())?;
        self.err.flush()
    }

    /// Shows what came before the turn: of that, warnings alone are of interest.
    pub(crate) fn earlier(&mut self, update: &SessionUpdate) -> io::Result<()> {
        match update {
            SessionUpdate::Notice(_) => self.update(update),
            _ => Ok(()),
        }
    }

    /// Says something of our own.
    pub(crate) fn say(&mut self, text: &str) -> io::Result<()> {
        self.line("acp", text)
    }

    /// Shows a text as it is, and nothing where there is none.
    pub(crate) fn report(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if self.terminals.out {
            self.out.write_all(harmless(text).as_bytes())?;
        } else {
            self.out.write_all(text.as_bytes())?;
        }
        self.at_line_start = text.ends_with('\n');
        self.end_text_line()?;
        self.out.flush()
    }

    /// Ends the text with the end of its line.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.end_text_line()
    }

    /// Says what went wrong, and what to do about it.
    pub(crate) fn fail(&mut self, failure: &Failure) -> io::Result<()> {
        let (strong, plain) = if self.terminals.colour {
            ("\x1b[1m", "\x1b[0m")
        } else {
            ("", "")
        };
        writeln!(self.err, "{strong}acp: {}{plain}", failure.message)?;
        if let Some(hint) = &failure.hint {
            writeln!(self.err, "  {hint}")?;
        }
        if let Some(words) = &failure.last_words {
            writeln!(self.err, "  the agent wrote last:")?;
            for line in words.lines() {
                writeln!(self.err, "  | {}", shown(line))?;
            }
        }
        if let Some(noise) = &failure.noise {
            writeln!(
                self.err,
                "  its standard output has a line that is no message:"
            )?;
            writeln!(self.err, "  | {}", shown(noise))?;
        }
        Ok(())
    }

    fn text(&mut self, chunk: &ContentChunk) -> io::Result<()> {
        match &chunk.content {
            ContentBlock::Text(text) if text.text.is_empty() => Ok(()),
            ContentBlock::Text(text) => {
                if self.begins_message(chunk) {
                    self.end_text_line()?;
                }
                self.at_line_start = text.text.ends_with('\n');
                if self.terminals.out {
                    self.out.write_all(harmless(&text.text).as_bytes())?;
                } else {
                    self.out.write_all(text.text.as_bytes())?;
                }
                self.out.flush()
            }
            ContentBlock::ResourceLink(link) => self.line("link", &one_line(&link.uri)),
            other => self.line(
                "also",
                &format!("a piece of {}, which is not shown", one_line(other.tag())),
            ),
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
        let entries: Vec<String> = plan
            .entries
            .iter()
            .map(|entry| {
                let mark = match entry.status {
                    PlanEntryStatus::Completed => "[x]",
                    PlanEntryStatus::InProgress => "[>]",
                    _ => "[ ]",
                };
                format!("{mark} {}", one_line(&entry.content))
            })
            .collect();
        self.line("plan", &entries.join("  "))
    }

    fn tool(&mut self, news: Option<News>) -> io::Result<()> {
        match news {
            Some(News::Begins(line)) => {
                self.after_tool = true;
                self.line("tool", &line)
            }
            Some(News::Ends { line, at_once }) => {
                self.after_tool |= at_once;
                self.line("tool", &line)
            }
            None => Ok(()),
        }
    }

    fn line(&mut self, label: &str, text: &str) -> io::Result<()> {
        if self.terminals.out && self.terminals.err && !self.at_line_start {
            // Both streams meet on the screen: leave the unfinished line alone.
            self.end_text_line()?;
        }
        let (faint, plain) = if self.terminals.colour {
            ("\x1b[2m", "\x1b[0m")
        } else {
            ("", "")
        };
        // A standard error that nobody reads is no reason to stop.
        let _ = writeln!(self.err, "{faint}[{label}] {text}{plain}");
        Ok(())
    }

    fn end_text_line(&mut self) -> io::Result<()> {
        if !self.at_line_start {
            self.at_line_start = true;
            self.out.write_all(b"\n")?;
            self.out.flush()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acp_client::{Allow, Policy};
    use acp_protocol::v1::{
        Notice, NoticeSeverity, PermissionOption, PermissionOptionKind, PlanEntry,
        PlanEntryPriority, ToolCall, ToolCallStatus, ToolCallUpdate, ToolKind,
    };

    /// Both streams.
    fn shown(
        terminals: Terminals,
        act: impl FnOnce(&mut Screen<Vec<u8>, Vec<u8>>),
    ) -> (String, String) {
        let mut screen = Screen::new(Vec::new(), Vec::new(), terminals);
        act(&mut screen);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(screen.out), text(screen.err))
    }

    fn piped(act: impl FnOnce(&mut Screen<Vec<u8>, Vec<u8>>)) -> (String, String) {
        shown(Terminals::default(), act)
    }

    fn text(text: &str) -> SessionUpdate {
        SessionUpdate::AgentMessageChunk(ContentChunk::new(ContentBlock::text(text)))
    }

    fn of_message(id: &str, text: &str) -> SessionUpdate {
        SessionUpdate::AgentMessageChunk(
            ContentChunk::new(ContentBlock::text(text)).with_message_id(id),
        )
    }

    fn tool(id: &str, status: &str) -> SessionUpdate {
        let call = ToolCall::new(id, "Read\nnotes.md").with_kind(ToolKind::Read);
        SessionUpdate::ToolCall(Box::new(call.with_status(ToolCallStatus::from(status))))
    }

    fn change(id: &str, status: &str) -> SessionUpdate {
        SessionUpdate::ToolCallUpdate(Box::new(
            ToolCallUpdate::new(id).with_status(ToolCallStatus::from(status)),
        ))
    }

    #[test]
    fn text_goes_out_as_it_is_and_its_last_line_gets_an_end() {
        let (out, err) = piped(|screen| {
            for part in ["Hel", "lo\u{1b}[1m", "", "\n\nwor", "ld"] {
                screen.update(&text(part)).unwrap();
            }
            screen.finish().unwrap();
        });
        assert_eq!(out, "Hello\u{1b}[1m\n\nworld\n");
        assert_eq!(err, "");
        let (out, _) = piped(|screen| {
            screen.update(&text("ends\n")).unwrap();
            screen.finish().unwrap();
        });
        assert_eq!(out, "ends\n");
        let (out, _) = piped(|screen| screen.finish().unwrap());
        assert_eq!(out, "");
    }

    #[test]
    fn messages_stand_on_lines_of_their_own() {
        let (out, _) = piped(|screen| {
            screen.update(&text("I shall look.")).unwrap();
            screen.update(&tool("t", "pending")).unwrap();
            screen.update(&change("t", "completed")).unwrap();
            screen.update(&text("Do")).unwrap();
            screen.update(&change("t", "completed")).unwrap();
            screen.update(&text("ne.")).unwrap();
        });
        assert_eq!(out, "I shall look.\nDone.");
        let (out, _) = piped(|screen| {
            screen.update(&of_message("a", "one ")).unwrap();
            screen.update(&tool("t", "pending")).unwrap();
            screen.update(&of_message("a", "more")).unwrap();
            screen.update(&of_message("b", "two")).unwrap();
        });
        assert_eq!(out, "one more\ntwo");
    }

    #[test]
    fn a_plan_is_one_line() {
        let entry = |content: &str, status| {
            PlanEntry::new(
                content,
                PlanEntryPriority::Medium,
                PlanEntryStatus::from(status),
            )
        };
        let plan = Plan::new(vec![
            entry("Look", "completed"),
            entry("Change\nit", "in_progress"),
            entry("Tell", "pending"),
        ]);
        let (_, err) = piped(|screen| screen.update(&SessionUpdate::Plan(plan)).unwrap());
        assert_eq!(err, "[plan] [x] Look  [>] Change it  [ ] Tell\n");
    }

    #[test]
    fn answers_to_permission_requests_say_why() {
        let mut facts = ToolFacts::new("t".into());
        facts.learn_update(
            &ToolCallUpdate::new("t")
                .with_kind(ToolKind::Execute)
                .with_title("rm -r /"),
        );
        let options = [PermissionOption::new(
            "y",
            "Yes",
            PermissionOptionKind::AllowOnce,
        )];
        let said = |allow| {
            let decision = Policy::new(allow, "/").decide(&facts, &options);
            piped(|screen| screen.permission(&facts, &decision).unwrap()).1
        };
        assert_eq!(
            said(Allow::Reads),
            "[asks] execute rm -r /: refused (execute tools are not allowed; see --allow)\n"
        );
        assert_eq!(
            said(Allow::All),
            "[asks] execute rm -r /: allowed (everything is allowed)\n"
        );
    }

    #[test]
    fn on_a_terminal_lines_do_not_run_into_each_other_and_commands_are_taken_out() {
        let terminals = Terminals {
            out: true,
            err: true,
            colour: true,
        };
        let (out, err) = shown(terminals, |screen| {
            screen.update(&text("Let me \u{1b}]0;x\u{7}see")).unwrap();
            screen.update(&tool("t", "pending")).unwrap();
            screen.update(&text("So.\n")).unwrap();
            screen.finish().unwrap();
        });
        assert_eq!(out, "Let me ]0;xsee\nSo.\n");
        assert_eq!(err, "\u{1b}[2m[tool] read Read notes.md\u{1b}[0m\n");
    }

    #[test]
    fn before_the_turn_warnings_alone_are_shown() {
        let notice =
            SessionUpdate::Notice(Box::new(Notice::new(NoticeSeverity::Warning, "Old model")));
        let (out, err) = piped(|screen| {
            screen.earlier(&text("banner v1")).unwrap();
            screen.earlier(&tool("t", "failed")).unwrap();
            screen.earlier(&notice).unwrap();
        });
        assert_eq!(
            (out.as_str(), err.as_str()),
            ("", "[note] warning: Old model\n")
        );
    }

    #[test]
    fn a_failure_says_what_to_do_and_what_the_agent_said_last() {
        let failure = Failure {
            message: "failed to go on".to_owned(),
            hint: Some("try again".to_owned()),
            last_words: Some("boom\n\u{1b}[31mbang\n".to_owned()),
            noise: Some("Loaded credentials.".into()),
        };
        let (_, err) = piped(|screen| screen.fail(&failure).unwrap());
        assert_eq!(
            err,
            "acp: failed to go on\n  try again\n  the agent wrote last:\n  | boom\n  | [31mbang\n  \
             its standard output has a line that is no message:\n  | Loaded credentials.\n"
        );
    }
}
