//! An agent in thirty lines: a function that answers prompts, and nothing else.
//!
//! Implement [`TurnHandler`]; [`Kit`] makes a host of it. The kit supplies
//! sessions and their ids, events and their names, gates, cancellation, and
//! catches panics. See the first page of this crate for a whole agent.
//!
//! | in a turn | call |
//! |---|---|
//! | send text, a thought, a refusal | [`Turn::text`], [`Turn::thought`], [`Turn::refusal`] |
//! | show a picture, a link, a file | [`Turn::image`], [`Turn::show`] |
//! | show a plan | [`Turn::plan`] |
//! | run a tool | [`Turn::tool`], then [`RunningTool`] |
//! | ask whether it may run | [`Turn::ask_permission`] |
//! | ask for a value of a type | [`Turn::ask`], or [`Turn::ask_form`] |
//! | send to an address | [`Turn::send_to`] |
//! | read and write files of the client | [`Turn::read_text_file`], [`Turn::write_text_file`] |
//! | run a command at the client | [`Turn::terminal`] |
//! | let a sub-agent work, which may ask, too | [`Turn::sub_agent`] |
//! | report usage, a notice, a title, commands | [`Turn::usage`], [`Turn::notice`], [`Turn::title`], [`Turn::commands`] |
//! | shorten the conversation | [`Turn::compact`] |
//! | read and set the mode and other options | [`Turn::mode`], [`Turn::option`], [`Turn::set_mode`], [`Turn::set_option`] |
//! | read what happened earlier | [`Turn::earlier`] |
//! | stop when it is cancelled | `?`, [`Turn::run_until_cancelled`], [`Turn::cancelled`] |
//! | end the turn | [`TurnEnd`], [`TurnError`] |
//!
//! # Sessions that last
//!
//! A kit with a [`History`] can list, load, resume and delete its sessions; one
//! with options lets the user set them, mode and model included.
//! [`into_builder`](Kit::into_builder) registers what a kit can do:
//!
//! ```
//! use acp_agent::demo::DemoAgent;
//! use acp_agent::host::{ConfigChoice, ConfigOption};
//! use acp_agent::kit::{Kit, MemoryHistory};
//!
//! let modes = vec![ConfigChoice::new("ask", "Ask first"), ConfigChoice::new("act", "Act")];
//! let agent = Kit::new(DemoAgent::default())
//!     .with_history(MemoryHistory::default())
//!     .with_options(vec![ConfigOption::mode("ask", modes)])
//!     .into_builder()
//!     .build()?;
//! # Ok::<(), acp_agent::BuildError>(())
//! ```
//!
//! # Cancellation
//!
//! When the client cancels, everything a turn waits for through its [`Turn`]
//! returns an error, so a function that uses `?` ends by itself. Whatever it
//! returns then, the client reads `cancelled`. A function that does not end is
//! dropped after a [grace](Kit::with_cancel_grace).

mod compactor;
mod history;
mod session;
mod turn;

use std::{sync::Arc, time::Duration};

use acp_host::{ConfigOption, SlashCommand};

use crate::AgentBuilder;
use compactor::SharedCompactor;
use history::SharedHistory;
use session::facts::KitSessions;

pub use compactor::Compactor;
pub use history::{
    Earlier, History, HistoryError, MemoryHistory, Page, Record, RecordBody, RecordedEnd,
    StoredSession,
};
pub use session::KitSession;
pub use turn::{
    AddressVisit, Permission, Prompt, QuestionError, QuestionOrDefault, RunningCommand,
    RunningCompaction, RunningTool, ToolDraft, Turn, TurnEnd, TurnError, TypedQuestion, UserAnswer,
    form_of,
};

/// Answers prompts: the one thing that makes an agent.
///
/// Implement it with a plain `async fn`. Turns of different sessions run at the
/// same time; those of one session never do.
pub trait TurnHandler: Send + Sync + 'static {
    /// Answers one prompt.
    ///
    /// The future may be dropped at any point, once the client has cancelled
    /// the turn or gone away. A panic ends the turn as failed.
    ///
    /// It starts on the task that serves the connection, and moves to its own
    /// when it waits for the first time. Work that blocks a thread belongs into
    /// `tokio::task::spawn_blocking`.
    ///
    /// # Errors
    ///
    /// [`TurnError`]; any other error becomes one by `?`, and its text stays in
    /// this process.
    fn turn(
        &self,
        turn: &mut Turn,
        prompt: Prompt,
    ) -> impl Future<Output = Result<TurnEnd, TurnError>> + Send;
}

/// A host made of a [`TurnHandler`].
///
/// `AgentBuilder::new(kit)` serves its sessions; with a history or options,
/// [`into_builder`](Kit::into_builder) registers what they make possible, too.
#[derive(Debug)]
pub struct Kit<H> {
    handler: Arc<H>,
    cancel_grace: Duration,
    history: Option<SharedHistory>,
    options: Vec<ConfigOption>,
    commands: Arc<[SlashCommand]>,
    compactor: SharedCompactor,
    live: KitSessions,
}

impl<H: TurnHandler> Kit<H> {
    /// Makes a host of something that answers prompts.
    pub fn new(handler: H) -> Self {
        Self {
            handler: Arc::new(handler),
            cancel_grace: Duration::from_secs(5),
            history: None,
            options: Vec::new(),
            commands: Arc::default(),
            compactor: SharedCompactor::default(),
            live: KitSessions::default(),
        }
    }

    /// Sets how long a turn that was cancelled may go on before it is dropped.
    /// Default 5 s.
    #[must_use]
    pub fn with_cancel_grace(mut self, grace: Duration) -> Self {
        self.cancel_grace = grace;
        self
    }

    /// Remembers sessions, so that they can be listed, loaded, resumed and
    /// deleted.
    #[must_use]
    pub fn with_history(mut self, history: impl History) -> Self {
        self.history = Some(SharedHistory(Arc::new(history)));
        self
    }

    /// Gives each session these options, with which it begins. A turn reads them
    /// by [`Turn::option`] and [`Turn::mode`].
    #[must_use]
    pub fn with_options(mut self, options: Vec<ConfigOption>) -> Self {
        self.options = options;
        self
    }

    /// Offers commands. A prompt that uses one begins with `/name`, and comes to
    /// the handler as it is.
    #[must_use]
    pub fn with_commands(mut self, commands: Vec<SlashCommand>) -> Self {
        self.commands = commands.into();
        self
    }

    /// Lets users shorten the conversation by the command `/compact`.
    #[must_use]
    pub fn with_compactor(mut self, compactor: impl Compactor) -> Self {
        self.compactor = SharedCompactor(Some(Arc::new(compactor)));
        self
    }

    /// Starts an agent of it, with everything registered that it can do.
    pub fn into_builder(self) -> AgentBuilder {
        let kit = Arc::new(self);
        let mut builder = AgentBuilder::new(Arc::clone(&kit));
        if kit.history.is_some() {
            builder = builder
                .resumer(Arc::clone(&kit))
                .loader(Arc::clone(&kit))
                .catalog(Arc::clone(&kit))
                .deleter(Arc::clone(&kit));
        }
        if kit.compactor.0.is_some() {
            builder = builder.compact_command();
        }
        if !kit.options.is_empty() {
            builder = builder.config(kit);
        }
        builder
    }
}
