//! Protocol version 1: every type and every method.

#[rustfmt::skip]
mod generated;
#[cfg(feature = "schemars")]
#[rustfmt::skip]
mod json_schema;
#[rustfmt::skip]
pub mod methods;

pub use crate::codec::{Meta, RawJson, Unrecognized};
pub use crate::patch::Patch;
pub use generated::*;
