//! Descriptions of the schema as documentation.

use proc_macro2::TokenStream;
use quote::quote;

use crate::codegen::lower::Field;

/// Makes a description the documentation of an item; without one, `otherwise`.
pub(super) fn lines(description: &str, otherwise: &str) -> TokenStream {
    let text = if description.is_empty() {
        otherwise
    } else {
        description
    };
    let lines = text.lines().map(|line| {
        let line = if line.is_empty() {
            String::new()
        } else {
            format!(" {}", line.trim_end())
        };
        quote!(#[doc = #line])
    });
    quote!(#(#lines)*)
}

/// What the schema says of `_meta`, in nearly every object.
const META: &str = "The _meta property is reserved by ACP to allow clients and agents to attach";

/// Returns what is said of a member; `_meta` is the same everywhere, and short.
pub(super) fn member(field: &Field) -> &str {
    if field.key == "_meta" && field.about.starts_with(META) {
        "What extensions attach; see \
         [Extensibility](https://agentclientprotocol.com/protocol/v1/extensibility)."
    } else {
        &field.about
    }
}
