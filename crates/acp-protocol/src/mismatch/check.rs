//! Holds a text against a shape, as decoding would.
//!
//! The text is walked and never built into a tree: a message may have many megabytes.

use std::borrow::Cow;

use super::shape::{Member, Need, Payload, Reading, Shape, one_of};
use super::{Found, Mismatch};
use crate::json::{self, Text};
use crate::lenient;

type Checked = Result<(), Refused>;

/// Why a value is not of its shape.
enum Refused {
    Mismatch(Mismatch),
    /// The text is no JSON.
    NoJson,
}

/// Finds the first member that decoding refuses.
pub(super) fn check(shape: &Shape, json: &[u8]) -> Option<Mismatch> {
    let text = std::str::from_utf8(json).ok()?;
    // Decoding gets over halves of surrogate pairs, so they are no mismatch.
    let mended = lenient::mend(text);
    match value(shape, mended.as_deref().unwrap_or(text)) {
        Err(Refused::Mismatch(mismatch)) => Some(mismatch),
        Ok(()) | Err(Refused::NoJson) => None,
    }
}

fn value(shape: &Shape, text: &str) -> Checked {
    let text = text.trim_ascii();
    let found = kind(text).ok_or(Refused::NoJson)?;
    let fits = match shape {
        Shape::Text => found == Found::String,
        Shape::Bool => found == Found::Boolean,
        Shape::U16 => is_whole::<u16>(text),
        Shape::U32 => is_whole::<u32>(text),
        Shape::U64 => is_whole::<u64>(text),
        Shape::I64 => is_whole::<i64>(text),
        Shape::F64 => found == Found::Number && text.parse::<f64>().is_ok_and(f64::is_finite),
        Shape::RequestId => matches!(found, Found::String | Found::Null) || is_whole::<i64>(text),
        Shape::Any => true,
        Shape::AnyObject => found == Found::Object,
        Shape::List(inner) if found == Found::List => return elements(inner, text),
        Shape::Map(inner) if found == Found::Object => return map(inner, text),
        Shape::Object { or_null, .. } if found == Found::Null => *or_null,
        Shape::ByElement(variants) if found == Found::List => return by_element(variants, text),
        Shape::Object { .. } | Shape::Tagged { .. } | Shape::ByMember(_)
            if found == Found::Object =>
        {
            return object(shape, text);
        }
        _ => false,
    };
    match fits {
        true => Ok(()),
        false => refuse(Mismatch::new(shape.describe(), found)),
    }
}

fn refuse(mismatch: Mismatch) -> Checked {
    Err(Refused::Mismatch(mismatch))
}

fn missing(expected: impl Into<Cow<'static, str>>, key: &str) -> Checked {
    refuse(Mismatch::new(expected, Found::Nothing).within(key))
}

impl Member {
    /// Whether decoding refuses an object without it.
    fn must_be_there(&self) -> bool {
        let is_forgiven = matches!(
            self.reading,
            Reading::Omitted | Reading::Pairs | Reading::Items
        );
        matches!(self.need, Need::Required | Need::RequiredOr(_)) && !is_forgiven
    }

    /// Whether it is read under this name.
    fn is_under(&self, key: &str) -> bool {
        self.key == key || matches!(self.need, Need::RequiredOr(alias) if alias == key)
    }
}

impl Refused {
    fn within(self, member: &str) -> Self {
        match self {
            Self::Mismatch(mismatch) => Self::Mismatch(mismatch.within(member)),
            Self::NoJson => Self::NoJson,
        }
    }

    fn at(self, place: usize) -> Self {
        match self {
            Self::Mismatch(mismatch) => Self::Mismatch(mismatch.at(place)),
            Self::NoJson => Self::NoJson,
        }
    }
}

/// Holds the members of an object against a shape of objects.
fn object(shape: &Shape, text: &str) -> Checked {
    match shape {
        Shape::Object { members, flat, .. } => {
            let mut is_there = vec![false; members.len()];
            each_member(text, |key, found| {
                let Some(place) = members.iter().position(|member| member.is_under(key)) else {
                    return Ok(());
                };
                is_there[place] = true;
                member(&members[place], found).map_err(|error| error.within(key))
            })?;
            let mut places = members.iter().zip(is_there);
            match places.find(|(member, is_there)| !is_there && member.must_be_there()) {
                Some((member, _)) => missing(member.shape.describe(), member.key),
                None => flat.map_or(Ok(()), |union| object(union, text)),
            }
        }
        Shape::Tagged {
            tag,
            variants,
            absent,
        } => {
            let Some(found) = first_tag(text, tag)? else {
                return match absent {
                    Some(absent) => payload(&absent.payload, text),
                    None => missing(one_of(variants), tag),
                };
            };
            let variant = variants.iter().find(|(name, _)| *name == found);
            match (variant, absent) {
                (Some((_, known)), _) => payload(known, text),
                (None, Some(absent)) if absent.title == Some(&found) => {
                    payload(&absent.payload, text)
                }
                // It is kept as it came.
                _ => Ok(()),
            }
        }
        Shape::ByMember(variants) => {
            let mut told = None;
            each_member(text, |key, _| {
                told = told.or_else(|| variants.iter().find(|(name, _)| *name == key));
                Ok(())
            })?;
            told.map_or(Ok(()), |(_, shape)| object(shape, text))
        }
        _ => Ok(()),
    }
}

fn member(member: &Member, text: &str) -> Checked {
    let is_null = text.trim_ascii() == "null";
    match member.reading {
        Reading::OnError | Reading::Items => return Ok(()),
        _ if is_null && member.need == Need::Nullable => return Ok(()),
        Reading::OnNull | Reading::Omitted | Reading::Pairs if is_null => return Ok(()),
        Reading::Pairs if kind(text.trim_ascii()) == Some(Found::Object) => {
            return map(&Shape::Text, text);
        }
        _ => {}
    }
    value(member.shape, text)
}

fn payload(payload: &Payload, text: &str) -> Checked {
    match payload {
        Payload::Nothing => Ok(()),
        Payload::Members(shape) => object(shape, text),
        Payload::Single(single, shape) => {
            let mut is_there = false;
            each_member(text, |key, found| {
                if key != *single {
                    return Ok(());
                }
                is_there = true;
                value(shape, found).map_err(|error| error.within(key))
            })?;
            match is_there {
                true => Ok(()),
                false => missing(shape.describe(), single),
            }
        }
    }
}

fn map(inner: &Shape, text: &str) -> Checked {
    let mut place = 0;
    each_member(text, |_, found| {
        place += 1;
        value(inner, found).map_err(|error| error.at(place - 1))
    })
}

fn elements(inner: &Shape, text: &str) -> Checked {
    let mut elements = json::elements(text).ok_or(Refused::NoJson)?;
    let mut place = 0;
    while let Some(element) = elements.next().map_err(|_| Refused::NoJson)? {
        value(inner, element).map_err(|error| error.at(place))?;
        place += 1;
    }
    Ok(())
}

/// The first element tells of which kind all are; a list of several known kinds is read too.
fn by_element(variants: &[(&'static str, &'static Shape)], text: &str) -> Checked {
    let mut all = json::elements(text).ok_or(Refused::NoJson)?;
    let Some(first) = all.next().map_err(|_| Refused::NoJson)? else {
        return Ok(());
    };
    let mut told = None;
    if kind(first) == Some(Found::Object) {
        each_member(first, |key, _| {
            told = told.or_else(|| variants.iter().find(|(name, _)| *name == key));
            Ok(())
        })?;
    }
    let Some((_, shape)) = told else {
        return Ok(());
    };
    elements(shape, text).or_else(|error| match is_mixed(variants, text) {
        true => Ok(()),
        false => Err(error),
    })
}

/// Whether each element is of one of the kinds.
fn is_mixed(variants: &[(&'static str, &'static Shape)], text: &str) -> bool {
    let Some(mut all) = json::elements(text) else {
        return false;
    };
    let is_known = |element| {
        variants
            .iter()
            .any(|(_, shape)| value(shape, element).is_ok())
    };
    loop {
        match all.next() {
            Ok(Some(element)) if is_known(element) => {}
            Ok(None) => return true,
            _ => return false,
        }
    }
}

/// The first value of a tag that is not `null`.
fn first_tag<'a>(text: &'a str, tag: &str) -> Result<Option<Cow<'a, str>>, Refused> {
    let mut members = json::members(text).ok_or(Refused::NoJson)?;
    while let Some((key, found)) = members.next().map_err(|_| Refused::NoJson)? {
        if key != tag || found == "null" {
            continue;
        }
        if kind(found) != Some(Found::String) {
            let found = kind(found).ok_or(Refused::NoJson)?;
            return Err(Refused::Mismatch(
                Mismatch::new("a string", found).within(tag),
            ));
        }
        let (Text(tag), _) = json::read(found).map_err(|_| Refused::NoJson)?;
        return Ok(Some(tag));
    }
    Ok(None)
}

fn each_member<'a>(text: &'a str, mut each: impl FnMut(&str, &'a str) -> Checked) -> Checked {
    let mut members = json::members(text).ok_or(Refused::NoJson)?;
    while let Some((key, value)) = members.next().map_err(|_| Refused::NoJson)? {
        each(&key, value)?;
    }
    Ok(())
}

/// The kind of JSON that a text is, by its beginning.
fn kind(text: &str) -> Option<Found> {
    Some(match text.as_bytes().first()? {
        b'"' => Found::String,
        b'{' => Found::Object,
        b'[' => Found::List,
        b't' | b'f' if matches!(text, "true" | "false") => Found::Boolean,
        b'n' if text == "null" => Found::Null,
        b'-' | b'0'..=b'9' => Found::Number,
        _ => return None,
    })
}

/// Whether a text is a whole number of a type. JSON has no plus sign, and the codec takes
/// `-0` for a fraction.
fn is_whole<T: std::str::FromStr>(text: &str) -> bool {
    kind(text) == Some(Found::Number) && text != "-0" && text.parse::<T>().is_ok()
}
