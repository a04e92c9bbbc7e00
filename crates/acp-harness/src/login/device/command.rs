//! The command of a login by device code.

use std::time::Duration;

use acp_process::{Launch, OrphanGuard, TerminalSize};
use derive_setters::Setters;

use crate::launch::{AgentHome, BuiltEnv};
use crate::limits::{LOGIN_CODE_TIMEOUT, LOGIN_TIMEOUT, LOGIN_USER_TIMEOUT};
use crate::login::{LoginError, kill_ladder};
use crate::registry::{AgentEntry, Programs};

/// Describes a command that logs somebody in by device code: it shows an address and a
/// code, and ends with 0 when the code was entered there.
#[derive(Setters, Clone, Debug)]
#[setters(generate = false, prefix = "with_")]
pub struct DeviceCommand {
    pub(super) launch: Launch,
    /// Looks for codes of this shape, in which `X` stands for a capital letter or a digit.
    #[setters(generate, strip_option, into)]
    pub(super) shape: Option<String>,
    /// Writes a marker into this home when it worked.
    #[setters(generate, strip_option, rename = "remembered_in")]
    pub(super) home: Option<AgentHome>,
    pub(super) bounds: Bounds,
}

/// How long each part may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) code: Duration,
    pub(super) user: Duration,
    pub(super) all: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            code: LOGIN_CODE_TIMEOUT,
            user: LOGIN_USER_TIMEOUT,
            all: LOGIN_TIMEOUT,
        }
    }
}

/// A line of a terminal that an address fits in: programs break longer ones where they
/// see fit, and an address in two pieces is none.
const WIDE: TerminalSize = TerminalSize::new(1000, 24);

impl DeviceCommand {
    /// Logs in by this command.
    #[must_use]
    pub fn new(launch: Launch) -> Self {
        Self {
            launch: launch
                .with_null_stdin()
                .with_merged_output()
                // A browser that it opens stays open after it.
                .with_orphan_guard(OrphanGuard::Group)
                .with_kill_ladder(kill_ladder()),
            shape: None,
            home: None,
            bounds: Bounds::default(),
        }
    }

    /// Logs in to an agent as its entry says, within a home.
    ///
    /// # Errors
    ///
    /// [`LoginError::NoCommand`] when there is no such way, or its program was not found.
    pub fn for_agent(
        entry: &AgentEntry,
        programs: &Programs,
        built: &BuiltEnv,
        home: &AgentHome,
    ) -> Result<Self, LoginError> {
        let none = || LoginError::NoCommand {
            agent: entry.name.clone(),
        };
        let (program, args) = entry.login.device.split_first().ok_or_else(none)?;
        let own = (*program == entry.command).then(|| programs.command());
        let program = own.or_else(|| programs.get(program)).ok_or_else(none)?;
        let launch = Launch::new(program)
            .with_args(args)
            .with_environment(built.environment.clone())
            .with_cwd(home.path());
        let mut command = Self::new(launch).remembered_in(home.clone());
        command.shape.clone_from(&entry.login.device_code);
        Ok(command)
    }

    /// Runs it on a terminal: some commands show nothing where nobody can be looking.
    #[must_use]
    pub fn on_terminal(mut self) -> Self {
        self.launch = self.launch.with_terminal(WIDE);
        self
    }

    /// Sets how long it may take to show a code. Default 30 seconds.
    #[must_use]
    pub fn with_code_timeout(mut self, bound: Duration) -> Self {
        self.bounds.code = bound;
        self
    }

    /// Sets how long it may take to enter the code. Default 4 minutes.
    #[must_use]
    pub fn with_user_timeout(mut self, bound: Duration) -> Self {
        self.bounds.user = bound;
        self
    }

    /// Sets how long all of it may take. Default 5 minutes.
    #[must_use]
    pub fn with_timeout(mut self, bound: Duration) -> Self {
        self.bounds.all = bound;
        self
    }
}
