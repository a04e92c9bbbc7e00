//! Patterns: JSON, with holes.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use strum::{IntoStaticStr, VariantArray};

/// What a JSON value must look like; also what is written when it is sent.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Null,
    Bool(bool),
    /// A number as it was written.
    Number(Arc<str>),
    Text(Template),
    Array(Vec<Element>),
    Object(Object),
    Any(Kind),
    /// The member is not there.
    Absent,
    /// `$name`: captured when it has no value yet, compared when it has.
    Name(Arc<str>),
    Regex(regex::Regex),
    Not(Box<Pattern>),
    /// `A | B`: one of them; the first that can be sent is.
    OneOf(Vec<Pattern>),
}

/// One place in an array.
#[derive(Clone, Debug)]
pub(crate) enum Element {
    One(Pattern),
    /// `...`: any number of values, none too.
    Rest,
}

/// An object: by subset, unless it is `only`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    pub(crate) members: IndexMap<String, Pattern>,
    /// No other members may be there.
    pub(crate) only: bool,
}

/// What `any …` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Kind {
    Value,
    String,
    Number,
    Integer,
    Boolean,
    Object,
    Array,
}

/// A string that may hold names: `"$cwd/notes.md"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) parts: Vec<Part>,
}

/// A piece of a [`Template`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Literal(String),
    Name(Arc<str>),
}

impl Template {
    /// Splits a string at its names; `$$` stands for `$`.
    pub(crate) fn new(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            literal.push_str(&rest[..at]);
            let tail = &rest[at + 1..];
            let (name, used) = if let Some(braced) = tail.strip_prefix('{') {
                match braced.split_once('}') {
                    Some((name, _)) if is_name(name) => (name, name.len() + 2),
                    _ => ("", 0),
                }
            } else {
                let name = name_at_start(tail);
                (name, name.len())
            };
            if name.is_empty() {
                literal.push('$');
                rest = tail.strip_prefix('$').unwrap_or(tail);
                continue;
            }
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(Part::Name(name.into()));
            rest = &tail[used..];
        }
        literal.push_str(rest);
        if !literal.is_empty() || parts.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Self { parts }
    }

    /// Returns the text when no name is in it.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the name when the string is nothing else.
    pub(crate) fn name(&self) -> Option<&Arc<str>> {
        match self.parts.as_slice() {
            [Part::Name(name)] => Some(name),
            _ => None,
        }
    }

    /// Writes a literal so that [`Template::new`] reads it back.
    pub(crate) fn escape(text: &str) -> String {
        let mut escaped = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            escaped.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            if rest.starts_with(['$', '{']) || !name_at_start(rest).is_empty() {
                escaped.push('$');
            }
        }
        escaped.push_str(rest);
        escaped
    }
}

/// Writes bytes as pairs of hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(" ")
}

/// Tells whether this can be the name of a value: a letter or `_`, then letters, digits and `_`.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && name_at_start(text) == text
}

pub(crate) fn name_at_start(text: &str) -> &str {
    if !text.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return "";
    }
    let length = text
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(text.len());
    &text[..length]
}

impl Pattern {
    /// A pattern that is this text and nothing else.
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(Template {
            parts: vec![Part::Literal(text.to_owned())],
        })
    }

    /// A code alone stands for an error with it.
    pub(crate) fn into_error(self) -> Self {
        match self {
            Self::Object(_) => self,
            code => Self::Object(Object {
                members: [("code".to_owned(), code)].into(),
                only: false,
            }),
        }
    }

    /// Returns what is sent: of alternatives the first that can be.
    pub(crate) fn sent(&self) -> &Self {
        match self {
            Self::OneOf(all) => {
                let mut sendable = all.iter().filter(|one| one.vague().is_none());
                sendable.next().or(all.first()).map_or(self, Self::sent)
            }
            other => other,
        }
    }

    /// Returns the first thing in it that says too little to be sent.
    pub(crate) fn vague(&self) -> Option<String> {
        match self {
            Self::Any(_) | Self::Regex(_) | Self::Not(_) => Some(self.to_string()),
            Self::Array(elements) => elements.iter().find_map(|element| match element {
                Element::One(Self::Absent) => Some(Self::Absent.to_string()),
                Element::One(pattern) => pattern.vague(),
                Element::Rest => None,
            }),
            Self::Object(object) => object.members.values().find_map(Self::vague),
            Self::OneOf(all) => match all.iter().any(|one| one.vague().is_none()) {
                true => None,
                false => all.first().and_then(Self::vague),
            },
            // Left out of objects; params and results that are absent are left out too.
            _ => None,
        }
    }

    /// Returns a member of an object, if the pattern is one and names it.
    pub(crate) fn member(&self, key: &str) -> Option<&Self> {
        match self.sent() {
            Self::Object(object) => object.members.get(key),
            _ => None,
        }
    }
}

impl fmt::Display for Pattern {
    /// Writes the pattern as a scenario does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(text) => f.write_str(text),
            Self::Text(template) => write!(f, "{template}"),
            Self::Array(elements) => {
                f.write_str("[")?;
                for (index, element) in elements.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    match element {
                        Element::One(pattern) => write!(f, "{pattern}")?,
                        Element::Rest => f.write_str("...")?,
                    }
                }
                f.write_str("]")
            }
            Self::Object(object) => {
                f.write_str(if object.only { "only {" } else { "{" })?;
                for (index, (key, value)) in object.members.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    write!(f, "{}: {value}", quoted(key))?;
                }
                f.write_str("}")
            }
            Self::Any(Kind::Value) => f.write_str("any"),
            Self::Any(kind) => write!(f, "any {}", <&str>::from(kind)),
            Self::Absent => f.write_str("absent"),
            Self::Name(name) => write!(f, "${name}"),
            Self::Regex(regex) => write!(f, "/{}/", regex.as_str().replace('/', "\\/")),
            Self::Not(inner) => match **inner {
                Self::OneOf(_) => write!(f, "not ({inner})"),
                _ => write!(f, "not {inner}"),
            },
            Self::OneOf(all) => {
                for (index, pattern) in all.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { " | " })?;
                    write!(f, "{pattern}")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                Part::Literal(literal) => text.push_str(&Self::escape(literal)),
                Part::Name(name) => {
                    let glued = self.parts.get(index + 1).is_some_and(|next| match next {
                        Part::Literal(next) => {
                            next.starts_with(|c: char| c.is_alphanumeric() || c == '_')
                        }
                        Part::Name(_) => false,
                    });
                    text.push_str(&if glued {
                        format!("${{{name}}}")
                    } else {
                        format!("${name}")
                    });
                }
            }
        }
        f.write_str(&quoted(&text))
    }
}

/// Writes a text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_strings() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            let shown: Vec<String> = Template::new(text)
                .parts
                .iter()
                .map(|part| match part {
                    Part::Literal(text) => format!("{text:?}"),
                    Part::Name(name) => name.to_string(),
                })
                .collect();
            assert_eq!(shown.join(" "), expected);
        }
        check("", "\"\"");
        check("plain", "\"plain\"");
        check("$s", "s");
        check("$cwd/a.md", "cwd \"/a.md\"");
        check("chunk ${i}x$j.", "\"chunk \" i \"x\" j \".\"");
        check("costs $5, $$, $$s and $", "\"costs $5, $, $s and $\"");
        check("${not a name}", "\"${not a name}\"");
    }

    #[test]
    fn escaped_text_reads_back() {
        for text in ["$s", "$$s", "$", "a$", "$5", "${s}", "$$$x", "x $_y"] {
            let read = Template::new(&Template::escape(text));
            assert_eq!(read.literal(), Some(text), "{text}");
        }
    }
}
