//! Members of objects, elements of arrays, and values that are kept as text.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{RAW_TOKEN, Reader, Result, refuse, walk};

/// Gives the members of an object, whose opening brace was read.
pub(super) struct Members<'a, 'de> {
    reader: &'a mut Reader<'de>,
    first: bool,
}

impl<'a, 'de> Members<'a, 'de> {
    pub(super) fn new(reader: &'a mut Reader<'de>) -> Self {
        Self {
            reader,
            first: true,
        }
    }
}

impl<'de> MapAccess<'de> for Members<'_, 'de> {
    type Error = serde_json::Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if self.reader.cursor.peek() == Some(b'}') {
            return Ok(None);
        }
        if !std::mem::take(&mut self.first) {
            self.reader.expect(b',')?;
        }
        seed.deserialize(Name(&mut *self.reader)).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        self.reader.expect(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}

/// The name of a member: a string, and nothing else.
struct Name<'a, 'de>(&'a mut Reader<'de>);

impl<'de> Deserializer<'de> for Name<'_, 'de> {
    type Error = serde_json::Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.0.deserialize_str(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        if name == RAW_TOKEN {
            return refuse();
        }
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Gives the elements of an array, whose opening bracket was read.
pub(super) struct Elements<'a, 'de> {
    reader: &'a mut Reader<'de>,
    first: bool,
}

impl<'a, 'de> Elements<'a, 'de> {
    pub(super) fn new(reader: &'a mut Reader<'de>) -> Self {
        Self {
            reader,
            first: true,
        }
    }
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = serde_json::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        if self.reader.cursor.peek() == Some(b']') {
            return Ok(None);
        }
        if !std::mem::take(&mut self.first) {
            self.reader.expect(b',')?;
        }
        seed.deserialize(&mut *self.reader).map(Some)
    }
}

/// Gives a value as its text, in the way `serde_json` does: as an object of one member.
///
/// Whoever does not care for the name of the member gets text that was only looked at
/// as far as it takes to find its end, and has to [read](Reader) it.
pub(super) struct Raw<'a, 'de> {
    reader: &'a mut Reader<'de>,
    unread: bool,
}

impl<'a, 'de> Raw<'a, 'de> {
    pub(super) fn new(reader: &'a mut Reader<'de>) -> Self {
        Self {
            reader,
            unread: false,
        }
    }
}

impl<'de> MapAccess<'de> for Raw<'_, 'de> {
    type Error = serde_json::Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        seed.deserialize(RawName(&mut self.unread)).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        self.reader.cursor.peek();
        let text = if self.unread {
            self.reader.over(walk::unread)?
        } else {
            self.reader.over(walk::value)?
        };
        seed.deserialize(BorrowedStrDeserializer::new(text))
    }
}

struct RawName<'a>(&'a mut bool);

impl<'de> Deserializer<'de> for RawName<'_> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_borrowed_str(RAW_TOKEN)
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        *self.0 = true;
        visitor.visit_bool(true)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
    }
}
