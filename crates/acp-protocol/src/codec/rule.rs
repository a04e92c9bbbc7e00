//! How one member of an object is read and written.
//!
//! A rule has two halves. *Presence* says what an absent member means and when a
//! member is left out in writing; *reading* says what is done with a value that
//! does not fit. The generated file names both: `line: May<OnError> = "line"`.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use indexmap::IndexMap;
use serde::de::{self, Deserialize, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserializer, Serialize};

use super::forgive::{Elements, Forgive, ForgiveSeed};
use crate::json::Word;
use crate::lenient::{self, At, Forgiven};
use crate::patch::Patch;

/// What an absent member means, and when a member is left out in writing.
pub(crate) trait Presence<T> {
    /// Gives the value of a member that is absent.
    fn absent<E: de::Error>(at: At) -> Result<T, E>;

    /// Writes the member, or leaves it out.
    fn write<M: SerializeMap>(map: &mut M, key: &'static str, value: &T) -> Result<(), M::Error>;
}

/// How the value of a member is read.
pub(crate) trait Read<'de, T> {
    /// Reads the value that is next in `map`.
    fn read<A: MapAccess<'de>>(map: &mut A, at: At) -> Result<T, A::Error>;
}

/// The member is required, and always written. What is done where it is missing,
/// its reading says.
pub(crate) struct Must<R>(PhantomData<R>);
/// The member is an `Option`, left out where it is `None`.
pub(crate) struct May<R>(PhantomData<R>);
/// An absent member has its default, and it is always written.
pub(crate) struct Plain<R>(PhantomData<R>);
/// An absent member is empty, and empty it is left out.
pub(crate) struct Sparse<R>(PhantomData<R>);
/// The member is a [`Patch`]: absent keeps, `null` clears.
pub(crate) struct Change<R>(PhantomData<R>);

/// The value fits, or decoding fails.
pub(crate) struct Strict;
/// `x-deserialize-default-on-error`: a value that does not fit becomes the default.
pub(crate) struct OnError;
/// `x-deserialize-default-on-null`: `null` becomes the default.
pub(crate) struct OnNull;
/// As [`OnNull`]; a list that is required and missing is empty too.
pub(crate) struct Omitted;
/// As [`Omitted`], for a list of name and value: an object of strings is one.
pub(crate) struct Pairs;
/// `x-deserialize-skip-invalid-items`: elements that do not fit are left out, and
/// what is no array becomes the default.
pub(crate) struct Items;

impl<T: Serialize, R: Missing<T>> Presence<T> for Must<R> {
    #[cold]
    fn absent<E: de::Error>(at: At) -> Result<T, E> {
        R::missing(at)
    }

    #[inline]
    fn write<M: SerializeMap>(map: &mut M, key: &'static str, value: &T) -> Result<(), M::Error> {
        map.serialize_entry(&Word(key), value)
    }
}

/// What is done where a required member is missing.
pub(crate) trait Missing<T> {
    fn missing<E: de::Error>(at: At) -> Result<T, E>;
}

macro_rules! refuse_missing {
    ($($reading:ident)*) => { $(
        impl<T> Missing<T> for $reading {
            fn missing<E: de::Error>(at: At) -> Result<T, E> {
                Err(E::missing_field(at.member))
            }
        }
    )* };
}

refuse_missing!(Strict OnError OnNull);

macro_rules! forgive_missing {
    ($($reading:ident)*) => { $(
        impl<T: Default> Missing<T> for $reading {
            fn missing<E: de::Error>(at: At) -> Result<T, E> {
                lenient::note(at, Forgiven::Missing);
                Ok(T::default())
            }
        }
    )* };
}

// A list of which every element may be wrong may be missing too: agents answer `{}`
// where they have nothing to list. Clients leave out what the overlay names.
forgive_missing!(Items Omitted Pairs);

impl<T: Serialize, R> Presence<Option<T>> for May<R> {
    #[inline]
    fn absent<E: de::Error>(_: At) -> Result<Option<T>, E> {
        Ok(None)
    }

    #[inline]
    fn write<M: SerializeMap>(
        map: &mut M,
        key: &'static str,
        value: &Option<T>,
    ) -> Result<(), M::Error> {
        value
            .as_ref()
            .map_or(Ok(()), |value| map.serialize_entry(&Word(key), value))
    }
}

impl<T: Serialize + Default, R> Presence<T> for Plain<R> {
    #[inline]
    fn absent<E: de::Error>(_: At) -> Result<T, E> {
        Ok(T::default())
    }

    #[inline]
    fn write<M: SerializeMap>(map: &mut M, key: &'static str, value: &T) -> Result<(), M::Error> {
        map.serialize_entry(&Word(key), value)
    }
}

impl<T: Serialize + Default + Collection, R> Presence<T> for Sparse<R> {
    #[inline]
    fn absent<E: de::Error>(_: At) -> Result<T, E> {
        Ok(T::default())
    }

    #[inline]
    fn write<M: SerializeMap>(map: &mut M, key: &'static str, value: &T) -> Result<(), M::Error> {
        if value.has_none() {
            Ok(())
        } else {
            map.serialize_entry(&Word(key), value)
        }
    }
}

impl<T: Serialize, R> Presence<Patch<T>> for Change<R> {
    #[inline]
    fn absent<E: de::Error>(_: At) -> Result<Patch<T>, E> {
        Ok(Patch::Keep)
    }

    #[inline]
    fn write<M: SerializeMap>(
        map: &mut M,
        key: &'static str,
        value: &Patch<T>,
    ) -> Result<(), M::Error> {
        match value {
            Patch::Keep => Ok(()),
            Patch::Clear => map.serialize_entry(&Word(key), &()),
            Patch::Set(value) => map.serialize_entry(&Word(key), value),
        }
    }
}

/// What can be empty.
pub(crate) trait Collection {
    fn has_none(&self) -> bool;
}

impl<T> Collection for Vec<T> {
    fn has_none(&self) -> bool {
        self.is_empty()
    }
}

impl<T> Collection for IndexMap<String, T> {
    fn has_none(&self) -> bool {
        self.is_empty()
    }
}

/// Reads through a presence: what it reads is its reading's business.
macro_rules! read_through {
    ($($presence:ident)*) => { $(
        impl<'de, T, R: Read<'de, T>> Read<'de, T> for $presence<R> {
            #[inline]
            fn read<A: MapAccess<'de>>(map: &mut A, at: At) -> Result<T, A::Error> {
                R::read(map, at)
            }
        }
    )* };
}

read_through!(Must May Plain Sparse Change);

impl<'de, T: Deserialize<'de>> Read<'de, T> for Strict {
    #[inline]
    fn read<A: MapAccess<'de>>(map: &mut A, _: At) -> Result<T, A::Error> {
        map.next_value()
    }
}

impl<'de, T: Forgive<'de> + Default> Read<'de, T> for OnError {
    #[inline]
    fn read<A: MapAccess<'de>>(map: &mut A, at: At) -> Result<T, A::Error> {
        Ok(match map.next_value_seed(ForgiveSeed(PhantomData))? {
            Some(value) => value,
            None => {
                lenient::note(at, Forgiven::Value);
                T::default()
            }
        })
    }
}

impl<'de, T: Deserialize<'de> + Default> Read<'de, T> for OnNull {
    #[inline]
    fn read<A: MapAccess<'de>>(map: &mut A, at: At) -> Result<T, A::Error> {
        Ok(map.next_value::<Option<T>>()?.unwrap_or_else(|| {
            lenient::note(at, Forgiven::Null);
            T::default()
        }))
    }
}

impl<'de, T: Deserialize<'de> + Default> Read<'de, T> for Omitted {
    #[inline]
    fn read<A: MapAccess<'de>>(map: &mut A, at: At) -> Result<T, A::Error> {
        OnNull::read(map, at)
    }
}

/// A name and its value, as an object of strings has them.
pub(crate) trait Pair {
    fn pair(name: String, value: String) -> Self;
}

impl<'de, T: Deserialize<'de> + Pair> Read<'de, Vec<T>> for Pairs {
    fn read<A: MapAccess<'de>>(map: &mut A, at: At) -> Result<Vec<T>, A::Error> {
        struct PairsVisitor<T>(At, PhantomData<T>);

        impl<'de, T: Deserialize<'de> + Pair> DeserializeSeed<'de> for PairsVisitor<T> {
            type Value = Vec<T>;

            fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<Vec<T>, D::Error> {
                value.deserialize_any(self)
            }
        }

        impl<'de, T: Deserialize<'de> + Pair> Visitor<'de> for PairsVisitor<T> {
            type Value = Vec<T>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a list of name and value")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = seq.next_element()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<T>, A::Error> {
                // The members of an object have no order, and of two the last counts.
                let mut pairs = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, String>()? {
                    pairs.insert(name, value);
                }
                lenient::note(self.0, Forgiven::Pairs);
                let pairs = pairs.into_iter();
                Ok(pairs.map(|(name, value)| T::pair(name, value)).collect())
            }

            fn visit_unit<E>(self) -> Result<Vec<T>, E> {
                lenient::note(self.0, Forgiven::Null);
                Ok(Vec::new())
            }
        }

        map.next_value_seed(PairsVisitor(at, PhantomData))
    }
}

/// Reads an array and notes what was left out of it.
fn read_items<'de, T, C, A>(map: &mut A, at: At) -> Result<Option<C>, A::Error>
where
    T: Forgive<'de>,
    C: ItemsOf<T> + Forgive<'de>,
    A: MapAccess<'de>,
{
    let read = map.next_value_seed(ForgiveSeed::<C>(PhantomData))?;
    match &read {
        Some(read) => (0..read.left_out()).for_each(|_| lenient::note(at, Forgiven::Item)),
        None => lenient::note(at, Forgiven::Value),
    }
    Ok(read)
}

/// Elements, or something that may hold them.
trait ItemsOf<T> {
    fn left_out(&self) -> usize;
}

impl<T> ItemsOf<T> for Elements<T> {
    fn left_out(&self) -> usize {
        self.left_out
    }
}

impl<T> ItemsOf<T> for Option<Elements<T>> {
    fn left_out(&self) -> usize {
        self.as_ref().map_or(0, |elements| elements.left_out)
    }
}

impl<'de, T: Forgive<'de>> Read<'de, Vec<T>> for Items {
    fn read<A: MapAccess<'de>>(map: &mut A, at: At) -> Result<Vec<T>, A::Error> {
        let read: Option<Elements<T>> = read_items(map, at)?;
        Ok(read.map(|elements| elements.items).unwrap_or_default())
    }
}

impl<'de, T: Forgive<'de>> Read<'de, Option<Vec<T>>> for Items {
    fn read<A: MapAccess<'de>>(map: &mut A, at: At) -> Result<Option<Vec<T>>, A::Error> {
        let read: Option<Option<Elements<T>>> = read_items(map, at)?;
        Ok(read.flatten().map(|elements| elements.items))
    }
}

impl<'de, T: Forgive<'de>> Read<'de, Patch<Vec<T>>> for Items {
    fn read<A: MapAccess<'de>>(map: &mut A, at: At) -> Result<Patch<Vec<T>>, A::Error> {
        let read: Option<Option<Elements<T>>> = read_items(map, at)?;
        Ok(match read {
            None => Patch::Keep,
            Some(None) => Patch::Clear,
            Some(Some(elements)) => Patch::Set(elements.items),
        })
    }
}

impl<'de, T: Forgive<'de>> Forgive<'de> for Patch<T> {
    fn forgive<D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Ok(Option::<T>::forgive(deserializer)?.map(|value| value.map_or(Patch::Clear, Patch::Set)))
    }
}
