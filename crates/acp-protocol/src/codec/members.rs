//! Members of an object that are kept back as text, and gone through later.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{self, DeserializeSeed, Error as _, MapAccess};

use crate::json::{Later, Slice, Text};

/// How many members are kept back while the one that decides is looked for.
///
/// A kept member costs some fifty bytes, and may take six in the message. No
/// definition has more than a dozen.
pub(crate) const MAX_KEPT: usize = 1024;

/// Members kept back as text.
#[derive(Default)]
pub(crate) struct Kept<'de>(Vec<(Text<'de>, Slice<'de>)>);

impl<'de> Kept<'de> {
    /// Keeps the value that is next in `map`.
    pub(crate) fn keep<A: MapAccess<'de>>(
        &mut self,
        key: Text<'de>,
        map: &mut A,
    ) -> Result<(), A::Error> {
        if self.0.len() == MAX_KEPT {
            return Err(A::Error::custom("too many unknown members in one object"));
        }
        let Later(value) = map.next_value()?;
        self.0.push((key, value));
        Ok(())
    }

    /// Goes through the members kept, then through `key` and the rest of `map`.
    #[inline]
    pub(crate) fn before<A: MapAccess<'de>>(
        self,
        key: Option<Text<'de>>,
        map: A,
    ) -> Members<'de, A> {
        Members {
            kept: self.0.into_iter(),
            value: None,
            key,
            rest: Some(map),
        }
    }

    /// Goes through the members kept.
    #[inline]
    pub(crate) fn alone<E: de::Error>(self) -> Members<'de, Nothing<E>> {
        self.before(None, Nothing(PhantomData))
    }
}

/// Members of an object, some of them kept back earlier.
pub(crate) struct Members<'de, A> {
    kept: std::vec::IntoIter<(Text<'de>, Slice<'de>)>,
    value: Option<Slice<'de>>,
    key: Option<Text<'de>>,
    rest: Option<A>,
}

impl<'de, A: MapAccess<'de>> Members<'de, A> {
    /// Takes the next of the members kept back.
    pub(crate) fn next_kept(&mut self) -> Option<(Text<'de>, Slice<'de>)> {
        self.kept.next()
    }

    /// Marks that what follows the members kept has been read.
    pub(crate) fn without_rest(mut self) -> Self {
        self.rest = None;
        self
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Members<'de, A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Self::Error> {
        if let Some((key, value)) = self.kept.next() {
            self.value = Some(value);
            return read_key(seed, key).map(Some);
        }
        if let Some(key) = self.key.take() {
            return read_key(seed, key).map(Some);
        }
        self.rest
            .as_mut()
            .map_or(Ok(None), |rest| rest.next_key_seed(seed))
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, Self::Error> {
        match (self.value.take(), &mut self.rest) {
            (Some(value), _) => value.parse_seed(seed).map_err(A::Error::custom),
            (None, Some(rest)) => rest.next_value_seed(seed),
            (None, None) => Err(A::Error::custom("value without a member")),
        }
    }
}

fn read_key<'de, K: DeserializeSeed<'de>, E: de::Error>(
    seed: K,
    key: Text<'de>,
) -> Result<K::Value, E> {
    match key.0 {
        Cow::Borrowed(key) => seed.deserialize(BorrowedStrDeserializer::new(key)),
        Cow::Owned(key) => seed.deserialize(StrDeserializer::new(&key)),
    }
}

/// An object without members.
pub(crate) struct Nothing<E>(PhantomData<E>);

impl<'de, E: de::Error> MapAccess<'de> for Nothing<E> {
    type Error = E;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, _: K) -> Result<Option<K::Value>, E> {
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, _: V) -> Result<V::Value, E> {
        Err(E::custom("value without a member"))
    }
}
