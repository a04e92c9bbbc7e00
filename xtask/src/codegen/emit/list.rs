//! The list of all definitions, for tests that go through them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::codegen::load::Document;
use crate::codegen::lower::{Definition, Shape};

/// Writes a macro over all definitions of the document, and one over all messages.
pub(crate) fn emit(
    head: &str,
    document: &Document,
    lowered: &BTreeMap<String, Definition>,
) -> String {
    let mut definitions = String::new();
    let mut requests = String::new();
    let mut notifications = String::new();
    for (name, definition) in lowered {
        let path = match &definition.shape {
            Shape::Envelope | Shape::Extension => continue,
            Shape::Handwritten(path) => path.replacen("crate::", "acp_protocol::", 1),
            _ => format!("acp_protocol::v1::{name}"),
        };
        if document.definitions.contains_key(name) {
            let _ = writeln!(definitions, "            {name}: {path},");
        }
        if definition.method.is_some() && name.ends_with("Request") {
            let _ = writeln!(requests, "            request {path},");
        }
        if definition.method.is_some() && name.ends_with("Notification") {
            let _ = writeln!(notifications, "            notification {path},");
        }
    }
    format!(
        "{head}
#![allow(unused_imports, unused_macros, reason = \"each test uses what it needs\")]

/// Calls `$each!` with the name and the type of every definition.
macro_rules! each_definition {{
    ($each:ident) => {{
        $each! {{
{definitions}        }}
    }};
}}

/// Calls `$each!` with the parameters of every method.
macro_rules! each_method {{
    ($each:ident) => {{
        $each! {{
{requests}{notifications}        }}
    }};
}}

pub(crate) use {{each_definition, each_method}};
"
    )
}
