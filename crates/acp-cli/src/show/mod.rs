//! Where a run is shown: to a person or to a program.

mod answered;
mod ask;
mod asking;
mod changes;
mod excerpt;
mod human;
mod json;
mod label;
mod line;
mod live;
mod page;
mod part;
mod plan;
mod print;
mod rows;
mod said;
mod served;
mod stage;
mod style;
mod terminal;
#[cfg(test)]
mod tests;
mod thought;
mod ticker;
mod tools;
mod usage;

use std::io::{self, Write};
use std::path::Path;

use acp_client::{Client, Decision, Question, RawLine, Session, TurnEvent};
use acp_conversation::{ToolCallState, TurnMessage};
use acp_harness::turn::{Opened, TurnProgress};
use acp_protocol::v1::{PermissionOption, SessionId, ToolCallUpdate};
use acp_text::{Clean, ScreenWriter, clean};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::config::Colour;
use crate::outcome::Outcome;
use crate::sessions::SessionOpening;
pub(crate) use answered::{Answered, By};
pub(crate) use ask::AskText;
pub(crate) use asking::is_cut;
pub(crate) use excerpt::Excerpt;
use human::Screen;
use json::Event;
pub(crate) use json::SCHEMA;
use line::decided;
pub(crate) use line::{one_line, shown};
pub(crate) use print::{Printed, ask, fail, print, tell, write};
pub(crate) use served::Served;
pub(crate) use stage::clear;
use stage::{AnyStream, Sink, Stage};

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
    report: Option<&'a TurnMessage>,
    /// Whether nothing of the report was cut or lost.
    is_whole: bool,
    session: Option<&'a SessionId>,
}

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
    session: Option<SessionId>,
    stage: Stage,
    json: Option<Sink>,
    /// Whether standard output has failed: nothing more goes there.
    broken: bool,
}

impl Output {
    /// Shows on the standard streams of this process.
    pub(crate) fn standard(format: Format, colour: Colour) -> Self {
        let (stage, json) = Stage::standard(format, colour);
        Self::new(format, stage, json)
    }

    fn new(format: Format, stage: Stage, json: Option<Sink>) -> Self {
        Self {
            format,
            session: None,
            stage,
            json,
            broken: false,
        }
    }

    /// Shows nothing.
    #[cfg(test)]
    pub(crate) fn nowhere() -> Self {
        Self::new(Format::Human, Stage::nowhere(), None)
    }

    /// Says what goes on from now on, until the end; on a terminal alone.
    pub(crate) fn status(&mut self, words: &Clean<'_>) {
        self.stage.status(words);
    }

    /// The session is open.
    pub(crate) fn session(&mut self, open: &Open<'_>) -> io::Result<()> {
        self.session = Some(open.session.id().clone());
        self.stage
            .act(|screen| screen.in_folder(open.cwd.to_owned()));
        self.status(&clean!("working"));
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
        self.show(&event, |_| Ok(()))
    }

    /// Something happened, but for what is asked.
    pub(crate) fn event(&mut self, event: &TurnEvent) -> io::Result<()> {
        let is_shown = self.format == Format::Human && !self.broken;
        match event {
            TurnEvent::Update(update) if !is_shown => {
                self.stage.act(|screen| screen.read(&update.update));
            }
            TurnEvent::Gap { dropped } => self.stage.act(|screen| screen.lose(*dropped)),
            TurnEvent::Unreadable { .. } => self.stage.act(|screen| screen.lose(1)),
            _ => {}
        }
        if self.format == Format::Quiet || self.broken {
            return Ok(());
        }
        match (&mut self.json, event) {
            (Some(out), TurnEvent::Update(update) | TurnEvent::Earlier(update)) => {
                as_sent(&update.line, None, out)
            }
            (Some(out), TurnEvent::Unreadable { line, error }) => {
                as_sent(line, Some(error.to_string()), out)
            }
            (Some(out), TurnEvent::Gap { dropped }) => Event::Gap { dropped: *dropped }.write(out),
            (None, TurnEvent::Update(update)) => {
                self.stage.act(|screen| screen.update(&update.update))
            }
            (None, TurnEvent::Earlier(update)) => {
                self.stage.act(|screen| screen.earlier(&update.update))
            }
            (None, TurnEvent::Gap { dropped }) => self.stage.act(|screen| screen.gap(*dropped)),
            (None, TurnEvent::Unreadable { error, .. }) => {
                let why = one_line(&error.to_string());
                self.stage.act(|screen| screen.unreadable(&why))
            }
            _ => Ok(()),
        }
    }

    /// A permission request was answered by the rules.
    pub(crate) fn permission(
        &mut self,
        tool: &ToolCallState,
        decision: &Decision,
    ) -> io::Result<()> {
        let event = Event::permission(tool, decision);
        self.show(&event, |screen| screen.permission(tool, decision))
    }

    /// A permission request was answered by a person, who knows it.
    pub(crate) fn chosen(
        &mut self,
        tool: &ToolCallState,
        option: Option<&PermissionOption>,
    ) -> io::Result<()> {
        self.answered();
        self.show(&Event::chosen(tool, option), |_| Ok(()))
    }

    /// A question was answered.
    pub(crate) fn question(&mut self, question: &Question, answered: Answered) -> io::Result<()> {
        self.answered();
        self.show(&Event::question(question, answered), |screen| {
            let how = match answered {
                Answered::Accepted { by: By::Person } | Answered::Declined { by: By::Person } => {
                    return Ok(());
                }
                Answered::Accepted { .. } => clean!("answered by what it proposes"),
                _ => clean!("declined, for nobody is asked; see --ask"),
            };
            screen.asked(&clean!("{}: {}", decided(question.message()), how))
        })
    }

    /// The agent was served a file or a command.
    pub(crate) fn served(&mut self, served: &Served) -> io::Result<()> {
        if let Served::CommandEnd {
            terminal, output, ..
        } = served
        {
            self.stage.act(|screen| screen.wrote(terminal, output));
        }
        self.show(&Event::served(served), |screen| match served.in_words() {
            Some((label, text)) => screen.served(label, &text),
            None => Ok(()),
        })
    }

    /// Something happened on the way to the session.
    pub(crate) fn progress(&mut self, event: &TurnProgress) {
        let (method, succeeded) = match event {
            TurnProgress::Login { method, succeeded } => (method, succeeded),
            TurnProgress::Connected { .. } => return self.status(&clean!("opening a session")),
            _ => return,
        };
        let succeeded = *succeeded;
        self.note(&Event::Login { method, succeeded });
        let how = match succeeded {
            None => clean!("logging in by"),
            Some(true) => clean!("logged in by"),
            Some(false) => clean!("the agent refuses the login by"),
        };
        self.tell(&clean!("{} {}", how, one_line(method.as_str())));
    }

    /// Shows what a call would do about which the person at the terminal is going to be asked.
    pub(crate) fn preview(&mut self, call: &ToolCallUpdate) -> io::Result<()> {
        self.stage.act(|screen| screen.preview(call))
    }

    /// Shows a question to the person at the terminal, who types behind it.
    pub(crate) fn ask(&mut self, text: &AskText) -> io::Result<()> {
        self.stage.act(|screen| screen.ask(text))
    }

    /// Nobody waits for the answer any more.
    pub(crate) fn answered(&mut self) {
        self.stage.act(Screen::answered);
    }

    /// A kept session is open.
    pub(crate) fn kept(&mut self, told: &SessionOpening) {
        self.note(&Event::kept(told));
        if self.format != Format::Quiet || told.is_surprising() {
            self.tell(&Clean::line(&told.to_string()));
        }
    }

    /// A turn that runs took the prompt.
    pub(crate) fn steered(&mut self) {
        self.note(&Event::Steered {});
        if self.format != Format::Quiet {
            self.tell(&clean!("the turn that runs in the session took it"));
        }
    }

    /// Tells whether the agent has said or done anything in the turn. Thoughts alone are no
    /// answer.
    pub(crate) fn agent_acted(&self) -> bool {
        self.stage.act(|screen| {
            let turn = &screen.conversation().turn;
            turn.has_output() || turn.counts.lost > 0
        })
    }

    /// Returns what came of the turn so far.
    pub(crate) fn report(&self) -> String {
        self.stage.act(|screen| {
            let report = screen.conversation().turn.report();
            report.map(|report| report.text.clone()).unwrap_or_default()
        })
    }

    /// Something the person at the keyboard should know.
    pub(crate) fn say(&mut self, text: &str) {
        self.note(&Event::Notice { message: text });
        self.tell(&Clean::line(text));
    }

    /// Shows an event to whoever it is for: a program, or a person on the screen.
    fn show(
        &mut self,
        event: &Event<'_>,
        on_screen: impl FnOnce(&mut Screen<AnyStream, AnyStream>) -> io::Result<()>,
    ) -> io::Result<()> {
        match &mut self.json {
            _ if self.broken || self.format == Format::Quiet => Ok(()),
            Some(out) => event.write(out),
            None => self.stage.act(on_screen),
        }
    }

    /// Shows an event to a program alone.
    fn note(&mut self, event: &Event<'_>) {
        // A failure of standard output is found by the next event.
        let _ = self.show(event, |_| Ok(()));
    }

    fn tell(&mut self, text: &Clean<'_>) {
        // Without standard error there is nobody to tell.
        let _ = self.stage.act(|screen| screen.say(text));
    }

    /// What to do next, for a person alone.
    pub(crate) fn hint(&mut self, text: &str) {
        if self.format == Format::Human && !self.broken {
            // The text of the agent is over.
            let _ = self.stage.act(Screen::finish);
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
                Some(out) => self.stage.act(|screen| {
                    let ending = Ending {
                        outcome,
                        report: screen.conversation().turn.report(),
                        is_whole: screen.conversation().turn.report_is_whole(),
                        session: self.session.as_ref(),
                    };
                    Event::end(&ending).write(out)
                }),
                None if self.format == Format::Quiet => {
                    let report = self.report();
                    if !self
                        .stage
                        .act(|screen| screen.conversation().turn.report_is_whole())
                    {
                        self.tell(&clean!("part of the report was lost, or cut"));
                    }
                    self.stage.act(|screen| screen.report(&report))
                }
                None => self.stage.act(Screen::finish),
            };
        }
        if let Some(failure) = &outcome.failure {
            let _ = self.stage.act(|screen| screen.fail(failure));
        }
    }
}

/// Writes an update with its parameters as the agent spelled them.
fn as_sent(
    line: &RawLine,
    error: Option<String>,
    out: &mut ScreenWriter<impl Write>,
) -> io::Result<()> {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        params: &'a RawValue,
    }
    match serde_json::from_str::<Message<'_>>(line.as_str()) {
        Ok(message) => Event::Update {
            params: message.params,
            error,
        }
        .write(out),
        // Not even its parameters can be found.
        Err(_) => Event::Gap { dropped: 1 }.write(out),
    }
}
