//! What the client of a recording answered, as standing rules of a scenario.

use std::collections::{BTreeMap, BTreeSet};

use acp_recording::PeerSide;
use serde_json::Value;

use super::{Line, Members, Transcriber, method_name, outcome, request_word};
use crate::language::pattern::{Template, quoted};

const PERMISSION: &str = "session/request_permission";

/// What is answered to everything that was not asked in the recording.
const LAST_RESORT: &str = "
whenever <- any request
  -> error {\"code\": -32601, \"message\": \"this was not asked when it was recorded\"}
end
";

/// Returns the folder the recorded conversation is about: that of its first session.
pub(super) fn cwd(lines: &[Line<'_>]) -> Option<String> {
    let mut of_client = of_side(lines, PeerSide::Client);
    let cwd = of_client.find_map(|line| line.message["params"]["cwd"].as_str())?;
    let cwd = cwd.trim_end_matches('/');
    (!cwd.is_empty()).then(|| cwd.to_owned())
}

impl Transcriber {
    /// Writes a rule for each request of the agent and what was answered to it.
    ///
    /// Which option of a permission request was chosen is told by its kind: other agents
    /// name it in another way.
    pub(super) fn rules(&mut self, lines: &[Line<'_>]) -> String {
        let answers: BTreeMap<String, &Line<'_>> = of_side(lines, PeerSide::Client)
            .filter(|line| line.message.get("method").is_none())
            .map(|line| (line.message["id"].to_string(), line))
            .collect();
        let mut seen = BTreeSet::new();
        let mut rules = Vec::new();
        for Line { message, .. } in of_side(lines, PeerSide::Agent) {
            let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else {
                continue;
            };
            let Some(answer) = answers.get(&id.to_string()) else {
                continue;
            };
            let rule = match chosen_kind(message, &answer.message) {
                Some(kind) => Some(choice(message, &kind)),
                None => self.answer(method, message, answer.text),
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
        let about = match request["params"]["path"].as_str() {
            Some(path) => format!(" {{\"path\": {}}}", self.pattern(&quoted(path))?),
            None => String::new(),
        };
        let members: Members = serde_json::from_str(line).ok()?;
        let (key, part) = outcome(&members)?;
        let question = format!("{}{}{about}", request_word(method), method_name(method));
        Some((question, format!("{key} {}", self.pattern(part)?)))
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
fn choice(request: &Value, kind: &str) -> (String, String) {
    let tool = match request["params"]["toolCall"]["title"].as_str() {
        Some(title) => format!(
            "\"toolCall\": {{\"title\": {}}}, ",
            quoted(&Template::escape(title))
        ),
        None => String::new(),
    };
    let kind = quoted(&Template::escape(kind));
    (
        format!(
            "{PERMISSION} {{{tool}\"options\": [..., {{\"kind\": {kind}, \"optionId\": \"$option\"}}, ...]}}"
        ),
        "result {\"outcome\": {\"outcome\": \"selected\", \"optionId\": \"$option\"}}".to_owned(),
    )
}

fn of_side<'a>(lines: &'a [Line<'a>], side: PeerSide) -> impl Iterator<Item = &'a Line<'a>> {
    lines.iter().filter(move |line| line.from == side)
}
