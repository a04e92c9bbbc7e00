//! What is answered to a question.

use std::fmt;

use acp_protocol::v1::{ElicitationAcceptAction, ElicitationAction, ElicitationContentValue};

/// The answer to a question.
///
/// ```
/// use acp_client::ElicitationAnswer;
///
/// let filled_in = ElicitationAnswer::accept()
///     .with("database", "postgres")
///     .with("replicas", 3)
///     .with("encrypted", true)
///     .with_choices("regions", ["eu", "us"]);
/// let no = ElicitationAnswer::decline();
/// # drop((filled_in, no));
/// ```
///
/// Its `Debug` tells the names of the fields and none of their values.
#[derive(Clone, PartialEq)]
pub struct ElicitationAnswer(ElicitationAction);

impl ElicitationAnswer {
    /// The user agrees: to a link, or to a form whose fields are filled in with
    /// [`with`](Self::with).
    #[must_use]
    pub fn accept() -> Self {
        Self(ElicitationAcceptAction::new().into())
    }

    /// The user says no.
    #[must_use]
    pub fn decline() -> Self {
        Self(ElicitationAction::Decline)
    }

    /// The user says nothing: closed the window, or is not there.
    #[must_use]
    pub fn cancel() -> Self {
        Self(ElicitationAction::Cancel)
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
        if let ElicitationAction::Accept(accept) = &mut self.0 {
            let fields = accept.content.get_or_insert_default();
            fields.insert(field.into(), value.into());
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
        matches!(self.0, ElicitationAction::Accept(_))
    }

    /// Returns the fields, in the order in which they were filled in.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &ElicitationContentValue)> {
        let accept = match &self.0 {
            ElicitationAction::Accept(accept) => Some(accept),
            _ => None,
        };
        let fields = accept
            .into_iter()
            .flat_map(|accept| accept.content.iter().flatten());
        fields.map(|(name, value)| (name.as_str(), value))
    }

    /// Returns what a field is filled in with.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&ElicitationContentValue> {
        match &self.0 {
            ElicitationAction::Accept(accept) => accept.content.as_ref()?.get(name),
            _ => None,
        }
    }

    /// Makes what goes to the agent; only forms have content.
    pub(crate) fn into_action(mut self, form: bool) -> ElicitationAction {
        if let ElicitationAction::Accept(accept) = &mut self.0 {
            match form {
                true => _ = accept.content.get_or_insert_default(),
                false => accept.content = None,
            }
        }
        self.0
    }
}

impl fmt::Debug for ElicitationAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.fields().map(|(name, _)| name);
        match &self.0 {
            ElicitationAction::Accept(_) => {
                f.write_str("Accept ")?;
                f.debug_set().entries(names).finish()
            }
            ElicitationAction::Decline => f.write_str("Decline"),
            _ => f.write_str("Cancel"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_filled_in_once_each() {
        let answer = ElicitationAnswer::accept()
            .with("a", 1)
            .with("b", "x")
            .with("a", 2.5);
        let fields: Vec<_> = answer.fields().collect();
        assert_eq!(fields, [("a", &2.5.into()), ("b", &"x".into())]);
        assert_eq!(
            ElicitationAnswer::decline().with("a", 1),
            ElicitationAnswer::decline()
        );
        assert_eq!(ElicitationAnswer::cancel().with("a", 1).fields().count(), 0);
    }

    #[test]
    fn values_do_not_show() {
        let answer = ElicitationAnswer::accept().with("token", "hunter2");
        assert_eq!(format!("{answer:?}"), r#"Accept {"token"}"#);
    }
}
