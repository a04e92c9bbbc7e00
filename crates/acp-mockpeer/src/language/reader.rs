//! A place in the text of a scenario, and the small things read from it.

use std::sync::Arc;
use std::time::Duration;

use acp_recording::PeerSide;

use super::error::ParseError;
use super::names::Names;

/// Walks over the source; every refusal knows its place.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    file: Arc<str>,
    source: &'a str,
    at: usize,
    /// The requests above that may still be answered.
    pub(crate) names: Names,
}

pub(crate) type Parsed<T> = Result<T, ParseError>;

impl<'a> Reader<'a> {
    pub(crate) fn new(file: Arc<str>, source: &'a str) -> Self {
        Self {
            file,
            source,
            at: 0,
            names: Names::default(),
        }
    }

    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    pub(crate) fn go_to(&mut self, offset: usize) {
        self.at = offset;
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    /// The number of the line the reader stands on, from 1.
    pub(crate) fn line(&self) -> usize {
        self.source[..self.at].matches('\n').count() + 1
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn at_end(&self) -> bool {
        self.at == self.source.len()
    }

    pub(crate) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// An error at the reader.
    pub(crate) fn error(&self, message: impl Into<String>) -> ParseError {
        self.error_at(self.at, message)
    }

    /// An error at another place.
    pub(crate) fn error_at(&self, offset: usize, message: impl Into<String>) -> ParseError {
        ParseError::at(&self.file, self.source, offset, message.into())
    }

    /// `expected …, found …`, at what comes behind the blanks.
    pub(crate) fn expected(&self, what: &str) -> ParseError {
        let rest = self.rest().trim_start_matches([' ', '\t']);
        let message = format!("expected {what}, found {}", found(rest));
        self.error_at(self.source.len() - rest.len(), message)
    }

    /// Says that a word is none of those that are known, and which one may be meant.
    pub(crate) fn unknown<'k>(
        &self,
        at: usize,
        what: &str,
        word: &str,
        known: impl IntoIterator<Item = &'k str> + Clone,
    ) -> ParseError {
        let known_words = || known.clone().into_iter().collect::<Vec<_>>().join(", ");
        self.error_at(
            at,
            match nearest(word, known.clone()) {
                Some(hint) => format!("there is no {what}`{word}`; did you mean `{hint}`?"),
                None => format!("there is no {what}`{word}`; there are {}", known_words()),
            },
        )
    }

    /// Skips blanks within a line.
    pub(crate) fn skip_blanks(&mut self) {
        let blanks = self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
        self.at += blanks;
    }

    /// Skips blanks, ends of lines and comments: inside of brackets.
    pub(crate) fn skip_all_space(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            if self.peek() != Some('#') {
                return;
            }
            self.skip_line();
        }
    }

    /// Goes to the end of the line, before the line feed.
    pub(crate) fn skip_line(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    /// Takes `text` if it is next.
    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let there = self.rest().starts_with(text);
        if there {
            self.at += text.len();
        }
        there
    }

    /// Takes the word `word`, and the blanks before it, if it is next.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let before = self.at;
        self.skip_blanks();
        if bare_word(self.rest()) == word {
            self.at += word.len();
            true
        } else {
            self.at = before;
            false
        }
    }

    /// Demands these words, one behind the other.
    pub(crate) fn words(&mut self, all: &[&str], what: &str) -> Parsed<()> {
        match all.iter().all(|word| self.eat_word(word)) {
            true => Ok(()),
            false => Err(self.expected(what)),
        }
    }

    /// Takes the word for one of these, if it is next.
    pub(crate) fn one_of<'w, T>(
        &mut self,
        all: impl IntoIterator<Item = (&'w str, T)>,
    ) -> Option<T> {
        let mut all = all.into_iter();
        all.find(|(word, _)| self.eat_word(word))
            .map(|(_, one)| one)
    }

    /// Takes an arrow.
    pub(crate) fn arrow(&mut self) -> Option<PeerSide> {
        [PeerSide::Client, PeerSide::Agent]
            .into_iter()
            .find(|side| self.eat(side.arrow()))
    }

    /// Skips blanks and returns the place behind them.
    pub(crate) fn mark(&mut self) -> usize {
        self.skip_blanks();
        self.at
    }

    /// Returns the word that is next, without taking it.
    pub(crate) fn peek_word(&self) -> &'a str {
        let rest = self.rest().trim_start_matches([' ', '\t']);
        bare_word(rest)
    }

    /// Takes a word: letters, digits and what methods and names are made of.
    pub(crate) fn word(&mut self, what: &str) -> Parsed<&'a str> {
        self.skip_blanks();
        let word = bare_word(self.rest());
        if word.is_empty() {
            return Err(self.expected(what));
        }
        self.at += word.len();
        Ok(word)
    }

    /// Demands that nothing but a comment follows on this line, and goes on to the next.
    pub(crate) fn end_of_line(&mut self, otherwise: &str) -> Parsed<()> {
        self.skip_blanks();
        match self.peek() {
            None => Ok(()),
            Some('#') => {
                self.skip_line();
                self.advance(usize::from(!self.at_end()));
                Ok(())
            }
            Some('\n') => {
                self.advance(1);
                Ok(())
            }
            Some('\r') if self.rest().starts_with("\r\n") => {
                self.advance(2);
                Ok(())
            }
            Some(_) => Err(self.expected(otherwise)),
        }
    }

    /// Demands the end of the line.
    pub(crate) fn end(&mut self) -> Parsed<()> {
        self.end_of_line("the end of the line")
    }

    /// Takes a time: `300ms`, `2s`, `1m`.
    pub(crate) fn duration(&mut self) -> Parsed<Duration> {
        // Longer than a day is a slip of the pen, and would overflow clocks.
        const DAY: u64 = 24 * 60 * 60 * 1000;
        let what = "a time such as `300ms`, `2s` or `1m`";
        let time = self.measure(what, DAY, Some("a time is at most one day"), |unit| {
            let units = [("ms", 1), ("s", 1000), ("m", 60_000)];
            units.into_iter().find(|(name, _)| *name == unit)
        });
        time.map(Duration::from_millis)
    }

    /// Takes a size in bytes: `64`, `64KiB`, `40MiB`.
    pub(crate) fn size(&mut self) -> Parsed<usize> {
        // What is written is held in memory.
        const MOST: u64 = 1 << 30;
        let what = "a size such as `64`, `64KiB` or `40MiB`";
        let size = self.measure(what, MOST, Some("a size is at most 1024MiB"), |unit| {
            let units = [("", 1), ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20)];
            units.into_iter().find(|(name, _)| *name == unit)
        })?;
        Ok(usize::try_from(size).unwrap_or(usize::MAX))
    }

    /// Takes a count from 1 to a million.
    pub(crate) fn count(&mut self) -> Parsed<u32> {
        const WHAT: &str = "a number from 1 to 1000000";
        let at = self.mark();
        let one = |unit: &str| unit.is_empty().then_some(("", 1));
        match u32::try_from(self.measure(WHAT, 1_000_000, None, one)?) {
            Ok(count @ 1..) => Ok(count),
            _ => {
                self.go_to(at);
                Err(self.expected(WHAT))
            }
        }
    }

    /// Takes a number times its unit, which is at most `most`.
    fn measure(
        &mut self,
        what: &str,
        most: u64,
        too_much: Option<&str>,
        unit: impl Fn(&str) -> Option<(&'static str, u64)>,
    ) -> Parsed<u64> {
        self.skip_blanks();
        let word = bare_word(self.rest());
        let digits = word.len() - word.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number: Option<u64> = word[..digits].parse().ok();
        let (Some(number), Some((_, factor))) = (number, unit(&word[digits..])) else {
            return Err(self.expected(what));
        };
        match number.checked_mul(factor).filter(|all| *all <= most) {
            Some(all) => {
                self.at += word.len();
                Ok(all)
            }
            None => Err(too_much.map_or_else(|| self.expected(what), |why| self.error(why))),
        }
    }
}

/// Names what stands at the beginning of a text.
fn found(text: &str) -> String {
    let shown: String = match (bare_word(text), text.chars().next()) {
        (_, None) => return "the end of the file".to_owned(),
        (_, Some('\n')) => return "the end of the line".to_owned(),
        (_, Some('\r')) if text.starts_with("\r\n") => return "the end of the line".to_owned(),
        (_, Some('#')) => return "a comment".to_owned(),
        ("", Some(first)) => first.to_string(),
        (word, _) => word.chars().take(40).collect(),
    };
    format!("`{shown}`")
}

/// Names what comes nearest to a word that is not known.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 8)
        .min()
        .map(|(_, candidate)| candidate)
}

/// The longest beginning that is made of what words are made of.
fn bare_word(text: &str) -> &str {
    let length = text
        .find(|c: char| !(c.is_alphanumeric() || "_-./$:".contains(c)))
        .unwrap_or(text.len());
    &text[..length]
}
