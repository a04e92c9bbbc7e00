//! Questions to the user, and what answers fit them.

use std::collections::{BTreeMap, BTreeSet};

use crate::{FieldKind, FormField, FormValue};

/// Questions that the user answers in one go.
///
/// A form is no place for secrets: what is answered is seen by the client and
/// may be kept by it. Send the user to an address instead
/// ([`OpenUrl`]).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct UserForm {
    /// What is asked, in the order in which it is shown.
    pub fields: Vec<FormField>,
}

impl UserForm {
    /// The most fields of a form.
    pub const MAX_FIELDS: usize = 32;
    /// The longest name of a field, in bytes.
    pub const MAX_NAME_BYTES: usize = 128;
    /// The most options of a field.
    pub const MAX_OPTIONS: usize = 64;
    /// The longest answer, in bytes.
    pub const MAX_ANSWER_BYTES: usize = 4096;

    /// A form without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks one thing more.
    #[must_use]
    pub fn with_field(mut self, field: FormField) -> Self {
        self.fields.push(field);
        self
    }

    /// Checks that the form can be shown.
    ///
    /// # Errors
    ///
    /// [`FormValueError`] names the bound that it breaks.
    pub fn check(&self) -> Result<(), FormValueError> {
        if self.fields.is_empty() || self.fields.len() > Self::MAX_FIELDS {
            return Err(FormValueError::FieldCount);
        }
        let mut names = BTreeSet::new();
        for field in &self.fields {
            let name = &field.name;
            if name.is_empty() || name.len() > Self::MAX_NAME_BYTES || !names.insert(name) {
                return Err(FormValueError::FieldName);
            }
            if let FieldKind::Select { options } | FieldKind::MultiSelect { options, .. } =
                &field.kind
                && (options.is_empty() || options.len() > Self::MAX_OPTIONS)
            {
                return Err(FormValueError::OptionCount);
            }
            if !field.is_finite() {
                return Err(FormValueError::NotFinite);
            }
            if let Some(default) = &field.default {
                field.check(default)?;
            }
        }
        Ok(())
    }

    /// Checks an answer. The client may have checked nothing.
    ///
    /// # Errors
    ///
    /// [`FormValueError`] names the rule that the answer breaks.
    pub fn check_answer(&self, answer: &BTreeMap<String, FormValue>) -> Result<(), FormValueError> {
        if answer
            .keys()
            .any(|name| self.fields.iter().all(|field| field.name != *name))
        {
            return Err(FormValueError::UnknownField);
        }
        for field in &self.fields {
            match answer.get(&field.name) {
                Some(value) => field.check(value)?,
                None if field.is_required => return Err(FormValueError::Missing),
                None => {}
            }
        }
        Ok(())
    }
}

/// Why a form cannot be shown, or an answer does not fit it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormValueError {
    /// There is no field, or there are more than [`UserForm::MAX_FIELDS`].
    #[error(
        "check a form: it has no fields, or more than {}",
        UserForm::MAX_FIELDS
    )]
    FieldCount,
    /// A name is empty, too long, or that of another field.
    #[error("check a form: a field's name is empty, too long or taken")]
    FieldName,
    /// A field has no options, or more than [`UserForm::MAX_OPTIONS`].
    #[error(
        "check a form: a field has no options, or more than {}",
        UserForm::MAX_OPTIONS
    )]
    OptionCount,
    /// A bound or a default is no finite number.
    #[error("check a form: a bound or a default is no finite number")]
    NotFinite,
    /// The answer names a field that the form does not have.
    #[error("check an answer: it names a field that was not asked for")]
    UnknownField,
    /// A field that must be answered is not.
    #[error("check an answer: a field is missing")]
    Missing,
    /// A text where a number was asked for, yes or no where a text was.
    #[error("check an answer: a value is of another type")]
    WrongType,
    /// A text is longer than [`UserForm::MAX_ANSWER_BYTES`].
    #[error(
        "check an answer: a text is longer than {} bytes",
        UserForm::MAX_ANSWER_BYTES
    )]
    TooLong,
    /// A number, a length or a count of choices is beyond what was asked for, or
    /// a choice is made twice.
    #[error("check an answer: a value is out of its range")]
    OutOfRange,
    /// An option that was not offered.
    #[error("check an answer: an option was not offered")]
    NotOffered,
}

/// An address to which the user is sent: to log in, to pay, to confirm.
///
/// The address is shown to the user in full. It must hold no secret and nothing
/// that lets its bearer in.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenUrl {
    /// The address.
    pub url: String,
}

impl OpenUrl {
    /// Sends the user to an address.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into() }
    }
}

impl std::fmt::Debug for OpenUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // What is behind the `?` is nobody's business.
        let shown = self.url.split(['?', '#']).next().unwrap_or_default();
        f.debug_tuple("OpenUrl").field(&shown).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FormOption;

    fn form() -> UserForm {
        let colours = vec![
            FormOption::new("red", "Red"),
            FormOption::new("blue", "Blue"),
        ];
        UserForm::new()
            .with_field(FormField::text("name", "Name"))
            .with_field(FormField::select("colour", "Colour", colours).optional())
            .with_field(FormField::confirm("sure", "Are you sure?").optional())
    }

    #[test]
    fn answers() {
        let text = |text: &str| FormValue::Text(text.into());
        let check = |answer: &[(&str, FormValue)], want: Result<(), FormValueError>| {
            let answer = answer
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect();
            assert_eq!(form().check_answer(&answer), want, "{answer:?}");
        };
        check(&[("name", text("Ada"))], Ok(()));
        check(
            &[
                ("name", text("")),
                ("colour", text("red")),
                ("sure", FormValue::Flag(false)),
            ],
            Ok(()),
        );
        check(&[], Err(FormValueError::Missing));
        check(
            &[("name", FormValue::Flag(true))],
            Err(FormValueError::WrongType),
        );
        let ada = ("name", text("Ada"));
        check(
            &[ada.clone(), ("sure", text("yes"))],
            Err(FormValueError::WrongType),
        );
        check(
            &[ada.clone(), ("colour", text("Red"))],
            Err(FormValueError::NotOffered),
        );
        check(
            &[ada, ("age", text("36"))],
            Err(FormValueError::UnknownField),
        );
        check(&[("name", text(&"x".repeat(4096)))], Ok(()));
        check(
            &[("name", text(&"x".repeat(4097)))],
            Err(FormValueError::TooLong),
        );
    }

    #[test]
    fn forms() {
        assert_eq!(form().check(), Ok(()));
        let check = |form: UserForm, want: FormValueError| assert_eq!(form.check(), Err(want));
        check(UserForm::new(), FormValueError::FieldCount);
        check(
            form().with_field(FormField::text("name", "Again")),
            FormValueError::FieldName,
        );
        check(
            UserForm::new().with_field(FormField::select("a", "A", vec![])),
            FormValueError::OptionCount,
        );
        let many = (0..33).fold(UserForm::new(), |form, number| {
            form.with_field(FormField::confirm(number.to_string(), "Sure?"))
        });
        check(many, FormValueError::FieldCount);
        let default = FormField::confirm("a", "A").with_default(FormValue::Text("yes".into()));
        check(
            UserForm::new().with_field(default),
            FormValueError::WrongType,
        );
    }

    #[test]
    fn what_users_write_is_not_printed() {
        let url = OpenUrl::new("https://example.com/login?canary#canary");
        let printed = format!("{:?} {url:?}", FormValue::Text("canary".into()));
        assert!(
            !printed.contains("canary") && printed.contains("/login"),
            "{printed}"
        );
    }
}
