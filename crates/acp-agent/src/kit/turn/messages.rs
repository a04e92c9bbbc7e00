//! What a turn tells its client.

use acp_host::{Block, Command, ContextUse, Delta, EventBody, Media, Notice, PlanEntry, ToolCall};

use crate::kit::{Earlier, ToolDraft, Turn, TurnError};

impl Turn {
    /// Says something.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: if dropped, the text was not told. So are all methods of a
    /// turn that tell something.
    pub async fn text(&self, text: impl Into<String>) -> Result<(), TurnError> {
        self.tell(EventBody::Delta(Delta::Text(text.into()))).await
    }

    /// Thinks aloud.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more.
    pub async fn thought(&self, text: impl Into<String>) -> Result<(), TurnError> {
        self.tell(EventBody::Delta(Delta::Thinking(text.into())))
            .await
    }

    /// Declines, in words. The turn ends as refused if these are its last words.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more.
    pub async fn refusal(&self, text: impl Into<String>) -> Result<(), TurnError> {
        self.tell(EventBody::Delta(Delta::Refusal(text.into())))
            .await
    }

    /// Shows a picture, as a part of the answer.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more.
    pub async fn image(&self, image: Media) -> Result<(), TurnError> {
        self.show(Block::Image(image)).await
    }

    /// Shows something as a part of the answer: a picture, a sound, a link, a
    /// file as a whole, or a text.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more.
    pub async fn show(&self, block: Block) -> Result<(), TurnError> {
        match block {
            Block::Text(text) => self.text(text).await,
            Block::Thinking(text) => self.thought(text).await,
            Block::Refusal(text) => self.refusal(text).await,
            block => self.tell(EventBody::StepDone(vec![block])).await,
        }
    }

    /// Shows a plan, the whole of it, in place of the one before.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more.
    pub async fn plan(
        &self,
        entries: impl IntoIterator<Item = PlanEntry>,
    ) -> Result<(), TurnError> {
        self.tell(EventBody::PlanChanged(entries.into_iter().collect()))
            .await
    }

    /// Tells how much of the context is used, and what the session has cost.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more.
    pub async fn usage(&self, usage: ContextUse) -> Result<(), TurnError> {
        self.tell(EventBody::ContextMeasured(usage)).await
    }

    /// Begins to describe a tool call: the tool's own name, and what it does, in
    /// words for people.
    pub fn tool(&self, name: impl Into<String>, title: impl Into<String>) -> ToolDraft<'_> {
        ToolDraft::new(self, ToolCall::new(self.name("tool"), name, title))
    }

    /// Says what the session is about.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more, or if the title
    /// cannot be kept.
    pub async fn title(&self, title: impl Into<String>) -> Result<(), TurnError> {
        let info = self.session().set_title(title.into()).await?;
        self.tell_of_session(EventBody::InfoChanged(info)).await
    }

    /// Offers commands in the session, in place of those offered before. A
    /// prompt that uses one begins with `/name`, and comes to the handler as it
    /// is.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more.
    pub async fn commands(
        &self,
        commands: impl IntoIterator<Item = Command>,
    ) -> Result<(), TurnError> {
        let commands = commands.into_iter().collect();
        self.tell_of_session(EventBody::CommandsChanged(commands))
            .await
    }

    /// Tells the user something that is no part of the conversation, if the
    /// client shows that.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more.
    pub async fn notice(&self, notice: Notice) -> Result<(), TurnError> {
        self.tell(EventBody::Noticed(Box::new(notice))).await
    }

    /// What happened in the session before this turn; nothing if the kit has no
    /// [history](crate::kit::History).
    pub fn earlier(&self) -> Earlier {
        Earlier(self.recorder().and_then(|recorder| recorder.earlier()))
    }

    /// Tells something that concerns the session as a whole.
    pub(in crate::kit) async fn tell_of_session(&self, body: EventBody) -> Result<(), TurnError> {
        let event = self.session().event(body);
        Ok(self.link().emit(event).await?)
    }
}
