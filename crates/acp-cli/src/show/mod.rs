//! Where a run is shown: to a person or to a program.

mod human;
mod json;
mod line;
mod tool_lines;

use std::env;
use std::io::{self, IsTerminal, Write, stderr, stdout};
use std::path::Path;

use acp_client::{Answer, Client, Decision, Question, RawLine, Session, ToolFacts, TurnEvent};
use acp_harness::report::TurnReport;
use acp_harness::turn::{Opened, Progress};
use acp_protocol::v1::{PermissionOption, SessionId};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::exit::Exit;
use crate::outcome::Outcome;
use crate::run::Served;
use human::{Screen, Terminals};
use json::Event;
pub(crate) use json::SCHEMA;
pub(crate) use line::{harmless, one_line, shown};

/// A session that was opened.
pub(crate) struct Open<'a> {
    /// What the agent is called here.
    pub(crate) agent: &'a str,
    pub(crate) client: &'a Client,
    pub(crate) session: &'a Session,
    pub(crate) opened: Opened,
    pub(crate) cwd: &'a Path,
}

/// How a run ended, and what came of it.
struct Ending<'a> {
    outcome: &'a Outcome,
    report: &'a TurnReport,
    session: Option<&'a SessionId>,
}

/// How a question was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answered {
    Accepted { by: By },
    Declined { by: By },
    Cancelled { by: By },
}

/// Who answered a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Person,
    /// The agent itself, by what it proposes.
    Defaults,
    Nobody,
}

impl By {
    fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Defaults => "defaults",
            Self::Nobody => "nobody",
        }
    }
}

impl Answered {
    /// Tells how a question was answered without a person.
    pub(crate) fn headless(question: &Question, answer: &Answer) -> Self {
        match question.link() {
            _ if answer.is_accepted() => Self::Accepted { by: By::Defaults },
            Some(_) => Self::Cancelled { by: By::Nobody },
            None => Self::Declined { by: By::Nobody },
        }
    }
}

type Sink = Box<dyn Write + Send>;

/// Who it is shown to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// A person, all of it as it comes.
    Human,
    /// A program, all of it as it comes.
    Json,
    /// Whoever wants to know what came of it alone.
    Quiet,
}

/// Shows what happens, in one of three ways.
pub(crate) struct Output {
    format: Format,
    /// What comes of the turn.
    report: TurnReport,
    session: Option<SessionId>,
    screen: Screen<Sink, Sink>,
    json: Option<Sink>,
    /// Whether standard output has failed: nothing more goes there.
    broken: bool,
}

impl Output {
    /// Shows on the standard streams of this process.
    pub(crate) fn standard(format: Format) -> Self {
        let (out, err) = (stdout(), stderr());
        let terminals = Terminals {
            out: out.is_terminal() && format != Format::Json,
            err: err.is_terminal(),
            colour: err.is_terminal() && wants_colour(),
        };
        Self::new(Box::new(out), Box::new(err), terminals, format)
    }

    fn new(out: Sink, err: Sink, terminals: Terminals, format: Format) -> Self {
        let (text, json) = match format {
            Format::Json => (Box::new(io::sink()) as Sink, Some(out)),
            Format::Human | Format::Quiet => (out, None),
        };
        Self {
            format,
            report: TurnReport::new(),
            session: None,
            screen: Screen::new(text, err, terminals),
            json,
            broken: false,
        }
    }

    /// Shows nothing.
    #[cfg(test)]
    pub(crate) fn nowhere() -> Self {
        Self::new(
            Box::new(io::sink()),
            Box::new(io::sink()),
            Terminals::default(),
            Format::Human,
        )
    }

    /// The session is open.
    pub(crate) fn session(&mut self, open: &Open<'_>) -> io::Result<()> {
        self.session = Some(open.session.id().clone());
        let Some(out) = &mut self.json else {
            return Ok(());
        };
        let agent = open.client.agent().ok();
        let (modes, options) = (open.session.modes(), open.session.config_options());
        let event = Event::Session {
            session_id: open.session.id(),
            opened: json::opened(open.opened),
            cwd: open.cwd,
            agent: open.agent,
            agent_info: agent.as_ref().and_then(|agent| agent.agent_info.as_ref()),
            modes: modes.as_ref(),
            config_options: options.as_deref(),
        };
        event.write(out)
    }

    /// Something happened, but for what is asked.
    pub(crate) fn event(&mut self, event: &TurnEvent) -> io::Result<()> {
        match event {
            TurnEvent::Update(update) => self.report.read(&update.update),
            TurnEvent::Gap { .. } => self.report.lose(),
            _ => {}
        }
        if self.format == Format::Quiet || self.broken {
            return Ok(());
        }
        match (&mut self.json, event) {
            (Some(out), TurnEvent::Update(update) | TurnEvent::Earlier(update)) => {
                as_sent(&update.line, out)
            }
            (Some(out), TurnEvent::Unreadable { line, .. }) => as_sent(line, out),
            (Some(out), TurnEvent::Gap { dropped }) => Event::Gap { dropped: *dropped }.write(out),
            (None, TurnEvent::Update(update)) => self.screen.update(&update.update),
            (None, TurnEvent::Earlier(update)) => self.screen.earlier(&update.update),
            (None, TurnEvent::Gap { dropped }) => self.screen.gap(*dropped),
            _ => Ok(()),
        }
    }

    /// A permission request was answered by the rules.
    pub(crate) fn permission(&mut self, tool: &ToolFacts, decision: &Decision) -> io::Result<()> {
        match &mut self.json {
            _ if self.broken || self.format == Format::Quiet => Ok(()),
            Some(out) => Event::permission(tool, decision).write(out),
            None => self.screen.permission(tool, decision),
        }
    }

    /// A permission request was answered by a person, who knows it.
    pub(crate) fn chosen(
        &mut self,
        tool: &ToolFacts,
        option: Option<&PermissionOption>,
    ) -> io::Result<()> {
        match &mut self.json {
            Some(out) if !self.broken => Event::chosen(tool, option).write(out),
            _ => Ok(()),
        }
    }

    /// A question was answered.
    pub(crate) fn question(&mut self, question: &Question, answered: Answered) -> io::Result<()> {
        match &mut self.json {
            _ if self.broken || self.format == Format::Quiet => Ok(()),
            Some(out) => Event::question(question, answered).write(out),
            None => {
                let how = match answered {
                    Answered::Accepted { by: By::Person }
                    | Answered::Declined { by: By::Person } => {
                        return Ok(());
                    }
                    Answered::Accepted { .. } => "answered by what it proposes",
                    _ => "declined, for nobody is asked; see --ask",
                };
                self.screen
                    .asked(&format!("{}: {how}", one_line(question.message())))
            }
        }
    }

    /// The agent was served a file or a command.
    pub(crate) fn served(&mut self, served: &Served) -> io::Result<()> {
        match &mut self.json {
            _ if self.broken || self.format == Format::Quiet => Ok(()),
            Some(out) => Event::served(served).write(out),
            None => match in_words(served) {
                Some((label, text)) => self.screen.served(label, &text),
                None => Ok(()),
            },
        }
    }

    /// Something happened on the way to the session.
    pub(crate) fn progress(&mut self, event: &Progress) {
        let Progress::Login { method, succeeded } = event else {
            return;
        };
        if let Some(out) = &mut self.json {
            let succeeded = *succeeded;
            // That standard output fails is found when the session is told of.
            let _ = Event::Login { method, succeeded }.write(out);
        }
        let how = match succeeded {
            None => "logging in by",
            Some(true) => "logged in by",
            Some(false) => "the agent refuses the login by",
        };
        self.tell(&format!("{how} {}", one_line(method.as_str())));
    }

    /// Shows a question to the person at the terminal, who types behind it.
    pub(crate) fn ask(&mut self, text: &str) -> io::Result<()> {
        self.screen.ask(text)
    }

    /// Something the person at the keyboard should know.
    pub(crate) fn say(&mut self, text: &str) {
        if let Some(out) = self.json.as_mut().filter(|_| !self.broken) {
            // That standard output fails is found by what comes next.
            let _ = Event::Notice { message: text }.write(out);
        }
        self.tell(text);
    }

    fn tell(&mut self, text: &str) {
        // Without standard error there is nobody to tell.
        let _ = self.screen.say(text);
    }

    /// What to do next, for a person alone.
    pub(crate) fn hint(&mut self, text: &str) {
        if self.format == Format::Human && !self.broken {
            // The text of the agent is over.
            let _ = self.screen.finish();
            self.say(text);
        }
    }

    /// Standard output has failed.
    pub(crate) fn give_up(&mut self) {
        self.broken = true;
    }

    /// Tells whether it has.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// The run is over.
    pub(crate) fn end(&mut self, outcome: &Outcome) {
        // When these fail there is nobody to tell, and the exit code says it.
        if !self.broken {
            let _ = match &mut self.json {
                Some(out) => {
                    let ending = Ending {
                        outcome,
                        report: &self.report,
                        session: self.session.as_ref(),
                    };
                    Event::end(&ending).write(out)
                }
                None if self.format == Format::Quiet => self.screen.report(self.report.text()),
                None => self.screen.finish(),
            };
        }
        if let Some(failure) = &outcome.failure {
            let _ = self.screen.fail(failure);
        }
    }
}

/// Shows how something failed that shows nothing else.
pub(crate) fn fail(outcome: &Outcome) -> Exit {
    Output::standard(Format::Human).end(outcome);
    outcome.exit
}

/// What a person is told of what was served: commands, and what was refused. Agents tell the
/// rest themselves.
fn in_words(served: &Served) -> Option<(&'static str, String)> {
    match served {
        Served::File { error: None, .. } | Served::CommandEnd { .. } => None,
        Served::File {
            write,
            path,
            error: Some(error),
        } => {
            let operation = if *write { "write" } else { "read" };
            let text = format!("{operation} {}: {}", one_line(path), shown(error));
            Some(("file", text))
        }
        Served::Command {
            command,
            args,
            error,
            ..
        } => {
            let mut line = command.clone();
            for arg in args {
                line.push(' ');
                line.push_str(arg);
            }
            let line = one_line(&line);
            let text = match error {
                Some(error) => format!("{line}: {}", shown(error)),
                None => line,
            };
            Some(("runs", text))
        }
    }
}

/// Writes an update with its parameters as the agent spelled them.
fn as_sent(line: &RawLine, out: &mut impl Write) -> io::Result<()> {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        params: &'a RawValue,
    }
    match serde_json::from_str::<Message<'_>>(line.as_str()) {
        Ok(message) => Event::Update {
            params: message.params,
        }
        .write(out),
        // Not an update at all; the connection has counted it.
        Err(_) => Ok(()),
    }
}

/// Tells whether colours are wanted: not with `NO_COLOR`, nor on a terminal that says it
/// can do nothing.
fn wants_colour() -> bool {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty());
    set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
}
