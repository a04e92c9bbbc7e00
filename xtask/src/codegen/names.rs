//! Names of the schema as names of Rust.

use heck::{ToShoutySnakeCase, ToUpperCamelCase};

/// Returns the name of a variant: of a wire name, or of a method.
pub(crate) fn variant(wire: &str) -> String {
    wire.to_upper_camel_case()
}

/// Returns the name of the constant of a method.
pub(crate) fn constant(method: &str) -> String {
    method.to_shouty_snake_case()
}
