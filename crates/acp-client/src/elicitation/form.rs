//! A form, and whether an answer fits it.

use std::fmt;

use acp_protocol::rpc::Fault;
use acp_protocol::v1::{ElicitationPropertySchema, ElicitationSchema, ElicitationSchemaType};

use super::field;
use super::patterns::Patterns;
use super::{ElicitationAnswer, FieldError};
use crate::bounds::count_within;
use crate::limits::{MAX_FORM_CHOICES, MAX_FORM_FIELDS};

/// The fields an agent asks for.
///
/// A form is what the protocol allows: an object of text, numbers, yes and no, and
/// choices. Everything an agent asks beyond that is refused rather than guessed at.
///
/// Its `Debug` tells how many fields there are, and nothing of them.
#[derive(Clone, Copy)]
pub struct ElicitationForm<'a> {
    schema: &'a ElicitationSchema,
    /// Those of its question, where it belongs to one.
    patterns: Option<&'a Patterns>,
}

/// Checks that a person could fill in a form, so that all work on it is bounded.
pub(super) fn check_size(schema: &ElicitationSchema) -> Result<(), Fault> {
    let fields = schema.properties.len();
    let required = schema.required.as_ref().map_or(0, Vec::len);
    let choices = schema.properties.values().map(field::choice_count);
    let choices = choices.sum::<usize>();
    let (properties, unit) = ("requestedSchema.properties", "choices");
    count_within(properties, fields, MAX_FORM_FIELDS, "fields")?;
    count_within(
        "requestedSchema.required",
        required,
        MAX_FORM_FIELDS,
        "fields",
    )?;
    count_within(properties, choices, MAX_FORM_CHOICES, unit)
}

/// A field that does not fit; prints without the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field:?} {misfit}")]
#[non_exhaustive]
pub struct FormError {
    /// The field, by the agent's name.
    pub field: String,
    /// What is wrong with it.
    pub misfit: FieldError,
}

impl FormError {
    pub(super) fn new(field: impl Into<String>, misfit: FieldError) -> Self {
        Self {
            field: field.into(),
            misfit,
        }
    }

    /// Succeeds when nothing is wrong.
    pub(super) fn none_of(faults: Vec<Self>) -> Result<(), Vec<Self>> {
        match faults.is_empty() {
            true => Ok(()),
            false => Err(faults),
        }
    }
}

impl<'a> ElicitationForm<'a> {
    /// Reads a form.
    #[must_use]
    pub fn new(schema: &'a ElicitationSchema) -> Self {
        Self {
            schema,
            patterns: None,
        }
    }

    pub(super) fn with_patterns(mut self, patterns: &'a Patterns) -> Self {
        self.patterns = Some(patterns);
        self
    }

    /// Returns the schema: title, description, and the fields in the agent's order.
    #[must_use]
    pub fn schema(self) -> &'a ElicitationSchema {
        self.schema
    }

    /// Returns the fields that can be shown, in the agent's order: those of a kind that
    /// nobody knows must not be rendered as another (R222).
    pub fn fields(self) -> impl Iterator<Item = (&'a str, &'a ElicitationPropertySchema)> {
        self.schema
            .properties
            .iter()
            .filter(|(_, property)| field::is_known(property))
            .map(|(name, property)| (name.as_str(), property))
    }

    /// Tells whether a field must be filled in.
    #[must_use]
    pub fn is_required(self, field: &str) -> bool {
        self.required().any(|required| required == field)
    }

    /// Tells whether the form can be filled in at all: it is a form, and no field that
    /// must be filled in is of a kind that nobody knows (R222).
    #[must_use]
    pub fn is_answerable(self) -> bool {
        self.schema.kind == ElicitationSchemaType::Object
            && self.required().all(|field| {
                let property = self.schema.properties.get(field);
                property.is_some_and(field::is_known)
            })
    }

    /// Fills in what the agent proposes (R196); fields without a proposal stay empty.
    ///
    /// It need not fit the form: something may be missing, and an agent may propose
    /// what it does not take.
    #[must_use]
    pub fn defaults(self) -> ElicitationAnswer {
        let proposals = self
            .schema
            .properties
            .iter()
            .filter_map(|(name, property)| Some((name, field::default(property)?)));
        proposals.fold(ElicitationAnswer::accept(), |answer, (name, value)| {
            answer.with(name, value)
        })
    }

    /// Checks one field, as for a message beside it while it is filled in.
    ///
    /// # Errors
    ///
    /// What does not fit.
    pub fn check_field(self, answer: &ElicitationAnswer, name: &str) -> Result<(), FieldError> {
        self.check_field_with(answer, name, self.patterns.unwrap_or(&Patterns::default()))
    }

    fn check_field_with(
        self,
        answer: &ElicitationAnswer,
        name: &str,
        patterns: &Patterns,
    ) -> Result<(), FieldError> {
        let Some(property) = self.schema.properties.get(name) else {
            return Err(FieldError::NoSuchField);
        };
        match answer.field(name) {
            Some(value) => field::check(property, value, patterns),
            None if self.is_required(name) => Err(FieldError::Missing),
            None => Ok(()),
        }
    }

    /// Checks an answer: what must be filled in is, and everything that is fits its
    /// field. A pattern or a format that is not known here is left to the agent, which
    /// checks again (R195). Answers that do not accept always fit.
    ///
    /// # Errors
    ///
    /// What does not fit, field by field.
    pub fn check(self, answer: &ElicitationAnswer) -> Result<(), Vec<FormError>> {
        if !answer.is_accepted() {
            return Ok(());
        }
        let mut faults = Vec::new();
        if self.schema.kind != ElicitationSchemaType::Object {
            faults.push(FormError::new("", FieldError::UnknownKind));
        }
        for name in self.required() {
            if answer.field(name).is_none() {
                faults.push(FormError::new(name, FieldError::Missing));
            }
        }
        let own = Patterns::default();
        let patterns = self.patterns.unwrap_or(&own);
        for (name, _) in answer.fields() {
            if let Err(misfit) = self.check_field_with(answer, name, patterns) {
                faults.push(FormError::new(name, misfit));
            }
        }
        FormError::none_of(faults)
    }

    fn required(self) -> impl Iterator<Item = &'a str> {
        self.schema
            .required
            .iter()
            .flatten()
            .map(std::string::String::as_str)
    }
}

impl fmt::Debug for ElicitationForm<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Form")
            .field("fields", &self.schema.properties.len())
            .finish_non_exhaustive()
    }
}
