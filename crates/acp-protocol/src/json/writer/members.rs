//! Elements of lists and members of objects.

use serde::{
    Serialize,
    ser::{
        SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
        SerializeTupleStruct, SerializeTupleVariant,
    },
};

use super::{Writer, text_writer::TextWriter};
use crate::json::{string, word::RAW_TOKEN};

type Result = std::result::Result<(), serde_json::Error>;

/// A list or an object that is being written.
pub(crate) struct Members<'a> {
    out: &'a mut Vec<u8>,
    is_first: bool,
    close: &'static str,
}

impl<'a> Members<'a> {
    #[inline]
    pub(super) fn new(out: &'a mut Vec<u8>, close: &'static str) -> Self {
        Self {
            out,
            is_first: true,
            close,
        }
    }

    /// Writes the comma, unless nothing stands in front of it.
    #[inline]
    fn next(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
    }

    #[inline]
    fn element(&mut self, value: &(impl Serialize + ?Sized)) -> Result {
        self.next();
        value.serialize(Writer(self.out))
    }

    #[inline]
    fn member(&mut self, key: &str, value: &(impl Serialize + ?Sized)) -> Result {
        self.next();
        string(self.out, key);
        self.out.push(b':');
        value.serialize(Writer(self.out))
    }

    #[inline]
    fn close(self) -> Result {
        self.out.extend_from_slice(self.close.as_bytes());
        Ok(())
    }
}

macro_rules! lists {
    ($($list:ident :: $element:ident,)*) => { $(
        impl $list for Members<'_> {
            type Ok = ();
            type Error = serde_json::Error;

            #[inline]
            fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
                self.element(value)
            }

            #[inline]
            fn end(self) -> Result {
                self.close()
            }
        }
    )* };
}

lists! {
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
}

impl SerializeMap for Members<'_> {
    type Ok = ();
    type Error = serde_json::Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result {
        self.next();
        key.serialize(TextWriter::Name(self.out))
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        self.out.push(b':');
        value.serialize(Writer(self.out))
    }

    #[inline]
    fn end(self) -> Result {
        self.close()
    }
}

impl SerializeStructVariant for Members<'_> {
    type Ok = ();
    type Error = serde_json::Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result {
        self.member(key, value)
    }

    #[inline]
    fn end(self) -> Result {
        self.close()
    }
}

/// An object, or text that stands for itself.
pub(crate) enum Structure<'a> {
    Object(Members<'a>),
    Verbatim(&'a mut Vec<u8>),
}

/// Whether `serde_json` means text that is JSON already: raw values, and numbers
/// where they keep their digits. Both are structures with one text in them.
#[inline]
pub(super) fn is_verbatim(name: &str) -> bool {
    matches!(name, RAW_TOKEN | "$serde_json::private::Number")
}

impl SerializeStruct for Structure<'_> {
    type Ok = ();
    type Error = serde_json::Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result {
        match self {
            Self::Object(members) => members.member(key, value),
            Self::Verbatim(out) => value.serialize(TextWriter::Verbatim(out)),
        }
    }

    #[inline]
    fn end(self) -> Result {
        match self {
            Self::Object(members) => members.close(),
            Self::Verbatim(_) => Ok(()),
        }
    }
}
