//! Reads the envelope of a line: what it is, its id, its method and where its
//! body stands.
//!
//! [`scan`] knows the hot shapes by a forward scan of the members before
//! the body; every other line goes through [`parse`], one pass over the members of
//! the top-level object. Both give offsets, never copies.

mod lost;
mod parse;
mod scan;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::{Issue, Issues, Limits, RequestId};
use crate::json::{count_values, depth};
pub use lost::LostUpdate;
pub(super) use lost::lost_update;
pub(super) use parse::parse;
pub(super) use scan::{Guess, closes_update, guess, scan};

/// What a line says about itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Head {
    /// Its shape.
    pub shape: Shape,
    /// The id of a request or response.
    pub id: Option<RequestId>,
    /// The method of a request or notification.
    pub method: Option<Method>,
    /// Where `params`, `result` or `error` stands.
    pub body: Body,
}

/// The three shapes of JSON-RPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A method with an id.
    Request,
    /// A method without an id.
    Notification,
    /// A result.
    Result,
    /// An error.
    Error,
}

/// A method name, by place or by value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// Written without escapes, at this place of the line.
    Span(Range<usize>),
    /// Written with escapes.
    Text(Box<str>),
}

/// Where the body of a message stands in its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// There is none.
    Absent,
    /// Exactly here.
    Exact(Range<usize>),
    /// From here to somewhere before the last brace; its end was not looked for.
    From(usize),
}

/// A line that is no message.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Everything that is wrong with it.
    pub issues: Issues,
    /// Its id, where one could be read; [`RequestId::Null`] where it says so.
    pub id: Option<RequestId>,
    /// What it tried to be.
    pub attempt: Attempt,
    /// How it begins, to be shown to people: control characters are escaped. It
    /// may hold what was meant for nobody.
    pub beginning: Box<str>,
    /// The update that is lost with it, on a connection that takes updates.
    pub update: Option<LostUpdate>,
}

impl Refused {
    pub(super) fn new(issues: impl Into<Issues>) -> Self {
        Self {
            issues: issues.into(),
            id: None,
            attempt: Attempt::Unknown,
            beginning: Box::default(),
            update: None,
        }
    }

    /// Notes the update that is lost with the line, if it was meant to be one.
    ///
    /// An object without a method is none, whatever it quotes: programs log so.
    pub(super) fn of_update(mut self, line: &[u8]) -> Self {
        let is_torn =
            self.issues.contains(Issue::MalformedJson) || self.issues.contains(Issue::TrailingData);
        self.update = match self.attempt {
            _ if self.issues.contains(Issue::UndecodableUpdate) => {
                Some(LostUpdate { session: None })
            }
            Attempt::Call if self.id.is_none() => lost_update(line),
            Attempt::Unknown if is_torn => lost_update(line),
            _ => None,
        };
        self
    }

    /// Keeps the beginning of the line.
    pub(super) fn of_line(mut self, line: &[u8]) -> Self {
        let cut = &line[..line.len().min(MAX_BEGINNING)];
        let text = String::from_utf8_lossy(cut);
        let mut beginning = String::with_capacity(text.len());
        for character in text.chars() {
            if character.is_control() {
                beginning.extend(character.escape_default());
            } else {
                beginning.push(character);
            }
        }
        self.beginning = beginning.into();
        self
    }
}

/// Bytes of a text id of a request. Peers count, or make some 36 characters; the id is
/// kept while the request is open, and stands in its answer.
const MAX_REQUEST_ID: usize = 1 << 10;

/// Bytes of a refused line that are kept: enough to recognise a banner, or a
/// message behind something else.
const MAX_BEGINNING: usize = 256;

/// What a refused line tried to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// It has a method.
    Call,
    /// It has a result or an error.
    Answer,
    /// It cannot be told.
    Unknown,
}

/// Finds out what a line is, which was [checked](check).
///
/// # Errors
///
/// [`Refused`] when the line is no JSON-RPC message; its issues say why.
pub(super) fn read(line: &[u8]) -> Result<Head, Refused> {
    match scan(line) {
        Some(head) => Ok(head),
        None => parse(line),
    }
}

/// Checks what holds for every line: it is text, and not nested too deeply.
///
/// # Errors
///
/// [`Refused`] otherwise.
pub(super) fn check(line: &[u8], limits: &Limits) -> Result<(), Refused> {
    let glance = glance(line);
    if !glance.is_ascii && std::str::from_utf8(line).is_err() {
        return Err(lost::malformed(line));
    }
    // A message cannot be deeper than it has opening brackets: counting is
    // cheap, and only a suspicious line is walked through.
    if glance.opening_brackets > limits.max_depth && depth(line) > limits.max_depth {
        return Err(refused(line, Issue::ExcessiveNesting));
    }
    // Nor can it have more values than bytes: only a long line is walked through.
    if line.len() > limits.max_values && count_values(line) > limits.max_values {
        return Err(refused(line, Issue::ExcessiveValues));
    }
    Ok(())
}

/// What is seen of a line without understanding any of it.
struct Glance {
    is_ascii: bool,
    opening_brackets: usize,
}

/// Glances at a line, in pieces short enough for a counter of one byte: so many
/// bytes are looked at together.
fn glance(line: &[u8]) -> Glance {
    let (mut all, mut opening_brackets) = (0, 0);
    for piece in line.chunks(usize::from(u8::MAX)) {
        let mut count = 0;
        for byte in piece {
            all |= byte;
            // They differ in one bit.
            count += u8::from(byte | 0x20 == b'{');
        }
        opening_brackets += usize::from(count);
    }
    Glance {
        is_ascii: all.is_ascii(),
        opening_brackets,
    }
}

/// Refuses a line that is nested too deeply; its id still gets an answer.
fn refused(line: &[u8], issue: Issue) -> Refused {
    let (id, attempt) = match parse(line) {
        Ok(Head {
            shape: Shape::Request | Shape::Notification,
            id,
            ..
        }) => (id, Attempt::Call),
        Ok(Head { id, .. }) => (id, Attempt::Answer),
        Err(refused) => return refused,
    };
    Refused {
        id,
        attempt,
        ..Refused::new(issue)
    }
}
