//! Decoding that gets over a value it cannot use.
//!
//! Scalars are forgiven as they are read. Objects and unions are kept as text
//! first: once decoding has failed halfway, the rest of the value could not be
//! found any more.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::json::RawJson;

/// A type whose unusable values can be passed over.
pub(crate) trait Forgive<'de>: Sized {
    /// Decodes a value; `None` where it was no `Self`.
    ///
    /// Fails only where the text is no JSON.
    fn forgive<D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error>;
}

/// Passes over a value of the kinds named.
macro_rules! pass_over {
    ($($kind:ident)*) => { $(pass_over!(@ $kind);)* };
    (@ bool) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> { Ok(None) }
    };
    (@ number) => {
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> { Ok(None) }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> { Ok(None) }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> { Ok(None) }
    };
    (@ str) => {
        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> { Ok(None) }
    };
    (@ null) => {
        fn visit_unit<E>(self) -> Result<Self::Value, E> { Ok(None) }
        fn visit_none<E>(self) -> Result<Self::Value, E> { Ok(None) }
    };
    (@ array) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(None)
        }
    };
    (@ object) => {
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(None)
        }
    };
}

/// Reads a text and makes something of it.
#[inline]
pub(crate) fn text<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    make: impl FnOnce(&str) -> T,
) -> Result<Option<T>, D::Error> {
    struct TextVisitor<T, F>(F, PhantomData<T>);

    impl<'de, T, F: FnOnce(&str) -> T> Visitor<'de> for TextVisitor<T, F> {
        type Value = Option<T>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a string")
        }

        #[inline]
        fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Some((self.0)(text)))
        }

        pass_over!(bool number null array object);
    }

    deserializer.deserialize_any(TextVisitor(make, PhantomData))
}

impl<'de> Forgive<'de> for String {
    #[inline]
    fn forgive<D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        text(deserializer, str::to_owned)
    }
}

/// Forgives a type by keeping its value as text before it is decoded.
macro_rules! forgive_by_slice {
    ($type:ident) => {
        impl<'de> $crate::codec::forgive::Forgive<'de> for $type {
            fn forgive<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Option<Self>, D::Error> {
                let slice: $crate::json::Slice<'de> =
                    serde::Deserialize::deserialize(deserializer)?;
                Ok(slice.parse().ok())
            }
        }
    };
}

pub(crate) use forgive_by_slice;

/// Numbers are kept as text too: one that no type can hold is still a number.
macro_rules! forgive_by_slice_each {
    ($($type:ident)*) => { $(forgive_by_slice!($type);)* };
}

forgive_by_slice_each!(bool u16 u32 u64 i32 i64 f64);

impl<'de> Forgive<'de> for Map<String, Value> {
    fn forgive<D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        struct MapVisitor;

        impl<'de> Visitor<'de> for MapVisitor {
            type Value = Option<Map<String, Value>>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Map::new();
                while let Some((key, value)) = map.next_entry()? {
                    members.insert(key, value);
                }
                Ok(Some(members))
            }

            pass_over!(bool number str null array);
        }

        deserializer.deserialize_any(MapVisitor)
    }
}

impl<'de> Forgive<'de> for RawJson {
    #[inline]
    fn forgive<D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        serde::Deserialize::deserialize(deserializer).map(Some)
    }
}

impl<'de, T: Forgive<'de>> Forgive<'de> for Box<T> {
    #[inline]
    fn forgive<D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Ok(T::forgive(deserializer)?.map(Box::new))
    }
}

impl<'de, T: Forgive<'de>> Forgive<'de> for Option<T> {
    #[inline]
    fn forgive<D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        struct OptionVisitor<T>(PhantomData<T>);

        impl<'de, T: Forgive<'de>> Visitor<'de> for OptionVisitor<T> {
            type Value = Option<Option<T>>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a value or null")
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Some(None))
            }

            fn visit_none<E>(self) -> Result<Self::Value, E> {
                Ok(Some(None))
            }

            #[inline]
            fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<Self::Value, D::Error> {
                Ok(T::forgive(value)?.map(Some))
            }
        }

        deserializer.deserialize_option(OptionVisitor(PhantomData))
    }
}

/// Decodes one value with [`Forgive`].
pub(crate) struct ForgiveSeed<T>(pub(crate) PhantomData<T>);

impl<'de, T: Forgive<'de>> DeserializeSeed<'de> for ForgiveSeed<T> {
    type Value = Option<T>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        T::forgive(deserializer)
    }
}

/// Elements of an array; those that cannot be used are left out and counted.
pub(crate) struct Elements<T> {
    pub(crate) items: Vec<T>,
    pub(crate) left_out: usize,
}

impl<'de, T: Forgive<'de>> Forgive<'de> for Elements<T> {
    fn forgive<D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        struct ArrayVisitor<T>(PhantomData<T>);

        impl<'de, T: Forgive<'de>> Visitor<'de> for ArrayVisitor<T> {
            type Value = Option<Elements<T>>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut elements = Elements {
                    items: Vec::new(),
                    left_out: 0,
                };
                while let Some(item) = seq.next_element_seed(ForgiveSeed(PhantomData))? {
                    match item {
                        Some(item) => elements.items.push(item),
                        None => elements.left_out += 1,
                    }
                }
                Ok(Some(elements))
            }

            pass_over!(bool number str null object);
        }

        deserializer.deserialize_any(ArrayVisitor(PhantomData))
    }
}
