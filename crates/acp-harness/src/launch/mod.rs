//! What an agent is started with: its environment, its home, its command line.
//!
//! * [`EnvPolicy`] builds an environment from an allow-list. Keys of all agents are cleared
//!   from it first, then the agent gets its own.
//! * [`EnvOverlay`] lays variables over an environment that is there, and refuses it when
//!   it holds what must not be set.
//! * [`Isolation`] gives each user and agent a home of their own.
//! * [`ManagedLaunch`] starts an agent whose model is behind a [`ModelProxy`], and ends
//!   both together; a [`Connector`] tells the agent of it.
//!
//! Nothing here reads the environment of this process: what is there is passed in.
//!
//! ```
//! use acp_harness::launch::EnvPolicy;
//! use acp_harness::{Registry, Secret};
//! use acp_process::Environment;
//!
//! let registry = Registry::builtin();
//! let ambient = Environment::exactly([
//!     ("PATH", "/usr/bin"), ("XAI_API_KEY", "of the host"), ("EDITOR", "ed"),
//! ])?;
//! let gemini = registry.validate("gemini")?;
//! let built = EnvPolicy::for_agent(registry, gemini)
//!     .with_key("GEMINI_API_KEY", Secret::new("of the user"))
//!     .build(&ambient)?;
//! let names: Vec<_> = built.environment.iter().map(|(name, _)| name).collect();
//! assert_eq!(names, ["GEMINI_API_KEY", "PATH"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod connector;
mod env;
mod isolation;
mod managed;
mod overlay;
mod proxy;

use std::path::Path;

use acp_process::Launch;

pub use connector::{
    Approval, ClaudeConnector, CodexConnector, ConnectError, Connector, GeminiConnector,
    NativeConnector, Sandbox,
};
pub use env::{BuiltEnv, EnvPolicy};
pub use isolation::{AgentHome, Isolation, IsolationError};
pub use managed::{CloseError, Managed, ManagedCause, ManagedError, ManagedLaunch};
pub use overlay::{ConflictingEnv, EnvError, EnvOverlay};
pub use proxy::{BoxError, ModelProxy, ProxyBinding, ProxyFault};

use crate::registry::{AgentEntry, Programs};
use crate::version::Probe;

/// Describes how an agent is started: the programs that were found, the arguments of its
/// entry, and an environment that was built for it.
///
/// What it writes to standard error is redacted of the secrets it was given.
#[must_use]
pub fn describe(
    entry: &AgentEntry,
    programs: &Programs,
    built: &BuiltEnv,
    cwd: impl AsRef<Path>,
) -> Launch {
    Launch::new(programs.command())
        .with_args(entry.arguments())
        .with_environment(built.environment.clone())
        .with_cwd(cwd.as_ref())
        .with_stderr_redactor(&built.redactor())
}

/// Describes how the version of an agent is asked for before it is started.
///
/// `None` where any version is good enough, and where the command cannot be asked without
/// starting something else; what the agent says of itself can be judged in any case.
#[must_use]
pub fn preflight(
    entry: &AgentEntry,
    programs: &Programs,
    built: &BuiltEnv,
) -> Option<(Probe, Launch)> {
    let minimum = entry.min_version?;
    if entry.probe.is_empty() {
        return None;
    }
    let command = Launch::new(programs.command())
        .with_args(&entry.probe)
        .with_environment(built.environment.clone());
    Some((Probe::new(minimum), command))
}
