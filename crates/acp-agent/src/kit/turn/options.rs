//! What is set in a session, as a turn sees it.

use acp_host::{ConfigChange, ConfigOption, ConfigValue, EventBody};

use crate::kit::{Turn, TurnError};

impl Turn {
    /// The value of an option of the session, as it is now: the user may set it
    /// while the turn runs. It is one of those of
    /// [`Kit::with_options`](crate::kit::Kit::with_options).
    pub fn option(&self, id: &str) -> Option<ConfigValue> {
        self.session().option(id)
    }

    /// The id of what is chosen in an option with choices.
    pub fn choice(&self, id: &str) -> Option<String> {
        match self.option(id)? {
            ConfigValue::Choice(choice) => Some(choice),
            _ => None,
        }
    }

    /// Whether an option is on.
    pub fn is_on(&self, id: &str) -> bool {
        self.option(id) == Some(ConfigValue::Switch(true))
    }

    /// The id of the session's mode, if it has any.
    pub fn mode(&self) -> Option<String> {
        self.choice(ConfigOption::MODE)
    }

    /// Sets an option of the session, and informs the client.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if there is no such option or value, if it cannot be history,
    /// or if the turn was cancelled or the client is gone.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the option may be set; the client is informed at the end of the turn.
    pub async fn set_option(
        &self,
        id: impl Into<String>,
        value: ConfigValue,
    ) -> Result<(), TurnError> {
        let change = ConfigChange::new(id, value);
        let session = self.session();
        let options = session.set_option(change).await?;
        session.note_options(false);
        self.send_session_event(EventBody::ConfigChanged(options))
            .await?;
        session.note_options(true);
        Ok(())
    }

    /// Sets the mode of the session, and informs the client: to leave a mode for
    /// planning when the plan is made, say.
    ///
    /// # Errors
    ///
    /// As [`set_option`](Self::set_option).
    ///
    /// # Cancel safety
    ///
    /// As [`set_option`](Self::set_option).
    pub async fn set_mode(&self, id: impl Into<String>) -> Result<(), TurnError> {
        self.set_option(ConfigOption::MODE, ConfigValue::Choice(id.into()))
            .await
    }
}
