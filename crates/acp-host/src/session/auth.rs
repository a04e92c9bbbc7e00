//! Logging in and out.

use crate::{HostError, SecretText};
use derive_setters::Setters;

/// Lets users log in; `authenticate`.
///
/// Registered with its [methods](AuthMethod), it locks the making, loading and
/// resuming of sessions until somebody is logged in; a strict agent locks
/// prompts, lists and deletions as well.
#[auto_impl::auto_impl(Arc)]
pub trait Authenticator: Send + Sync + 'static {
    /// Logs in by a method that was advertised and that runs in the agent.
    ///
    /// # Errors
    ///
    /// [`HostError`]; only its public text reaches the client.
    fn authenticate(&self, method: &str) -> impl Future<Output = Result<(), HostError>> + Send;

    /// Whether somebody is logged in already: by a key on this machine, or by a
    /// login in a terminal. Asked for sessions while nobody has logged in on the
    /// connection.
    fn is_logged_in(&self) -> impl Future<Output = bool> + Send {
        std::future::ready(false)
    }
}

/// Logs users out; `logout`.
#[auto_impl::auto_impl(Arc)]
pub trait LogoutHandler: Send + Sync + 'static {
    /// Forgets who is logged in. Live sessions go on.
    ///
    /// # Errors
    ///
    /// [`HostError`]; the user is still logged in then.
    fn logout(&self) -> impl Future<Output = Result<(), HostError>> + Send;
}

/// A way to log in.
#[derive(Clone, Debug, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct AuthMethod {
    /// Names the way; unique among the agent's ways.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// Where the login runs.
    pub kind: AuthKind,
}

/// Where a login runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AuthKind {
    /// In the agent: the client asks for it by `authenticate`.
    #[default]
    Agent,
    /// In a terminal of the client, which starts the agent's program once more
    /// for it. Advertised only to clients that can.
    Terminal {
        /// Arguments behind those with which the agent was started; they start
        /// a login that ends by itself.
        args: Vec<String>,
        /// Variables for its environment.
        env: Vec<(String, SecretText)>,
    },
}

impl AuthMethod {
    /// A login that runs in the agent.
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            description: None,
            kind: AuthKind::Agent,
        }
    }

    /// A login that runs in a terminal, by the agent's own program with these
    /// further arguments.
    pub fn terminal(
        id: impl Into<String>,
        name: impl Into<String>,
        args: impl IntoIterator<Item = String>,
    ) -> Self {
        let kind = AuthKind::Terminal {
            args: args.into_iter().collect(),
            env: Vec::new(),
        };
        Self {
            kind,
            ..Self::new(id, name)
        }
    }

    /// Sets a variable for a login that runs in a terminal.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<String>, value: SecretText) -> Self {
        if let AuthKind::Terminal { env, .. } = &mut self.kind {
            env.push((name.into(), value));
        }
        self
    }
}
