//! Takes secrets and private paths out of recordings.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Captures, Regex, RegexSet};

use crate::entry::{Entry, What};
use crate::json_strings;

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
    pub fn text_line(&self, text: &str) -> String {
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

    /// Redacts the beginning of a line that is text: at least so many bytes of
    /// it, if it has them.
    ///
    /// Where a string is cut, a secret that begins before the cut may show its
    /// beginning, so more than is shown has to be asked for.
    pub fn beginning(&self, text: &str, bytes: usize) -> String {
        if text.len() <= bytes {
            return self.text_line(text);
        }
        let mut redacted = String::new();
        let mut done = 0;
        let is_json = json_strings::each(text, |string| {
            if redacted.len() >= bytes {
                return;
            }
            redacted.push_str(cut(&text[done..string.range.start], bytes));
            let inside = cut(&text[string.range.clone()], bytes);
            if !string.is_key && is_secret_place(string.keys) && !inside.is_empty() {
                redacted.push_str(GONE);
            } else {
                redacted.push_str(&self.text(inside));
            }
            done = string.range.end;
        });
        if !is_json {
            return self.text(cut(text, bytes));
        }
        if redacted.len() < bytes {
            redacted.push_str(cut(&text[done..], bytes));
        }
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
        FORMS.replace(&mut text, |form| !(form.is_home && self.keeps_homes));
        text
    }
}

/// The beginning of a text, of about so many bytes.
fn cut(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
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
pub fn is_secret_name(name: &str) -> bool {
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

/// The forms of secrets and of home folders.
static FORMS: LazyLock<Forms> = LazyLock::new(Forms::new);

struct Forms {
    /// One for each form, in the same order: what has to be there at all. Long
    /// texts are looked through once for all of them.
    hints: RegexSet,
    all: Vec<Form>,
}

/// What something looks like, and what takes its place.
struct Form {
    is_home: bool,
    pattern: Regex,
    with: &'static str,
}

/// Hint, pattern, and what takes its place.
const SECRETS: [(&str, &str, &str); 7] = [
    // Keys of providers: a known beginning, then much that means nothing.
    ("[spr]k-", r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}", GONE),
    (
        "gh[pousr]|github_pat|glpat|xox",
        r"\b(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{16,}",
        GONE,
    ),
    ("AKIA", r"\bAKIA[0-9A-Z]{16}\b", GONE),
    ("AIza", r"\bAIza[A-Za-z0-9_-]{30,}", GONE),
    (
        "eyJ",
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        GONE,
    ),
    (
        "(?i)(?:bearer|basic) ",
        r"(?i)\b(bearer|basic) [A-Za-z0-9._~+/=-]{8,}",
        "$1 [redacted]",
    ),
    // `https://name:password@host`
    ("://", r"(://[^/\s:@]+:)[^/\s:@]+@", "$1[redacted]@"),
];

const HOMES: [(&str, &str, &str); 3] = [
    ("/home/|/Users/", r"/(home|Users)/[^/\s\\:]+", "/$1/user"),
    ("/root", r"(^|[^A-Za-z0-9_.-])/root\b", "$1/home/user"),
    (
        r"(?i)Users[\\/]",
        r"(?i)([A-Z]:(?:\\\\|\\|/)Users(?:\\\\|\\|/))[^\\/\s]+",
        "${1}user",
    ),
];

impl Forms {
    fn new() -> Self {
        let (mut hints, mut all) = (Vec::new(), Vec::new());
        for (index, (hint, pattern, with)) in SECRETS.into_iter().chain(HOMES).enumerate() {
            // These stand above, and a test reads them.
            if let Ok(pattern) = Regex::new(pattern) {
                hints.push(hint);
                all.push(Form {
                    is_home: index >= SECRETS.len(),
                    pattern,
                    with,
                });
            }
        }
        let hints = RegexSet::new(hints).unwrap_or_default();
        Self { hints, all }
    }

    /// Replaces what has a form that is meant.
    fn replace(&self, text: &mut String, is_meant: impl Fn(&Form) -> bool) {
        for index in &self.hints.matches(text) {
            let form = &self.all[index];
            if !is_meant(form) || !form.pattern.is_match(text) {
                continue;
            }
            let replaced = form.pattern.replace_all(text, |found: &Captures<'_>| {
                let mut new = String::new();
                found.expand(form.with, &mut new);
                new
            });
            *text = replaced.into_owned();
        }
    }
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
        let every = SECRETS.len() + HOMES.len();
        assert_eq!((FORMS.all.len(), FORMS.hints.len()), (every, every));
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
    fn the_beginning_of_a_long_line() {
        let long = "word ".repeat(50_000);
        let line = format!(
            r#"{{"env":[{{"name":"K","value":"secret-of-mine"}}],"text":"{long}","more":1}}"#
        );
        let redactor = Redactor::new();
        let beginning = redactor.beginning(&line, 4096);
        assert!(
            (4096..9000).contains(&beginning.len()),
            "{}",
            beginning.len()
        );
        assert!(redactor.text_line(&line).starts_with(&beginning));
        assert!(!beginning.contains("secret-of-mine"));
        assert_eq!(redactor.beginning(&long, 10).len(), 10);
        assert_eq!(redactor.beginning("short", 10), "short");
    }

    #[test]
    fn what_is_not_text_is_gone() {
        assert_eq!(Redactor::new().line(b"\xff\xfe"), GONE.as_bytes());
    }
}
