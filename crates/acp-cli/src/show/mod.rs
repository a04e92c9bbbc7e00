//! Where a run is shown: to a person or to a program.

mod human;
mod json;
mod line;
mod tool_lines;

use std::env;
use std::io::{self, IsTerminal, Write, stderr, stdout};
use std::path::Path;

use acp_client::{Client, Decision, RawLine, Session, ToolFacts, TurnEvent};
use acp_harness::report::TurnReport;
use acp_harness::turn::Progress;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::exit::Exit;
use crate::outcome::Outcome;
use human::{Screen, Terminals};
use json::Event;
pub(crate) use line::{one_line, shown};

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
    pub(crate) fn session(
        &mut self,
        client: &Client,
        session: &Session,
        cwd: &Path,
    ) -> io::Result<()> {
        let Some(out) = &mut self.json else {
            return Ok(());
        };
        let agent = client.agent().ok();
        let (modes, options) = (session.modes(), session.config_options());
        let event = Event::Session {
            session_id: session.id(),
            cwd,
            agent_info: agent.as_ref().and_then(|agent| agent.agent_info.as_ref()),
            modes: modes.as_ref(),
            config_options: options.as_deref(),
        };
        event.write(out)
    }

    /// Something happened, but for a permission request.
    pub(crate) fn event(&mut self, event: &TurnEvent) -> io::Result<()> {
        match event {
            TurnEvent::Update(update) => self.report.read(&update.update),
            TurnEvent::Gap { .. } => self.report.lose(),
            _ => {}
        }
        if self.format == Format::Quiet {
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

    /// A permission request was answered.
    pub(crate) fn permission(&mut self, tool: &ToolFacts, decision: &Decision) -> io::Result<()> {
        match &mut self.json {
            Some(out) => Event::permission(tool, decision).write(out),
            None if self.format == Format::Quiet => Ok(()),
            None => self.screen.permission(tool, decision),
        }
    }

    /// Something happened on the way to the session.
    pub(crate) fn progress(&mut self, event: &Progress) {
        if let Progress::Login { method, succeeded } = event {
            let how = match succeeded {
                None => "logging in by",
                Some(true) => "logged in by",
                Some(false) => "the agent refuses the login by",
            };
            self.say(&format!("{how} {}", one_line(method.as_str())));
        }
    }

    /// Something the person at the keyboard should know.
    pub(crate) fn say(&mut self, text: &str) {
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
                Some(out) => Event::end(outcome).write(out),
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
