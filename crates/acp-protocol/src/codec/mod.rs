//! How generated types are read and written.
//!
//! The generated file holds definitions; every rule about their JSON lives here, once:
//!
//! * [`rule`] says how one member of an object is read and written;
//! * [`object`] joins members into objects;
//! * [`union`] tells the variants of a union apart, [`members`] keeps members back until
//!   the variant is known;
//! * [`forgive`] gets over a value that does not fit;
//! * [`name`] holds ids and string enums;
//! * [`secret`] hides values from `Debug`.
//!
//! A member that occurs twice counts once: the last one wins, as in every
//! `JSON.parse` of our peers.

pub(crate) mod forgive;
#[cfg(feature = "schemars")]
pub(crate) mod json_schema;
pub(crate) mod members;
pub(crate) mod name;
pub(crate) mod object;
pub(crate) mod rule;
pub(crate) mod secret;
pub(crate) mod union;

pub use crate::json::RawJson;
pub use union::Unrecognized;

/// What a message carries for extensions, in its member `_meta`.
pub type Meta = serde_json::Map<String, serde_json::Value>;
