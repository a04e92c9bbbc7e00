//! What settings can be set to.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use acp_client::Allow;
use clap::ValueEnum;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, Error as _, IntoDeserializer, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::file::in_our_words;
use super::limits::MAX_WORD;
use crate::values::{Bound, time, time_or_none};

/// What an agent may do when it asks; each level allows what the one before it does.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Deserialize, Serialize,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AllowLevel {
    /// Refuse whatever the agent asks for
    #[default]
    None,
    /// Allow tools that say they read or search
    Reads,
    /// And edit, delete and move, when every path named lies inside the folder
    Edits,
    /// Allow everything
    All,
}

impl From<AllowLevel> for Allow {
    fn from(level: AllowLevel) -> Self {
        match level {
            AllowLevel::None => Self::None,
            AllowLevel::Reads => Self::Reads,
            AllowLevel::Edits => Self::Edits,
            AllowLevel::All => Self::All,
        }
    }
}

/// Which files of the session's folders an agent is served, besides what it reaches itself.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Deserialize, Serialize,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Files {
    /// Serve no files
    #[default]
    None,
    /// Let it read them
    Read,
    /// Let it read and write them
    Write,
}

/// When colours are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Colour {
    /// On terminals that can show them
    #[default]
    Auto,
    /// Also where it is no terminal
    Always,
    /// Nowhere
    Never,
}

/// A name of something at an agent: of a model, a mode, the agent itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String")]
pub(crate) struct Word(String);

impl Word {
    /// Returns the text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Word {
    type Err = Unfit;

    fn from_str(text: &str) -> Result<Self, Unfit> {
        let fits = !text.trim().is_empty()
            && text.len() <= MAX_WORD
            && !text.contains(|c: char| c.is_control());
        match fits {
            true => Ok(Self(text.to_owned())),
            false => Err(Unfit("a name on one line, of at most 256 bytes")),
        }
    }
}

impl TryFrom<String> for Word {
    type Error = Unfit;

    fn try_from(text: String) -> Result<Self, Unfit> {
        text.parse()
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A time: a number of seconds, or a text as flags take it, such as `5m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct Time(#[serde(serialize_with = "as_seconds")] Duration);

impl From<Duration> for Time {
    fn from(time: Duration) -> Self {
        Self(time)
    }
}

impl From<Time> for Duration {
    fn from(time: Time) -> Self {
        time.0
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_any(TimeText)?;
        time(&text).map(Self).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_any(TimeText)?;
        time_or_none(&text).map_err(D::Error::custom)
    }
}

impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(time) => as_seconds(time, serializer),
            None => serializer.serialize_str("none"),
        }
    }
}

fn as_seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(time.as_secs())
}

/// Reads a time as a text, also where it is written as a number.
struct TimeText;

impl Visitor<'_> for TimeText {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of seconds or a text such as \"5m\"")
    }

    fn visit_i64<E>(self, number: i64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

/// A value cannot be used; says what is wanted instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is wanted")]
pub(crate) struct Unfit(&'static str);

/// Reads a value as a variable of the environment spells it: as text, and what is true or
/// false by the usual words too.
///
/// # Errors
///
/// The value that is wanted, in words.
pub(super) fn of_variable<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let truth = match text {
        "1" | "true" | "yes" => Some(true),
        "0" | "false" | "no" => Some(false),
        _ => None,
    };
    let read = T::deserialize(StrDeserializer::<ValueError>::new(text));
    let read = read.or_else(|error| match truth {
        Some(truth) => T::deserialize(truth.into_deserializer()),
        None => Err(error),
    });
    read.map_err(|error| in_our_words(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line_of_some_length() {
        assert!("m".repeat(MAX_WORD).parse::<Word>().is_ok());
        for unfit in ["", " ", "a\nb", &"m".repeat(MAX_WORD + 1)] {
            assert!(unfit.parse::<Word>().is_err(), "{} bytes", unfit.len());
        }
    }
}
