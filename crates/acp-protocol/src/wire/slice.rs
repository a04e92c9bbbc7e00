//! A JSON value kept as the text it arrived in.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    self, Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess,
    Visitor,
};
use serde::{Serialize, Serializer, ser};
use serde_json::Value;
use serde_json::de::{IoRead, StrRead};
use serde_json::value::RawValue;

/// The name under which `serde_json` hands out a value as text; `RawValue` asks
/// for the same.
///
/// A deserializer that does not know it gives a tree instead: slower, never wrong.
pub(crate) const RAW_TOKEN: &str = "$serde_json::private::RawValue";

/// One value, not decoded yet.
#[derive(Clone)]
pub(crate) enum Slice<'de> {
    /// As text, borrowed from the message wherever the deserializer lends it.
    Text(Cow<'de, str>),
    /// As a tree, from deserializers that have no text.
    Tree(Value),
}

impl<'de> Slice<'de> {
    /// Decodes the value.
    pub(crate) fn parse<T: DeserializeOwned>(self) -> serde_json::Result<T> {
        serde_json::from_str(&self.into_text())
    }

    /// Decodes the value with `seed`.
    ///
    /// Each kind of deserializer brings the code of all that is decoded with it
    /// into the program, so there are no more than two.
    pub(crate) fn parse_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> serde_json::Result<S::Value> {
        match self.into_text() {
            Cow::Borrowed(text) => {
                seed.deserialize(&mut serde_json::Deserializer::new(StrRead::new(text)))
            }
            // A reader lends nothing, so what it reads may outlive the text.
            Cow::Owned(text) => seed.deserialize(&mut serde_json::Deserializer::new(IoRead::new(
                text.as_bytes(),
            ))),
        }
    }

    fn into_text(self) -> Cow<'de, str> {
        match self {
            Slice::Text(text) => text,
            Slice::Tree(tree) => Cow::Owned(tree.to_string()),
        }
    }
}

impl Serialize for Slice<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Slice::Text(text) => serde_json::from_str::<&RawValue>(text)
                .map_err(ser::Error::custom)?
                .serialize(serializer),
            Slice::Tree(tree) => tree.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Slice<'de> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SliceVisitor;

        impl<'de> Visitor<'de> for SliceVisitor {
            type Value = Slice<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("any JSON value")
            }

            #[inline]
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                match map.next_key::<IgnoredAny>()? {
                    Some(_) => Ok(Slice::Text(map.next_value::<Text<'de>>()?.0)),
                    None => Err(de::Error::custom("value without text")),
                }
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(
                self,
                tree: D,
            ) -> Result<Self::Value, D::Error> {
                Value::deserialize(tree).map(Slice::Tree)
            }
        }

        deserializer.deserialize_newtype_struct(RAW_TOKEN, SliceVisitor)
    }
}

/// A string, borrowed wherever the deserializer lends it.
#[derive(Clone)]
pub(crate) struct Text<'de>(pub(crate) Cow<'de, str>);

impl std::ops::Deref for Text<'_> {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Text<'de> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a string")
            }

            #[inline]
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            #[inline]
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            #[inline]
            fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text)))
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}
