//! Unions: which variant a value is, told without decoding it twice.
//!
//! Where the member that decides comes first, decoding goes straight on. Members
//! before it are kept as slices of the message and handed to the variant once it
//! is known.

use std::fmt;

use serde::de::{DeserializeOwned, Error as _, IgnoredAny, MapAccess, SeqAccess};
use serde::ser::{Error as _, SerializeMap};
use serde_json::value::RawValue;

use super::members::{Kept, Members};
use super::object::WriteMembers;
use crate::json::{self, RawJson, Slice, Text, Word};

/// A variant that this version of the protocol does not name, kept whole.
///
/// It is written back as it came: the same members in the same order.
#[derive(Clone, PartialEq)]
pub struct Unrecognized {
    tag: Box<str>,
    raw: RawJson,
}

impl Unrecognized {
    /// Returns what the variant calls itself.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Returns the object, its tag among the members.
    ///
    /// Where the union is part of a larger object, these are the members that
    /// the larger object does not name.
    pub fn raw(&self) -> &RawJson {
        &self.raw
    }

    /// Takes a variant whose tag is unknown.
    pub(crate) fn collect<'de, A: MapAccess<'de>>(
        tag_key: &str,
        tag: &str,
        members: Members<'de, A>,
    ) -> Result<Self, A::Error> {
        let raw = collect(Some((tag_key, tag)), members)?;
        Ok(Self {
            tag: tag.into(),
            raw,
        })
    }

    /// Decodes the member `key`, if there is one that fits.
    pub(crate) fn member<T: DeserializeOwned>(&self, key: &'static str) -> Option<T> {
        let value = json::members(self.raw.as_str())?.find(key).ok()??;
        serde_json::from_str(value).ok()
    }
}

/// Shows the tag and no content, which may hold secrets.
impl fmt::Debug for Unrecognized {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "Unrecognized({:?}, {} bytes)",
            self.tag,
            self.raw.as_str().len()
        )
    }
}

impl WriteMembers for Unrecognized {
    fn write_members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.raw.write_members(map)
    }
}

/// Writes the members of an object; other values have none.
impl WriteMembers for RawJson {
    fn write_members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let mut members = json::members(self.as_str())
            .ok_or_else(|| M::Error::custom("only an object has members"))?;
        while let Some((key, value)) = members.next().map_err(M::Error::custom)? {
            map.serialize_entry(&key, &Slice::borrowed(value))?;
        }
        Ok(())
    }
}

/// Writes the member that tells a variant.
#[inline]
pub(crate) fn write_tag<M: SerializeMap>(
    map: &mut M,
    key: &'static str,
    tag: &'static str,
) -> Result<(), M::Error> {
    map.serialize_entry(&Word(key), &Word(tag))
}

/// Encodes all members again, `tag` behind those that were kept.
pub(crate) fn collect<'de, A: MapAccess<'de>>(
    tag: Option<(&str, &str)>,
    mut members: Members<'de, A>,
) -> Result<RawJson, A::Error> {
    let mut out = Items::new(b'{');
    while let Some((key, value)) = members.next_kept() {
        out.member(&key, &value);
    }
    if let Some((key, tag)) = tag {
        out.next();
        json::string(&mut out.text, key);
        out.text.push(b':');
        json::string(&mut out.text, tag);
    }
    while let Some((key, value)) = members.next_entry::<Text<'de>, Slice<'de>>()? {
        out.member(&key, &value);
    }
    out.close(b'}')
}

/// Members or elements that are encoded again.
struct Items {
    text: Vec<u8>,
}

impl Items {
    fn new(open: u8) -> Self {
        Self { text: vec![open] }
    }

    fn next(&mut self) {
        if self.text.len() > 1 {
            self.text.push(b',');
        }
    }

    fn member(&mut self, key: &str, value: &Slice<'_>) {
        self.next();
        json::string(&mut self.text, key);
        self.text.push(b':');
        self.text.extend_from_slice(value.as_str().as_bytes());
    }

    fn element(&mut self, value: &Slice<'_>) {
        self.next();
        self.text.extend_from_slice(value.as_str().as_bytes());
    }

    /// Makes sure that all of it is JSON: not every slice was read.
    fn close<E: serde::de::Error>(mut self, close: u8) -> Result<RawJson, E> {
        self.text.push(close);
        let text = String::from_utf8(self.text).map_err(E::custom)?;
        RawValue::from_string(text)
            .map(RawJson::from)
            .map_err(E::custom)
    }
}

/// Looks for the tag; gives it and a way through all other members.
///
/// A tag that is `null` counts as absent.
#[inline]
pub(crate) fn find_tag<'de, A: MapAccess<'de>>(
    mut map: A,
    tag: &'static str,
) -> Result<(Option<Text<'de>>, Members<'de, A>), A::Error> {
    let mut kept = Kept::default();
    while let Some(key) = map.next_key::<Text<'de>>()? {
        if key.0 == tag {
            if let Some(found) = map.next_value()? {
                return Ok((Some(found), kept.before(None, map)));
            }
        } else {
            kept.keep(key, &mut map)?;
        }
    }
    Ok((None, kept.before(None, map).without_rest()))
}

/// Looks for the first member that only one variant has; gives its place in `keys`.
pub(crate) fn find_key<'de, A: MapAccess<'de>>(
    mut map: A,
    keys: &[&str],
) -> Result<(Option<usize>, Members<'de, A>), A::Error> {
    let mut kept = Kept::default();
    while let Some(key) = map.next_key::<Text<'de>>()? {
        if let Some(place) = keys.iter().position(|name| *name == key.0) {
            return Ok((Some(place), kept.before(Some(key), map)));
        }
        kept.keep(key, &mut map)?;
    }
    Ok((None, kept.before(None, map).without_rest()))
}

/// Reads the one member that a variant consists of.
pub(crate) fn read_single<'de, T: serde::Deserialize<'de>, A: MapAccess<'de>>(
    mut map: A,
    key: &'static str,
) -> Result<T, A::Error> {
    let mut value = None;
    while let Some(found) = map.next_key::<Text<'de>>()? {
        if found.0 == key {
            value = Some(map.next_value()?);
        } else {
            map.next_value::<IgnoredAny>()?;
        }
    }
    value.ok_or_else(|| A::Error::missing_field(key))
}

/// An array whose first element has been looked at.
pub(crate) enum Looked<'de> {
    /// It has no elements.
    Empty,
    /// The first element has the key at this place.
    Key(usize, Slice<'de>),
    /// The first element has none of the keys.
    Unknown(Slice<'de>),
}

/// Looks at the first element of an array: which of `keys` does it have?
pub(crate) fn look_at_first<'de, A: SeqAccess<'de>>(
    seq: &mut A,
    keys: &'static [&'static str],
) -> Result<Looked<'de>, A::Error> {
    let Some(first) = seq.next_element::<Slice<'de>>()? else {
        return Ok(Looked::Empty);
    };
    let place = json::members(first.as_str()).and_then(|mut members| {
        let mut place = None;
        while let Some((key, _)) = members.next().ok()? {
            place = place.or_else(|| keys.iter().position(|name| *name == key));
        }
        place
    });
    Ok(match place {
        Some(place) => Looked::Key(place, first),
        None => Looked::Unknown(first),
    })
}

/// The elements of an array whose first one has been looked at.
pub(crate) fn elements<'de, A: SeqAccess<'de>>(
    first: Slice<'de>,
    mut seq: A,
) -> Result<Vec<Slice<'de>>, A::Error> {
    let mut elements = vec![first];
    while let Some(element) = seq.next_element()? {
        elements.push(element);
    }
    Ok(elements)
}

/// Reads elements that are all of one kind.
pub(crate) fn read_all<T: DeserializeOwned>(elements: &[Slice<'_>]) -> serde_json::Result<Vec<T>> {
    let read = |element: &Slice<'_>| serde_json::from_str(element.as_str());
    elements.iter().map(read).collect()
}

/// Keeps an array whose elements are of no known kind.
pub(crate) fn collect_rest<'de, A: SeqAccess<'de>>(
    first: Slice<'de>,
    mut seq: A,
) -> Result<RawJson, A::Error> {
    let mut out = Items::new(b'[');
    out.element(&first);
    while let Some(item) = seq.next_element::<Slice<'de>>()? {
        out.element(&item);
    }
    out.close(b']')
}
