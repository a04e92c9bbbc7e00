//! Values as JSON text, as `serde_json` writes it.
//!
//! Almost all of what is sent is text, and `serde_json` looks at it byte by
//! byte. This writer looks at [sixteen at once](super::plain), and is told apart from
//! `serde_json` by nothing else.

mod members;
mod text_writer;

use std::fmt;

use serde::{Serialize, Serializer, ser::Error as _};

use self::{
    members::{Members, Structure},
    text_writer::TextWriter,
};
use super::{escape, string, word::WORD_TOKEN};

/// Writes a value.
///
/// # Errors
///
/// Where the value has no JSON form.
pub(crate) fn write(
    out: &mut Vec<u8>,
    value: &(impl Serialize + ?Sized),
) -> Result<(), serde_json::Error> {
    value.serialize(Writer(out))
}

/// Writes one value.
pub(super) struct Writer<'a>(&'a mut Vec<u8>);

impl<'a> Writer<'a> {
    #[inline]
    fn raw(self, text: &str) -> Result<(), serde_json::Error> {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }

    /// Writes `{"variant":`.
    fn open_variant(&mut self, variant: &str) {
        self.0.push(b'{');
        string(self.0, variant);
        self.0.push(b':');
    }

    #[inline]
    fn members(self, open: u8, close: &'static str) -> Result<Members<'a>, serde_json::Error> {
        self.0.push(open);
        Ok(Members::new(self.0, close))
    }
}

macro_rules! integers {
    ($($serialize:ident: $type:ty,)*) => { $(
        #[inline]
        fn $serialize(self, value: $type) -> Result<(), serde_json::Error> {
            self.raw(itoa::Buffer::new().format(value))
        }
    )* };
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = serde_json::Error;
    type SerializeSeq = Members<'a>;
    type SerializeTuple = Members<'a>;
    type SerializeTupleStruct = Members<'a>;
    type SerializeTupleVariant = Members<'a>;
    type SerializeMap = Members<'a>;
    type SerializeStruct = Structure<'a>;
    type SerializeStructVariant = Members<'a>;

    integers! {
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<(), serde_json::Error> {
        self.raw(if value { "true" } else { "false" })
    }

    fn serialize_f32(self, value: f32) -> Result<(), serde_json::Error> {
        serde_json::to_writer(self.0, &value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), serde_json::Error> {
        serde_json::to_writer(self.0, &value)
    }

    fn serialize_char(self, value: char) -> Result<(), serde_json::Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), serde_json::Error> {
        string(self.0, value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), serde_json::Error> {
        self.collect_seq(value)
    }

    #[inline]
    fn serialize_none(self) -> Result<(), serde_json::Error> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), serde_json::Error> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit(self) -> Result<(), serde_json::Error> {
        self.raw("null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), serde_json::Error> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), serde_json::Error> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), serde_json::Error> {
        match name {
            WORD_TOKEN => value.serialize(TextWriter::Word(self.0)),
            _ => value.serialize(self),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), serde_json::Error> {
        self.open_variant(variant);
        value.serialize(Writer(self.0))?;
        self.raw("}")
    }

    #[inline]
    fn serialize_seq(self, _: Option<usize>) -> Result<Members<'a>, serde_json::Error> {
        self.members(b'[', "]")
    }

    fn serialize_tuple(self, _: usize) -> Result<Members<'a>, serde_json::Error> {
        self.members(b'[', "]")
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Members<'a>, serde_json::Error> {
        self.members(b'[', "]")
    }

    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'a>, serde_json::Error> {
        self.open_variant(variant);
        self.members(b'[', "]}")
    }

    #[inline]
    fn serialize_map(self, _: Option<usize>) -> Result<Members<'a>, serde_json::Error> {
        self.members(b'{', "}")
    }

    #[inline]
    fn serialize_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Structure<'a>, serde_json::Error> {
        if members::is_verbatim(name) {
            Ok(Structure::Verbatim(self.0))
        } else {
            self.members(b'{', "}").map(Structure::Object)
        }
    }

    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'a>, serde_json::Error> {
        self.open_variant(variant);
        self.members(b'{', "}}")
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), serde_json::Error> {
        self.0.push(b'"');
        fmt::write(&mut Escaped(self.0), format_args!("{value}"))
            .map_err(serde_json::Error::custom)?;
        self.raw("\"")
    }
}

/// Takes text as it is formatted, and escapes it.
struct Escaped<'a>(&'a mut Vec<u8>);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        escape(self.0, piece);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
