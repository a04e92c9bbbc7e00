//! Logging in: which methods are tried, logins by device code and on a terminal, and what
//! is remembered of them.
//!
//! Agents mostly answer `initialize` without a login and refuse the first session, so a
//! session is opened first, and only a refusal leads here. [`methods`] then says what to
//! try, in which order. Nothing is tried that would open a browser where nobody sits in
//! front of it, and methods of a terminal are never sent to `authenticate` (R045).

mod challenge;
mod device;
mod error;
mod marker;
mod status;
mod terminal;

use std::time::Duration;

use acp_process::KillLadder;
use acp_protocol::v1::{AuthMethod, AuthMethodAgent, AuthMethodId};
use derive_setters::Setters;

pub use challenge::{Challenge, ChallengeScanner};
pub use device::{DeviceCommand, DeviceLogin, Logins};
pub use error::LoginError;
pub use marker::LoginMarker;
pub use status::LoginStatus;
pub use terminal::TerminalLogin;

/// How large the terminal of a login is.
pub use acp_process::TerminalSize;

use crate::limits::LOGIN_GRACE;
use crate::registry::Login;

/// What may be tried to log in.
#[derive(Setters, Clone, Debug, Default, PartialEq, Eq)]
#[setters(generate = false, prefix = "with_")]
pub struct AuthPolicy {
    /// Tries this method first, whatever it does.
    #[setters(generate, strip_option, into)]
    method: Option<String>,
    /// Knows that the agent was given a key: methods that use one come early.
    #[setters(generate, bool, rename = "having_key")]
    has_key: bool,
    /// Lets browsers be opened: somebody sits in front of this machine.
    #[setters(generate, bool, rename = "allowing_browser")]
    allows_browser: bool,
    /// Tries nothing but the method that is configured, if one is. For agents of whose
    /// methods nothing is known: any of them may open a browser.
    #[setters(generate, bool, rename = "trying_only_configured")]
    only_configured: bool,
}

impl AuthPolicy {
    /// Tries what needs neither a key nor a person.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells whether browsers may be opened.
    #[must_use]
    pub fn allows_browser(&self) -> bool {
        self.allows_browser
    }
}

/// Returns the methods to try, in order: the one that is configured; those that use the
/// key, if there is one; the others of the agent's own.
///
/// Each of them is offered by the agent (R046).
#[must_use]
pub fn methods(offered: &[AuthMethod], login: &Login, policy: &AuthPolicy) -> Vec<AuthMethodId> {
    let rank = |method: &AuthMethodAgent| {
        let id = method.id.as_str();
        if policy.method.as_deref() == Some(id) {
            return Some(0);
        }
        if policy.only_configured {
            return None;
        }
        if !policy.allows_browser && login.browser_methods.iter().any(|other| other == id) {
            return None;
        }
        let uses_key = login.key_method.as_deref() == Some(id) || says_that_it_uses_a_key(method);
        Some(if policy.has_key && uses_key { 1 } else { 2 })
    };
    let own = offered.iter().filter_map(|method| match method {
        AuthMethod::Agent(method) => Some(method),
        // A person in front of a terminal, or something that nobody has heard of.
        _ => None,
    });
    let mut ranked: Vec<_> = own
        .filter_map(|method| Some((rank(method)?, method.id.clone())))
        .collect();
    // Stable: what ranks the same stays in the agent's order.
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, id)| id).collect()
}

/// Returns the method to call before the first session, for agents that want to be told
/// that they have a key.
#[must_use]
pub fn announcement(
    offered: &[AuthMethod],
    login: &Login,
    policy: &AuthPolicy,
) -> Option<AuthMethodId> {
    let wanted = login.key_method.as_deref();
    let wanted = wanted.filter(|_| login.announces_key && policy.has_key)?;
    offered.iter().find_map(|method| match method {
        AuthMethod::Agent(method) if method.id == *wanted => Some(method.id.clone()),
        _ => None,
    })
}

/// How a program is ended that somebody was to log in by: it has nothing to save.
fn kill_ladder() -> KillLadder {
    KillLadder::default()
        .with_abort_eof_grace(Duration::ZERO)
        .with_interrupt_grace(LOGIN_GRACE)
        .with_terminate_grace(LOGIN_GRACE)
}

/// Some agents mark such methods, so that nobody has to know their names.
fn says_that_it_uses_a_key(method: &AuthMethodAgent) -> bool {
    let meta = method.meta.as_ref();
    meta.is_some_and(|meta| meta.contains_key("api-key"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use serde_json::{Value, json};

    fn offered(json: Value) -> Vec<AuthMethod> {
        serde_json::from_value(json).unwrap()
    }

    fn gemini() -> (Vec<AuthMethod>, &'static Login) {
        let offered = offered(json!([
            {"id": "oauth-personal", "name": "Log in with Google"},
            {"id": "vertex-ai", "name": "Vertex AI"},
            {"id": "gemini-api-key", "name": "Gemini API key"},
            {"id": "terminal", "name": "Terminal", "type": "terminal"},
            {"id": "later", "name": "Later", "type": "telepathy"},
        ]));
        (offered, &Registry::builtin().get("gemini").unwrap().login)
    }

    #[track_caller]
    fn check(policy: &AuthPolicy, expected: &[&str]) {
        let (offered, login) = gemini();
        let methods = methods(&offered, login, policy);
        let methods: Vec<_> = methods.iter().map(AuthMethodId::as_str).collect();
        assert_eq!(methods, expected);
    }

    #[test]
    fn the_order_of_trying() {
        let policy = AuthPolicy::new();
        check(&policy, &["vertex-ai", "gemini-api-key"]);
        check(
            &policy.clone().having_key(),
            &["gemini-api-key", "vertex-ai"],
        );
        let browser = policy.clone().having_key().allowing_browser();
        check(&browser, &["gemini-api-key", "oauth-personal", "vertex-ai"]);
        // What is configured counts, a browser too; what is not offered does not.
        let configured = policy.clone().with_method("oauth-personal").having_key();
        check(
            &configured,
            &["oauth-personal", "gemini-api-key", "vertex-ai"],
        );
        check(
            &policy.clone().with_method("terminal"),
            &["vertex-ai", "gemini-api-key"],
        );
        let only = policy.clone().having_key().trying_only_configured();
        check(&only, &[]);
        check(&only.with_method("vertex-ai"), &["vertex-ai"]);
        check(
            &policy.with_method("none-such"),
            &["vertex-ai", "gemini-api-key"],
        );
    }

    #[test]
    fn methods_may_say_themselves_that_they_use_a_key() {
        let offered = offered(json!([
            {"id": "a", "name": "A"},
            {"id": "b", "name": "B", "_meta": {"api-key": {"provider": "x"}}},
        ]));
        let login = Login::default();
        let order = |policy| {
            let methods = methods(&offered, &login, &policy);
            methods
                .iter()
                .map(|id| id.as_str().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(order(AuthPolicy::new().having_key()), ["b", "a"]);
        assert_eq!(order(AuthPolicy::new()), ["a", "b"]);
    }

    #[test]
    fn only_who_wants_to_be_told_is() {
        let (offered, gemini) = gemini();
        let antigravity = &Registry::builtin().get("antigravity").unwrap().login;
        let policy = AuthPolicy::new().having_key();
        assert_eq!(announcement(&offered, gemini, &policy), None);
        let told = announcement(&offered, antigravity, &policy);
        assert_eq!(told, Some("gemini-api-key".into()));
        assert_eq!(
            announcement(&offered, antigravity, &AuthPolicy::new()),
            None
        );
        assert_eq!(announcement(&[], antigravity, &policy), None);
    }
}
