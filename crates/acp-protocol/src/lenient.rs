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

use crate::wire::rule::At;

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
    /// A `null` stood where the member should have been left out.
    Null,
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
            Forgiven::Null => "null taken as absent",
        };
        write!(out, "{}.{}: {did}", self.object, self.member)
    }
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
