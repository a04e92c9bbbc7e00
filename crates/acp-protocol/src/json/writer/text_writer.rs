//! What has to be text: names of members, and JSON that is written already.

use serde::{
    Serialize, Serializer,
    ser::{Error as _, Impossible},
};

use crate::json::{string, verbatim, word::WORD_TOKEN};

type Result<T = ()> = std::result::Result<T, serde_json::Error>;
type Never = Impossible<(), serde_json::Error>;

/// Writes a text, and refuses what is none. As the name of a member, numbers and
/// truth values stand in quotes.
pub(super) enum TextWriter<'a> {
    /// The name of a member, in quotes.
    Name(&'a mut Vec<u8>),
    /// What holds nothing that is to be escaped, in quotes.
    Word(&'a mut Vec<u8>),
    /// Text that is JSON already.
    Verbatim(&'a mut Vec<u8>),
}

impl TextWriter<'_> {
    fn quoted(self, text: &str) -> Result {
        self.serialize_str(text)
    }

    fn refuse<T>(self) -> Result<T> {
        Err(serde_json::Error::custom("key must be a string"))
    }

    fn float(self, value: impl Serialize, is_finite: bool) -> Result {
        if is_finite {
            self.quoted(&serde_json::to_string(&value)?)
        } else {
            Err(serde_json::Error::custom(
                "float key must be finite (got NaN or +/-inf)",
            ))
        }
    }
}

macro_rules! integers {
    ($($serialize:ident: $type:ty,)*) => { $(
        fn $serialize(self, value: $type) -> Result {
            self.quoted(itoa::Buffer::new().format(value))
        }
    )* };
}

impl Serializer for TextWriter<'_> {
    type Ok = ();
    type Error = serde_json::Error;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

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
    fn serialize_str(self, text: &str) -> Result {
        match self {
            Self::Name(out) => string(out, text),
            Self::Word(out) => {
                out.push(b'"');
                out.extend_from_slice(text.as_bytes());
                out.push(b'"');
            }
            Self::Verbatim(out) => verbatim(out, text),
        }
        Ok(())
    }

    fn serialize_bool(self, value: bool) -> Result {
        self.quoted(if value { "true" } else { "false" })
    }

    fn serialize_f32(self, value: f32) -> Result {
        self.float(value, value.is_finite())
    }

    fn serialize_f64(self, value: f64) -> Result {
        self.float(value, value.is_finite())
    }

    fn serialize_char(self, value: char) -> Result {
        self.quoted(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_bytes(self, _: &[u8]) -> Result {
        self.refuse()
    }

    fn serialize_none(self) -> Result {
        self.refuse()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result {
        self.refuse()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result {
        self.refuse()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result {
        self.quoted(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result {
        match self {
            Self::Name(out) if name == WORD_TOKEN => value.serialize(Self::Word(out)),
            _ => value.serialize(self),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result {
        self.refuse()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Never> {
        self.refuse()
    }

    fn serialize_tuple(self, _: usize) -> Result<Never> {
        self.refuse()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Never> {
        self.refuse()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Never> {
        self.refuse()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Never> {
        self.refuse()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Never> {
        self.refuse()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Never> {
        self.refuse()
    }
}
