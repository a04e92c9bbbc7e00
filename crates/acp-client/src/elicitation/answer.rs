//! What is answered to a question.

use std::fmt;

use acp_protocol::v1::{ElicitationAcceptAction, ElicitationAction, ElicitationContentValue};

/// The answer to a question.
///
/// ```
/// use acp_client::Answer;
///
/// let filled_in = Answer::accept()
///     .with("database", "postgres")
///     .with("replicas", 3)
///     .with("encrypted", true)
///     .with_choices("regions", ["eu", "us"]);
/// let no = Answer::decline();
/// # drop((filled_in, no));
/// ```
///
/// Its `Debug` tells the names of the fields and none of their values.
#[derive(Clone, PartialEq)]
pub struct Answer(Kind);

#[derive(Clone, PartialEq)]
enum Kind {
    Accept(Vec<(String, ElicitationContentValue)>),
    Decline,
    Cancel,
}

impl Answer {
    /// The user agrees: to a link, or to a form whose fields are filled in with
    /// [`with`](Self::with).
    #[must_use]
    pub fn accept() -> Self {
        Self(Kind::Accept(Vec::new()))
    }

    /// The user says no.
    #[must_use]
    pub fn decline() -> Self {
        Self(Kind::Decline)
    }

    /// The user says nothing: closed the window, or is not there.
    #[must_use]
    pub fn cancel() -> Self {
        Self(Kind::Cancel)
    }

    /// Fills in a field of the form with text, a number, or yes and no; a second time,
    /// the new value counts.
    ///
    /// An answer that does not accept has no fields and stays as it is.
    #[must_use]
    pub fn with(
        mut self,
        field: impl Into<String>,
        value: impl Into<ElicitationContentValue>,
    ) -> Self {
        if let Kind::Accept(fields) = &mut self.0 {
            let (field, value) = (field.into(), value.into());
            match fields.iter_mut().find(|(name, _)| *name == field) {
                Some((_, old)) => *old = value,
                None => fields.push((field, value)),
            }
        }
        self
    }

    /// Fills in a field of the form that takes several choices.
    #[must_use]
    pub fn with_choices<T: Into<String>>(
        self,
        field: impl Into<String>,
        choices: impl IntoIterator<Item = T>,
    ) -> Self {
        let choices: Vec<String> = choices.into_iter().map(Into::into).collect();
        self.with(field, choices)
    }

    /// Tells whether the user agrees.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        matches!(self.0, Kind::Accept(_))
    }

    /// Returns the fields, in the order in which they were filled in.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &ElicitationContentValue)> {
        let fields = match &self.0 {
            Kind::Accept(fields) => fields.as_slice(),
            Kind::Decline | Kind::Cancel => &[],
        };
        fields.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns what a field is filled in with.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&ElicitationContentValue> {
        self.fields()
            .find(|(field, _)| *field == name)
            .map(|(_, value)| value)
    }

    /// Makes what goes to the agent; only forms have content.
    pub(crate) fn into_action(self, form: bool) -> ElicitationAction {
        match self.0 {
            Kind::Accept(fields) if form => {
                ElicitationAcceptAction::new().with_content(fields).into()
            }
            Kind::Accept(_) => ElicitationAcceptAction::new().into(),
            Kind::Decline => ElicitationAction::Decline,
            Kind::Cancel => ElicitationAction::Cancel,
        }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Accept(_) => {
                f.write_str("Accept ")?;
                f.debug_set()
                    .entries(self.fields().map(|(name, _)| name))
                    .finish()
            }
            Kind::Decline => f.write_str("Decline"),
            Kind::Cancel => f.write_str("Cancel"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_filled_in_once_each() {
        let answer = Answer::accept().with("a", 1).with("b", "x").with("a", 2.5);
        let fields: Vec<_> = answer.fields().collect();
        assert_eq!(fields, [("a", &2.5.into()), ("b", &"x".into())]);
        assert_eq!(Answer::decline().with("a", 1), Answer::decline());
        assert_eq!(Answer::cancel().with("a", 1).fields().count(), 0);
    }

    #[test]
    fn values_do_not_show() {
        let answer = Answer::accept().with("token", "hunter2");
        assert_eq!(format!("{answer:?}"), r#"Accept {"token"}"#);
    }
}
