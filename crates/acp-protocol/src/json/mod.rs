//! JSON text: read, written and skipped, for all of the crate.
//!
//! * [`reader`] and [`writer`] are `serde` formats that look at sixteen bytes of a string
//!   at once, where `serde_json` looks at one;
//! * [`skip`] finds the end of a value, [`plain`] the bytes that need no escape,
//!   [`escape`] writes those that do;
//! * [`slice`] and [`raw`] hold a value as the text it arrived in;
//! * [`word`] is text that never needs an escape: the protocol's own.

#[cfg(test)]
pub(crate) mod any_tree;
mod escape;
mod plain;
mod raw;
pub(crate) mod reader;
mod skip;
mod slice;
mod word;
mod writer;

pub(crate) use escape::{escape, string};
pub(crate) use plain::plain;
pub use raw::RawJson;
pub(crate) use skip::value as skip_value;
pub(crate) use slice::{Later, Slice, Text};
pub(crate) use word::Word;
pub(crate) use writer::write;
