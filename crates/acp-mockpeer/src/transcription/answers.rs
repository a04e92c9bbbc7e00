//! What the client of a recording answered, as standing rules of a scenario.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use serde_json::value::RawValue;

use super::{Skeleton, method_name};
use crate::language::pattern::{Template, quoted};
use crate::language::reads_as_pattern;
use acp_recording::PeerSide;
use acp_recording::{RecordedEvent, Recording};

const PERMISSION: &str = "session/request_permission";

/// What is answered to everything that was not asked in the recording.
const LAST_RESORT: &str = "
whenever <- any request
  -> error {\"code\": -32601, \"message\": \"this was not asked when it was recorded\"}
end
";

/// Returns the folder the recorded conversation is about: that of its first session.
pub(super) fn cwd(recording: &Recording) -> Option<String> {
    let cwd = messages(recording, PeerSide::Client)
        .find_map(|(message, _)| message["params"]["cwd"].as_str().map(str::to_owned))?;
    let cwd = cwd.trim_end_matches('/');
    (!cwd.is_empty()).then(|| cwd.to_owned())
}

impl Skeleton {
    /// Writes a rule for each request of the agent and what was answered to it.
    ///
    /// Which option of a permission request was chosen is told by its kind: other agents
    /// name it in another way.
    pub(super) fn rules(&mut self, recording: &Recording) -> String {
        let answers: BTreeMap<String, (Value, &str)> = messages(recording, PeerSide::Client)
            .filter(|(message, _)| message.get("method").is_none())
            .map(|(message, line)| (message["id"].to_string(), (message, line)))
            .collect();
        let mut seen = BTreeSet::new();
        let mut rules = Vec::new();
        for (request, _) in messages(recording, PeerSide::Agent) {
            let (Some(method), Some(_)) = (request["method"].as_str(), request.get("id")) else {
                continue;
            };
            let Some((answer, line)) = answers.get(&request["id"].to_string()) else {
                continue;
            };
            let rule = match chosen_kind(&request, answer) {
                Some(kind) => choice(&request, &kind),
                None => self.answer(method, &request, line),
            };
            // The first answer to a question is given whenever it is asked.
            if let Some((question, answer)) = rule
                && seen.insert(question.clone())
            {
                rules.push(format!("\nwhenever <- {question}\n  -> {answer}\nend\n"));
            }
        }
        // The rule that stands last is asked first.
        rules.push(LAST_RESORT.to_owned());
        rules.reverse();
        rules.concat()
    }

    fn answer(&mut self, method: &str, request: &Value, line: &str) -> Option<(String, String)> {
        let word = match crate::schema::is_request(method) {
            true => "",
            false => "request ",
        };
        let about = match request["params"]["path"].as_str() {
            Some(path) => {
                let path = Value::from(path).to_string();
                format!(" {{\"path\": {}}}", self.pattern(&path))
            }
            None => String::new(),
        };
        let members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(line).ok()?;
        let (key, part) = match (members.get("result"), members.get("error")) {
            (Some(result), None) => ("result", result),
            (None, Some(error)) => ("error", error),
            _ => return None,
        };
        let part = self.pattern(part.get());
        reads_as_pattern(&part).then(|| {
            (
                format!("{word}{}{about}", method_name(method)),
                format!("{key} {part}"),
            )
        })
    }
}

/// Returns the kind of the option that was chosen, when one was.
fn chosen_kind(request: &Value, answer: &Value) -> Option<String> {
    let chosen = answer["result"]["outcome"]["optionId"].as_str()?;
    let mut options = request["params"]["options"].as_array()?.iter();
    let option = options.find(|option| option["optionId"] == chosen)?;
    (request["method"] == PERMISSION).then(|| option["kind"].as_str().map(str::to_owned))?
}

/// Chooses the first option of this kind, for the same tool call.
fn choice(request: &Value, kind: &str) -> Option<(String, String)> {
    let tool = match request["params"]["toolCall"]["title"].as_str() {
        Some(title) => format!(
            "\"toolCall\": {{\"title\": {}}}, ",
            quoted(&Template::escape(title))
        ),
        None => String::new(),
    };
    let kind = quoted(&Template::escape(kind));
    Some((
        format!(
            "{PERMISSION} {{{tool}\"options\": [..., {{\"kind\": {kind}, \"optionId\": \"$option\"}}, ...]}}"
        ),
        "result {\"outcome\": {\"outcome\": \"selected\", \"optionId\": \"$option\"}}".to_owned(),
    ))
}

/// Reads the messages of a side, with the lines they stand in.
fn messages(recording: &Recording, of: PeerSide) -> impl Iterator<Item = (Value, &str)> {
    let of_side = recording
        .entries()
        .iter()
        .filter(move |entry| entry.from == of);
    of_side.filter_map(|entry| {
        let RecordedEvent::Line(line) = &entry.what else {
            return None;
        };
        let line = std::str::from_utf8(line).ok()?;
        Some((serde_json::from_str(line).ok()?, line))
    })
}
