//! Takes secrets, addresses and paths out of a text.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::Secret;

/// Takes out of a text what is nobody else's business.
///
/// Credentials and addresses always go: what looks like a key or token, the value behind a
/// name that says it is secret, private keys, URLs (they carry both), and every secret
/// that the redactor was told. Absolute paths go if asked for ([`hiding_paths`](Self::hiding_paths)).
///
/// A pattern finds what looks like a secret, no more: tell the redactor the secrets you
/// know. A path with blanks in it is hidden up to its first blank.
///
/// ```
/// use acp_harness::text::Redactor;
///
/// let redactor = Redactor::new().with_secret("hunter2-swordfish").hiding_paths();
/// assert_eq!(
///     redactor.redact("open /home/ada/.netrc: hunter2-swordfish at https://example.com"),
///     "open [path]: [redacted] at [url]",
/// );
/// ```
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    secrets: Vec<Secret>,
    hides_paths: bool,
}

/// Secrets shorter than this are not searched for: they stand everywhere.
const SHORTEST: usize = 6;

impl Redactor {
    /// Makes a redactor that knows what credentials and addresses look like.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Hides this text wherever it stands, unless it has fewer than six characters.
    #[must_use]
    pub fn with_secret(mut self, secret: impl Into<Secret>) -> Self {
        let secret = secret.into();
        if secret.expose().chars().count() >= SHORTEST {
            self.secrets.push(secret);
            // Longer ones first: a shorter one may be part of them.
            self.secrets
                .sort_by_key(|secret| std::cmp::Reverse(secret.expose().len()));
        }
        self
    }

    /// Hides absolute paths too.
    #[must_use]
    pub fn hiding_paths(mut self) -> Self {
        self.hides_paths = true;
        self
    }

    /// Redacts a text.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for secret in &self.secrets {
            for form in [secret.expose().to_owned(), escaped(secret.expose())] {
                if text.contains(&form) {
                    text = Cow::Owned(text.replace(&form, "[redacted]"));
                }
            }
        }
        let paths: &[(Regex, &str)] = if self.hides_paths { &PATHS } else { &[] };
        for (pattern, by) in ALWAYS.iter().chain(paths) {
            if let Cow::Owned(replaced) = pattern.replace_all(&text, *by) {
                text = Cow::Owned(replaced);
            }
        }
        text.into_owned()
    }
}

/// Writes a text as it stands between the quotes of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// What always goes, and what takes its place.
static ALWAYS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    compiled(&[
        (
            r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
            "[redacted]",
        ),
        // Addresses first: they may hold a password, or a token among their parameters.
        (r#"(?i)\b[a-z][a-z0-9+.-]{1,30}://[^\s"'<>`\\]+"#, "[url]"),
        (
            r"(?i)\bdata:[a-z0-9.+/-]*(?:;[a-z0-9=-]+)*,[A-Za-z0-9+/=%_.-]+",
            "[url]",
        ),
        // Keys of providers: a known beginning, then much that means nothing.
        (r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}", "[redacted]"),
        (
            r"\b(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs]|xai|hf|npm|pypi)[-_][A-Za-z0-9_-]{16,}",
            "[redacted]",
        ),
        (r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", "[redacted]"),
        (r"\bAIza[A-Za-z0-9_-]{30,}", "[redacted]"),
        (
            r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
            "[redacted]",
        ),
        (
            r"(?i)\b(bearer|basic) +[A-Za-z0-9._~+/=-]{8,}",
            "$1 [redacted]",
        ),
        // A name that says that its value is secret; `max_tokens` says no such thing.
        (
            r#"(?i)([a-z0-9_-]*(?:api[_-]?key|(?:access|private|secret)[_-]?key|secret|token|passw(?:or)?d|credentials?|cookie)["']?\s*[:=]\s*["']?)(?:\[redacted\]|[^\s"',;}\]]+)"#,
            "${1}[redacted]",
        ),
    ])
});

/// What goes where paths are hidden.
static PATHS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    compiled(&[
        (
            r#"(^|[^\w/.\\~-])~?/[\w.@~-][^\s"'<>`:;,()\[\]{}|]*"#,
            "${1}[path]",
        ),
        (
            r#"(?i)(^|[^a-z0-9])[a-z]:[\\/][^\s"'<>`;,()\[\]{}|]*"#,
            "${1}[path]",
        ),
        (
            r#"(^|[^\\\w])\\\\[^\s"'<>`\\]+\\[^\s"'<>`;,]+"#,
            "${1}[path]",
        ),
    ])
});

fn compiled(all: &[(&str, &'static str)]) -> Vec<(Regex, &'static str)> {
    all.iter()
        .filter_map(|(pattern, by)| Some((Regex::new(pattern).ok()?, *by)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let redactor = Redactor::new()
            .with_secret("quote\"d-secret")
            .with_secret("hunter2")
            .with_secret("hunter2-swordfish")
            .with_secret("short")
            .hiding_paths();
        assert_eq!(redactor.redact(text), expected, "{text:?}");
        assert_eq!(redactor.redact(expected), expected, "again");
    }

    #[test]
    fn every_pattern_is_one() {
        assert_eq!((ALWAYS.len(), PATHS.len()), (10, 3));
    }

    #[test]
    fn known_secrets() {
        check("a hunter2-swordfish b", "a [redacted] b");
        check("a hunter2 b", "a [redacted] b");
        check(r#"{"k":"quote\"d-secret"}"#, r#"{"k":"[redacted]"}"#);
        check("in short", "in short");
    }

    #[test]
    fn what_looks_secret() {
        let key = format!("sk-{}", "a1B2".repeat(6));
        check(&format!("use {key}."), "use [redacted].");
        check(
            "Authorization: Bearer abcdef123456",
            "Authorization: Bearer [redacted]",
        );
        check("OPENAI_API_KEY=abc", "OPENAI_API_KEY=[redacted]");
        check(
            r#"{"accessToken": "abc", "b": 1}"#,
            r#"{"accessToken": "[redacted]", "b": 1}"#,
        );
        check("password: x y", "password: [redacted] y");
        check("max_tokens=5, tokens: 7", "max_tokens=5, tokens: 7");
        check(
            "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nend",
            "[redacted]\nend",
        );
        check("x -----BEGIN PRIVATE KEY-----\nabc", "x [redacted]");
        let token = format!("xai-{}", "k9".repeat(10));
        check(&token, "[redacted]");
    }

    #[test]
    fn addresses() {
        check(
            "see https://ada:pw@example.com/x?token=1, then",
            "see [url] then",
        );
        check("ws://127.0.0.1:80/a", "[url]");
        check("<data:image/png;base64,AAAA>", "<[url]>");
        check("a::b, c: d, http: e", "a::b, c: d, http: e");
    }

    #[test]
    fn paths() {
        check("read /home/ada/x: no", "read [path]: no");
        check("(/etc/passwd)", "([path])");
        check("~/.ssh/id and C:\\Users\\ada\\x.txt", "[path] and [path]");
        check(r"at \\host\share\x", "at [path]");
        check(
            "src/lib.rs and/or ./x ../y 1/2",
            "src/lib.rs and/or ./x ../y 1/2",
        );
        assert_eq!(Redactor::new().redact("in /home/ada"), "in /home/ada");
    }

    proptest! {
        #[test]
        fn a_secret_never_comes_through(
            before in "[ -~\n]{0,20}", secret in "[a-zA-Z0-9]{12,30}", after in "[ -~\n]{0,20}",
        ) {
            let redactor = Redactor::new().with_secret(secret.as_str());
            let redacted = redactor.redact(&format!("{before}{secret}{after}"));
            prop_assert!(!redacted.contains(&secret), "{}", redacted);
        }
    }
}
