//! A JSON value that is passed on as it was written.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A JSON value kept as text, passed on unchanged.
///
/// The arguments of a tool, for instance: what the model wrote, in its own
/// order and spelling.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Writes a value as JSON.
    ///
    /// # Errors
    ///
    /// When the value cannot be written as JSON (a map whose keys are no
    /// texts, for instance).
    pub fn from_value(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// Takes a text that is JSON already.
    ///
    /// # Errors
    ///
    /// When the text is not one JSON value.
    pub fn parse(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.into()).map(Self)
    }

    /// The value as JSON text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The value for `serde_json`.
    pub fn into_raw(self) -> Box<RawValue> {
        self.0
    }
}

impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Json {}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments of tools hold what users hold secret.
        write!(f, "Json({} bytes)", self.as_str().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_passes_unchanged_and_nonsense_does_not() {
        assert_eq!(
            Json::parse(r#"{ "b":1, "a" :2}"#).unwrap().as_str(),
            r#"{ "b":1, "a" :2}"#
        );
        assert!(Json::parse("{").is_err());
        assert!(Json::parse("1 2").is_err());
        assert_eq!(Json::from_value(&["x"]).unwrap().as_str(), r#"["x"]"#);
    }
}
