//! Tool calls of a turn.

use std::path::PathBuf;

use acp_host::{
    Diff, EventBody, Json, ToolCall, ToolContent, ToolEnd, ToolKind, ToolLocation, ToolProgress,
};
use serde::Serialize;

use crate::kit::{Turn, TurnError};

/// A tool call that the client does not know yet; made by [`Turn::tool`].
#[derive(Debug)]
#[must_use = "a tool call is known once it is announced or started"]
pub struct ToolDraft<'t> {
    turn: &'t Turn,
    call: ToolCall,
}

impl<'t> ToolDraft<'t> {
    pub(in crate::kit) fn new(turn: &'t Turn, call: ToolCall) -> Self {
        Self { turn, call }
    }

    /// Sorts it; clients choose icons and permissions by it.
    pub fn kind(mut self, kind: ToolKind) -> Self {
        self.call = self.call.with_kind(kind);
        self
    }

    /// Names a file that it touches, by its absolute path.
    pub fn location(mut self, path: impl Into<PathBuf>) -> Self {
        self.call = self.call.with_location(ToolLocation::new(path));
        self
    }

    /// Names a place in a file that it touches.
    pub fn at(mut self, location: ToolLocation) -> Self {
        self.call = self.call.with_location(location);
        self
    }

    /// Adds its arguments.
    ///
    /// # Errors
    ///
    /// When they cannot be written as JSON.
    pub fn input(mut self, input: &impl Serialize) -> Result<Self, TurnError> {
        self.call = self.call.with_input(Json::from_value(input)?);
        Ok(self)
    }

    /// Shows the change that it is going to make.
    pub fn diff(self, diff: Diff) -> Self {
        self.show(ToolContent::Diff(diff))
    }

    /// Shows something before it runs.
    pub fn show(mut self, content: ToolContent) -> Self {
        self.call = self.call.with_content(content);
        self
    }

    /// Announces it to the client, before it runs.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: if dropped, nothing was sent.
    pub async fn announce(self) -> Result<RunningTool<'t>, TurnError> {
        self.send(EventBody::ToolRequested).await
    }

    /// Reports that it runs.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: if dropped, nothing was sent.
    pub async fn start(self) -> Result<RunningTool<'t>, TurnError> {
        self.send(EventBody::ToolStarted).await
    }

    async fn send(
        self,
        body: impl FnOnce(Box<ToolCall>) -> EventBody,
    ) -> Result<RunningTool<'t>, TurnError> {
        let Self { turn, call } = self;
        turn.send(body(Box::new(call.clone()))).await?;
        turn.tools().insert(call.id.clone());
        Ok(RunningTool { turn, call })
    }
}

/// A tool call that the client knows.
///
/// One that is dropped without an end is reported as failed when the turn ends.
#[derive(Debug)]
pub struct RunningTool<'t> {
    turn: &'t Turn,
    call: ToolCall,
}

impl RunningTool<'_> {
    /// What the client knows of it.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// Reports that it runs.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: if dropped, nothing was sent.
    pub async fn start(&self) -> Result<(), TurnError> {
        self.turn
            .send(EventBody::ToolStarted(Box::new(self.call.clone())))
            .await
    }

    /// Replaces what it shows.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: if dropped, nothing was sent.
    pub async fn show(&self, content: Vec<ToolContent>) -> Result<(), TurnError> {
        let progress = ToolProgress::new(self.call.id.clone()).with_content(content);
        self.turn
            .send(EventBody::ToolProgressed(Box::new(progress)))
            .await
    }

    /// Ends it well, and shows what came of it in place of what it showed.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the end may not have been sent; the turn then reports the
    /// tool as failed.
    pub async fn complete(self, content: Vec<ToolContent>) -> Result<(), TurnError> {
        self.end(ToolEnd::completed(self.call.id.clone()), content)
            .await
    }

    /// Ends it well, as [`complete`](Self::complete) does, and adds what it
    /// returned, as it is.
    ///
    /// # Errors
    ///
    /// As [`complete`](Self::complete), and if it cannot be written as JSON.
    ///
    /// # Cancel safety
    ///
    /// As [`complete`](Self::complete).
    pub async fn complete_with(
        self,
        content: Vec<ToolContent>,
        output: &impl Serialize,
    ) -> Result<(), TurnError> {
        let end = ToolEnd::completed(self.call.id.clone());
        let end = end.with_output(Json::from_value(output)?);
        self.end(end, content).await
    }

    /// Ends it badly: it failed, or was not allowed.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    ///
    /// # Cancel safety
    ///
    /// As [`complete`](Self::complete).
    pub async fn fail(self, why: impl Into<String>) -> Result<(), TurnError> {
        let content = vec![ToolContent::text(why)];
        self.end(ToolEnd::failed(self.call.id.clone()), content)
            .await
    }

    async fn end(&self, mut end: ToolEnd, content: Vec<ToolContent>) -> Result<(), TurnError> {
        end.content = content;
        self.turn
            .send_even_if_cancelled(EventBody::ToolCompleted(Box::new(end)))
            .await?;
        self.turn.tools().remove(&self.call.id);
        Ok(())
    }
}
