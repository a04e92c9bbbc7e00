//! Bodies of messages, decoded where they stand in their line.

use serde::de::{DeserializeOwned, Error as _};
use serde_json::Error;

use super::head::{self, Body};
use crate::{json, lenient};

/// Decodes the parameters of raw `session/update` lines, which mostly begin alike.
#[derive(Debug, Default)]
pub struct UpdateDecoder {
    /// What stood in front of the parameters of the last line.
    head: Vec<u8>,
}

/// Longest head that is kept. Whoever writes a longer one is read all the same.
const MAX_HEAD: usize = 256;

impl UpdateDecoder {
    /// Decodes the parameters of a line.
    ///
    /// # Errors
    ///
    /// What `serde_json` says of the parameters, or of the line.
    pub fn decode<T: DeserializeOwned>(&mut self, line: &[u8]) -> Result<T, Error> {
        if let Some(start) = self.params(line)
            && let Some(value) = decode_member(line, start)
        {
            return Ok(value);
        }
        let text = std::str::from_utf8(line).map_err(Error::custom)?;
        let params = match json::members(text) {
            Some(members) => members.find("params")?,
            None => None,
        };
        let params = params.ok_or_else(|| Error::missing_field("params"))?;
        lenient::decode(params.as_bytes())
    }

    /// Where the parameters begin, if that is easily told.
    fn params(&mut self, line: &[u8]) -> Option<usize> {
        if !self.head.is_empty() && line.starts_with(&self.head) {
            return Some(self.head.len());
        }
        let Body::From(start) = head::scan(line)?.body else {
            return None;
        };
        self.head.clear();
        if start <= MAX_HEAD {
            self.head.extend_from_slice(&line[..start]);
        }
        Some(start)
    }
}

/// Decodes the value at `start`, if it is the last member of the line's object.
///
/// `None` where it has to be read in another way, which then says what is wrong.
pub(super) fn decode_member<T: DeserializeOwned>(line: &[u8], start: usize) -> Option<T> {
    // Once for the line, and not for every text in it.
    let body = std::str::from_utf8(&line[start..]).ok()?;
    let (value, rest) = json::read(body).ok()?;
    (rest.as_bytes().trim_ascii() == b"}").then_some(value)
}
