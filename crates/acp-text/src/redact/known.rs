//! Secrets that were given, found however they are written.

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::memmem;

use super::REDACTED;
use crate::Secret;
use crate::json::escape;

/// Secrets of fewer characters are not searched for: they stand everywhere.
const SHORTEST: usize = 4;

/// Secrets of fewer bytes are not searched for in other encodings, in which so short a text
/// is met by chance.
const SHORTEST_ENCODED: usize = 8;

/// How often a text may be escaped over: JSON in a string of JSON in an address, and one more.
const MAX_LAYERS: usize = 4;

/// Bytes of a text that are read behind escapes at once. Each takes eight bytes of memory.
const WINDOW: usize = 64 * 1024;

/// Bytes that one byte of a secret takes when it is escaped over and over.
const MAX_ESCAPED: usize = 24;

/// The secrets that were given.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// As they were given.
    given: Vec<Secret>,
    /// These, and how they look in JSON, base64 and hexadecimal digits. Longer ones first,
    /// since a shorter one may be part of them.
    forms: Vec<Secret>,
}

impl Known {
    /// Adds a secret, unless it is too short to be told from other text.
    pub(super) fn add(&mut self, secret: Secret) {
        let text = secret.expose();
        if text.chars().count() < SHORTEST || self.given.contains(&secret) {
            return;
        }
        let json = super::messages::quoted(text);
        self.forms.push(Secret::from(&json[1..json.len() - 1]));
        if text.len() >= SHORTEST_ENCODED {
            self.forms
                .extend(encoded(text.as_bytes()).map(Secret::from));
        }
        self.forms.push(secret.clone());
        // Of one with several lines each may be met alone. The first and last of a key in
        // PEM stand in every key.
        let lines = text.lines().map(str::trim);
        for line in lines.filter(|line| line.len() < text.trim().len()) {
            if line.len() >= SHORTEST_ENCODED && !line.starts_with("-----") {
                self.forms.push(Secret::from(line));
            }
        }
        self.given.push(secret);
        let order = |a: &Secret, b: &Secret| {
            (b.expose().len(), b.expose()).cmp(&(a.expose().len(), a.expose()))
        };
        self.forms.sort_by(order);
        self.forms.dedup();
    }

    pub(super) fn given(&self) -> &[Secret] {
        &self.given
    }

    /// Tells whether a text holds one of them.
    pub(super) fn is_in(&self, text: &str) -> bool {
        !self.found(text).is_empty()
    }

    /// Replaces them, also where they are escaped as in JSON, addresses, pages or shells.
    pub(super) fn replace<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.found(text);
        if found.is_empty() {
            return text.into();
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for range in found {
            out.push_str(&text[at..range.start]);
            out.push_str(REDACTED);
            at = range.end;
        }
        out.push_str(&text[at..]);
        out.into()
    }

    /// Returns how much of the beginning and of the end of a text belongs to a secret that is
    /// cut there.
    pub(super) fn cut_off(&self, text: &str) -> Range<usize> {
        let (mut start, mut end) = (0, text.len());
        for secret in self.forms.iter().map(Secret::expose) {
            let cuts = || secret.char_indices().map(|(at, _)| at).filter(|at| *at > 0);
            let begins = |at: &usize| *at >= SHORTEST && text.ends_with(&secret[..*at]);
            if let Some(at) = cuts().rev().find(begins) {
                end = end.min(text.len() - at);
            }
            let ends =
                |at: &usize| secret.len() - at >= SHORTEST && text.starts_with(&secret[*at..]);
            if let Some(at) = cuts().find(ends) {
                start = start.max(secret.len() - at);
            }
        }
        start..end.max(start)
    }

    /// Returns where they are, in order; two that overlap are one.
    fn found(&self, text: &str) -> Vec<Range<usize>> {
        let Some(longest) = self.forms.first() else {
            return Vec::new();
        };
        let mut found = Vec::new();
        self.search(text.as_bytes(), |range| found.push(range));
        if memchr::memchr3(b'\\', b'%', b'&', text.as_bytes()).is_some() {
            let overlap = longest.expose().len().saturating_mul(MAX_ESCAPED);
            let mut start = 0;
            while start < text.len() {
                let end = boundary(text, start.saturating_add(WINDOW).saturating_add(overlap));
                self.search_escaped(&text[start..end], start, &mut found);
                start = boundary(text, start + WINDOW);
            }
        }
        found.sort_unstable_by_key(|range| (range.start, range.end));
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(found.len());
        for range in found {
            match merged.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        merged
    }

    /// Takes one layer of escapes off after the other, and searches behind each.
    fn search_escaped(&self, text: &str, offset: usize, found: &mut Vec<Range<usize>>) {
        let mut view = View::of(text);
        for _ in 0..MAX_LAYERS {
            match view.without_escapes() {
                Some(inner) => view = inner,
                None => break,
            }
            self.search(&view.bytes, |range| {
                let (start, end) = (view.places[range.start], view.places[range.end]);
                // An escape that was read apart may be cut in the middle of a character.
                let (start, end) = (boundary_before(text, start), boundary(text, end));
                found.push(offset + start..offset + end);
            });
        }
    }

    fn search(&self, bytes: &[u8], mut found: impl FnMut(Range<usize>)) {
        let forms = self.forms.iter().map(|form| form.expose().as_bytes());
        for form in forms.filter(|form| form.len() <= bytes.len()) {
            for at in memmem::find_iter(bytes, form) {
                found(at..at + form.len());
            }
        }
    }
}

/// A text with escapes taken off, and where each byte of it stood.
struct View {
    bytes: Vec<u8>,
    /// One more than there are bytes: the last is the end.
    places: Vec<usize>,
}

impl View {
    fn of(text: &str) -> Self {
        Self {
            bytes: text.as_bytes().to_vec(),
            places: (0..=text.len()).collect(),
        }
    }

    /// Takes one layer of escapes off; `None` when there is none.
    fn without_escapes(&self) -> Option<Self> {
        let mut inner = Self {
            bytes: Vec::with_capacity(self.bytes.len()),
            places: Vec::with_capacity(self.places.len()),
        };
        let mut at = 0;
        while let Some(found) = memchr::memchr3(b'\\', b'%', b'&', &self.bytes[at..]) {
            let (plain, from) = (at..at + found, at + found);
            inner.places.extend_from_slice(&self.places[plain.clone()]);
            inner.bytes.extend_from_slice(&self.bytes[plain]);
            let (escaped, length) = unescaped(&self.bytes[from..]);
            let mut utf8 = [0; 4];
            let bytes = match escaped {
                Escaped::Char(c) => c.encode_utf8(&mut utf8).as_bytes(),
                Escaped::Byte(byte) => {
                    utf8[0] = byte;
                    &utf8[..1]
                }
            };
            inner.places.extend(bytes.iter().map(|_| self.places[from]));
            inner.bytes.extend_from_slice(bytes);
            at = from + length;
        }
        inner
            .places
            .extend_from_slice(&self.places[at..self.bytes.len()]);
        inner.bytes.extend_from_slice(&self.bytes[at..]);
        inner.places.push(self.places[self.bytes.len()]);
        (inner.bytes.len() < self.bytes.len()).then_some(inner)
    }
}

/// What an escape stands for. A `%` stands for a byte of a character.
enum Escaped {
    Char(char),
    Byte(u8),
}

/// Reads what begins with a mark of escapes, and how long it is; a mark that escapes nothing
/// stands for itself.
fn unescaped(bytes: &[u8]) -> (Escaped, usize) {
    // The longest are two halves of a surrogate.
    let near = &bytes[..bytes.len().min(12)];
    let ascii = near.iter().take_while(|byte| byte.is_ascii()).count();
    let text = std::str::from_utf8(&near[..ascii]).unwrap_or_default();
    let itself = (Escaped::Byte(bytes[0]), 1);
    match bytes[0] {
        b'%' => percent(bytes).map_or(itself, |byte| (Escaped::Byte(byte), 3)),
        b'&' => entity(text).map_or(itself, |(c, length)| (Escaped::Char(c), length)),
        _ => backslash(text).map_or(itself, |(c, length)| (Escaped::Char(c), length)),
    }
}

/// Reads an escape of JSON, `\x41`, or any mark that a shell takes as it is.
fn backslash(text: &str) -> Option<(char, usize)> {
    let (c, length) = escape(text);
    if length > 1 {
        return Some((c, length));
    }
    match char::from(*text.as_bytes().get(1)?) {
        'x' => {
            let byte = byte_of_digits(text.get(2..4)?)?;
            byte.is_ascii().then(|| (char::from(byte), 4))
        }
        mark if mark.is_ascii_punctuation() || mark == ' ' => Some((mark, 2)),
        _ => None,
    }
}

/// Reads `%41`.
fn percent(bytes: &[u8]) -> Option<u8> {
    let digits = bytes.strip_prefix(b"%")?.get(..2)?;
    byte_of_digits(std::str::from_utf8(digits).ok()?)
}

fn byte_of_digits(digits: &str) -> Option<u8> {
    let are = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    are.then(|| u8::from_str_radix(digits, 16).ok())?
}

/// Reads `&amp;` and its kin, as pages write them.
fn entity(text: &str) -> Option<(char, usize)> {
    let end = text.find(';')?;
    let name = &text[1..end];
    let c = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    // Otherwise the text would grow, and be read again and again.
    (c.len_utf8() < end + 1).then_some((c, end + 1))
}

/// Writes a secret in base64 as it looks at each place in a longer text, and in hexadecimal
/// digits.
fn encoded(secret: &[u8]) -> impl Iterator<Item = String> {
    let base64 = [STANDARD_NO_PAD, URL_SAFE_NO_PAD]
        .into_iter()
        .flat_map(move |alphabet| {
            (0..3_usize).map(move |shift| {
                let text = alphabet.encode([&[0; 2][..shift], secret].concat());
                // Digits that a neighbour has a part in are left out.
                let (first, bits) = ((shift * 8).div_ceil(6), (shift + secret.len()) * 8);
                text[first..bits / 6].to_owned()
            })
        });
    let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let upper = hex.to_ascii_uppercase();
    base64.chain([hex, upper])
}

/// Returns this place, or the next one at which a character begins.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

fn boundary_before(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
