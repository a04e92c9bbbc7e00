//! What rules say of every message, whatever the scenario is about, and of the
//! course of a conversation.
//!
//! The schema allows what is found here; each finding names the rule that does
//! not. Both sides are watched, as far as rules bind them.

mod chunks;
mod forms;
mod lists;
mod member_names;
mod meta;
mod offers;
mod options;
mod paths;
mod permissions;
mod secrets;
mod terminals;
mod tool_calls;
mod urls;

use std::collections::HashMap;
use std::hash::Hash;

use serde_json::Value;

use crate::ledger::{advertises, may_ask};
use crate::rules::{Check, Finding};
use crate::schema::Use;
use acp_recording::PeerSide;
use chunks::Messages;
use lists::Whole;
use offers::Offers;
use permissions::Questions;
use terminals::Terminals;
use tool_calls::Calls;
use urls::Visits;

/// How many sessions, calls and visits are remembered; enough for every real
/// conversation. What is beyond that is not judged.
const MOST: usize = 65_536;

/// What both sides said before, as far as a rule is about it.
#[derive(Debug, Default)]
pub(crate) struct Monitors {
    calls: Calls,
    messages: Messages,
    offers: Offers,
    questions: Questions,
    terminals: Terminals,
    visits: Visits,
    whole: Whole,
}

/// Who speaks, and what each side said that it can.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speaker<'a> {
    pub(crate) from: PeerSide,
    pub(crate) own: &'a Value,
    pub(crate) other: &'a Value,
}

/// What an answer is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'a> {
    pub(crate) method: &'a str,
    pub(crate) id: &'a Value,
    pub(crate) params: &'a Value,
}

impl Monitors {
    /// Looks at a request or a notification.
    pub(crate) fn asked(
        &mut self,
        speaker: Speaker<'_>,
        method: &str,
        id: &Value,
        params: &Value,
    ) -> Vec<Finding> {
        let mut all = every(method, Use::Params, params);
        if method.starts_with('_') && !meta::announces(speaker.own) {
            let text = format!(
                "{method} is of one's own, and no capability announces anything under `_meta`"
            );
            all.push(broken(&["R183"], text));
        }
        let session = params["sessionId"].as_str().unwrap_or_default();
        if speaker.from == PeerSide::Client {
            all.extend(self.offers.asked(method, params));
        }
        match (speaker.from, method) {
            (PeerSide::Client, "session/load") => {
                self.calls.begin_again(session);
                self.messages.begin_again(session);
                self.whole.begin_turn(session);
            }
            (PeerSide::Client, "session/prompt") => {
                self.calls.begin_turn(session);
                self.whole.begin_turn(session);
            }
            (PeerSide::Client, "session/cancel") => self.questions.cancel(session),
            (PeerSide::Agent, "fs/read_text_file" | "fs/write_text_file" | "terminal/create")
                // What the client cannot do at all is another fault.
                if may_ask(method, speaker.other) =>
            {
                all.extend(self.calls.used(session));
            }
            (PeerSide::Agent, "session/update") => self.told(session, &params["update"], &mut all),
            (PeerSide::Agent, "session/request_permission") => {
                all.extend(self.calls.asked(session, &params["toolCall"]));
                self.questions.asked(session, id);
            }
            (PeerSide::Agent, "terminal/release") => {
                self.calls.released(session, &params["terminalId"]);
            }
            (PeerSide::Agent, "elicitation/create") => self.question(speaker, params, &mut all),
            (PeerSide::Agent, "elicitation/complete")
                if !self.visits.complete(&params["elicitationId"]) =>
            {
                let text = format!("no visit has the id {}", params["elicitationId"]);
                all.push(broken(&["R207"], text));
            }
            _ => {}
        }
        all
    }

    /// Looks at an answer; `None` is an error.
    pub(crate) fn answered(
        &mut self,
        from: PeerSide,
        question: Question<'_>,
        result: Option<&Value>,
    ) -> Vec<Finding> {
        let Question { method, params, .. } = question;
        let session = params["sessionId"].as_str().unwrap_or_default();
        let mut all = Vec::new();
        if method == "elicitation/create" {
            self.visits.answered(&params["elicitationId"], result);
        }
        if from == PeerSide::Client {
            all.extend(self.of_client(question, result));
        }
        let Some(result) = result else {
            return all;
        };
        all.extend(every(method, Use::Result, result));
        if from == PeerSide::Client {
            if method == "terminal/create" {
                self.calls.made(session, &result["terminalId"]);
            }
            return all;
        }
        all.extend(options::wrong(result));
        let session = match method {
            "session/new" => result["sessionId"].as_str().unwrap_or_default(),
            _ => session,
        };
        self.offers.answered(method, session, result);
        let left_out = self.whole.options(session, result);
        if let Some(option) = left_out.filter(|_| method == "session/set_config_option") {
            all.push(leaves_out("R172", "option", &option));
        }
        all
    }

    /// Holds what a client answers against what it was asked, and answered before.
    fn of_client(&mut self, question: Question<'_>, result: Option<&Value>) -> Option<Finding> {
        let Question { method, id, params } = question;
        match method {
            "session/request_permission" => {
                let session = params["sessionId"].as_str().unwrap_or_default();
                let late = self.questions.answered(session, id, result);
                late.or_else(|| offers::choice(params, result?))
            }
            "elicitation/create" => forms::wrong(params, result?),
            _ if method.starts_with("terminal/") => self.terminals.answered(method, params, result),
            _ => None,
        }
    }

    /// Looks at news of a session.
    fn told(&mut self, session: &str, update: &Value, all: &mut Vec<Finding>) {
        all.extend(self.calls.told(session, update));
        let goes_on = self.messages.take(session, update);
        all.extend(goes_on.map(|text| broken(&["R113"], text)));
        match update["sessionUpdate"].as_str() {
            Some("plan") => {
                let left_out = self.whole.plan(session, update);
                all.extend(left_out.map(|entry| leaves_out("R138", "entry", &entry)));
            }
            Some("config_option_update") => {
                all.extend(options::wrong(update));
                self.offers.options(session, update);
                let left_out = self.whole.options(session, update);
                all.extend(left_out.map(|option| leaves_out("R173", "option", &option)));
            }
            Some("usage_update") => {
                let currency = update["cost"]["currency"].as_str();
                if currency.is_some_and(|text| !is_currency(text)) {
                    let text = "the currency of a cost has three letters, as `EUR`".to_owned();
                    all.push(broken(&["R114"], text));
                }
            }
            _ => {}
        }
    }

    /// Looks at a question to the user.
    fn question(&mut self, speaker: Speaker<'_>, params: &Value, all: &mut Vec<Finding>) {
        match params["mode"].as_str() {
            Some("form") => {
                if let Some(field) = secrets::asked_for(params) {
                    // Whoever opens addresses could have been sent to one.
                    let rules: &[_] = match advertises(speaker.other, "elicitation.url") {
                        true => &["R197", "R198"],
                        false => &["R197", "R199"],
                    };
                    let text = format!("the field {field:?} of this form asks for a secret");
                    all.push(broken(rules, text));
                }
                if secrets::holds_address(params) {
                    let text = "this form holds an address that can be clicked on".to_owned();
                    all.push(broken(&["R213"], text));
                }
            }
            Some("url") => {
                if !self.visits.begin(&params["elicitationId"]) {
                    let id = &params["elicitationId"];
                    let text = format!("another visit under the id {id} is still open");
                    all.push(broken(&["R205"], text));
                }
                let url = params["url"].as_str().unwrap_or_default();
                if let Some(told) = secrets::told_by(url) {
                    let text = format!("the address holds what nobody may see: {told}");
                    all.push(broken(&["R211"], text));
                }
                if secrets::is_plain(url) {
                    let text = "the address is not encrypted".to_owned();
                    all.push(broken(&["R212"], text));
                }
            }
            _ => {}
        }
    }
}

/// What holds of all params and results.
fn every(method: &str, part: Use, value: &Value) -> Vec<Finding> {
    let mut all = member_names::wrong(method, part, value);
    all.extend(paths::wrong(method, part.name(), value));
    let tracing = meta::not_of_tracing(value);
    all.extend(tracing.map(|text| broken(&["R178"], text)));
    all
}

/// Returns what is kept under a key, unless it is new and too much is kept already.
fn kept<K: Eq + Hash, V: Default>(all: &mut HashMap<K, V>, key: K) -> Option<&mut V> {
    match all.len() >= MOST && !all.contains_key(&key) {
        true => None,
        false => Some(all.entry(key).or_default()),
    }
}

fn broken(rules: &[&'static str], text: impl Into<String>) -> Finding {
    Finding::new(Check::Rules, rules, text.into())
}

/// It may have been taken out on purpose.
fn leaves_out(rule: &'static str, what: &str, which: &str) -> Finding {
    let text = format!("the {what} {which:?} of before is not told any more, and no new one is");
    broken(&[rule], text).doubtful()
}

fn is_currency(text: &str) -> bool {
    text.len() == 3 && text.chars().all(|c| c.is_ascii_uppercase())
}
