//! What a turn asks its client: permission, answers, files, commands.

use std::path::Path;

use acp_host::{
    ClientCallError, CreateTerminal, EventBody, Gate, GateAnswer, GateId, OpenUrl, ReadTextFile,
    UserForm, WriteTextFile,
};

use tokio::sync::oneshot;

use crate::kit::{Permission, RunningCommand, RunningTool, Turn, TurnError, UserAnswer};

impl Turn {
    /// Asks the user whether a tool may run, and waits for the answer.
    ///
    /// Nothing but an answer of the user allows a tool: a client that cannot
    /// ask, an answer that was not offered, or a lost connection do not.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the question is withdrawn.
    pub async fn ask_permission(&self, tool: &RunningTool<'_>) -> Result<Permission, TurnError> {
        let id = GateId::from(self.name("gate"));
        let gate = Gate::permission(id, tool.call().clone());
        Ok(self.wait_at(gate).await?.into())
    }

    /// Asks the user the questions of a form, introduced by a line of text, and
    /// waits for the answers. [`ask`](Self::ask) makes the form of a type.
    ///
    /// # Errors
    ///
    /// [`ClientCallError::Unsupported`] if the client shows no forms, any other
    /// error if the turn was cancelled or the client is gone.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the questions are withdrawn.
    pub async fn ask_form(
        &self,
        message: impl Into<String>,
        form: UserForm,
    ) -> Result<UserAnswer, TurnError> {
        form.check()?;
        if !self.setup().client.forms {
            return Err(ClientCallError::Unsupported.into());
        }
        let id = GateId::from(self.name("gate"));
        let gate = Gate::form(id, message, form);
        Ok(self.wait_at(gate).await?.into())
    }

    /// Sends the user to an address, says why, and waits until the user is on
    /// the way. Call [`AddressVisit::done`] when all is done there.
    ///
    /// # Errors
    ///
    /// As [`ask_form`](Self::ask_form).
    ///
    /// # Cancel safety
    ///
    /// If dropped, the question is withdrawn.
    pub async fn send_to(
        &self,
        message: impl Into<String>,
        url: OpenUrl,
    ) -> Result<Option<AddressVisit<'_>>, TurnError> {
        if !self.setup().client.urls {
            return Err(ClientCallError::Unsupported.into());
        }
        let id = GateId::from(self.name("gate"));
        let gate = Gate::open_url(id.clone(), message, url);
        let is_open = self.wait_at(gate).await? == GateAnswer::Opened;
        Ok(is_open.then_some(AddressVisit { turn: self, id }))
    }

    /// Waits for an answer of the client until the turn is
    /// cancelled.
    pub(in crate::kit) async fn while_wanted<T>(
        &self,
        work: impl Future<Output = Result<T, ClientCallError>>,
    ) -> Result<T, ClientCallError> {
        let answer = self.run_until_cancelled(work).await;
        answer.unwrap_or(Err(ClientCallError::Cancelled))
    }

    /// Opens a gate and waits for its answer.
    pub(in crate::kit) async fn wait_at(&self, gate: Gate) -> Result<GateAnswer, TurnError> {
        let mut open = OpenGate {
            turn: self,
            id: gate.id.clone(),
            answer: self.session().gates.open(gate.id.clone()),
        };
        self.send(EventBody::GateOpened(Box::new(gate))).await?;
        // The user may take long; what came before is safe meanwhile.
        self.save().await?;
        let answer = self.run_until_cancelled(&mut open.answer).await?;
        // The other end is dropped only with the session.
        answer.map_err(|_| TurnError::cancelled())
    }

    /// Lets the client run a command. It ends when the handle is dropped. A tool
    /// shows it by [`ToolContent::Terminal`](acp_host::ToolContent::Terminal).
    ///
    /// # Errors
    ///
    /// [`ClientCallError::Unsupported`] if the client did not say that it can;
    /// otherwise what became of the question.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the terminal is released as soon as there is one.
    pub async fn terminal(
        &self,
        request: CreateTerminal,
    ) -> Result<RunningCommand<'_>, ClientCallError> {
        let terminal = self.while_wanted(self.link().create_terminal(request));
        let terminal = terminal.await?;
        Ok(RunningCommand::new(self, terminal))
    }

    /// Reads a text file of the client, unsaved text of its editors included.
    ///
    /// # Errors
    ///
    /// [`ClientCallError::Unsupported`] if the client did not say that it can;
    /// otherwise what became of the question.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the client learns that the text is not wanted.
    pub async fn read_text_file(&self, path: impl AsRef<Path>) -> Result<String, ClientCallError> {
        self.read_part_of_text_file(ReadTextFile::new(path.as_ref()))
            .await
    }

    /// Reads some lines of a text file of the client.
    ///
    /// # Errors
    ///
    /// As [`read_text_file`](Self::read_text_file).
    ///
    /// # Cancel safety
    ///
    /// As [`read_text_file`](Self::read_text_file).
    pub async fn read_part_of_text_file(
        &self,
        part: ReadTextFile,
    ) -> Result<String, ClientCallError> {
        self.while_wanted(self.link().read_text_file(part)).await
    }

    /// Writes all of a text file of the client.
    ///
    /// # Errors
    ///
    /// As [`read_text_file`](Self::read_text_file).
    ///
    /// # Cancel safety
    ///
    /// If dropped, the client learns that the answer is not wanted; it may have written
    /// the file.
    pub async fn write_text_file(
        &self,
        path: impl AsRef<Path>,
        text: impl Into<String>,
    ) -> Result<(), ClientCallError> {
        let request = WriteTextFile::new(path.as_ref(), text);
        self.while_wanted(self.link().write_text_file(request))
            .await
    }
}

/// A user who is on the way to an address.
#[derive(Debug)]
#[must_use = "the client waits until all is done"]
pub struct AddressVisit<'t> {
    turn: &'t Turn,
    id: GateId,
}

impl AddressVisit<'_> {
    /// Reports that all is done at the address.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    pub async fn done(self) -> Result<(), TurnError> {
        self.turn.send(EventBody::GateResolved(self.id)).await
    }
}

/// A gate at which a turn waits; dropped before it is answered, it is withdrawn.
struct OpenGate<'t> {
    turn: &'t Turn,
    id: GateId,
    answer: oneshot::Receiver<GateAnswer>,
}

impl Drop for OpenGate<'_> {
    fn drop(&mut self) {
        if self.turn.session().gates.close(&self.id) {
            self.turn.send_now(EventBody::GateResolved(self.id.clone()));
        }
    }
}
