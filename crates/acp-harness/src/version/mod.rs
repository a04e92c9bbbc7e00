//! Versions of agents: read, compared, and asked for before a launch.
//!
//! A program is asked with a run of its own ([`Probe`]), never by the launch itself, and
//! each way in which the answer can be unusable has its own [`VersionRejection`]. What an
//! agent says of itself in `agentInfo` is read by the same [`Version::parse`] and judged
//! by the same [`Version::accept`].

mod probe;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use probe::{ChildRunner, Probe, ProbeEnd, RunProbe};

/// A version of three numbers, compared number by number.
///
/// ```
/// use acp_harness::version::Version;
///
/// let found = Version::parse("codex-acp 1.10.0\n").unwrap();
/// assert!(found > Version::new(1, 9, 12));
/// assert_eq!(found.to_string(), "1.10.0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    major: u64,
    minor: u64,
    patch: u64,
}

impl Version {
    /// Makes a version.
    #[must_use]
    pub const fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// Reads a version from what a program prints of itself.
    ///
    /// The last word has to be the version: three numbers of digits alone, with dots
    /// between them. A `v` in front, a sign, or anything behind (`-beta.1`) makes it none:
    /// whoever demands a minimum wants to know, not to guess.
    #[must_use]
    pub fn parse(printed: &str) -> Option<Self> {
        let mut parts = printed.split_whitespace().next_back()?.split('.');
        let version = Self::new(
            number(parts.next()?)?,
            number(parts.next()?)?,
            number(parts.next()?)?,
        );
        parts.next().is_none().then_some(version)
    }

    /// Judges what a program, or an agent of itself, says its version is.
    ///
    /// # Errors
    ///
    /// [`VersionRejection::LegacyNoVersion`] for nothing at all,
    /// [`VersionRejection::Unparseable`] for what is no version, and
    /// [`VersionRejection::BelowMinimum`].
    pub fn accept(said: &str, minimum: Self) -> Result<Self, VersionRejection> {
        if said.trim().is_empty() {
            return Err(VersionRejection::LegacyNoVersion { minimum });
        }
        let Some(found) = Self::parse(said) else {
            let said = acp_text::one_line(said, SHOWN);
            return Err(VersionRejection::Unparseable { said, minimum });
        };
        if found < minimum {
            return Err(VersionRejection::BelowMinimum { found, minimum });
        }
        Ok(found)
    }
}

/// How much of an answer that is no version a message shows.
const SHOWN: usize = 80;

fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // What does not fit is no version of anything.
    is_number.then(|| digits.parse().ok()).flatten()
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for Version {
    type Err = NotAVersion;

    /// Reads a version that stands alone.
    fn from_str(text: &str) -> Result<Self, NotAVersion> {
        let alone = !text.contains(char::is_whitespace);
        alone
            .then(|| Self::parse(text))
            .flatten()
            .ok_or_else(|| NotAVersion(acp_text::one_line(text, SHOWN)))
    }
}

impl TryFrom<String> for Version {
    type Error = NotAVersion;

    fn try_from(text: String) -> Result<Self, NotAVersion> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

/// A text is no version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read {0:?} as a version: three numbers with dots between them are wanted")]
pub struct NotAVersion(String);

/// Why a version is not accepted.
///
/// Where several apply, the first in this order is told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VersionRejection {
    /// The program was to be asked by something else than a clean, absolute path.
    #[error("ask for a version: {reason}")]
    BadProgram {
        /// What is wrong.
        reason: String,
    },
    /// The answer took longer than the probe waits.
    #[error("learn a version of at least {minimum}: no answer within {} s", bound.as_secs_f64())]
    Timeout {
        /// How long was waited.
        bound: Duration,
        /// What was asked for.
        minimum: Version,
    },
    /// The caller did not want to know any more.
    #[error("learn a version of at least {minimum}: cancelled")]
    Cancelled {
        /// What was asked for.
        minimum: Version,
    },
    /// The program could not be run, or ended with something else than exit code 0.
    #[error("learn a version of at least {minimum}: {reason}")]
    NonzeroExit {
        /// How it ended, or why it did not begin.
        reason: String,
        /// What was asked for.
        minimum: Version,
    },
    /// The program printed nothing, as old ones do that know no such question.
    #[error("learn a version of at least {minimum}: nothing was told")]
    LegacyNoVersion {
        /// What was asked for.
        minimum: Version,
    },
    /// What was told is no version.
    #[error("read a version of at least {minimum} in {said:?}")]
    Unparseable {
        /// The beginning of what was told.
        said: String,
        /// What was asked for.
        minimum: Version,
    },
    /// The version is too old.
    #[error("accept version {found}: {minimum} or later is needed")]
    BelowMinimum {
        /// The version there is.
        found: Version,
        /// The version that is needed.
        minimum: Version,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(printed: &str, expected: Option<&str>) {
        let read = Version::parse(printed).map(|version| version.to_string());
        assert_eq!(read.as_deref(), expected, "{printed:?}");
    }

    #[test]
    fn the_last_word_is_the_version() {
        check("1.2.3", Some("1.2.3"));
        check("  codex-acp\t1.1.7 \r\n", Some("1.1.7"));
        check("old 9.9.9\nnew 1.0.0\n", Some("1.0.0"));
        check("2026.09.08", Some("2026.9.8"));
        check("0.0.0", Some("0.0.0"));
        check("18446744073709551615.0.0", Some("18446744073709551615.0.0"));
    }

    #[test]
    fn anything_else_is_none() {
        for printed in [
            "",
            " \n",
            "1.2",
            "1.2.3.4",
            "v1.2.3",
            "1.2.3-beta",
            "1.2.3+5",
            "+1.2.3",
            "-1.2.3",
            "1..3",
            ".2.3",
            "1.2.",
            "1.2.x",
            "1.2.3 (stable)",
            "1 . 2 . 3",
            "١.٢.٣",
            "18446744073709551616.0.0",
        ] {
            check(printed, None);
        }
    }

    #[test]
    fn judging() {
        let minimum = Version::new(1, 1, 7);
        let judge = |said: &str| match Version::accept(said, minimum) {
            Ok(found) => format!("ok {found}"),
            Err(rejection) => rejection.to_string(),
        };
        assert_eq!(judge("codex 1.1.7"), "ok 1.1.7");
        assert_eq!(judge("2.0.0"), "ok 2.0.0");
        assert_eq!(
            judge("1.1.6"),
            "accept version 1.1.6: 1.1.7 or later is needed"
        );
        assert_eq!(
            judge(" \n"),
            "learn a version of at least 1.1.7: nothing was told"
        );
        assert_eq!(
            judge("\u{1b}[1mnext\n"),
            "read a version of at least 1.1.7 in \"next\""
        );
    }

    #[test]
    fn files_hold_versions_that_stand_alone() {
        assert_eq!("1.2.3".parse(), Ok(Version::new(1, 2, 3)));
        for text in ["codex 1.2.3", "1.2.3 ", "1.2", ""] {
            assert!(text.parse::<Version>().is_err(), "{text:?}");
        }
        let version: Version = serde_json::from_str("\"1.2.3\"").unwrap();
        assert_eq!(serde_json::to_string(&version).unwrap(), "\"1.2.3\"");
        assert!(serde_json::from_str::<Version>("\"latest\"").is_err());
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_and_compares_as_its_numbers(
            a in any::<(u64, u64, u64)>(),
            b in any::<(u64, u64, u64)>(),
            before in "[a-z .0-9-]{0,12}",
        ) {
            let version = |(major, minor, patch)| Version::new(major, minor, patch);
            let (left, right) = (version(a), version(b));
            prop_assert_eq!(left.cmp(&right), a.cmp(&b));
            prop_assert_eq!(Version::parse(&format!("{before} {left}\n")), Some(left));
            prop_assert_eq!(Version::parse(&format!("{left}{}", 'x')), None);
        }
    }
}
