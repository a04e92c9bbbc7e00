//! The pinned schema: methods, capabilities and what is allowed in a message.

mod members;
mod validate;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use acp_recording::PeerSide;
pub(crate) use members::{Unnamed, unnamed};
pub(crate) use validate::{Violation, violations};

/// The schema of version 1 as the workspace pins it.
const TEXT: &str = include_str!("../../schema.json");
const _: () = assert!(
    TEXT.len() > 1000,
    "schema.json is a link that was not followed: check out with `git config core.symlinks true`"
);

static SCHEMA: LazyLock<Schema> = LazyLock::new(Schema::read);

struct Schema {
    root: Value,
    methods: BTreeMap<String, Method>,
}

/// What the schema says of a method.
#[derive(Debug, Default)]
struct Method {
    /// Who sends it; `None` when both may.
    sender: Option<PeerSide>,
    request: Option<String>,
    response: Option<String>,
    notification: Option<String>,
}

/// Which part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Params,
    Result,
}

impl Use {
    /// Returns the name of the member that holds this part.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Params => "params",
            Self::Result => "result",
        }
    }
}

impl Schema {
    fn read() -> Self {
        // The text is part of this crate, and a test reads it.
        let root: Value = serde_json::from_str(TEXT).unwrap_or_default();
        let mut methods = BTreeMap::<String, Method>::new();
        for (name, definition) in root["$defs"].as_object().into_iter().flatten() {
            let Some(method) = definition["x-method"].as_str() else {
                continue;
            };
            let entry = methods.entry(method.to_owned()).or_default();
            // `x-side` names who serves it.
            entry.sender = match definition["x-side"].as_str() {
                Some("agent") => Some(PeerSide::Client),
                Some("client") => Some(PeerSide::Agent),
                _ => None,
            };
            let place = if name.ends_with("Request") {
                &mut entry.request
            } else if name.ends_with("Response") {
                &mut entry.response
            } else {
                &mut entry.notification
            };
            *place = Some(name.clone());
        }
        Self { root, methods }
    }
}

impl Method {
    fn definition(&self, part: Use) -> Option<&str> {
        match part {
            Use::Params => self.request.as_deref().or(self.notification.as_deref()),
            Use::Result => self.response.as_deref(),
        }
    }
}

/// Lists the methods of the schema.
pub(crate) fn methods() -> impl Iterator<Item = &'static str> {
    SCHEMA.methods.keys().map(String::as_str)
}

/// Tells whether the schema has this method.
pub(crate) fn knows(method: &str) -> bool {
    SCHEMA.methods.contains_key(method)
}

/// Returns the only side that may send a method, `None` when both may.
pub(crate) fn sender(method: &str) -> Option<PeerSide> {
    SCHEMA.methods.get(method)?.sender
}

/// Tells whether a method of the schema is a request.
pub(crate) fn is_request(method: &str) -> bool {
    let method = SCHEMA.methods.get(method);
    method.is_some_and(|method| method.request.is_some())
}

/// Returns the name of the definition of a part of a method.
pub(crate) fn definition(method: &str, part: Use) -> Option<&'static str> {
    SCHEMA.methods.get(method)?.definition(part)
}

/// Tells whether a side can advertise a capability of this name.
pub(crate) fn is_capability(side: PeerSide, path: &str) -> bool {
    capability(side, path).is_some()
}

/// Tells whether a capability is written `true`; others are written `{}`.
pub(crate) fn is_flag(side: PeerSide, path: &str) -> bool {
    capability(side, path).is_some_and(|property| property["type"] == "boolean")
}

/// Finds what the schema says of a capability.
fn capability(side: PeerSide, path: &str) -> Option<&'static Value> {
    let definitions = &SCHEMA.root["$defs"];
    let mut holder = match side {
        PeerSide::Agent => &definitions["AgentCapabilities"],
        PeerSide::Client => &definitions["ClientCapabilities"],
    };
    let mut property = holder;
    for name in path.split('.') {
        property = holder["properties"].get(name).filter(|_| name != "_meta")?;
        let mut references = ["allOf", "anyOf"]
            .iter()
            .filter_map(|key| property[*key][0]["$ref"].as_str());
        let reference = references
            .next()
            .and_then(|name| name.strip_prefix("#/$defs/"));
        // A property that refers to nothing holds no further ones.
        holder = reference.map_or(&Value::Null, |name| &definitions[name]);
    }
    Some(property)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_known_with_its_sender() {
        let all: Vec<&str> = methods().collect();
        assert_eq!(all.len(), 25, "{all:?}");
        assert_eq!(sender("session/prompt"), Some(PeerSide::Client));
        assert_eq!(sender("session/update"), Some(PeerSide::Agent));
        assert_eq!(sender("$/cancel_request"), None);
        assert!(knows("$/cancel_request"));
        assert!(!is_request("session/update"));
        for method in all {
            assert!(definition(method, Use::Params).is_some(), "{method}");
            assert_eq!(
                definition(method, Use::Result).is_some(),
                is_request(method),
                "{method}"
            );
        }
    }

    #[test]
    fn capabilities() {
        assert!(is_capability(PeerSide::Agent, "loadSession"));
        assert!(is_capability(PeerSide::Agent, "sessionCapabilities.list"));
        assert!(is_capability(PeerSide::Client, "fs.readTextFile"));
        assert!(is_capability(
            PeerSide::Client,
            "session.configOptions.boolean"
        ));
        assert!(!is_capability(PeerSide::Client, "loadSession"));
        assert!(!is_capability(PeerSide::Agent, "loadSession.really"));
        assert!(!is_capability(PeerSide::Agent, "sessionCapabilities.fly"));
        assert!(is_flag(PeerSide::Agent, "loadSession"));
        assert!(is_flag(PeerSide::Client, "fs.readTextFile"));
        assert!(!is_flag(PeerSide::Agent, "sessionCapabilities.list"));
    }
}
