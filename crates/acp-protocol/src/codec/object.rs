//! Objects: members read in any order, written in a fixed one.

use serde::de::{IgnoredAny, MapAccess};
use serde::ser::SerializeMap;

/// A type that is read from the members of an object, which may hold others besides.
pub(crate) trait ReadMembers<'de>: Sized {
    /// Reads what is left of `map`, to its end.
    fn read_members<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error>;
}

/// A type that is written as members of an object.
pub(crate) trait WriteMembers {
    /// Writes the members into `map`.
    fn write_members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

impl<'de, T: ReadMembers<'de>> ReadMembers<'de> for Box<T> {
    #[inline]
    fn read_members<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        T::read_members(map).map(Box::new)
    }
}

impl<T: WriteMembers> WriteMembers for Box<T> {
    #[inline]
    fn write_members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        T::write_members(self, map)
    }
}

/// Reads the members of an object that nobody wants.
pub(crate) fn skip_members<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

/// Reads and writes a struct as an object.
///
/// Each field names its rule and its key, and perhaps another key under which it is
/// read too. A `flat` field has no key: its members
/// stand among the others, before those of the fields behind it.
macro_rules! object {
    (@at $type:ident, $key:literal) => {
        $crate::lenient::At { object: stringify!($type), member: $key }
    };
    (@read $type:ident $map:ident $rule:ty, $key:literal) => {
        <$rule as $crate::codec::rule::Read<'de, _>>::read(
            &mut $map,
            $crate::codec::object::object!(@at $type, $key),
        )?
    };
    (@or_absent $type:ident $value:ident, $rule:ty, $key:literal) => {
        match $value {
            Some(value) => value,
            None => <$rule as $crate::codec::rule::Presence<_>>::absent::<A::Error>(
                $crate::codec::object::object!(@at $type, $key),
            )?,
        }
    };

    ($type:ident {
        $($field:ident: $rule:ty = $key:literal $(| $alias:literal)?),* $(,)?
    }) => {
        impl<'de> $crate::codec::object::ReadMembers<'de> for $type {
            fn read_members<A: serde::de::MapAccess<'de>>(
                mut map: A,
            ) -> Result<Self, A::Error> {
                #[allow(non_camel_case_types, reason = "named after the fields")]
                enum Key {
                    $($field,)*
                    __Other,
                }

                struct KeySeed;

                impl<'de> serde::de::DeserializeSeed<'de> for KeySeed {
                    type Value = Key;

                    #[inline]
                    fn deserialize<D: serde::Deserializer<'de>>(
                        self,
                        deserializer: D,
                    ) -> Result<Key, D::Error> {
                        deserializer.deserialize_identifier(self)
                    }
                }

                impl serde::de::Visitor<'_> for KeySeed {
                    type Value = Key;

                    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        out.write_str("the name of a member")
                    }

                    #[inline]
                    fn visit_str<E>(self, key: &str) -> Result<Key, E> {
                        Ok(match key {
                            $($key => Key::$field,)*
                            $($($alias => {
                                let at = $crate::codec::object::object!(@at $type, $key);
                                $crate::lenient::note(at, $crate::lenient::Forgiven::Name);
                                Key::$field
                            })?)*
                            _ => Key::__Other,
                        })
                    }
                }

                $(let mut $field = None;)*
                while let Some(key) = map.next_key_seed(KeySeed)? {
                    match key {
                        $(Key::$field => {
                            $field = Some($crate::codec::object::object!(@read $type map $rule, $key));
                        })*
                        Key::__Other => {
                            map.next_value::<serde::de::IgnoredAny>()?;
                        }
                    }
                }
                Ok(Self {
                    $($field: $crate::codec::object::object!(@or_absent $type $field, $rule, $key),)*
                })
            }
        }

        impl $crate::codec::object::WriteMembers for $type {
            #[inline]
            fn write_members<M: serde::ser::SerializeMap>(
                &self,
                map: &mut M,
            ) -> Result<(), M::Error> {
                $(<$rule as $crate::codec::rule::Presence<_>>::write(map, $key, &self.$field)?;)*
                let _ = map;
                Ok(())
            }
        }
    };

    ($type:ident {
        $($field:ident: $rule:ty = $key:literal),* $(,)?
    } flat $flat:ident {
        $($late:ident: $late_rule:ty = $late_key:literal),* $(,)?
    }) => {
        impl<'de> $crate::codec::object::ReadMembers<'de> for $type {
            fn read_members<A: serde::de::MapAccess<'de>>(
                mut map: A,
            ) -> Result<Self, A::Error> {
                $(let mut $field = None;)*
                $(let mut $late = None;)*
                let mut kept = $crate::codec::members::Kept::default();
                while let Some(key) = map.next_key::<$crate::json::Text<'de>>()? {
                    match &*key.0 {
                        $($key => {
                            $field = Some($crate::codec::object::object!(@read $type map $rule, $key));
                        })*
                        $($late_key => {
                            $late = Some($crate::codec::object::object!(@read $type map $late_rule, $late_key));
                        })*
                        _ => kept.keep(key, &mut map)?,
                    }
                }
                Ok(Self {
                    $($field: $crate::codec::object::object!(@or_absent $type $field, $rule, $key),)*
                    $flat: $crate::codec::object::ReadMembers::read_members(
                        kept.alone::<A::Error>(),
                    )?,
                    $($late: $crate::codec::object::object!(@or_absent $type $late, $late_rule, $late_key),)*
                })
            }
        }

        impl $crate::codec::object::WriteMembers for $type {
            fn write_members<M: serde::ser::SerializeMap>(
                &self,
                map: &mut M,
            ) -> Result<(), M::Error> {
                $(<$rule as $crate::codec::rule::Presence<_>>::write(map, $key, &self.$field)?;)*
                $crate::codec::object::WriteMembers::write_members(&self.$flat, map)?;
                $(<$late_rule as $crate::codec::rule::Presence<_>>::write(map, $late_key, &self.$late)?;)*
                Ok(())
            }
        }
    };
}

/// Makes a whole value of a type that is read and written as members.
///
/// `or null` reads `null` as an object without members.
macro_rules! whole {
    ($type:ident) => {
        $crate::codec::object::whole!(@ $type, deserialize_map, {});
    };
    ($type:ident or null) => {
        $crate::codec::object::whole!(@ $type, deserialize_any, {
            fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
                Ok($type::default())
            }
        });
    };
    (@ $type:ident, $deserialize:ident, { $($null:tt)* }) => {
        impl serde::Serialize for $type {
            #[inline]
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                $crate::codec::object::WriteMembers::write_members(self, &mut map)?;
                serde::ser::SerializeMap::end(map)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            #[inline]
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct ObjectVisitor;

                impl<'de> serde::de::Visitor<'de> for ObjectVisitor {
                    type Value = $type;

                    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        out.write_str(concat!("an object (", stringify!($type), ")"))
                    }

                    #[inline]
                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        map: A,
                    ) -> Result<Self::Value, A::Error> {
                        $crate::codec::object::ReadMembers::read_members(map)
                    }

                    $($null)*
                }

                deserializer.$deserialize(ObjectVisitor)
            }
        }

        $crate::codec::forgive::forgive_by_slice!($type);
    };
}

pub(crate) use {object, whole};
