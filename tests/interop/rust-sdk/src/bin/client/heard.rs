//! What the agent told, and how its questions are answered.

use std::collections::BTreeMap;
use std::process::Output;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::v1::schema::{
    ContentBlock, CreateElicitationRequest, ElicitationAcceptAction, ElicitationAction,
    ElicitationContentValue, PermissionOptionKind, RequestPermissionOutcome,
    RequestPermissionRequest, SelectedPermissionOutcome, SessionId, SessionNotification,
    SessionUpdate, TerminalExitStatus, ToolCallStatus,
};
use tokio::sync::watch;

/// What the agent told, and how its questions are answered.
#[derive(Clone, Default)]
pub(crate) struct Heard {
    pub(crate) state: Arc<Mutex<State>>,
    pub(crate) news: watch::Sender<()>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) updates: Vec<SessionNotification>,
    pub(crate) asked: usize,
    /// What was asked in forms, and what is answered; `None` declines.
    pub(crate) forms: Vec<CreateElicitationRequest>,
    pub(crate) content: Option<BTreeMap<String, ElicitationContentValue>>,
    /// Forms without an answer are cancelled, not declined.
    pub(crate) gives_up: bool,
    /// What commands wrote and how they ended, and how many were released.
    pub(crate) terminals: Vec<Output>,
    pub(crate) released: usize,
    /// The kind of option to choose; `None` cancels the question, and the turn too unless
    /// `stays` says otherwise.
    pub(crate) choice: Option<PermissionOptionKind>,
    pub(crate) stays: bool,
}

impl Heard {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, update: SessionNotification) {
        self.state().updates.push(update);
        self.news.send_replace(());
    }

    pub(crate) fn choose(&self, kind: Option<PermissionOptionKind>) {
        let mut state = self.state();
        (state.choice, state.asked) = (kind, 0);
    }

    pub(crate) fn outcome(&self, request: &RequestPermissionRequest) -> RequestPermissionOutcome {
        let mut state = self.state();
        state.asked += 1;
        let option = state
            .choice
            .as_ref()
            .and_then(|kind| request.options.iter().find(|option| option.kind == *kind));
        match option {
            Some(option) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(
                option.option_id.clone(),
            )),
            None => RequestPermissionOutcome::Cancelled,
        }
    }

    /// Fills in every form from now on, or declines it.
    pub(crate) fn fill(&self, content: Option<&[(&str, ElicitationContentValue)]>) {
        let owned =
            |(name, value): &(&str, _)| ((*name).to_owned(), ElicitationContentValue::clone(value));
        let content = content.map(|content| content.iter().map(owned).collect());
        let mut state = self.state();
        (state.content, state.forms) = (content, Vec::new());
    }

    pub(crate) fn answer(&self, form: CreateElicitationRequest) -> ElicitationAction {
        let mut state = self.state();
        state.forms.push(form);
        match state.content.clone() {
            Some(content) => {
                ElicitationAction::Accept(ElicitationAcceptAction::new().content(content))
            }
            None if state.gives_up => ElicitationAction::Cancel,
            None => ElicitationAction::Decline,
        }
    }

    pub(crate) fn exit(&self, terminal: &str) -> TerminalExitStatus {
        let state = self.state();
        let output = terminal
            .parse()
            .ok()
            .and_then(|index: usize| state.terminals.get(index));
        let code = output.and_then(|output| output.status.code());
        TerminalExitStatus::new().exit_code(code.and_then(|code| u32::try_from(code).ok()))
    }

    pub(crate) fn output(&self, terminal: &str) -> String {
        let state = self.state();
        let output = terminal
            .parse()
            .ok()
            .and_then(|index: usize| state.terminals.get(index));
        let bytes = output
            .map(|output| output.stdout.as_slice())
            .unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    }

    pub(crate) fn count(&self, session: &SessionId, is: impl Fn(&SessionUpdate) -> bool) -> usize {
        let state = self.state();
        let mine = state
            .updates
            .iter()
            .filter(|told| told.session_id == *session);
        mine.filter(|told| is(&told.update)).count()
    }

    pub(crate) fn text(&self, session: &SessionId) -> String {
        self.joined(session, |update| match update {
            SessionUpdate::AgentMessageChunk(chunk) => Some(chunk.content.clone()),
            _ => None,
        })
    }

    pub(crate) fn prompts(&self, session: &SessionId) -> String {
        self.joined(session, |update| match update {
            SessionUpdate::UserMessageChunk(chunk) => Some(chunk.content.clone()),
            _ => None,
        })
    }

    pub(crate) fn joined(
        &self,
        session: &SessionId,
        content: impl Fn(&SessionUpdate) -> Option<ContentBlock>,
    ) -> String {
        let state = self.state();
        let mine = state
            .updates
            .iter()
            .filter(|told| told.session_id == *session);
        mine.filter_map(|told| content(&told.update))
            .filter_map(|block| match block {
                ContentBlock::Text(text) => Some(text.text),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn last_tool_status(&self, session: &SessionId) -> Option<ToolCallStatus> {
        let state = self.state();
        let mine = state
            .updates
            .iter()
            .filter(|told| told.session_id == *session);
        mine.rev().find_map(|told| match &told.update {
            SessionUpdate::ToolCallUpdate(update) => update.fields.status,
            _ => None,
        })
    }

    pub(crate) async fn waits_for_text(&self, session: &SessionId) {
        let mut news = self.news.subscribe();
        while self.text(session).is_empty() && news.changed().await.is_ok() {}
    }
}
