//! Text of agents, made fit for the prompt of another model.

use serde_json::{Map, Value, json};

use crate::limits::{
    MAX_MODEL_INPUT, MODEL_ERROR_BYTES, MODEL_PREVIEW_CHARS, MODEL_RESULT_CHARS,
    MODEL_TOOL_NAME_CHARS,
};
use acp_text::{Redactor, clean, cut_bytes, one_line, shorten_bytes, shorten_chars};

/// Makes texts of an agent fit for the prompt of another model: cleaned, redacted, then
/// bounded.
///
/// What a tool printed is data, and may be written to be taken for instructions; that is
/// why little of it is shown, and nothing that cannot be seen.
///
/// ```
/// use acp_harness::text::ModelText;
///
/// let text = ModelText::default();
/// assert_eq!(text.tool_name("read\u{202e} \u{1b}[1mfile"), "read file");
/// assert_eq!(text.preview(r#"{"exitCode": 0, "env": {"A": "b"}}"#), r#"{"exitCode":0}"#);
/// assert_eq!(text.peer_error("GET https://example.com/key: 401"), "GET [url] 401");
/// ```
#[derive(Clone, Debug)]
pub struct ModelText {
    redactor: Redactor,
}

/// Members of a result that say how it went and hold nothing that anybody wrote.
const SAFE_KEYS: &[&str] = &[
    "code",
    "completed",
    "count",
    "created",
    "deleted",
    "duration",
    "durationMs",
    "exitCode",
    "exit_code",
    "failed",
    "found",
    "kind",
    "length",
    "lineCount",
    "lines",
    "matches",
    "modified",
    "ok",
    "passed",
    "result",
    "signal",
    "size",
    "skipped",
    "state",
    "status",
    "success",
    "total",
    "truncated",
    "type",
];

/// How deep safe members are looked for.
const SAFE_DEPTH: usize = 3;

/// Stands for JSON of which nothing can be told.
const NOT_SHOWN: &str = "(JSON that is not shown)";

/// Characters of a word among safe members.
const SAFE_WORD: usize = 64;

impl Default for ModelText {
    fn default() -> Self {
        Self::new(Redactor::new())
    }
}

impl ModelText {
    /// Uses this redactor, and hides addresses besides.
    #[must_use]
    pub fn new(redactor: Redactor) -> Self {
        Self {
            redactor: redactor.hiding_addresses(),
        }
    }

    /// Makes the name of a tool: one line of at most 512 characters.
    #[must_use]
    pub fn tool_name(&self, name: &str) -> String {
        self.line(name, MODEL_TOOL_NAME_CHARS)
    }

    /// Makes a preview of one part of a result, of at most 512 characters.
    ///
    /// Of a JSON object or array only members with safe names are left: states, codes and
    /// counts.
    #[must_use]
    pub fn preview(&self, result: &str) -> String {
        let shown = if is_json_like(result) {
            self.json(result)
        } else {
            self.words(result)
        };
        shorten_chars(&shown, MODEL_PREVIEW_CHARS)
    }

    /// Makes one result of several parts, of at most 2048 characters in all.
    #[must_use]
    pub fn result<I>(&self, parts: I) -> String
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let mut all = String::new();
        for part in parts {
            let preview = self.preview(part.as_ref());
            if preview.is_empty() {
                continue;
            }
            if !all.is_empty() {
                all.push('\n');
            }
            all.push_str(&preview);
            // Four bytes a character: what comes behind is not shown.
            if all.len() > MODEL_RESULT_CHARS * 4 {
                break;
            }
        }
        shorten_chars(&all, MODEL_RESULT_CHARS)
    }

    /// Makes a message of what a peer gave as an error: one line of at most 512 bytes,
    /// without addresses, paths and credentials.
    #[must_use]
    pub fn peer_error(&self, message: &str) -> String {
        let redactor = self.redactor.clone().hiding_paths();
        let words = redactor.redact(&clean(cut_bytes(message, MAX_MODEL_INPUT)));
        shorten_bytes(&one_line(&words, MODEL_ERROR_BYTES), MODEL_ERROR_BYTES)
    }

    fn line(&self, text: &str, max: usize) -> String {
        one_line(&self.words(text), max)
    }

    fn words(&self, text: &str) -> String {
        self.redactor
            .redact(&clean(cut_bytes(text, MAX_MODEL_INPUT)))
    }

    /// What may be shown of a text that is JSON, or was before it was cut.
    fn json(&self, text: &str) -> String {
        let value = (text.len() <= MAX_MODEL_INPUT)
            .then(|| serde_json::from_str(text).ok())
            .flatten();
        match value {
            Some(Value::Array(items)) => json!({ "count": items.len() }).to_string(),
            Some(value) => self
                .safe(&value, SAFE_DEPTH)
                .unwrap_or_default()
                .to_string(),
            None => NOT_SHOWN.to_owned(),
        }
    }

    fn safe(&self, value: &Value, depth: usize) -> Option<Value> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => Some(value.clone()),
            Value::String(text) => Some(self.line(text, SAFE_WORD).into()),
            Value::Array(items) => Some(items.len().into()),
            Value::Object(_) if depth == 0 => None,
            Value::Object(members) => {
                let safe: Map<_, _> = members
                    .iter()
                    .filter(|(name, _)| SAFE_KEYS.contains(&name.as_str()))
                    .filter_map(|(name, value)| Some((name.clone(), self.safe(value, depth - 1)?)))
                    .collect();
                Some(Value::Object(safe))
            }
        }
    }
}

/// Tells whether a text begins as a JSON object does, or as an array that may hold one.
fn is_json_like(text: &str) -> bool {
    let mut marks = text.chars().filter(|c| !c.is_whitespace());
    match marks.next() {
        Some('{') => matches!(marks.next(), Some('"' | '}')),
        Some('[') => matches!(marks.next(), Some('{' | '[' | '"' | ']')),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(result: &str, expected: &str) {
        let text = ModelText::new(Redactor::new().with_secret("hunter2"));
        assert_eq!(text.preview(result), expected, "{result:?}");
    }

    #[test]
    fn words_are_cleaned_and_redacted() {
        check("ok\u{1b}[0m hunter2\nend", "ok [redacted]\nend");
        check("[INFO] ready {1}", "[INFO] ready {1}");
        check("[1, 2]", "[1, 2]");
        check("", "");
    }

    #[test]
    fn json_is_reduced_to_what_is_safe() {
        check(
            r#"{"status":"done","stdout":"x","exitCode":0,"count":2,"result":{"ok":true,"row":{"id":1}}}"#,
            r#"{"count":2,"exitCode":0,"result":{"ok":true},"status":"done"}"#,
        );
        check(
            r#" {"status": "hunter2 hunter2"}"#,
            r#"{"status":"[redacted] [redacted]"}"#,
        );
        check(
            r#"{"matches":["a","b"],"total":null}"#,
            r#"{"matches":2,"total":null}"#,
        );
        check(r#"[{"secret":1},{}]"#, r#"{"count":2}"#);
        check(
            r#"{"result":{"result":{"result":{"ok":1}}}}"#,
            r#"{"result":{"result":{}}}"#,
        );
        check(r#"{"stdout":"cut of"#, NOT_SHOWN);
        check(
            &format!(r#"{{"a":"{}"}}"#, "x".repeat(MAX_MODEL_INPUT)),
            NOT_SHOWN,
        );
        check("{}", "{}");
    }

    #[test]
    fn results_of_several_parts() {
        let text = ModelText::default();
        assert_eq!(text.result(["one", "", "two"]), "one\ntwo");
        let long = text.result(std::iter::repeat_n("x".repeat(600), 99));
        assert_eq!(long.chars().count(), 2048);
        assert_eq!(long.lines().next().unwrap().chars().count(), 512);
    }

    #[test]
    fn errors_of_peers() {
        let text = ModelText::new(Redactor::new().with_secret("hunter2"));
        assert_eq!(
            text.peer_error("open /home/ada/x\n  token=abc hunter2"),
            "open [path] token=[redacted] [redacted]"
        );
        let long = text.peer_error(&"é".repeat(1000));
        assert!(long.len() <= 512 && long.ends_with('…'), "{long}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn all_of_it_is_bounded_and_clean(raw in "(\\PC|[\u{1b}\r\n\u{202e}\u{8}]){0,900}") {
            let text = ModelText::default();
            let plain = |shown: &str| shown.chars().all(|c| c == '\n' || c == '\t' || !c.is_control());
            let name = text.tool_name(&raw);
            prop_assert!(name.chars().count() <= 512 && !name.contains(char::is_control));
            let preview = text.preview(&raw);
            prop_assert!(preview.chars().count() <= 512 && plain(&preview));
            let error = text.peer_error(&raw);
            prop_assert!(error.len() <= 512 && !error.contains(char::is_control));
            let result = text.result([&raw, &raw, &raw, &raw, &raw]);
            prop_assert!(result.chars().count() <= 2048 && plain(&result));
        }
    }
}
