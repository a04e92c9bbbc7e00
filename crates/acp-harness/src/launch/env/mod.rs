//! Environments of agents.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

use acp_process::Environment;
use derive_setters::Setters;

use super::AgentHome;
use super::overlay::{EnvError, EnvOverlay};
use crate::Secret;
use crate::registry::{AgentEntry, Registry};
use acp_text::Redactor;

/// Says which variables an agent gets.
///
/// In this order: what the base allows of the ambient environment; without the keys of
/// any agent, and, in a home of its own, without what would lead out of it; then the keys
/// that are passed on; then what is set. In the end nothing may be there that keeps the
/// agent from working: it is told, and not silently taken away.
#[derive(Setters, Clone, Debug)]
#[setters(generate = false, prefix = "with_")]
pub struct EnvPolicy {
    base: Base,
    clear: BTreeSet<String>,
    pass: BTreeSet<String>,
    /// Variables that are set, and those that must not be there.
    overlay: EnvOverlay,
    /// Puts the agent in a home of its own.
    #[setters(generate, strip_option, rename = "in_home")]
    home: Option<AgentHome>,
    leads_out: Vec<String>,
}

/// What of the ambient environment is taken over.
#[derive(Clone, Debug)]
enum Base {
    /// Names, and beginnings of names that end in `*`.
    Allowed(Vec<String>),
    All,
}

/// What every agent gets of the ambient environment if not said otherwise: where programs
/// and the home are, the language, the terminal, and where files of each kind belong.
const BASE: &[&str] = &["PATH", "HOME", "LANG", "LC_*", "TERM", "TMPDIR", "XDG_*"];

/// How one gets out of a network. Addresses of proxies may hold a password.
const NETWORK: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

impl EnvPolicy {
    /// Allows the usual few: `PATH`, `HOME`, `LANG`, `LC_*`, `TERM`, `TMPDIR`, `XDG_*`.
    #[must_use]
    pub fn new() -> Self {
        Self::on(Base::Allowed(
            BASE.iter().map(ToString::to_string).collect(),
        ))
    }

    /// Takes over everything, as if the agent was started by hand.
    #[must_use]
    pub fn inheriting_all() -> Self {
        Self::on(Base::All)
    }

    /// Allows the usual few, and what an entry says: its variables, and what keeps it from
    /// working. Keys of all agents of the registry are cleared, this one's too: say
    /// [`passing_keys_of`](Self::passing_keys_of) or [`with_key`](Self::with_key).
    #[must_use]
    pub fn for_agent(registry: &Registry, entry: &AgentEntry) -> Self {
        Self::new().speaking_of(registry, entry)
    }

    /// Adds what an entry says to this policy, as [`for_agent`](Self::for_agent) does.
    #[must_use]
    pub fn speaking_of(mut self, registry: &Registry, entry: &AgentEntry) -> Self {
        let keys = registry.key_variables();
        self.clear.extend(keys.into_iter().map(str::to_owned));
        self.clear.extend(entry.login.keys.iter().cloned());
        for name in &entry.conflicts {
            self.overlay = self.overlay.forbidding(name);
        }
        self.leads_out.extend(entry.home_env.iter().cloned());
        for (name, value) in &entry.env {
            self = self.with(name, value);
        }
        self
    }

    /// Allows a variable too; one whose name ends in `*` allows all that begin so.
    #[must_use]
    pub fn allowing(mut self, name: impl Into<String>) -> Self {
        if let Base::Allowed(names) = &mut self.base {
            names.push(name.into());
        }
        self
    }

    /// Allows what says how to get out of this network: proxies and certificates.
    #[must_use]
    pub fn allowing_network(mut self) -> Self {
        for name in NETWORK {
            self = self.allowing(*name);
        }
        self
    }

    /// Passes on a key of the ambient environment, if it is there.
    #[must_use]
    pub fn passing_key(mut self, name: impl Into<String>) -> Self {
        self.pass.insert(name.into());
        self
    }

    /// Passes on those keys of the ambient environment that are this agent's.
    #[must_use]
    pub fn passing_keys_of(mut self, entry: &AgentEntry) -> Self {
        self.pass.extend(entry.login.keys.iter().cloned());
        self
    }

    /// Sets a variable to a stored key. An empty key sets nothing.
    #[must_use]
    pub fn with_key(mut self, name: impl Into<String>, key: Secret) -> Self {
        if !key.is_empty() {
            self.overlay = self.overlay.with_secret(name, key);
        }
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<OsString>) -> Self {
        self.overlay = self.overlay.with(name, value);
        self
    }

    /// Refuses an environment that holds this variable in the end.
    #[must_use]
    pub fn forbidding(mut self, name: impl Into<String>) -> Self {
        self.overlay = self.overlay.forbidding(name);
        self
    }

    /// Builds the environment out of what is there.
    ///
    /// # Errors
    ///
    /// [`EnvError`] when a variable is there that keeps the agent from working, or one is
    /// set that cannot be.
    pub fn build(&self, ambient: &Environment) -> Result<BuiltEnv, EnvError> {
        let mut environment = Environment::empty();
        let mut secrets = Vec::new();
        for (name, value) in ambient.iter() {
            let is_key = contains(&self.clear, name);
            let leads_out = self.home.is_some() && self.leads_out(name);
            if self.allows(name) && !is_key && !leads_out {
                environment.set(name, value)?;
            }
        }
        for (name, path) in self.home.iter().flat_map(AgentHome::variables) {
            environment.set(name, path)?;
        }
        for name in &self.pass {
            if let Some(value) = ambient.get(name) {
                secrets.push(Secret::from(&*value.to_string_lossy()));
                environment.set(name, value)?;
            }
        }
        secrets.extend(self.overlay.set_in(&mut environment)?);
        self.overlay.forbid_in(&environment)?;
        Ok(BuiltEnv {
            environment,
            secrets,
        })
    }

    fn on(base: Base) -> Self {
        Self {
            base,
            clear: BTreeSet::new(),
            pass: BTreeSet::new(),
            overlay: EnvOverlay::new(),
            home: None,
            leads_out: Vec::new(),
        }
    }

    fn allows(&self, name: &OsStr) -> bool {
        let Base::Allowed(names) = &self.base else {
            return true;
        };
        let bytes = name.as_encoded_bytes();
        names.iter().any(|allowed| match allowed.strip_suffix('*') {
            Some(beginning) => bytes.starts_with(beginning.as_bytes()),
            None => bytes == allowed.as_bytes(),
        })
    }

    /// Tells whether a variable leads an agent out of a home of its own: sockets of the
    /// real user's session, and what the agent itself looks at.
    fn leads_out(&self, name: &OsStr) -> bool {
        name == "XDG_RUNTIME_DIR" || self.leads_out.iter().any(|other| name == OsStr::new(other))
    }
}

impl Default for EnvPolicy {
    fn default() -> Self {
        Self::new()
    }
}

/// An environment that was built, and what of it is secret.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BuiltEnv {
    /// The environment.
    pub environment: Environment,
    /// The keys in it.
    pub secrets: Vec<Secret>,
}

impl BuiltEnv {
    /// Returns a redactor that knows these secrets.
    #[must_use]
    pub fn redactor(&self) -> Redactor {
        let secrets = self.secrets.iter().cloned();
        secrets.fold(Redactor::new().hiding_addresses(), Redactor::with_secret)
    }
}

fn contains(names: &BTreeSet<String>, name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| names.contains(name))
}

#[cfg(test)]
mod tests;
