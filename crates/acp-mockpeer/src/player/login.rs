//! The login that an agent wants before it does what it is asked.
//!
//! A scenario about sessions does not speak of logins. When the agent refuses a
//! request with the error for that, whoever judges logs in by the method that is
//! known to need no person, and asks again. Where none is known, the scenario says
//! nothing about the agent.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::describe;
use crate::ledger::{Observed, Shape};

/// How a reason to skip begins that is about a login.
pub(crate) const WANTS_A_LOGIN: &str = "the agent wants a login";

/// The error that says that a login comes first.
const AUTH_REQUIRED: i64 = -32000;

/// Requests that may wait at once for a login; scenarios have a handful.
const MOST_WAITING: usize = 64;

/// Logins that are named to people; an agent may offer any number.
const MOST_NAMED: usize = 5;

/// What an agent may refuse for want of a login. Where it offers none, its error says
/// so of a new session only: what another one may hold is not known.
const GATED: [&str; 5] = [
    NEW,
    "session/load",
    "session/resume",
    "session/list",
    "session/delete",
];

const NEW: &str = "session/new";

/// Watches for the wish to log in, and for what comes of it.
#[derive(Debug)]
pub(super) struct Login {
    /// The method that needs no person, if one is known.
    by: Option<String>,
    offered: Vec<Offered>,
    state: LoginState,
    /// Our requests that may still be refused, by their ids.
    asked: BTreeMap<String, String>,
}

#[derive(Debug)]
enum LoginState {
    Shut,
    /// Under this id a login is asked for, and these are asked again after it.
    Knocking {
        id: Value,
        again: Vec<String>,
    },
    /// Who refuses now does it for another reason.
    Open,
}

#[derive(Debug)]
struct Offered {
    id: String,
    by_the_agent: bool,
}

/// What is to be done about a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LoginAnswer {
    /// It has nothing to do with a login.
    None,
    /// It is dealt with, and these lines are said next.
    Say(Vec<String>),
    /// There is no way in, for this reason.
    Locked(String),
}

impl Login {
    pub(super) fn new(by: Option<&str>) -> Self {
        Self {
            by: by.map(str::to_owned),
            offered: Vec::new(),
            state: LoginState::Shut,
            asked: BTreeMap::new(),
        }
    }

    /// Notes a line of ours: it may have to be said again.
    pub(super) fn asks(&mut self, line: &str, observed: &Observed) {
        let Shape::Request { method } = &observed.shape else {
            return;
        };
        let open = matches!(self.state, LoginState::Open) || self.asked.len() >= MOST_WAITING;
        if let Some(message) = &observed.message
            && !open
            && GATED.contains(&&**method)
        {
            let id = message["id"].to_string();
            self.asked.insert(id, line.to_owned());
        }
    }

    /// Looks at what the agent said.
    ///
    /// `taken`: a step took it, so that it is what the scenario is about. `free_id`
    /// gives an id that nothing else has.
    pub(super) fn hears(
        &mut self,
        observed: &Observed,
        taken: bool,
        free_id: impl FnOnce() -> i64,
    ) -> LoginAnswer {
        let (Shape::Answer { to }, Some(message)) = (&observed.shape, &observed.message) else {
            return LoginAnswer::None;
        };
        if let LoginState::Knocking { id, again } = &mut self.state
            && message["id"] == *id
        {
            let again = std::mem::take(again);
            return self.let_in(message, again);
        }
        let asked = self.asked.remove(&message["id"].to_string());
        let method = to.as_deref().unwrap_or_default();
        match method {
            "initialize" => self.offers(&message["result"]["authMethods"]),
            // The scenario logs in by itself, or there is no need to.
            "authenticate" | NEW | "session/load" | "session/resume"
                if message.get("result").is_some() =>
            {
                self.state = LoginState::Open;
            }
            _ => {}
        }
        let refused = message["error"]["code"].as_i64() == Some(AUTH_REQUIRED);
        let meant = method == NEW || !self.offered.is_empty();
        let Some(asked) = asked.filter(|_| refused && meant && !taken) else {
            return LoginAnswer::None;
        };
        match &mut self.state {
            LoginState::Open => LoginAnswer::None,
            LoginState::Knocking { again, .. } => {
                again.push(asked);
                LoginAnswer::Say(Vec::new())
            }
            LoginState::Shut => match self.way_in() {
                Err(why) => LoginAnswer::Locked(why),
                Ok(by) => {
                    let id = Value::from(free_id());
                    let knock = json!({
                        "jsonrpc": "2.0", "id": id, "method": "authenticate",
                        "params": {"methodId": by},
                    });
                    let again = vec![asked];
                    self.state = LoginState::Knocking { id, again };
                    LoginAnswer::Say(vec![knock.to_string()])
                }
            },
        }
    }

    /// Says why nothing more can come, if that is because a login is not answered.
    pub(super) fn held_up(&self) -> Option<String> {
        match self.state {
            LoginState::Knocking { .. } => {
                Some(self.wants(&format!("`{}` did not come to an end", self.by_name())))
            }
            LoginState::Shut | LoginState::Open => None,
        }
    }

    fn let_in(&mut self, message: &Value, again: Vec<String>) -> LoginAnswer {
        if message.get("result").is_some() {
            self.state = LoginState::Open;
            // They were answered, so that their ids are free, and steps know them by these.
            return LoginAnswer::Say(again);
        }
        let code = message["error"]["code"].as_i64();
        let code = code.map_or_else(|| "no code".to_owned(), |code| code.to_string());
        self.state = LoginState::Shut;
        LoginAnswer::Locked(self.wants(&format!(
            "it answered `{}` with an error ({code})",
            self.by_name()
        )))
    }

    fn offers(&mut self, methods: &Value) {
        let methods = methods.as_array().into_iter().flatten();
        let offered = methods.filter_map(|method| {
            Some(Offered {
                id: method["id"].as_str()?.to_owned(),
                by_the_agent: matches!(method["type"].as_str(), None | Some("agent")),
            })
        });
        self.offered = offered.collect();
    }

    /// Names the login that is asked for.
    fn way_in(&self) -> Result<&str, String> {
        let all = named(&self.offered);
        let Some(by) = &self.by else {
            return Err(self.wants(&match all.as_str() {
                "" => "it offers none".to_owned(),
                all => format!("it offers {all}; a profile may say `login`"),
            }));
        };
        match self.offered.iter().find(|offered| offered.id == *by) {
            None if all.is_empty() => Err(self.wants("it offers none")),
            None => Err(self.wants(&format!("it offers {all}, and not `{}`", self.by_name()))),
            Some(offered) if !offered.by_the_agent => {
                Err(self.wants(&format!("`{}` is none that it does itself", self.by_name())))
            }
            Some(_) => Ok(by),
        }
    }

    fn by_name(&self) -> String {
        name(self.by.as_deref().unwrap_or_default())
    }

    fn wants(&self, how: &str) -> String {
        format!("{WANTS_A_LOGIN}: {how}")
    }
}

/// Names logins for people.
fn named(offered: &[Offered]) -> String {
    let mut names: Vec<String> = offered
        .iter()
        .take(MOST_NAMED)
        .map(|offered| format!("`{}`", name(&offered.id)))
        .collect();
    if offered.len() > MOST_NAMED {
        names.push("…".to_owned());
    }
    names.join(", ")
}

/// What the agent calls something, without what would disturb a terminal.
fn name(id: &str) -> String {
    let short: String = id.chars().take(40).collect();
    describe::line(short.as_bytes())
}
