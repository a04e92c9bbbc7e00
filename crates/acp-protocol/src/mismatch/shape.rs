//! The shapes of definitions, as data: what decoding accepts, without its code.

use std::borrow::Cow;

/// The values that fit.
pub(super) enum Shape {
    /// Any string: texts, ids, and the values of enums.
    Text,
    Bool,
    U16,
    U32,
    U64,
    I64,
    F64,
    /// The id of a request: a string, a whole number or `null`.
    RequestId,
    /// Any value.
    Any,
    /// An object with any members.
    AnyObject,
    List(&'static Shape),
    /// An object whose members are of one shape, under names of the peer's choice.
    Map(&'static Shape),
    Object {
        members: &'static [Member],
        /// A union among the members.
        flat: Option<&'static Shape>,
        /// `null` is an object without members.
        or_null: bool,
    },
    Tagged {
        tag: &'static str,
        variants: &'static [(&'static str, Payload)],
        /// The variant without a tag.
        absent: Option<Absent>,
    },
    /// Objects that are told by a member.
    ByMember(&'static [(&'static str, &'static Shape)]),
    /// Lists that are told by a member of their first element.
    ByElement(&'static [(&'static str, &'static Shape)]),
}

/// A member of an object.
pub(super) struct Member {
    pub(super) key: &'static str,
    pub(super) need: Need,
    pub(super) reading: Reading,
    pub(super) shape: &'static Shape,
}

/// Whether a member may be missing.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Need {
    Required,
    /// It may stand under this name instead.
    RequiredOr(&'static str),
    /// It may be missing.
    Optional,
    /// It may be missing or `null`.
    Nullable,
}

/// The treatment of a value that does not fit; see the rules of the codec.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Reading {
    /// It is refused.
    Strict,
    /// It is refused, unless it is `null`.
    OnNull,
    /// As `OnNull`; and the member may be missing though it is required.
    Omitted,
    /// As `Omitted`, and an object of strings is a list of name and value.
    Pairs,
    /// It is forgiven.
    OnError,
    /// It is forgiven, and may be missing though it is required.
    Items,
}

/// The parts of the variant of a union, besides its tag.
pub(super) enum Payload {
    Nothing,
    Members(&'static Shape),
    /// One member, required.
    Single(&'static str, &'static Shape),
}

pub(super) struct Absent {
    /// Its title, where that may stand as a tag.
    pub(super) title: Option<&'static str>,
    pub(super) payload: Payload,
}

/// Names that a description lists at most.
const MAX_NAMES: usize = 5;

impl Shape {
    /// Says what is expected.
    pub(super) fn describe(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Text => "a string",
            Self::Bool => "true or false",
            Self::U16 => "a whole number from 0 to 65535",
            Self::U32 => "a whole number from 0 to 4294967295",
            Self::U64 => "a whole number from 0 to 18446744073709551615",
            Self::I64 => "a whole number from -9223372036854775808 to 9223372036854775807",
            Self::F64 => "a number",
            Self::RequestId => "a string, a whole number or null",
            Self::Any => "any value",
            Self::AnyObject | Self::Tagged { .. } | Self::ByMember(_) => "an object",
            Self::ByElement(_) => "a list of objects",
            Self::Map(inner) => {
                return format!("an object whose members are {}", inner.several()).into();
            }
            Self::List(inner) => return format!("a list of {}", inner.several()).into(),
            Self::Object { .. } => match self.required() {
                Some(required) => return required.into(),
                None => "an object",
            },
        })
    }

    /// Says what is expected, of several.
    fn several(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Text => "strings",
            Self::Object { .. } => match self.required() {
                Some(required) => return required.into(),
                None => "objects",
            },
            Self::AnyObject | Self::Tagged { .. } | Self::ByMember(_) => "objects",
            _ => "values",
        })
    }

    /// The required members of an object, if they are few: `{name, value}`.
    fn required(&self) -> Option<String> {
        let Self::Object { members, .. } = self else {
            return None;
        };
        let required = members
            .iter()
            .filter(|member| matches!(member.need, Need::Required | Need::RequiredOr(_)));
        let names: Vec<_> = required.map(|member| member.key).collect();
        (1..=MAX_NAMES)
            .contains(&names.len())
            .then(|| format!("{{{}}}", names.join(", ")))
    }
}

/// Says which tags are known.
pub(super) fn one_of(variants: &[(&'static str, Payload)]) -> String {
    let names = variants.iter().take(MAX_NAMES).map(|(tag, _)| *tag);
    let names = names.collect::<Vec<_>>().join(", ");
    let more = if variants.len() > MAX_NAMES {
        ", …"
    } else {
        ""
    };
    format!("a string, one of {names}{more}")
}
