//! One question of a form, and what answers fit it.

use crate::{FormValueError, UserForm};
use derive_setters::Setters;

/// One thing that is asked.
#[derive(Clone, Debug, PartialEq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct FormField {
    /// Names it in the answer.
    pub name: String,
    /// What people read.
    pub title: String,
    /// What should be known to answer it.
    pub description: Option<String>,
    /// What can be answered.
    pub kind: FieldKind,
    /// Whether it must be answered.
    pub is_required: bool,
    /// What the answer is to begin with.
    #[setters(into = false)]
    pub default: Option<FormValue>,
}

impl FormField {
    /// Asks for a text; it must be answered unless said
    /// [otherwise](Self::optional).
    pub fn text(name: impl Into<String>, title: impl Into<String>) -> Self {
        Self::new(name, title, FieldKind::Text(TextRule::default()))
    }

    /// Asks for a whole number.
    pub fn integer(name: impl Into<String>, title: impl Into<String>) -> Self {
        let kind = FieldKind::Integer {
            min: None,
            max: None,
        };
        Self::new(name, title, kind)
    }

    /// Asks for a number.
    pub fn number(name: impl Into<String>, title: impl Into<String>) -> Self {
        let kind = FieldKind::Number {
            min: None,
            max: None,
        };
        Self::new(name, title, kind)
    }

    /// Asks for one of some options.
    pub fn select(
        name: impl Into<String>,
        title: impl Into<String>,
        options: Vec<FormOption>,
    ) -> Self {
        Self::new(name, title, FieldKind::Select { options })
    }

    /// Asks for some of some options.
    pub fn multi_select(
        name: impl Into<String>,
        title: impl Into<String>,
        options: Vec<FormOption>,
    ) -> Self {
        let kind = FieldKind::MultiSelect {
            options,
            min: None,
            max: None,
        };
        Self::new(name, title, kind)
    }

    /// Asks for yes or no.
    pub fn confirm(name: impl Into<String>, title: impl Into<String>) -> Self {
        Self::new(name, title, FieldKind::Confirm)
    }

    /// Asks for something of a kind.
    pub fn new(name: impl Into<String>, title: impl Into<String>, kind: FieldKind) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            description: None,
            kind,
            is_required: true,
            default: None,
        }
    }

    /// Lets it go without an answer.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.is_required = false;
        self
    }

    /// Whether JSON has its numbers.
    pub(crate) fn is_finite(&self) -> bool {
        let bounds = match self.kind {
            FieldKind::Number { min, max } => [min, max],
            _ => [None, None],
        };
        let default = match self.default {
            Some(FormValue::Number(number)) => Some(number),
            _ => None,
        };
        bounds
            .into_iter()
            .chain([default])
            .flatten()
            .all(f64::is_finite)
    }

    pub(crate) fn check(&self, value: &FormValue) -> Result<(), FormValueError> {
        match (&self.kind, value) {
            (FieldKind::Text(rule), FormValue::Text(text)) => rule.check(text),
            (FieldKind::Integer { min, max }, FormValue::Integer(number)) => {
                in_range(number, min.as_ref(), max.as_ref())
            }
            // A whole number is a number.
            (FieldKind::Number { min, max }, FormValue::Integer(number)) => {
                in_range(&(*number as f64), min.as_ref(), max.as_ref())
            }
            (FieldKind::Number { min, max }, FormValue::Number(number)) => {
                in_range(number, min.as_ref(), max.as_ref())
            }
            (FieldKind::Select { options }, FormValue::Text(text)) => offered(options, text),
            (FieldKind::MultiSelect { options, min, max }, FormValue::Choices(chosen)) => {
                let count = u32::try_from(chosen.len()).unwrap_or(u32::MAX);
                in_range(&count, min.as_ref(), max.as_ref())?;
                for (at, choice) in chosen.iter().enumerate() {
                    offered(options, choice)?;
                    if chosen[..at].contains(choice) {
                        return Err(FormValueError::OutOfRange);
                    }
                }
                Ok(())
            }
            (FieldKind::Confirm, FormValue::Flag(_)) => Ok(()),
            _ => Err(FormValueError::WrongType),
        }
    }
}

fn in_range<T: PartialOrd>(
    value: &T,
    min: Option<&T>,
    max: Option<&T>,
) -> Result<(), FormValueError> {
    let fits = min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max);
    fits.then_some(()).ok_or(FormValueError::OutOfRange)
}

fn offered(options: &[FormOption], text: &str) -> Result<(), FormValueError> {
    let is_offered = options.iter().any(|option| option.id == text);
    is_offered.then_some(()).ok_or(FormValueError::NotOffered)
}

/// What can be answered.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    /// A text.
    Text(TextRule),
    /// A whole number.
    Integer {
        /// The least, if there is one.
        min: Option<i64>,
        /// The greatest, if there is one.
        max: Option<i64>,
    },
    /// A number.
    Number {
        /// The least, if there is one.
        min: Option<f64>,
        /// The greatest, if there is one.
        max: Option<f64>,
    },
    /// One of these.
    Select {
        /// What is offered.
        options: Vec<FormOption>,
    },
    /// Some of these, each at most once.
    MultiSelect {
        /// What is offered.
        options: Vec<FormOption>,
        /// How many must be chosen, if it matters.
        min: Option<u32>,
        /// How many may be chosen, if it matters.
        max: Option<u32>,
    },
    /// Yes or no.
    Confirm,
}

/// What a text has to be. Its length is at most [`UserForm::MAX_ANSWER_BYTES`] in any
/// case.
#[derive(Clone, Debug, Default, PartialEq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", strip_option)]
pub struct TextRule {
    /// How many characters it has at least.
    pub min_chars: Option<u32>,
    /// How many characters it has at most.
    pub max_chars: Option<u32>,
    /// How it is to be written: a hint for the client, which may help with it.
    /// Whoever reads the answer checks it.
    pub format: Option<TextFormat>,
}

impl TextRule {
    /// Any text.
    pub fn new() -> Self {
        Self::default()
    }

    fn check(&self, text: &str) -> Result<(), FormValueError> {
        if text.len() > UserForm::MAX_ANSWER_BYTES {
            return Err(FormValueError::TooLong);
        }
        let chars = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        in_range(&chars, self.min_chars.as_ref(), self.max_chars.as_ref())
    }
}

/// How a text is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// The address of a mailbox.
    Email,
    /// An address such as `https://example.com/`.
    Uri,
    /// A day, such as `2026-02-28`.
    Date,
    /// A moment, such as `2026-02-28T09:30:00Z`.
    DateTime,
}

/// One of the answers that are offered.
#[derive(Clone, Debug, PartialEq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct FormOption {
    /// What is answered.
    pub id: String,
    /// What people read.
    pub title: String,
    /// What choosing it means.
    pub description: Option<String>,
}

impl FormOption {
    /// Offers an answer under a title.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            description: None,
        }
    }
}

/// What was answered in one field.
#[derive(Clone, PartialEq)]
pub enum FormValue {
    /// A text, or the id of an option.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// The ids of options.
    Choices(Vec<String>),
}

impl FormValue {
    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl std::fmt::Debug for FormValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // People write into forms what they should not.
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Flag(flag) => write!(f, "Flag({flag})"),
            Self::Integer(_) => f.write_str("Integer"),
            Self::Number(_) => f.write_str("Number"),
            Self::Choices(chosen) => write!(f, "Choices({})", chosen.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(field: &FormField, value: FormValue, want: Result<(), FormValueError>) {
        assert_eq!(field.check(&value), want, "{value:?}");
    }

    #[test]
    fn texts() {
        let mut field = FormField::text("name", "Name");
        let text = |text: &str| FormValue::Text(text.into());
        check(&field, text(""), Ok(()));
        check(
            &field,
            FormValue::Integer(1),
            Err(FormValueError::WrongType),
        );
        let rule = TextRule::new().with_min_chars(2).with_max_chars(3);
        field.kind = FieldKind::Text(rule);
        check(&field, text("ä"), Err(FormValueError::OutOfRange));
        check(&field, text("äöü"), Ok(()));
        check(&field, text("äöüß"), Err(FormValueError::OutOfRange));
    }

    #[test]
    fn numbers() {
        let mut field = FormField::integer("port", "Port");
        check(&field, FormValue::Integer(i64::MIN), Ok(()));
        check(
            &field,
            FormValue::Number(1.0),
            Err(FormValueError::WrongType),
        );
        field.kind = FieldKind::Integer {
            min: Some(1),
            max: Some(9),
        };
        check(
            &field,
            FormValue::Integer(0),
            Err(FormValueError::OutOfRange),
        );
        check(&field, FormValue::Integer(9), Ok(()));
        check(
            &field,
            FormValue::Integer(10),
            Err(FormValueError::OutOfRange),
        );

        field.kind = FieldKind::Number {
            min: None,
            max: Some(0.5),
        };
        check(&field, FormValue::Number(0.5), Ok(()));
        check(&field, FormValue::Integer(0), Ok(()));
        check(
            &field,
            FormValue::Integer(1),
            Err(FormValueError::OutOfRange),
        );
        check(
            &field,
            FormValue::Flag(true),
            Err(FormValueError::WrongType),
        );
    }

    #[test]
    fn choices() {
        let options = ["a", "b", "c"].map(|id| FormOption::new(id, id));
        let mut field = FormField::multi_select("letters", "Letters", options.to_vec());
        let chosen = |ids: &[&str]| FormValue::Choices(ids.iter().map(|id| (*id).into()).collect());
        check(&field, chosen(&[]), Ok(()));
        check(&field, chosen(&["c", "a"]), Ok(()));
        check(&field, chosen(&["d"]), Err(FormValueError::NotOffered));
        check(&field, chosen(&["a", "a"]), Err(FormValueError::OutOfRange));
        check(
            &field,
            FormValue::Text("a".into()),
            Err(FormValueError::WrongType),
        );
        if let FieldKind::MultiSelect { min, max, .. } = &mut field.kind {
            (*min, *max) = (Some(1), Some(2));
        }
        check(&field, chosen(&[]), Err(FormValueError::OutOfRange));
        check(
            &field,
            chosen(&["a", "b", "c"]),
            Err(FormValueError::OutOfRange),
        );
    }
}
