//! What a hostile peer says: steps, and the messages that they answer.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

use super::units;

/// The script of a hostile agent or client.
///
/// Requests that no rule is for are answered as a plain peer would.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Script {
    /// Steps before the first message of the victim.
    pub(super) first: Vec<Step>,
    pub(super) on: Vec<Rule>,
    /// Steps when the victim has closed its side.
    pub(super) last: Vec<Step>,
    /// Nothing is read before the first steps are over.
    pub(super) deaf: bool,
    /// SIGINT and SIGTERM are ignored.
    pub(super) stubborn: bool,
}

/// Steps that answer a message of the victim.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    /// The method of a request or a notification.
    method: Option<String>,
    /// The id of an answer, or `any`.
    answer: Option<String>,
    /// Only the message of this number that fits, from 1.
    nth: Option<u64>,
    pub(super) steps: Vec<Step>,
    /// How many messages have fitted.
    #[serde(skip)]
    seen: u64,
}

/// One step. It does one thing, so many times.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) act: Act,
    /// How often, `<<n>>` counting from 0.
    pub(super) times: u64,
}

/// One thing that a peer does.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Act {
    /// Writes a line.
    Line(String),
    /// Writes a text, without a line end.
    Text(String),
    /// Writes bytes that are no text.
    Hex(Hex),
    /// Writes to stderr.
    Stderr(String),
    /// The same with bytes that are no text.
    StderrHex(Hex),
    /// Sends a `session/update`.
    Update(String),
    /// Answers the last request with this result.
    Result(String),
    /// Answers the last request with this error.
    Error(String),
    /// Answers the last request of a method with this result: `["session/prompt", "{}"]`.
    Answer(String, String),
    /// Sends a request with params: `["session/request_permission", "{…}"]`; its id counts up from
    /// `"q0"`.
    Ask(String, String),
    /// Makes a mark, which tells that the attack came so far.
    Mark(String),
    /// Does nothing for a time.
    Rest(Rest),
    /// Closes `stdout` of an agent, or the `stdin` of a client's victim.
    Close(Side),
    /// Reads nothing more, and leaves its input open.
    Stop(Habit),
    /// Starts a process that stays.
    Start(Vec<String>),
    /// Sends a signal to the victim of a client: `TERM` or `INT`.
    Signal(String),
    Exit(i32),
}

/// The side that is closed: that to which the peer writes.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Side {
    Output,
}

/// The thing that a peer stops doing.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Habit {
    Reading,
}

/// Bytes, as two digits each.
#[derive(Debug, Clone)]
pub(super) struct Hex(pub(super) Vec<u8>);

/// A time to rest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rest(pub(super) Duration);

impl Script {
    /// Returns the marks that it makes.
    pub(super) fn marks(&self) -> impl Iterator<Item = &str> {
        let answers = self.on.iter().flat_map(|rule| &rule.steps);
        let steps = self.first.iter().chain(answers).chain(&self.last);
        steps.filter_map(|step| match &step.act {
            Act::Mark(name) => Some(name.as_str()),
            _ => None,
        })
    }
}

impl Rule {
    /// Tells whether the rule is for a message, and counts it if so.
    pub(super) fn fits(&mut self, method: Option<&str>, answered: Option<&str>) -> bool {
        let fits = match (&self.method, &self.answer) {
            (Some(wanted), None) => Some(wanted.as_str()) == method,
            (None, Some(wanted)) => {
                answered.is_some_and(|id| wanted == "any" || id.trim_matches('"') == wanted)
            }
            _ => false,
        };
        self.seen += u64::from(fits);
        fits && self.nth.is_none_or(|nth| nth == self.seen)
    }
}

impl From<Act> for Step {
    fn from(act: Act) -> Self {
        Self { act, times: 1 }
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut table = toml::Table::deserialize(from)?;
        let times = match table.remove("times") {
            Some(times) => times.try_into().map_err(de::Error::custom)?,
            None => 1,
        };
        // An enum of one member a variant: a second member would be ignored without this.
        if table.len() != 1 {
            return Err(de::Error::custom("a step does one thing, `times` apart"));
        }
        let act = table.try_into().map_err(de::Error::custom)?;
        Ok(Self { act, times })
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let pairs = digits
            .chunks(2)
            .map(|pair| byte(pair).filter(|_| pair.len() == 2));
        let bytes: Option<Vec<u8>> = pairs.collect();
        bytes
            .map(Self)
            .ok_or_else(|| de::Error::custom("bytes are written as two hexadecimal digits each"))
    }
}

impl<'de> Deserialize<'de> for Rest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        units::time(&text).map(Self).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_counts_what_fits() {
        let text = "answer = \"any\"\nnth = 2\nsteps = [{ hex = \"1b 5d\" }, { mark = \"m\" }]";
        let mut rule: Rule = toml::from_str(text).expect("a rule");
        assert!(!rule.fits(None, Some("\"q0\"")));
        assert!(!rule.fits(Some("session/new"), None));
        assert!(rule.fits(None, Some("\"q1\"")));
        assert!(!rule.fits(None, Some("\"q2\"")));
        assert!(matches!(&rule.steps[0].act, Act::Hex(Hex(bytes)) if *bytes == [0x1b, 0x5d]));
    }

    #[test]
    fn a_step_that_is_misspelled_is_refused() {
        let read = |text: &str| toml::from_str::<Step>(text);
        let step = read("update = \"{}\"\ntimes = 3").expect("a step");
        assert_eq!(step.times, 3);
        let pair = read("ask = [\"fs/read_text_file\", \"{}\"]").expect("a step");
        assert!(matches!(pair.act, Act::Ask(..)));
        for wrong in [
            "updat = \"{}\"",
            "hex = \"1\"",
            "rest = \"1\"",
            "times = 2",
            "line = \"\"\ntime = 2",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
