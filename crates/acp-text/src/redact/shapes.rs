//! Reads and applies the one table of what secrets, addresses and paths look like.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::Hides;

/// Ends of names that say that the value is secret. A count of tokens is no token.
const NAME: &str = r"(?:(?:api|app|access|private|secret|signing|encryption|master|auth|account|admin|service)[ _.-]?keys?|secret|secret[_-]?key[_-]?base|(?:auth|access|refresh|api|id|session)[_-]?tokens|token|passw(?:or)?d|passphrase|credentials?|connection[_-]?string|cookie|jwt|bearer)";

/// The same for variables of the environment.
const VARIABLE: &str = r"[A-Z0-9]_(?:KEY|PASS|PWD|PW|AUTH|PAT|PSK|DSN)";

/// Words that say so as a flag or in a query, and anywhere else mean many things.
const WORD: &str = r"(?:key|auth|authorization|pass|pwd|pw|pat|sig|signature)";

/// A value in quotes, in escaped quotes, or as one word.
const VALUE: &str = r#"(?:(?P<a>")(?:[^"\\]|\\.)*(?P<b>"?)|(?P<c>\\+")[^"]*(?P<d>"?)|(?P<e>')[^']*(?P<f>'?)|\[redacted\]|[^\s"',;}\]]+)"#;

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
    let lines = include_str!("shapes.txt").lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines: Vec<&str> = lines.collect();
    let written = |pattern: &str| {
        pattern
            .replace("{NAME}", NAME)
            .replace("{VARIABLE}", VARIABLE)
            .replace("{WORD}", WORD)
            .replace("{VALUE}", VALUE)
    };
    let rows = lines.chunks_exact(4);
    let hints = RegexSet::new(rows.clone().map(|row| written(row[1])));
    Shapes {
        hints: hints.expect("the hints are patterns"),
        all: rows
            .map(|row| Shape {
                sort: Sort::of(row[0]),
                pattern: compiled(&written(row[2])),
                with: row[3],
            })
            .collect(),
    }
});

impl Sort {
    fn of(word: &str) -> Self {
        match word {
            "address" => Self::Address,
            "path" => Self::Path,
            "home" => Self::Home,
            // Anything else is hidden always.
            _ => Self::Secret,
        }
    }
}

/// A pattern that does not compile must not be left out in silence; a test compiles all.
fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the table holds patterns")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_whole() {
        assert_eq!((SHAPES.all.len(), SHAPES.hints.len()), (24, 24));
        let homes = SHAPES.all.iter().filter(|shape| shape.sort == Sort::Home);
        assert_eq!(homes.count(), 3);
    }
}
