//! The one table of what secrets, addresses and paths look like.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::{Hides, REDACTED};

/// Ends of names that say that the value is secret. A count of tokens is no token.
const NAME: &str = r"(?:(?:api|app|access|private|secret|signing|encryption|master|auth|account|admin|service)[ _.-]?keys?|secret|secret[_-]?key[_-]?base|(?:auth|access|refresh|api|id|session)[_-]?tokens|token|passw(?:or)?d|passphrase|credentials?|connection[_-]?string|cookie|jwt|bearer)";

/// The same for variables of the environment.
const VARIABLE: &str = r"[A-Z0-9]_(?:KEY|PASS|PWD|PW|AUTH|PAT|PSK|DSN)";

/// Words that say so as a flag or in a query, and anywhere else mean many things.
const WORD: &str = r"(?:key|auth|authorization|pass|pwd|pw|pat|sig|signature)";

/// A value in quotes, in escaped quotes, or as one word.
const VALUE: &str = r#"(?:(?P<a>")(?:[^"\\]|\\.)*(?P<b>"?)|(?P<c>\\+")[^"]*(?P<d>"?)|(?P<e>')[^']*(?P<f>'?)|\[redacted\]|[^\s"',;}\]]+)"#;

/// Keeps everything but the value.
const BEHIND_NAME: &str = "${n}${a}${c}${e}[redacted]${b}${d}${f}";

/// What a shape belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Secret,
    Address,
    Path,
    Home,
}

/// Something that is recognised by its look.
struct Shape {
    sort: Sort,
    pattern: Regex,
    with: &'static str,
}

struct Shapes {
    /// A hint for each shape, in the same order: a text is searched once for all of them.
    hints: RegexSet,
    all: Vec<Shape>,
}

/// Tells whether a name says that its value is secret.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    static NAMES: LazyLock<Regex> =
        LazyLock::new(|| compiled(&format!("(?:(?i:{NAME}|authorization)|{VARIABLE})$")));
    NAMES.is_match(name)
}

/// Replaces every shape that is to be hidden.
pub(super) fn replace(text: Cow<'_, str>, hides: Hides) -> String {
    let mut text = text;
    for index in &SHAPES.hints.matches(&text) {
        let shape = &SHAPES.all[index];
        let hidden = match shape.sort {
            Sort::Secret => true,
            Sort::Address => hides.addresses,
            Sort::Path => hides.paths,
            Sort::Home => hides.homes,
        };
        if hidden && let Cow::Owned(new) = shape.pattern.replace_all(&text, shape.with) {
            text = Cow::Owned(new);
        }
    }
    text.into_owned()
}

static SHAPES: LazyLock<Shapes> = LazyLock::new(|| {
    let name_hint = format!("(?i:{NAME}|-(?:{WORD}))|{VARIABLE}");
    // Sort, hint, pattern, and the text that takes its place.
    let rows: Vec<(Sort, &str, String, &'static str)> = vec![
        (
            Sort::Secret,
            "PRIVATE KEY",
            r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z ]*PRIVATE KEY[A-Z ]*-----|\z)".into(),
            REDACTED,
        ),
        (
            Sort::Address,
            r":\\?/\\?/",
            r#"(?i)\b[a-z][a-z0-9+.-]{1,30}:(?:\\?/){2}(?:\\/|[^\s"'<>`\\])+"#.into(),
            "[url]",
        ),
        (
            Sort::Address,
            "(?i)data:",
            r"(?i)\bdata:[a-z0-9.+/-]*(?:;[a-z0-9=-]+)*,[A-Za-z0-9+/=%_.-]+".into(),
            "[url]",
        ),
        // `https://name:password@host`, whatever the password is made of.
        (
            Sort::Secret,
            r":\\?/\\?/",
            r#"(:(?:\\?/){2}[^\s"'<>/?#:@]*:)[^\s"'<>]+@"#.into(),
            "${1}[redacted]@",
        ),
        (
            Sort::Secret,
            r":\\?/\\?/",
            r"(:(?:\\?/){2})[A-Za-z0-9_-]{20,}@".into(),
            "${1}[redacted]@",
        ),
        (
            Sort::Secret,
            "[?&;]",
            format!(r#"(?i)([?&;](?:[a-z0-9_.%-]*{NAME}|(?:[a-z0-9_.-]*[_.-])?{WORD}|code)=)[^&#\s"'<>\\]+"#),
            "${1}[redacted]",
        ),
        // A header goes up to the end of its line or quote.
        (
            Sort::Secret,
            "(?i)authorization|cookie",
            r#"(?i)((?:authorization|cookie)["'\\]*\s*[:=][\s"'\\]*(?:(?:bearer|basic|token|digest|negotiate|apikey) +)?)[^"'\r\n]+"#.into(),
            "${1}[redacted]",
        ),
        (
            Sort::Secret,
            "-u|-user",
            r#"((?:^|\s)(?:-u|--user|--proxy-user)[ =]+[^\s:'"]+:)(?:\[redacted\]|[^\s'"]+)"#.into(),
            "${1}[redacted]",
        ),
        (
            Sort::Secret,
            &name_hint,
            format!(r#"(?i)(?P<n>(?:^|[\s"'=(\[,])--?(?:[a-z0-9]+[_-])*(?:{NAME}|{WORD})["'\\]*[\s=,]+){VALUE}"#),
            BEHIND_NAME,
        ),
        (
            Sort::Secret,
            &name_hint,
            format!(r#"(?P<n>(?:(?i:{NAME})|{VARIABLE})["'\\]*\s*(?:=>|:=|[:=])\s*){VALUE}"#),
            BEHIND_NAME,
        ),
        // Keys of providers: a known beginning, then much that means nothing.
        (
            Sort::Secret,
            r"[spr]k[_-]|gh[pousr]_|github_pat|gl(?:pat|ptt)|xox|xapp|xai|hf_|hf-|gsk|npm|pypi|dckr|dop_v1|shpat|lin_api|pplx|nvapi|tvly|r8_|A[KS]IA|AIza|ya29|SG\.|eyJ",
            concat!(
                r"(^|[^A-Za-z0-9])(?:(?:[spr]k|gh[pousr]|github_pat|glpat|glptt|xox[abceoprs]|xapp|xai|hf|gsk|npm|pypi|dckr_pat|dop_v1|shpat|lin_api|pplx|nvapi|tvly|r8)[_-][A-Za-z0-9_-]{16,}",
                r"|A[KS]IA[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{16,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
                r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)",
            ).into(),
            "${1}[redacted]",
        ),
        (
            Sort::Secret,
            "(?i)(?:bearer|basic) ",
            r"(?i)\b(bearer|basic) +[A-Za-z0-9._~+/=-]{8,}".into(),
            "$1 [redacted]",
        ),
        (
            Sort::Path,
            "/",
            r#"(^|[^\w/.\\~-])~?/[\w.@~-][^\s"'<>`:;,()\[\]{}|]*"#.into(),
            "${1}[path]",
        ),
        (
            Sort::Path,
            r"(?i)[a-z]:[\\/]",
            r#"(?i)(^|[^a-z0-9])[a-z]:[\\/][^\s"'<>`;,()\[\]{}|]*"#.into(),
            "${1}[path]",
        ),
        (
            Sort::Path,
            r"\\\\",
            r#"(^|[^\\\w])\\\\[^\s"'<>`\\]+\\[^\s"'<>`;,]+"#.into(),
            "${1}[path]",
        ),
        (
            Sort::Home,
            "/home/|/Users/",
            r"/(home|Users)/[^/\s\\:]+".into(),
            "/$1/user",
        ),
        (
            Sort::Home,
            "/root",
            r"(^|[^A-Za-z0-9_.-])/root\b".into(),
            "$1/home/user",
        ),
        (
            Sort::Home,
            r"(?i)Users[\\/]",
            r"(?i)([A-Z]:(?:\\\\|\\|/)Users(?:\\\\|\\|/))[^\\/\s]+".into(),
            "${1}user",
        ),
    ];
    let hints = RegexSet::new(rows.iter().map(|(_, hint, ..)| hint));
    Shapes {
        hints: hints.expect("the hints are patterns"),
        all: rows
            .into_iter()
            .map(|(sort, _, pattern, with)| Shape {
                sort,
                pattern: compiled(&pattern),
                with,
            })
            .collect(),
    }
});

/// A pattern that does not compile must not be left out in silence; a test compiles all.
fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the table holds patterns")
}
