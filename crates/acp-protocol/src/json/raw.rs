//! JSON that the protocol leaves to its users.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::word::RAW_TOKEN;

/// Any JSON value, kept as the text it was written in.
///
/// Tool input and output are of this kind: they are passed on unchanged, and cost
/// one allocation. Two values are equal if they say the same, however they are
/// spelled.
///
/// ```
/// use acp_protocol::RawJson;
///
/// let input: RawJson = serde_json::from_str(r#"{"path": "notes.md",  "line": 3}"#)?;
/// assert_eq!(input.as_str(), r#"{"path": "notes.md",  "line": 3}"#);
/// assert_eq!(input.to_value()["line"], 3);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct RawJson(Box<RawValue>);

impl RawJson {
    /// Writes `value` down.
    ///
    /// # Errors
    ///
    /// Fails where `value` has no JSON form, such as a map whose keys are no strings.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Self> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Returns the text as `serde_json` knows it.
    pub fn as_raw(&self) -> &RawValue {
        &self.0
    }

    /// Returns the text as `serde_json` knows it.
    pub fn into_raw(self) -> Box<RawValue> {
        self.0
    }

    /// Decodes the value.
    ///
    /// # Errors
    ///
    /// Fails where the value is no `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.as_str())
    }

    /// Decodes the value into a tree.
    ///
    /// What nests too deep for a tree (128 levels), or holds a number beyond `f64`,
    /// becomes `null`.
    pub fn to_value(&self) -> Value {
        self.parse().unwrap_or(Value::Null)
    }
}

impl From<Box<RawValue>> for RawJson {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

impl From<Value> for RawJson {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl From<&Value> for RawJson {
    fn from(value: &Value) -> Self {
        // A tree has string keys only, so it can always be written down.
        Self(serde_json::value::to_raw_value(value).unwrap_or_default())
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
            || matches!(
                (self.parse::<Value>(), other.parse::<Value>()),
                (Ok(left), Ok(right)) if left == right
            )
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl Serialize for RawJson {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RawVisitor;

        impl<'de> Visitor<'de> for RawVisitor {
            type Value = RawJson;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("any JSON value")
            }

            #[inline]
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Box::<RawValue>::deserialize(MapAccessDeserializer::new(map)).map(RawJson)
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(
                self,
                tree: D,
            ) -> Result<Self::Value, D::Error> {
                let tree = Value::deserialize(tree)?;
                RawJson::of(&tree).map_err(D::Error::custom)
            }
        }

        deserializer.deserialize_newtype_struct(RAW_TOKEN, RawVisitor)
    }
}
