//! The messages of a turn to its client.

use acp_host::{
    Block, ContextUse, Delta, EventBody, Media, Notice, Offer, PlanEntry, SessionInfo,
    SlashCommand, ToolCall,
};

use crate::kit::{Earlier, ToolDraft, Turn, TurnError};

impl Turn {
    /// Sends text.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: if dropped, the text was not sent. So are all methods of a
    /// turn that send something.
    pub async fn text(&self, text: impl Into<String>) -> Result<(), TurnError> {
        self.send(EventBody::Delta(Delta::Text(text.into()))).await
    }

    /// Sends a thought.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    pub async fn thought(&self, text: impl Into<String>) -> Result<(), TurnError> {
        self.send(EventBody::Delta(Delta::Thinking(text.into())))
            .await
    }

    /// Declines, in words. The turn ends as refused if these are its last words.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    pub async fn refusal(&self, text: impl Into<String>) -> Result<(), TurnError> {
        self.send(EventBody::Delta(Delta::Refusal(text.into())))
            .await
    }

    /// Shows a picture, as a part of the answer.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    pub async fn image(&self, image: Media) -> Result<(), TurnError> {
        self.show(Block::Image(image)).await
    }

    /// Shows something as a part of the answer: a picture, a sound, a link, a
    /// file as a whole, or a text.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    pub async fn show(&self, block: Block) -> Result<(), TurnError> {
        match block {
            Block::Text(text) => self.text(text).await,
            Block::Thinking(text) => self.thought(text).await,
            Block::Refusal(text) => self.refusal(text).await,
            block => self.send(EventBody::StepDone(vec![block])).await,
        }
    }

    /// Shows a plan, the whole of it, in place of the one before.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    pub async fn plan(
        &self,
        entries: impl IntoIterator<Item = PlanEntry>,
    ) -> Result<(), TurnError> {
        self.send(EventBody::PlanChanged(entries.into_iter().collect()))
            .await
    }

    /// Reports how much of the context is used, and what the session has cost.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    pub async fn usage(&self, usage: ContextUse) -> Result<(), TurnError> {
        self.send(EventBody::ContextMeasured(usage)).await
    }

    /// Begins to describe a tool call: the tool's own name, and what it does, in
    /// words for people.
    pub fn tool(&self, name: impl Into<String>, title: impl Into<String>) -> ToolDraft<'_> {
        ToolDraft::new(self, ToolCall::new(self.name("tool"), name, title))
    }

    /// Sets the title of the session.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone, or if the title
    /// cannot be kept.
    pub async fn title(&self, title: impl Into<String>) -> Result<(), TurnError> {
        let title = title.into();
        let info = SessionInfo::new().with_title(title.as_str());
        self.send_session_event(EventBody::InfoChanged(info))
            .await?;
        // If this fails, the end of the turn takes the title back.
        Ok(self.session().set_title(title).await?)
    }

    /// Reports the title and the options once more where the client knows others than
    /// the session has: sending or storing them failed. Nothing waits for it.
    pub(in crate::kit) fn settle_session(&self) {
        let session = self.session();
        let mut bodies = vec![EventBody::InfoChanged(session.info())];
        if session.takes_unreported_options() {
            bodies.push(EventBody::ConfigChanged(session.options()));
        }
        for body in bodies {
            let offer = self.link().offer(session.event(body));
            let runtime = tokio::runtime::Handle::try_current();
            if let (Offer::Wait(rest), Ok(runtime)) = (offer, runtime) {
                runtime.spawn(rest);
            }
        }
    }

    /// Offers commands in the session, in place of those offered before. A
    /// prompt that uses one begins with `/name`, and comes to the handler as it
    /// is.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    pub async fn commands(
        &self,
        commands: impl IntoIterator<Item = SlashCommand>,
    ) -> Result<(), TurnError> {
        let commands = commands.into_iter().collect();
        self.send_session_event(EventBody::CommandsChanged(commands))
            .await
    }

    /// Notifies the user of something that is no part of the conversation, if the
    /// client shows that.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    pub async fn notice(&self, notice: Notice) -> Result<(), TurnError> {
        self.send(EventBody::Noticed(Box::new(notice))).await
    }

    /// What happened in the session before this turn; nothing if the kit has no
    /// [history](crate::kit::History).
    pub fn earlier(&self) -> Earlier {
        let earlier = self.recorder().and_then(|recorder| recorder.earlier());
        earlier.unwrap_or_default()
    }

    /// Tells something that concerns the session as a whole.
    pub(in crate::kit) async fn send_session_event(
        &self,
        body: EventBody,
    ) -> Result<(), TurnError> {
        let event = self.session().event(body);
        Ok(self.link().emit(event).await?)
    }
}
