//! Protocol version 1: every type and every method.

#[rustfmt::skip]
mod generated;
#[cfg(feature = "schemars")]
#[rustfmt::skip]
pub(crate) mod json_schema;
#[rustfmt::skip]
pub mod methods;

pub use crate::patch::Patch;
pub use crate::wire::{Meta, RawJson, Unrecognized};
pub use generated::*;
