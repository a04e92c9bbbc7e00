//! Claude's adapter.

use std::path::PathBuf;

use acp_process::Launch;
use derive_setters::Setters;

use super::{ConnectError, Connector, NativeConnector, bound, overlaid};
use crate::launch::{EnvOverlay, ProxyBinding};
use crate::model::{Demand, SessionSettings};

/// Connects Claude's adapter, started by its own program: it gets no arguments.
///
/// Behind a proxy, both models have to be said: the names it would take are none of the
/// proxy's. A session is set to them by [`settings`](Self::settings).
#[derive(Setters, Clone, Debug, Default, PartialEq, Eq)]
#[setters(generate = false, prefix = "with_")]
pub struct ClaudeConnector {
    model: String,
    small_model: String,
    /// Says how much the model thinks.
    #[setters(generate, into)]
    effort: String,
    /// Says the permission mode, for agents that offer it.
    #[setters(generate, into)]
    mode: String,
    /// Has the adapter start this program, by an absolute path.
    #[setters(generate, strip_option, into)]
    executable: Option<PathBuf>,
}

/// Set inside of a running Claude, which refuses to run within itself.
const INSIDE: &str = "CLAUDECODE";
const BASE_URL: &str = "ANTHROPIC_BASE_URL";
const TOKEN: &str = "ANTHROPIC_AUTH_TOKEN";
const EXECUTABLE: &str = "CLAUDE_CODE_EXECUTABLE";

impl ClaudeConnector {
    /// Says nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says the model, and the small one for work beside.
    #[must_use]
    pub fn with_models(mut self, model: impl Into<String>, small: impl Into<String>) -> Self {
        self.model = model.into();
        self.small_model = small.into();
        self
    }

    /// Returns what a session is set to. What was not said is left as it is.
    #[must_use]
    pub fn settings(&self) -> SessionSettings {
        self.settings_for(&self.model)
    }

    /// Returns what a session is set to that is to use the small model.
    #[must_use]
    pub fn small_settings(&self) -> SessionSettings {
        self.settings_for(&self.small_model)
    }

    fn settings_for(&self, model: &str) -> SessionSettings {
        SessionSettings::new()
            .with_model(model, Demand::Require)
            .with_effort(&*self.effort, Demand::Require)
            .with_mode(&*self.mode, Demand::Suggest)
    }

    fn overlay(&self) -> Result<EnvOverlay, ConnectError> {
        let overlay = EnvOverlay::new().forbidding(INSIDE);
        match &self.executable {
            None => Ok(overlay),
            Some(program) if program.is_absolute() => Ok(overlay.with(EXECUTABLE, program)),
            Some(_) => Err(ConnectError::NotAbsolute { what: EXECUTABLE }),
        }
    }

    fn behind_proxy(&self) -> Result<EnvOverlay, ConnectError> {
        for (alias, what) in [
            (&self.model, "the model"),
            (&self.small_model, "the small model"),
        ] {
            if alias.is_empty() {
                return Err(ConnectError::Missing { what });
            }
        }
        self.overlay()
    }
}

impl Connector for ClaudeConnector {
    fn check(&self, launch: &Launch) -> Result<(), ConnectError> {
        overlaid(launch, &self.behind_proxy()?).map(drop)
    }

    fn configure(&self, launch: &Launch, binding: &ProxyBinding) -> Result<Launch, ConnectError> {
        let overlay = self
            .behind_proxy()?
            .with(BASE_URL, binding.root())
            .with_secret(TOKEN, binding.token.clone());
        Ok(bound(launch, &overlay, binding)?.without_args())
    }
}

impl NativeConnector for ClaudeConnector {
    fn configure_native(&self, launch: &Launch) -> Result<Launch, ConnectError> {
        let overlay = self.overlay()?.forbidding(BASE_URL).forbidding(TOKEN);
        Ok(overlaid(launch, &overlay)?.without_args())
    }
}
