//! Typed questions to the user.

use std::{fmt, future::IntoFuture, marker::PhantomData, pin::Pin};

use acp_host::{ClientCallError, Gate, GateId, ToolId};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::kit::{RunningTool, Turn, TurnError, UserAnswer, turn::question::Question};

impl Turn {
    /// Asks the user for a value of a type, and waits for it.
    ///
    /// The form is made of the type: a struct is a form, and each of its fields
    /// a text, a number, yes or no, one choice (an enum without data) or several
    /// (a list or set of them); fields that are `Option` or have a default may be
    /// left out. Titles, descriptions and bounds are those that [`schemars`]
    /// knows. A type that is no struct is a form of one field. What no form can
    /// ask for is an error; [`form_of`](crate::kit::form_of) finds it in a test.
    ///
    /// ```no_run
    /// # use acp_agent::kit::{Turn, TurnError};
    /// #[derive(schemars::JsonSchema, serde::Deserialize)]
    /// enum Database {
    ///     Sqlite,
    ///     /// For many machines.
    ///     Postgres,
    /// }
    ///
    /// # async fn ask(turn: &Turn) -> Result<(), TurnError> {
    /// let database = turn
    ///     .ask("Which database?")
    ///     .or_default(Database::Sqlite)
    ///     .await?;
    /// # drop(database);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// What happens where the client shows no forms is the author's choice:
    /// [`or_default`](TypedQuestion::or_default), [`or_text`](TypedQuestion::or_text), or else an
    /// error. It never waits for an answer that cannot come.
    ///
    /// Never ask for secrets: the client sees the answer and may keep it. Send
    /// the user [to an address](Turn::send_to) instead.
    ///
    /// # Errors
    ///
    /// When awaited: [`QuestionError`](crate::kit::QuestionError) if the type is none
    /// that can be asked for, [`ClientCallError::Unsupported`] if the client shows no
    /// forms and nothing was chosen instead, any other if the turn
    /// was cancelled.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the question is withdrawn.
    pub fn ask<T>(&self, message: impl Into<String>) -> TypedQuestion<'_, T>
    where
        T: JsonSchema + DeserializeOwned + Send + 'static,
    {
        TypedQuestion {
            turn: self,
            message: message.into(),
            tool: None,
            in_words: false,
            answer: PhantomData,
        }
    }
}

/// A question that is asked when it is awaited; made by [`Turn::ask`].
#[must_use = "a question is asked when it is awaited"]
pub struct TypedQuestion<'t, T> {
    turn: &'t Turn,
    message: String,
    tool: Option<ToolId>,
    in_words: bool,
    answer: PhantomData<fn() -> T>,
}

impl<'t, T> TypedQuestion<'t, T>
where
    T: JsonSchema + DeserializeOwned + Send + 'static,
{
    /// Says which tool call asks.
    pub fn for_tool(mut self, tool: &RunningTool<'_>) -> Self {
        self.tool = Some(tool.call().id.clone());
        self
    }

    /// Asks in words where the client shows no forms. The answer is
    /// [`UserAnswer::InWords`] then: end the turn, and the next prompt answers.
    pub fn or_text(mut self) -> Self {
        self.in_words = true;
        self
    }

    /// Takes this value for the answer where there is none: the client shows no
    /// forms, or the user declined or dismissed the question.
    pub fn or_default(self, default: T) -> QuestionOrDefault<'t, T> {
        QuestionOrDefault { ask: self, default }
    }

    async fn answer(self) -> Result<UserAnswer<T>, TurnError> {
        let question = Question::of::<T>()?;
        if !self.turn.setup().client.forms {
            if !self.in_words {
                return Err(ClientCallError::Unsupported.into());
            }
            self.turn.text(question.in_words(&self.message)).await?;
            return Ok(UserAnswer::InWords);
        }
        let id = GateId::from(self.turn.name("gate"));
        let mut gate = Gate::form(id, self.message, question.form.clone());
        gate.body.clone_from(&question.description);
        if let Some(tool) = self.tool {
            gate = gate.for_tool(tool);
        }
        let answer: UserAnswer = self.turn.wait_at(gate).await?.into();
        Ok(answer.and_then(|values| question.decode(values)))
    }
}

impl<'t, T> IntoFuture for TypedQuestion<'t, T>
where
    T: JsonSchema + DeserializeOwned + Send + 'static,
{
    type Output = Result<UserAnswer<T>, TurnError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 't>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.answer())
    }
}

impl<T> fmt::Debug for TypedQuestion<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask")
            .field("message", &self.message)
            .finish_non_exhaustive()
    }
}

/// A question that always has an answer; made by [`TypedQuestion::or_default`].
#[derive(Debug)]
#[must_use = "a question is asked when it is awaited"]
pub struct QuestionOrDefault<'t, T> {
    ask: TypedQuestion<'t, T>,
    default: T,
}

impl<'t, T> IntoFuture for QuestionOrDefault<'t, T>
where
    T: JsonSchema + DeserializeOwned + Send + 'static,
{
    type Output = Result<T, TurnError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 't>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { ask, default } = self;
        Box::pin(async move {
            if !ask.turn.setup().client.forms {
                // A type that cannot be asked for is a mistake at every client.
                Question::of::<T>()?;
                return Ok(default);
            }
            Ok(ask.answer().await?.given().unwrap_or(default))
        })
    }
}
