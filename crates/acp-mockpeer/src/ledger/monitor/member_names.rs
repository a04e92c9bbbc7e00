//! How members are called, and where those of one's own stand.

use serde_json::Value;

use super::broken;
use crate::rules::Finding;
use crate::schema::{self, Unnamed, Use};

/// Finds the members that the protocol does not name (R015, R100, R179, R185).
pub(super) fn wrong(method: &str, part: Use, value: &Value) -> Vec<Finding> {
    let all = schema::unnamed(method, part, value);
    all.iter().map(|unnamed| judge(unnamed, value)).collect()
}

fn judge(unnamed: &Unnamed, value: &Value) -> Finding {
    let Unnamed { place, name, named } = unnamed;
    let meant = camel(name);
    if meant != *name && named.contains(&meant) {
        let text = format!("at {place}: `{name}` is written `{meant}`");
        return broken(&["R015"], text);
    }
    let is_info = value["update"]["sessionUpdate"] == "session_info_update";
    let fixed = ["cwd", "sessionId", "additionalDirectories"];
    if is_info && place == "params.update" && fixed.contains(&name.as_str()) {
        let text = format!("at {place}: `{name}` does not change, and is not told");
        return broken(&["R100", "R179"], text);
    }
    let text = format!(
        "at {place}: the protocol names no `{name}`; what is of one's own stands under `_meta`"
    );
    let of_capabilities = ["result.agentCapabilities", "params.clientCapabilities"];
    match of_capabilities.iter().any(|all| place.starts_with(all)) {
        true => broken(&["R179", "R185"], text),
        false => broken(&["R179"], text),
    }
}

/// Writes `load_session` as `loadSession`.
fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let mut camel = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
    fn check(method: &str, part: Use, value: Value, expected: &[&[&str]]) {
        let found: Vec<Vec<&str>> = wrong(method, part, &value)
            .iter()
            .map(|finding| finding.rules.clone())
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn members_of_one_s_own() {
        check(
            "session/new",
            Use::Result,
            json!({"sessionId": "s", "mood": 1}),
            &[&["R179"]],
        );
        check(
            "session/prompt",
            Use::Result,
            json!({"stopReason": "end_turn", "stop_reason": "x"}),
            &[&["R015"]],
        );
        let capabilities =
            json!({"protocolVersion": 1, "agentCapabilities": {"load_session": true, "x": {}}});
        check(
            "initialize",
            Use::Result,
            capabilities,
            &[&["R015"], &["R179", "R185"]],
        );
        let info = json!({"sessionId": "s", "update": {"sessionUpdate": "session_info_update", "cwd": "/", "mood": 1}});
        check(
            "session/update",
            Use::Params,
            info,
            &[&["R100", "R179"], &["R179"]],
        );
    }

    #[test]
    fn camels() {
        for (name, camel_case) in [
            ("load_session", "loadSession"),
            ("a", "a"),
            ("loadSession", "loadSession"),
            ("a_b_c", "aBC"),
        ] {
            assert_eq!(camel(name), camel_case);
        }
    }
}
