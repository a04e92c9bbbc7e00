//! Takes secrets and private paths out of recordings.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::json_strings;
use super::{Entry, What};

/// What stands where a secret stood.
const GONE: &str = "[redacted]";

/// Takes secrets and private paths out of recordings; everything else keeps its bytes.
///
/// Without being told anything it replaces
///
/// * the values of environment variables and HTTP headers in messages, and of
///   members whose names say that they are secret (`apiKey`, `token`, …);
/// * what looks like a key or token: `sk-…`, `ghp_…`, `AKIA…`, JSON web
///   tokens, `Bearer …`, passwords in addresses;
/// * the home folders of users: `/home/NAME`, `/Users/NAME`, `/root`,
///   `C:\Users\NAME` become those of `user`.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    secrets: BTreeSet<String>,
    paths: Vec<(String, String)>,
    keeps_homes: bool,
}

impl Redactor {
    /// Makes a redactor that knows the common forms of secrets.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces this text wherever it stands.
    ///
    /// Texts of less than four characters are left: they stand everywhere.
    #[must_use]
    pub fn with_secret(mut self, secret: impl Into<String>) -> Self {
        let secret = secret.into();
        if secret.chars().count() >= 4 {
            self.secrets.insert(secret);
        }
        self
    }

    /// Replaces the values of the environment variables of this process whose
    /// names say that they are secret.
    #[must_use]
    pub fn with_environment(mut self) -> Self {
        for (name, value) in std::env::vars_os() {
            if is_secret_name(&name.to_string_lossy()) {
                self = self.with_secret(value.to_string_lossy());
            }
        }
        self
    }

    /// Replaces a path, and what lies below it, by another.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>, by: impl Into<String>) -> Self {
        let path = path.into();
        if path.len() > 1 {
            self.paths.push((path, by.into()));
            // Longer ones first: they may lie below shorter ones.
            self.paths
                .sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        }
        self
    }

    /// Leaves home folders as they are.
    #[must_use]
    pub fn keeping_homes(mut self) -> Self {
        self.keeps_homes = true;
        self
    }

    /// Redacts what was seen.
    #[must_use]
    pub fn entry(&self, entry: &Entry) -> Entry {
        let what = match &entry.what {
            What::Line(bytes) => What::Line(self.line(bytes)),
            What::Unfinished(bytes) => What::Unfinished(self.line(bytes)),
            What::Stderr(bytes) => What::Stderr(self.line(bytes)),
            other => other.clone(),
        };
        Entry { what, ..*entry }
    }

    /// Redacts a line of a conversation.
    ///
    /// Bytes that are not UTF-8 are beyond reading, and are replaced wholly.
    #[must_use]
    pub fn line(&self, line: &[u8]) -> Vec<u8> {
        match std::str::from_utf8(line) {
            Ok(text) => self.text_line(text).into_bytes(),
            Err(_) => GONE.as_bytes().to_vec(),
        }
    }

    /// Redacts a line of a conversation that is text.
    pub(crate) fn text_line(&self, text: &str) -> String {
        let mut redacted = String::with_capacity(text.len());
        let mut done = 0;
        let is_json = json_strings::each(text, |string| {
            redacted.push_str(&text[done..string.range.start]);
            let inside = &text[string.range.clone()];
            if !string.is_key && is_secret_place(string.keys) && !inside.is_empty() {
                redacted.push_str(GONE);
            } else {
                redacted.push_str(&self.text(inside));
            }
            done = string.range.end;
        });
        if !is_json {
            return self.text(text);
        }
        redacted.push_str(&text[done..]);
        redacted
    }

    /// Redacts a text that stands in a JSON string, as it is written there.
    fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            for form in [secret.clone(), escaped(secret)] {
                if text.contains(&form) {
                    text = text.replace(&form, GONE);
                }
            }
        }
        for (path, by) in &self.paths {
            for form in [path.clone(), escaped(path)] {
                text = text.replace(&form, by);
            }
        }
        let homes = if self.keeps_homes {
            &[]
        } else {
            HOMES.as_slice()
        };
        for (pattern, with) in SECRETS.iter().chain(homes) {
            if pattern.is_match(&text) {
                text = pattern
                    .replace_all(&text, |found: &Captures<'_>| {
                        let mut new = String::new();
                        found.expand(with, &mut new);
                        new
                    })
                    .into_owned();
            }
        }
        text
    }
}

/// Writes a text as it stands between the quotes of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Values under `env` and `headers`, and under names that say so.
fn is_secret_place(keys: &[String]) -> bool {
    let Some(last) = keys.last() else {
        return false;
    };
    let above = keys.iter().rev().nth(1);
    let holds_values = |key: &String| key == "env" || key == "headers";
    (last == "value" && above.is_some_and(holds_values))
        || above.is_some_and(|key| key == "env") && last != "name"
        || is_secret_name(last)
}

/// Tells whether a name says that its value is secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let mut plain: String = name.to_lowercase();
    plain.retain(|c| c.is_alphanumeric());
    let ends = [
        "apikey",
        "secret",
        "token",
        "password",
        "passwd",
        "authorization",
        "credential",
        "credentials",
        "privatekey",
        "accesskey",
        "cookie",
        "secretkey",
    ];
    // A count of tokens is no token.
    ends.iter().any(|end| plain.ends_with(end))
}

/// What secrets look like, and what takes their place.
static SECRETS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    compiled(&[
        // Keys of providers: a known beginning, then much that means nothing.
        (r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}", GONE),
        (
            r"\b(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{16,}",
            GONE,
        ),
        (r"\bAKIA[0-9A-Z]{16}\b", GONE),
        (r"\bAIza[A-Za-z0-9_-]{30,}", GONE),
        (
            r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
            GONE,
        ),
        (
            r"(?i)\b(bearer|basic) [A-Za-z0-9._~+/=-]{8,}",
            "$1 [redacted]",
        ),
        // `https://name:password@host`
        (r"(://[^/\s:@]+:)[^/\s:@]+@", "$1[redacted]@"),
    ])
});

/// What home folders look like, and what takes their place.
static HOMES: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    compiled(&[
        (r"/(home|Users)/[^/\s\\:]+", "/$1/user"),
        (r"(^|[^A-Za-z0-9_.-])/root\b", "$1/home/user"),
        (
            r"(?i)([A-Z]:(?:\\\\|\\|/)Users(?:\\\\|\\|/))[^\\/\s]+",
            "${1}user",
        ),
    ])
});

fn compiled(all: &[(&str, &'static str)]) -> Vec<(Regex, &'static str)> {
    all.iter()
        .filter_map(|(pattern, with)| Some((Regex::new(pattern).ok()?, *with)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let redactor = Redactor::new()
            .with_secret("hunter2-swordfish")
            .with_path("/srv/build/7", "/home/user/project");
        let got = String::from_utf8(redactor.line(line.as_bytes())).unwrap();
        assert_eq!(got, expected);
    }

    #[test]
    fn every_pattern_is_one() {
        assert_eq!((SECRETS.len(), HOMES.len()), (7, 3));
    }

    #[test]
    fn bytes_stay_but_for_secrets() {
        // Blanks, escapes, order and numbers are as they were.
        let odd = r#"{ "b" : [1.50,  2e3],"a":"\u0061\/b" , "a": null }"#;
        check(odd, odd);
        check("not json at all", "not json at all");
        check("", "");
    }

    #[test]
    fn values_of_variables_and_headers() {
        check(
            r#"{"env":[{"name":"KEY","value":"v1"},{"name":"B","value":""}]}"#,
            r#"{"env":[{"name":"KEY","value":"[redacted]"},{"name":"B","value":""}]}"#,
        );
        check(
            r#"{"headers":[{"value":"abc","name":"X"}],"value":"kept"}"#,
            r#"{"headers":[{"value":"[redacted]","name":"X"}],"value":"kept"}"#,
        );
        check(
            r#"{"env":{"KEY":"v1"},"api_key":"x","inputTokens":"5","accessToken":"y"}"#,
            r#"{"env":{"KEY":"[redacted]"},"api_key":"[redacted]","inputTokens":"5","accessToken":"[redacted]"}"#,
        );
    }

    #[test]
    fn what_looks_secret() {
        let key = format!("sk-{}", "a1B2".repeat(6));
        check(
            &format!(r#"{{"text":"use {key} now"}}"#),
            r#"{"text":"use [redacted] now"}"#,
        );
        check(
            r#"{"text":"Authorization: Bearer abcdef123456"}"#,
            r#"{"text":"Authorization: Bearer [redacted]"}"#,
        );
        check(
            r#"{"url":"https://ada:pw@example.com/x"}"#,
            r#"{"url":"https://ada:[redacted]@example.com/x"}"#,
        );
        check("token hunter2-swordfish!", "token [redacted]!");
        check(r#"{"sk-short":"task-list"}"#, r#"{"sk-short":"task-list"}"#);
    }

    #[test]
    fn homes() {
        check(r#"{"cwd":"/home/ada/x"}"#, r#"{"cwd":"/home/user/x"}"#);
        check(r#"{"cwd":"/Users/ada"}"#, r#"{"cwd":"/Users/user"}"#);
        check(
            r#"{"cwd":"C:\\Users\\ada\\x"}"#,
            r#"{"cwd":"C:\\Users\\user\\x"}"#,
        );
        check(r#"{"cwd":"/root"}"#, r#"{"cwd":"/home/user"}"#);
        check(r#"{"cwd":"/srv/root"}"#, r#"{"cwd":"/srv/root"}"#);
        check(
            r#"{"cwd":"/srv/build/7/a"}"#,
            r#"{"cwd":"/home/user/project/a"}"#,
        );
        check(r#"{"/home/ada/k":1}"#, r#"{"/home/user/k":1}"#);
    }

    #[test]
    fn what_is_not_text_is_gone() {
        assert_eq!(Redactor::new().line(b"\xff\xfe"), GONE.as_bytes());
    }
}
