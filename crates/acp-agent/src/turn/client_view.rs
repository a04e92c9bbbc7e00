//! The client's view of a session: what it can show, and what it has been sent
//! about the session as a whole.

use std::sync::Arc;

use acp_host::{ClientFeatures, EmitError, EventBody, Gate, GateKind, SessionInfo, SlashCommand};
use acp_protocol::{
    Patch,
    v1::{self, SessionUpdate},
};

use super::draft::{ClientKnows, Draft, Left, PendingEvent};
use crate::wire::{self, event_meta::EventName, rfc3339};

/// The most events that wait for the client to learn of the session. A host
/// reports its commands, its title and its options then.
const MAX_HELD: usize = 64;

/// Abilities of the client that matter to a session, and the state that it knows.
#[derive(Debug, Default)]
pub(crate) struct ClientView {
    client: Arc<ClientFeatures>,
    /// The command with which the user shortens the conversation is offered.
    compact_command: bool,
    /// The client knows commands.
    knows_commands: bool,
    /// The client knows this.
    info: SessionInfo,
    /// The client does not know the session yet: events of it wait.
    held: Option<Vec<HeldEvent>>,
}

/// An event that waits for the client to learn of the session.
#[derive(Debug)]
pub(crate) struct HeldEvent {
    pub(crate) name: EventName,
    pub(crate) body: EventBody,
}

impl ClientView {
    /// With `hold`, events of the session wait until [`release`](Self::release).
    pub(crate) fn new(client: Arc<ClientFeatures>, compact_command: bool, hold: bool) -> Self {
        Self {
            client,
            compact_command,
            held: hold.then(Vec::new),
            ..Self::default()
        }
    }

    /// Holds an event back if the client does not know the session yet; else gives
    /// it back.
    ///
    /// # Errors
    ///
    /// If too many wait already.
    pub(crate) fn hold(
        &mut self,
        name: EventName,
        body: EventBody,
    ) -> Result<Option<(EventName, EventBody)>, EmitError> {
        match &mut self.held {
            Some(held) if held.len() < MAX_HELD => {
                held.push(HeldEvent { name, body });
                Ok(None)
            }
            Some(_) => Err(EmitError::NoRoom),
            None => Ok(Some((name, body))),
        }
    }

    /// Gives what was held back; from now on nothing is.
    pub(crate) fn release(&mut self) -> Vec<HeldEvent> {
        self.held.take().unwrap_or_default()
    }

    /// Whether the client can be asked at a gate.
    pub(crate) fn can_ask(&self, gate: &Gate) -> bool {
        match &gate.kind {
            GateKind::Permission { controls, .. } => !controls.is_empty(),
            GateKind::Form { form, .. } => self.client.forms && form.check().is_ok(),
            GateKind::OpenUrl { .. } => self.client.urls,
        }
    }

    /// Whether the client shows notices.
    pub(crate) fn has_notices(&self) -> bool {
        self.client.notices
    }

    /// Whether an event that means the same inside and outside of turns has an update.
    pub(crate) fn shows(&self, body: &EventBody) -> bool {
        match body {
            EventBody::PlanChanged(_)
            | EventBody::ContextMeasured(_)
            | EventBody::CommandsChanged(_)
            | EventBody::ConfigChanged(_) => true,
            EventBody::InfoChanged(info) => *info != self.info,
            EventBody::Noticed(_) => self.client.notices,
            EventBody::Compacting(_) => self.client.compaction,
            _ => false,
        }
    }

    /// The next update of an event that belongs to no turn.
    pub(crate) fn next_of(&self, event: &mut PendingEvent) -> Option<Draft> {
        let update = match &mut event.left {
            Left::Event(body) => {
                let body = body.take()?;
                return self.next(body, event);
            }
            Left::Updates(updates) => updates.next(),
            Left::Companion(update) => update.take(),
            Left::Step(_) | Left::Aside(_) => None,
        };
        Some(Draft::new(update?, ClientKnows::Nothing))
    }

    /// All updates of an event, taken for sent: for a replay, which fails as a whole.
    pub(crate) fn updates(&mut self, body: EventBody) -> Vec<SessionUpdate> {
        let mut event = PendingEvent::new(body);
        let mut updates = Vec::new();
        while let Some(draft) = self.next_of(&mut event) {
            updates.push(draft.update);
            self.sent(draft.then);
        }
        updates
    }

    /// Whether there is a [next](Self::next_of) update.
    pub(crate) fn has_next(&self, event: &PendingEvent) -> bool {
        match &event.left {
            Left::Event(body) => body.as_ref().is_some_and(|body| self.shows(body)),
            Left::Updates(updates) => !updates.as_slice().is_empty(),
            Left::Companion(update) => update.is_some(),
            Left::Step(_) | Left::Aside(_) => false,
        }
    }

    /// The next update of such an event; the rest stays in `event`.
    pub(crate) fn next(&self, body: EventBody, event: &mut PendingEvent) -> Option<Draft> {
        if !self.shows(&body) {
            return None;
        }
        let update = match body {
            EventBody::PlanChanged(entries) => wire::plan(entries).into(),
            EventBody::ContextMeasured(measured) => {
                let mut update = v1::UsageUpdate::new(measured.used, measured.limit);
                let cost = measured.cost;
                update.cost = cost.map(|cost| v1::Cost::new(cost.amount, cost.currency));
                update.into()
            }
            EventBody::CommandsChanged(commands) => {
                let commands = self.commands(commands);
                return Some(Draft::new(commands, ClientKnows::Commands));
            }
            EventBody::ConfigChanged(options) => {
                let mode = wire::mode_state(&options);
                let mode = mode.map(|state| v1::CurrentModeUpdate::new(state.current_mode_id));
                event.left = Left::Companion(mode.map(Into::into));
                let options = wire::config_options(options, self.client.boolean_options);
                v1::ConfigOptionUpdate::new(options).into()
            }
            EventBody::InfoChanged(info) => return Some(self.info(info)),
            EventBody::Noticed(notice) => wire::notice(*notice).into(),
            EventBody::Compacting(compaction) => wire::compaction(*compaction),
            _ => return None,
        };
        Some(Draft::new(update, ClientKnows::Nothing))
    }

    /// Takes note that an update was sent.
    pub(crate) fn sent(&mut self, known: ClientKnows) {
        match known {
            ClientKnows::Info(info) => self.info = info,
            ClientKnows::Commands => self.knows_commands = true,
            _ => {}
        }
    }

    /// The event that offers the agent's own command, unless commands are offered.
    pub(crate) fn own_commands(&self) -> Option<EventBody> {
        let is_commands = |held: &HeldEvent| matches!(held.body, EventBody::CommandsChanged(_));
        let waits = self.held.iter().flatten().any(is_commands);
        let is_due = self.compact_command && !self.knows_commands && !waits;
        is_due.then(|| EventBody::CommandsChanged(Vec::new()))
    }

    fn commands(&self, commands: Vec<SlashCommand>) -> v1::AvailableCommandsUpdate {
        let own = self
            .compact_command
            .then(|| SlashCommand::new("compact", "Shorten the conversation so far"));
        let all = own.into_iter().chain(commands).map(wire::command);
        v1::AvailableCommandsUpdate::new(all)
    }

    fn info(&self, info: SessionInfo) -> Draft {
        let mut update = v1::SessionInfoUpdate::new();
        if info.title != self.info.title {
            update.title = info.title.clone().map_or(Patch::Clear, Patch::Set);
        }
        if info.updated_at != self.info.updated_at {
            let time = info.updated_at.and_then(rfc3339);
            update.updated_at = time.map_or(Patch::Clear, Patch::Set);
        }
        Draft::new(update, ClientKnows::Info(info))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    /// The update of an event, and what the client knows once it is sent.
    fn draft(view: &ClientView, body: EventBody) -> Option<(String, ClientKnows)> {
        let mut event = PendingEvent::of_updates(Vec::new());
        let draft = view.next(body, &mut event)?;
        let update = serde_json::to_string(&draft.update).unwrap();
        Some((update, draft.then))
    }

    #[test]
    fn only_changes_of_the_title_are_sent() {
        let mut view = ClientView::default();
        let mut check = |info: SessionInfo, want: &str| {
            let draft = draft(&view, EventBody::InfoChanged(info));
            let (update, known) = draft.unwrap_or((String::new(), ClientKnows::Nothing));
            view.sent(known);
            assert_eq!(update, want);
        };
        let noon = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        check(SessionInfo::new(), "");
        let titled = SessionInfo::new().with_title("Notes");
        check(
            titled.clone(),
            r#"{"sessionUpdate":"session_info_update","title":"Notes"}"#,
        );
        check(titled.clone(), "");
        check(
            titled.with_updated_at(noon),
            r#"{"sessionUpdate":"session_info_update","updatedAt":"2023-11-14T22:13:20Z"}"#,
        );
        check(
            SessionInfo::new().with_updated_at(noon),
            r#"{"sessionUpdate":"session_info_update","title":null}"#,
        );
        check(
            SessionInfo::new(),
            r#"{"sessionUpdate":"session_info_update","updatedAt":null}"#,
        );
    }

    #[test]
    fn only_sent_updates_count() {
        let title = || EventBody::InfoChanged(SessionInfo::new().with_title("Notes"));
        let mut view = ClientView {
            compact_command: true,
            ..ClientView::default()
        };
        for _ in 0..2 {
            assert!(draft(&view, title()).is_some() && view.own_commands().is_some());
        }
        for body in [title(), view.own_commands().unwrap()] {
            let (_, known) = draft(&view, body).unwrap();
            view.sent(known);
        }
        assert!(draft(&view, title()).is_none() && view.own_commands().is_none());
    }

    #[test]
    fn held_events_are_bounded() {
        let mut view = ClientView::new(Arc::default(), true, true);
        let body = || EventBody::PlanChanged(Vec::new());
        for number in 0..1000 {
            let held = view.hold(EventName::Number(number), body());
            assert_eq!(held.is_ok(), number < 64);
        }
        let held = view.release();
        assert_eq!(held.len(), MAX_HELD);
        let number = |(number, held): (u64, &HeldEvent)| matches!(held.name, EventName::Number(known) if known == number);
        assert!((0..).zip(&held).all(number));
        assert!(matches!(
            view.hold(EventName::OwnCommands, body()),
            Ok(Some(_))
        ));
    }

    #[test]
    fn held_commands_are_commands() {
        let mut view = ClientView::new(Arc::default(), true, true);
        assert!(view.own_commands().is_some());
        let commands = EventBody::CommandsChanged(vec![SlashCommand::new("a", "A")]);
        view.hold(EventName::Number(0), commands).unwrap();
        assert!(view.own_commands().is_none());
    }
}
