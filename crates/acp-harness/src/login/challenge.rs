//! What a login by device code asks of the user.

use std::fmt;
use std::sync::LazyLock;

use regex::Regex;

use crate::limits::MAX_LOGIN_LINE;

/// An address to open, and a code to enter there.
///
/// Both are for the user alone: whoever has them can log in. Neither is shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Challenge {
    /// The address; it may hold the code.
    pub url: String,
    /// The code.
    pub code: String,
}

impl fmt::Debug for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Challenge(***)")
    }
}

/// Finds the address and the code in what a login command prints.
///
/// It is given lines of standard output and of standard error alike, as they come, with
/// or without sequences of a terminal.
///
/// ```
/// use acp_harness::login::ChallengeScanner;
///
/// let mut scanner = ChallengeScanner::new();
/// assert_eq!(scanner.line("To sign in, open https://example.com/device"), None);
/// let challenge = scanner.line("and enter \u{1b}[1mWDJB-MJHT\u{1b}[0m.").unwrap();
/// assert_eq!(challenge.url, "https://example.com/device");
/// assert_eq!(challenge.code, "WDJB-MJHT");
/// ```
#[derive(Clone)]
pub struct ChallengeScanner {
    /// A code that stands for itself; none fits where none is to be had.
    code_shape: Option<Regex>,
    /// An address that says it is for logging in, or else the first one.
    url: Option<(bool, String)>,
    code: Option<String>,
    found: bool,
}

/// The shape of a code where none is said.
const SHAPE: &str = "XXXX-XXXX";

/// What is in an address that is for logging in.
const MARKS: &[&str] = &[
    "device", "activate", "verif", "login", "signin", "auth", "code",
];

/// An address that one can open without fear of who listens.
static ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)\bhttps://[^\s"'<>`\\]+"#).ok());

impl ChallengeScanner {
    /// Looks for codes of two times four letters and digits.
    #[must_use]
    pub fn new() -> Self {
        Self::for_shape(SHAPE)
    }

    /// Looks for codes of this shape, in which `X` stands for a capital letter or a digit.
    #[must_use]
    pub fn for_shape(shape: &str) -> Self {
        Self {
            code_shape: pattern(shape),
            url: None,
            code: None,
            found: false,
        }
    }

    /// Reads a line, and returns the challenge when both its parts are known, once.
    pub fn line(&mut self, line: &str) -> Option<Challenge> {
        if self.found {
            return None;
        }
        let line = acp_text::clean(acp_text::cut_bytes(line, MAX_LOGIN_LINE));
        let mut rest = line.to_string();
        for url in addresses(&line) {
            rest = rest.replace(url, " ");
            let lower = url.to_lowercase();
            let marked = MARKS.iter().any(|mark| lower.contains(mark));
            if self.url.as_ref().is_none_or(|(known, _)| marked && !known) {
                self.url = Some((marked, url.to_owned()));
            }
        }
        if self.code.is_none() {
            self.code = self.code_in(&rest);
        }
        let (_, url) = self.url.clone()?;
        // Some addresses have the code with them, and nothing else says it.
        let code = self.code.clone().or_else(|| self.code_in(&url))?;
        self.found = true;
        Some(Challenge { url, code })
    }

    /// Finds a code that stands for itself.
    fn code_in(&self, line: &str) -> Option<String> {
        let found = self.code_shape.as_ref()?.captures(line)?;
        Some(found.get(1)?.as_str().to_owned())
    }
}

/// Makes of a shape what finds codes of it, with no letter, digit or dash beside them.
fn pattern(shape: &str) -> Option<Regex> {
    let sign = |sign: char| match sign {
        'X' => "[A-Z0-9]".to_owned(),
        sign => regex::escape(&sign.to_string()),
    };
    let code: String = shape.chars().map(sign).collect();
    let apart = r"[^\p{Alphabetic}\p{N}_-]";
    let pattern = Regex::new(&format!("(?:^|{apart})({code})(?:{apart}|$)")).ok();
    pattern.filter(|_| !shape.is_empty())
}

impl Default for ChallengeScanner {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ChallengeScanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChallengeScanner")
            .field("has_url", &self.url.is_some())
            .field("has_code", &self.code.is_some())
            .finish_non_exhaustive()
    }
}

/// The addresses in a line, without the sign that ends a sentence.
fn addresses(line: &str) -> impl Iterator<Item = &str> {
    let found = ADDRESS.iter().flat_map(|pattern| pattern.find_iter(line));
    found.map(|found| {
        found
            .as_str()
            .trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(lines: &[&str], expected: Option<(&str, &str)>) {
        let mut scanner = ChallengeScanner::new();
        let found: Vec<_> = lines.iter().filter_map(|line| scanner.line(line)).collect();
        let shown: Vec<_> = found.iter().map(|c| (&*c.url, &*c.code)).collect();
        assert_eq!(shown, expected.into_iter().collect::<Vec<_>>(), "{lines:?}");
    }

    #[test]
    fn what_login_commands_print() {
        let both = Some(("https://example.com/device", "ABCD-1234"));
        check(
            &["Open https://example.com/device and enter ABCD-1234"],
            both,
        );
        check(
            &[
                "Your code: ABCD-1234",
                "",
                "Go to https://example.com/device.",
            ],
            both,
        );
        check(
            &[
                "\u{1b}[2K\u{1b}[36mhttps://example.com/device\u{1b}[0m",
                "(ABCD-1234)",
            ],
            both,
        );
        // The address says the code.
        let url = "https://example.com/activate?user_code=ABCD-1234";
        check(&[url], Some((url, "ABCD-1234")));
        // One that is for logging in is taken, though another came first.
        check(
            &[
                "See https://example.com/docs",
                "https://example.com/device",
                "ABCD-1234",
            ],
            both,
        );
        check(
            &[
                "https://example.com/go",
                "https://example.com/other",
                "ABCD-1234",
            ],
            Some(("https://example.com/go", "ABCD-1234")),
        );
    }

    #[test]
    fn what_is_no_challenge() {
        check(&["https://example.com/device"], None);
        check(&["ABCD-1234"], None);
        check(&["http://example.com/device", "ABCD-1234"], None);
        check(
            &[
                "https://example.com/device",
                "abcd-1234",
                "ABCDE-1234",
                "ABCD-1234-EF",
            ],
            None,
        );
        check(
            &[
                "https://example.com/device",
                "xABCD-1234",
                "ABCD-12345",
                "ABCD 1234",
            ],
            None,
        );
    }

    #[test]
    fn a_challenge_is_told_once() {
        let mut scanner = ChallengeScanner::new();
        assert!(
            scanner
                .line("https://example.com/device ABCD-1234")
                .is_some()
        );
        assert!(
            scanner
                .line("https://example.com/device EFGH-5678")
                .is_none()
        );
    }

    #[test]
    fn codes_may_have_another_shape() {
        let mut scanner = ChallengeScanner::for_shape("XXXX-XXXXX");
        assert!(
            scanner
                .line("https://example.com/device ABCD-1234")
                .is_none()
        );
        let found = scanner.line("enter 9QZT-1B2C3 now").unwrap();
        assert_eq!(found.code, "9QZT-1B2C3");
    }

    #[test]
    fn nothing_of_it_is_shown() {
        let mut scanner = ChallengeScanner::new();
        let found = scanner
            .line("https://example.com/device?c=1 ABCD-1234")
            .unwrap();
        let shown = format!("{scanner:?} {found:?}");
        assert!(
            !shown.contains("ABCD") && !shown.contains("example"),
            "{shown}"
        );
    }

    proptest! {
        /// A code is found wherever it stands for itself.
        #[test]
        fn codes_are_found(before in "[a-z:( ]{0,10}", code in "[A-Z0-9]{4}-[A-Z0-9]{4}", after in "[.,) ]{0,3}") {
            let mut scanner = ChallengeScanner::new();
            scanner.line("https://example.com/device");
            let found = scanner.line(&format!("{before} {code}{after}"));
            prop_assert_eq!(found.map(|challenge| challenge.code), Some(code));
        }
    }
}
