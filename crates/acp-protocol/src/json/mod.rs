//! JSON text: read, written and skipped, for all of the crate.
//!
//! * [`reader`] and [`writer`] are `serde` formats that look at sixteen bytes of a string
//!   at once, where `serde_json` looks at one;
//! * [`walk`] finds the ends of values, and [`cursor`] goes from one token to the next;
//!   all that reads goes by them;
//! * [`members`] goes through an object or an array without a look into its values;
//! * [`plain`] finds the bytes that need no escape, [`escape`] writes those that do, and
//!   [`unescape`] reads them;
//! * [`length`] counts the bytes of a value without writing it;
//! * [`slice`] and [`raw`] hold a value as the text it arrived in;
//! * [`word`] is text that never needs an escape: the protocol's own.

#[cfg(test)]
pub(crate) mod any_tree;
mod cursor;
mod escape;
mod length;
mod members;
mod plain;
mod raw;
mod reader;
mod slice;
mod unescape;
mod walk;
mod word;
mod writer;

pub(crate) use cursor::Cursor;
pub(crate) use escape::{escape, string, verbatim};
pub use length::json_length;
pub(crate) use members::{elements, members};
pub use raw::RawJson;
pub(crate) use reader::read;
pub(crate) use slice::{Later, Slice, Text};
pub(crate) use unescape::unit;
pub(crate) use walk::{count_values, depth};
pub(crate) use word::Word;
pub(crate) use writer::write;
