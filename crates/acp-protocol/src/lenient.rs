//! What decoding forgave.
//!
//! The schema marks members whose value may be wrong without spoiling the whole
//! message: an unknown status, an annotation of the wrong kind, one bad element
//! of a list. Decoding then goes on with the member's default. Each such act is
//! an event (target `acp::lenient`), counts in [`total`], and can be collected:
//!
//! ```
//! use acp_protocol::lenient::{self, Forgiven};
//! use acp_protocol::v1::ToolCallLocation;
//!
//! let (location, notes) = lenient::collect(|| {
//!     serde_json::from_str::<ToolCallLocation>(r#"{"path": "/notes.md", "line": "three"}"#)
//! });
//! assert_eq!(location?.line, None);
//! assert_eq!(notes[0].to_string(), "ToolCallLocation.line: unusable value ignored");
//! assert_eq!(notes[0].forgiven, Forgiven::Value);
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! Notes say where and what kind, never what the value was. A message in which
//! nothing is wrong pays nothing.

use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::de::DeserializeOwned;

use crate::json::unit;

/// How many notes one collection keeps. A message may hold a wrong element a
/// few bytes, so what is beyond this is counted and not kept.
pub const MAX_NOTES: usize = 64;

/// What kind of thing was forgiven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Forgiven {
    /// A value did not fit; the member has its default.
    Value,
    /// An element did not fit; the list goes on without it.
    Item,
    /// A required list was missing; it is empty.
    Missing,
    /// A text held half a surrogate pair, which was replaced.
    Surrogate,
    /// A `null` stood where the member should have been left out.
    Null,
    /// An object stood where a list of name and value belongs.
    Pairs,
    /// A member stood under another name.
    Name,
    /// A list held elements of two kinds, and those of the one were made the other.
    Mixed,
    /// A value stood without the object around it.
    Bare,
    /// A number stood where a text belongs.
    Number,
    /// Members of an older version of the protocol were read.
    Older,
    /// A member was missing, and known from elsewhere.
    Filled,
    /// A path held a separator twice.
    Separator,
}

/// One thing that was forgiven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Note {
    /// The type that was decoded.
    pub object: &'static str,
    /// Its member, as it is written on the wire.
    pub member: &'static str,
    /// What was forgiven.
    pub forgiven: Forgiven,
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let did = match self.forgiven {
            Forgiven::Value => "unusable value ignored",
            Forgiven::Item => "unusable element left out",
            Forgiven::Missing => "missing list taken as empty",
            Forgiven::Surrogate => "half a surrogate pair replaced",
            Forgiven::Null => "null taken as absent",
            Forgiven::Pairs => "object taken as a list of name and value",
            Forgiven::Name => "read under another name",
            Forgiven::Mixed => "list of two kinds of elements taken as one",
            Forgiven::Bare => "value taken without the object around it",
            Forgiven::Number => "number taken as a text",
            Forgiven::Older => "older form understood",
            Forgiven::Filled => "missing member filled in",
            Forgiven::Separator => "double separator of a path taken as one",
        };
        write!(out, "{}.{}: {did}", self.object, self.member)
    }
}

/// Decodes a message, and gets over halves of surrogate pairs in its texts.
///
/// A program whose texts are UTF-16 may cut one between the two halves of a
/// character and write `\\ud83d`, which no text of ours can hold. Where decoding
/// fails and the message has such halves, they become U+FFFD and it is decoded
/// once more.
///
/// ```
/// use acp_protocol::lenient;
/// use acp_protocol::v1::ToolCall;
///
/// let cut = br#"{"toolCallId": "call-1", "title": "Deploy \ud83d"}"#;
/// assert!(serde_json::from_slice::<ToolCall>(cut).is_err());
/// assert_eq!(lenient::decode::<ToolCall>(cut)?.title, "Deploy \u{fffd}");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
///
/// Fails where the message is no `T`.
pub fn decode<T: DeserializeOwned>(json: &[u8]) -> serde_json::Result<T> {
    // Once for all of it, and not for every text in it.
    let text = std::str::from_utf8(json).map_err(serde::de::Error::custom)?;
    serde_json::from_str(text).or_else(|error| match mend(text) {
        None => Err(error),
        Some(mended) => {
            let decoded = serde_json::from_str(&mended)?;
            let at = At {
                object: "message",
                member: "text",
            };
            note(at, Forgiven::Surrogate);
            Ok(decoded)
        }
    })
}

/// Replaces escaped halves of surrogate pairs; `None` where there are none.
pub(crate) fn mend(text: &str) -> Option<String> {
    let json = text.as_bytes();
    let mut mended = None::<Vec<u8>>;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &json[at..]) {
        at += found;
        at += match (
            escaped_unit(&json[at..]),
            json.get(at + 6..).and_then(escaped_unit),
        ) {
            (None, _) => 2,
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                let mended = mended.get_or_insert_with(|| json.to_vec());
                mended[at..at + 6].copy_from_slice(br"\ufffd");
                6
            }
            (Some(_), _) => 6,
        };
        at = at.min(json.len());
    }
    String::from_utf8(mended?).ok()
}

/// Reads an escaped unit of UTF-16.
fn escaped_unit(json: &[u8]) -> Option<u16> {
    unit(json.strip_prefix(br"\u")?)
}

static TOTAL: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static NOTES: RefCell<Option<Vec<Note>>> = const { RefCell::new(None) };
}

/// Returns how often decoding forgave something since the program started.
pub fn total() -> u64 {
    TOTAL.load(Ordering::Relaxed)
}

/// Runs `decode` and returns what it forgave on the way.
///
/// Collections may be nested; a note belongs to the innermost one. At most
/// [`MAX_NOTES`] notes are kept.
pub fn collect<T>(decode: impl FnOnce() -> T) -> (T, Vec<Note>) {
    /// Puts the outer collection back, also when `decode` panics.
    struct Restore(Option<Vec<Note>>);

    impl Drop for Restore {
        fn drop(&mut self) {
            NOTES.set(self.0.take());
        }
    }

    let outer = Restore(NOTES.replace(Some(Vec::new())));
    let decoded = decode();
    let notes = NOTES.take().unwrap_or_default();
    drop(outer);
    (decoded, notes)
}

/// Reports and counts what somebody who reads messages forgave beyond decoding them.
#[cold]
pub fn report(object: &'static str, member: &'static str, forgiven: Forgiven) {
    note(At { object, member }, forgiven);
}

/// Which member of which object is meant.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub(crate) object: &'static str,
    pub(crate) member: &'static str,
}

#[cold]
pub(crate) fn note(at: At, forgiven: Forgiven) {
    let note = Note {
        object: at.object,
        member: at.member,
        forgiven,
    };
    TOTAL.fetch_add(1, Ordering::Relaxed);
    tracing::debug!(target: "acp::lenient", "{note}");
    NOTES.with_borrow_mut(|notes| {
        if let Some(notes) = notes
            && notes.len() < MAX_NOTES
        {
            notes.push(note);
        }
    });
}
