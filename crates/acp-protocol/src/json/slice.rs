//! A JSON value kept as the text it arrived in.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    self, Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, Visitor,
};
use serde::{Serialize, Serializer, ser};
use serde_json::Value;
use serde_json::de::{IoRead, StrRead};
use serde_json::value::RawValue;

use super::reader::Reader;
use super::word::RAW_TOKEN;

/// One value, not decoded yet.
#[derive(Clone)]
pub(crate) enum Slice<'de> {
    /// As text, borrowed from the message wherever the deserializer lends it.
    Text(Cow<'de, str>),
    /// As text of which no more is known than where it ends.
    Unread(&'de str),
}

impl<'de> Slice<'de> {
    /// Takes text that is known to be JSON.
    pub(crate) fn borrowed(text: &'de str) -> Self {
        Slice::Text(Cow::Borrowed(text))
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Slice::Text(text) => text,
            Slice::Unread(text) => text,
        }
    }

    /// Decodes the value.
    pub(crate) fn parse<T: DeserializeOwned>(self) -> serde_json::Result<T> {
        serde_json::from_str(&self.into_text())
    }

    /// Decodes the value with `seed`.
    ///
    /// Each kind of deserializer brings the code of all that is decoded with it
    /// into the program, so there are no more than three.
    pub(crate) fn parse_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> serde_json::Result<S::Value> {
        if let Slice::Unread(text) = self {
            let mut reader = Reader::new(text);
            let value = seed.deserialize(&mut reader)?;
            reader.end()?;
            return Ok(value);
        }
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
            Slice::Unread(text) => Cow::Borrowed(text),
        }
    }
}

impl Serialize for Slice<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(self.as_str())
            .map_err(ser::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Slice<'de> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(RAW_TOKEN, SliceVisitor { later: false })
    }
}

/// A value that is certainly decoded later, or written down. Where our own [`Reader`]
/// gives it, nobody looks closely at it before.
pub(crate) struct Later<'de>(pub(crate) Slice<'de>);

impl<'de> Deserialize<'de> for Later<'de> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_newtype_struct(RAW_TOKEN, SliceVisitor { later: true })
            .map(Self)
    }
}

struct SliceVisitor {
    later: bool,
}

impl<'de> Visitor<'de> for SliceVisitor {
    type Value = Slice<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any JSON value")
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Some(ReadLater(unread)) = map.next_key_seed(Name { later: self.later })? else {
            return Err(de::Error::custom("value without text"));
        };
        Ok(match map.next_value::<Text<'de>>()?.0 {
            Cow::Borrowed(text) if unread => Slice::Unread(text),
            text => Slice::Text(text),
        })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, tree: D) -> Result<Self::Value, D::Error> {
        // Written down: a way from trees of its own would be linked into every program.
        let tree = Value::deserialize(tree)?;
        Ok(Slice::Text(Cow::Owned(tree.to_string())))
    }
}

/// Whether the text that follows was not read.
struct ReadLater(bool);

/// The name under which a value comes as text. Our own [`Reader`] looks at how it is
/// asked for; `serde_json` does not.
struct Name {
    later: bool,
}

impl<'de> DeserializeSeed<'de> for Name {
    type Value = ReadLater;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<ReadLater, D::Error> {
        if self.later {
            deserializer.deserialize_ignored_any(self)
        } else {
            deserializer.deserialize_identifier(self)
        }
    }
}

impl Visitor<'_> for Name {
    type Value = ReadLater;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the name of a raw value")
    }

    #[inline]
    fn visit_bool<E>(self, unread: bool) -> Result<ReadLater, E> {
        Ok(ReadLater(unread))
    }

    #[inline]
    fn visit_str<E>(self, _: &str) -> Result<ReadLater, E> {
        Ok(ReadLater(false))
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
