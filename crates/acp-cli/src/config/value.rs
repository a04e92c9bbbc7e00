//! What settings can be set to.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use acp_client::Allow;
use clap::ValueEnum;
use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

/// What a variable of the environment can be read as.
pub(crate) trait Value: Sized {
    /// Reads it; an error says what is wanted.
    fn of_variable(text: &str) -> Result<Self, String>;
}

/// Reads what says itself how it is read.
macro_rules! from_str {
    ($($type:ty),*) => {
        $(impl Value for $type {
            fn of_variable(text: &str) -> Result<Self, String> {
                text.parse().map_err(|unfit: Unfit| unfit.to_string())
            }
        })*
    };
}

/// Reads one of the values that a flag takes.
macro_rules! one_of {
    ($($type:ty),*) => {
        $(impl Value for $type {
            fn of_variable(text: &str) -> Result<Self, String> {
                <Self as ValueEnum>::from_str(text, false).map_err(|_| {
                    let names = Self::value_variants().iter().filter_map(ValueEnum::to_possible_value);
                    let names: Vec<_> = names.map(|value| value.get_name().to_owned()).collect();
                    format!("one of {} is wanted", names.join(", "))
                })
            }
        })*
    };
}

from_str!(Word);
one_of!(AllowLevel, Files, Colour);

impl Value for Time {
    fn of_variable(text: &str) -> Result<Self, String> {
        time(text).map(Self)
    }
}

impl Value for Bound {
    fn of_variable(text: &str) -> Result<Self, String> {
        time_or_none(text)
    }
}

impl Value for bool {
    fn of_variable(text: &str) -> Result<Self, String> {
        match text {
            "1" | "true" | "yes" => Ok(true),
            "0" | "false" | "no" => Ok(false),
            _ => Err("true or false is wanted".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_in_the_order_of_what_they_allow() {
        use AllowLevel::*;
        assert!(None < Reads && Reads < Edits && Edits < All);
        assert!(Files::None < Files::Read && Files::Read < Files::Write);
    }

    #[track_caller]
    fn check<T: Value + Serialize>(text: &str, expected: &str) {
        let read = T::of_variable(text).map(|value| serde_json::to_string(&value).unwrap());
        assert_eq!(read.unwrap_or_else(|error| error), expected, "{text:?}");
    }

    #[test]
    fn variables() {
        check::<AllowLevel>("edits", "\"edits\"");
        check::<AllowLevel>("Edits", "one of none, reads, edits, all is wanted");
        check::<Files>("rw", "one of none, read, write is wanted");
        check::<Colour>("never", "\"never\"");
        check::<bool>("yes", "true");
        check::<bool>("perhaps", "true or false is wanted");
        check::<Time>("2m", "120");
        check::<Time>("0", "a time is wanted, as 90, 90s, 5m or 1h");
        check::<Bound>("2m", "120");
        check::<Bound>("none", "\"none\"");
        check::<Bound>("x", "a time is wanted, as 90, 90s, 5m or 1h, or none");
        check::<Word>("opus[1m]", "\"opus[1m]\"");
        for text in ["", " ", "a\nb", &"x".repeat(257)] {
            check::<Word>(text, "a name on one line, of at most 256 bytes is wanted");
        }
    }
}
