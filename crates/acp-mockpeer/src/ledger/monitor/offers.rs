//! What an agent offers, and what a client takes that was not offered.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::options::offered;
use super::{MOST, broken, kept};
use crate::rules::Finding;

/// Logins, modes, options and pages that the agent offered.
#[derive(Debug, Default)]
pub(super) struct Offers {
    /// Ids of logins, and whether they are made in a terminal.
    logins: BTreeMap<String, bool>,
    sessions: HashMap<String, Session>,
    cursors: BTreeSet<String>,
}

/// What a session has; `None` as long as nothing was said of it.
#[derive(Debug, Default)]
struct Session {
    modes: Option<BTreeSet<String>>,
    /// Ids of options, and the values that they take; a switch takes any.
    options: Option<BTreeMap<String, Option<Vec<Value>>>>,
    /// An option is for the mode.
    mode_is_an_option: bool,
}

impl Offers {
    /// Takes what the agent answers.
    pub(super) fn answered(&mut self, method: &str, session: &str, result: &Value) {
        match method {
            "initialize" => {
                let logins = result["authMethods"].as_array().into_iter().flatten();
                self.logins = logins
                    .filter_map(|login| {
                        Some((
                            login["id"].as_str()?.to_owned(),
                            login["type"] == "terminal",
                        ))
                    })
                    .collect();
            }
            "session/list" => {
                if let Some(cursor) = result["nextCursor"].as_str()
                    && self.cursors.len() < MOST
                {
                    self.cursors.insert(cursor.to_owned());
                }
            }
            "session/new" | "session/load" | "session/resume" => {
                let modes = result["modes"]["availableModes"].as_array();
                let modes = modes.map(|all| {
                    let ids = all.iter().filter_map(|mode| mode["id"].as_str());
                    ids.map(ToOwned::to_owned).collect()
                });
                if let Some(session) = self.session(session) {
                    session.modes = modes;
                }
                self.options(session, result);
            }
            "session/set_config_option" => self.options(session, result),
            _ => {}
        }
    }

    /// Takes the options that a result or an update holds, if it does.
    pub(super) fn options(&mut self, session: &str, holder: &Value) {
        let Some(options) = holder["configOptions"].as_array() else {
            return;
        };
        let Some(session) = self.session(session) else {
            return;
        };
        session.mode_is_an_option = options.iter().any(|option| option["category"] == "mode");
        let options = options.iter().filter_map(|option| {
            let values = match option["type"].as_str() {
                Some("select") => Some(offered(option).cloned().collect()),
                _ => None,
            };
            Some((option["id"].as_str()?.to_owned(), values))
        });
        session.options = Some(options.collect());
    }

    /// Finds what a client asks for that was not offered.
    pub(super) fn asked(&self, method: &str, params: &Value) -> Option<Finding> {
        let session = params["sessionId"].as_str().unwrap_or_default();
        match method {
            "authenticate" => self.login(params["methodId"].as_str()?),
            "session/list" => {
                let cursor = params["cursor"].as_str()?;
                let known = self.cursors.contains(cursor) || self.cursors.len() >= MOST;
                (!known).then(|| {
                    broken(
                        &["R096"],
                        format!("no answer of this connection held the cursor {cursor:?}"),
                    )
                })
            }
            "session/set_mode" => {
                let session = self.sessions.get(session)?;
                let mode = params["modeId"].as_str()?;
                let offered = session.modes.as_ref()?.contains(mode);
                if !offered {
                    return Some(broken(&["R159"], format!("the agent has no mode {mode:?}")));
                }
                session.mode_is_an_option.then(|| {
                    let text = "the agent has an option for the mode".to_owned();
                    broken(&["R161"], text)
                })
            }
            "session/set_config_option" => {
                let session = self.sessions.get(session)?;
                session.value(params["configId"].as_str()?, params)
            }
            _ => None,
        }
    }

    fn login(&self, id: &str) -> Option<Finding> {
        match self.logins.get(id) {
            None => Some(broken(&["R046"], format!("the agent has no login {id:?}"))),
            Some(true) => Some(broken(
                &["R045"],
                format!("the login {id:?} is made in a terminal"),
            )),
            Some(false) => None,
        }
    }

    fn session(&mut self, id: &str) -> Option<&mut Session> {
        kept(&mut self.sessions, id.to_owned())
    }
}

impl Session {
    fn value(&self, id: &str, params: &Value) -> Option<Finding> {
        let value = &params["value"];
        let wrong = |text: String| Some(broken(&["R171"], text));
        match self.options.as_ref()?.get(id) {
            None => wrong(format!("the session has no option {id:?}")),
            Some(None) if !value.is_boolean() || params["type"] != "boolean" => {
                wrong(format!("the option {id:?} is a switch"))
            }
            Some(Some(offered)) if !offered.contains(value) => wrong(format!(
                "the option {id:?} does not offer the value {value}"
            )),
            Some(_) => None,
        }
    }
}

/// Finds the choice of an option that a request for permission did not offer.
pub(super) fn choice(question: &Value, result: &Value) -> Option<Finding> {
    let outcome = &result["outcome"];
    let chosen = outcome["optionId"].as_str()?;
    let mut options = question["options"].as_array()?.iter();
    let offered = options.any(|option| option["optionId"] == chosen);
    (outcome["outcome"] == "selected" && !offered)
        .then(|| broken(&["R132"], format!("the agent offered no option {chosen:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn agent() -> Offers {
        let mut offers = Offers::default();
        let logins = json!({"authMethods": [{"id": "key"}, {"id": "tty", "type": "terminal"}]});
        offers.answered("initialize", "", &logins);
        offers.answered(
            "session/list",
            "",
            &json!({"nextCursor": "p2", "sessions": []}),
        );
        let modes = json!({"availableModes": [{"id": "ask"}, {"id": "act"}]});
        offers.answered("session/new", "plain", &json!({"modes": modes}));
        let options = json!([
            {"id": "mode", "category": "mode", "type": "select", "options": [{"value": "ask"}, {"value": "act"}]},
            {"id": "size", "type": "select", "options": [{"group": "g", "options": [{"value": "s"}]}]},
            {"id": "fast", "type": "boolean"},
        ]);
        offers.answered(
            "session/new",
            "rich",
            &json!({"modes": modes, "configOptions": options}),
        );
        offers
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
    fn check(method: &str, params: Value, expected: &str) {
        let found = agent().asked(method, &params);
        assert_eq!(
            found.map_or("", |finding| finding.rules[0]),
            expected,
            "{params}"
        );
    }

    #[test]
    fn what_was_offered_and_what_was_not() {
        check("authenticate", json!({"methodId": "key"}), "");
        check("authenticate", json!({"methodId": "tty"}), "R045");
        check("authenticate", json!({"methodId": "other"}), "R046");
        check("session/list", json!({}), "");
        check("session/list", json!({"cursor": null}), "");
        check("session/list", json!({"cursor": "p2"}), "");
        check("session/list", json!({"cursor": "p3"}), "R096");
        let mode = |session: &str, mode: &str| json!({"sessionId": session, "modeId": mode});
        check("session/set_mode", mode("plain", "act"), "");
        check("session/set_mode", mode("plain", "fly"), "R159");
        check("session/set_mode", mode("rich", "act"), "R161");
        // Of a session that nothing is known of, nothing is said.
        check("session/set_mode", mode("other", "fly"), "");
        let option =
            |id: &str, value: Value| json!({"sessionId": "rich", "configId": id, "value": value});
        check("session/set_config_option", option("size", json!("s")), "");
        check(
            "session/set_config_option",
            option("size", json!("m")),
            "R171",
        );
        check(
            "session/set_config_option",
            option("depth", json!("m")),
            "R171",
        );
        check(
            "session/set_config_option",
            option("fast", json!(true)),
            "R171",
        );
        let switch =
            json!({"sessionId": "rich", "configId": "fast", "type": "boolean", "value": true});
        check("session/set_config_option", switch, "");
    }

    #[test]
    fn choices() {
        let question = json!({"options": [{"optionId": "yes"}, {"optionId": "no"}]});
        let chosen = |id: &str| json!({"outcome": {"outcome": "selected", "optionId": id}});
        assert_eq!(choice(&question, &chosen("yes")), None);
        assert!(choice(&question, &chosen("perhaps")).is_some());
        assert_eq!(
            choice(&question, &json!({"outcome": {"outcome": "cancelled"}})),
            None
        );
    }
}
