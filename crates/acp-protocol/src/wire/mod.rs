//! How generated types are read and written.
//!
//! The generated file holds definitions; every rule about JSON lives here, once:
//!
//! * [`reader`] reads JSON, where `serde_json` is too slow; [`skip`] walks over it, [`plain`]
//!   tells what needs no escape;
//! * [`slice`] keeps a value as the text it arrived in, [`members`] those of an object;
//! * [`forgive`] gets over a value that does not fit;
//! * [`rule`] says how one member of an object is read and written;
//! * [`object`] joins members into objects;
//! * [`union`] tells the variants of a union apart;
//! * [`name`] holds ids and string enums, [`raw`] what is any JSON;
//! * [`word`] holds what the protocol itself writes;
//! * [`secret`] hides values from `Debug`.
//!
//! A member that occurs twice counts once: the last one wins, as in every
//! `JSON.parse` of our peers.

#[cfg(test)]
pub(crate) mod any_tree;
pub(crate) mod forgive;
#[cfg(feature = "schemars")]
pub(crate) mod json_schema;
pub(crate) mod members;
pub(crate) mod name;
pub(crate) mod object;
pub(crate) mod plain;
pub(crate) mod raw;
pub(crate) mod reader;
pub(crate) mod rule;
pub(crate) mod secret;
pub(crate) mod skip;
pub(crate) mod slice;
pub(crate) mod union;
pub(crate) mod word;

pub use raw::RawJson;
pub use union::Unrecognized;

/// What a message carries for extensions, in its member `_meta`.
pub type Meta = serde_json::Map<String, serde_json::Value>;
