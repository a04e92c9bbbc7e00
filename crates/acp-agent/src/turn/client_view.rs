//! The client's view of a session: what it can show, and what it has been sent
//! about the session as a whole.

use std::sync::Arc;

use acp_host::{ClientFeatures, EventBody, Gate, GateKind, SessionInfo, SlashCommand};
use acp_protocol::{
    Patch,
    v1::{self, SessionUpdate},
};

use crate::wire::{self, rfc3339};

/// The most events that wait for the client to learn of the session. A host
/// reports its commands, its title and its options then.
const MAX_HELD: usize = 64;

/// Abilities of the client that matter to a session, and the state it was last sent.
#[derive(Debug, Default)]
pub(crate) struct ClientView {
    client: Arc<ClientFeatures>,
    /// The command with which the user shortens the conversation is offered.
    compact_command: bool,
    commands_sent: bool,
    /// What was sent last.
    info: SessionInfo,
    /// Sending it failed, so that the client may know something else.
    is_title_lost: bool,
    is_time_lost: bool,
    /// The client does not know the session yet: events of it wait.
    held: Option<Vec<HeldEvent>>,
}

/// An event that waits for the client to learn of the session.
#[derive(Debug)]
pub(crate) struct HeldEvent {
    pub(crate) number: u64,
    pub(crate) updates: Vec<SessionUpdate>,
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

    /// Holds updates back if the client does not know the session yet; else gives
    /// them back.
    ///
    /// # Errors
    ///
    /// The updates, if too many wait already.
    pub(crate) fn hold(
        &mut self,
        number: u64,
        updates: Vec<SessionUpdate>,
    ) -> Result<Vec<SessionUpdate>, Vec<SessionUpdate>> {
        match &mut self.held {
            Some(held) if held.len() < MAX_HELD => {
                held.push(HeldEvent { number, updates });
                Ok(Vec::new())
            }
            Some(_) => Err(updates),
            None => Ok(updates),
        }
    }

    /// Gives what was held back; from now on nothing is.
    pub(crate) fn release(&mut self) -> Vec<HeldEvent> {
        self.held.take().unwrap_or_default()
    }

    /// Forgets an update that was not sent after all.
    pub(crate) fn forget(&mut self, update: &SessionUpdate) {
        match update {
            SessionUpdate::SessionInfoUpdate(info) => {
                self.is_title_lost |= !matches!(info.title, Patch::Keep);
                self.is_time_lost |= !matches!(info.updated_at, Patch::Keep);
            }
            SessionUpdate::AvailableCommandsUpdate(_) => self.commands_sent = false,
            _ => {}
        }
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

    /// The updates of an event that means the same inside and outside of turns.
    pub(crate) fn updates(&mut self, body: EventBody) -> Vec<SessionUpdate> {
        let update = match body {
            EventBody::PlanChanged(entries) => wire::plan(entries).into(),
            EventBody::ContextMeasured(measured) => {
                let mut update = v1::UsageUpdate::new(measured.used, measured.limit);
                let cost = measured.cost;
                update.cost = cost.map(|cost| v1::Cost::new(cost.amount, cost.currency));
                update.into()
            }
            EventBody::CommandsChanged(commands) => self.commands(commands),
            EventBody::ConfigChanged(options) => {
                let mode = wire::mode_state(&options);
                let mode = mode.map(|state| v1::CurrentModeUpdate::new(state.current_mode_id));
                let options = wire::config_options(options, self.client.boolean_options);
                let mut updates = vec![v1::ConfigOptionUpdate::new(options).into()];
                updates.extend(mode.map(SessionUpdate::from));
                return updates;
            }
            EventBody::InfoChanged(info) => return self.info(info).into_iter().collect(),
            EventBody::Noticed(notice) if self.client.notices => wire::notice(*notice).into(),
            EventBody::Compacting(compaction) if self.client.compaction => {
                wire::compaction(*compaction)
            }
            _ => return Vec::new(),
        };
        vec![update]
    }

    /// Offers the agent's own command, unless the host has offered its commands.
    pub(crate) fn own_commands(&mut self) -> Vec<SessionUpdate> {
        if self.compact_command && !self.commands_sent {
            vec![self.commands(Vec::new())]
        } else {
            Vec::new()
        }
    }

    fn commands(&mut self, commands: Vec<SlashCommand>) -> SessionUpdate {
        self.commands_sent = true;
        let own = self
            .compact_command
            .then(|| SlashCommand::new("compact", "Shorten the conversation so far"));
        let all = own.into_iter().chain(commands).map(wire::command);
        v1::AvailableCommandsUpdate::new(all).into()
    }

    fn info(&mut self, info: SessionInfo) -> Option<SessionUpdate> {
        let mut update = v1::SessionInfoUpdate::new();
        let has_title = std::mem::take(&mut self.is_title_lost) || info.title != self.info.title;
        if has_title {
            update.title = info.title.clone().map_or(Patch::Clear, Patch::Set);
        }
        let has_time =
            std::mem::take(&mut self.is_time_lost) || info.updated_at != self.info.updated_at;
        if has_time {
            let time = info.updated_at.and_then(rfc3339);
            update.updated_at = time.map_or(Patch::Clear, Patch::Set);
        }
        self.info = info;
        (has_title || has_time).then(|| update.into())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn show(updates: Vec<SessionUpdate>) -> String {
        serde_json::to_string(&updates).unwrap()
    }

    #[test]
    fn only_changes_of_the_title_are_sent() {
        let mut view = ClientView::default();
        let mut check = |info: SessionInfo, want: &str| {
            assert_eq!(show(view.updates(EventBody::InfoChanged(info))), want);
        };
        let noon = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        check(SessionInfo::new(), "[]");
        let titled = SessionInfo::new().with_title("Notes");
        check(
            titled.clone(),
            r#"[{"sessionUpdate":"session_info_update","title":"Notes"}]"#,
        );
        check(titled.clone(), "[]");
        check(
            titled.with_updated_at(noon),
            r#"[{"sessionUpdate":"session_info_update","updatedAt":"2023-11-14T22:13:20Z"}]"#,
        );
        check(
            SessionInfo::new().with_updated_at(noon),
            r#"[{"sessionUpdate":"session_info_update","title":null}]"#,
        );
        check(
            SessionInfo::new(),
            r#"[{"sessionUpdate":"session_info_update","updatedAt":null}]"#,
        );
    }

    #[test]
    fn lost_updates_are_sent_again() {
        let mut view = ClientView::default();
        let send = |view: &mut ClientView| {
            let info = SessionInfo::new().with_title("Notes");
            view.updates(EventBody::InfoChanged(info))
        };
        let lost = send(&mut view);
        assert!(send(&mut view).is_empty());
        view.forget(&lost[0]);
        let again = send(&mut view);
        assert!(
            show(again).contains(r#""title":"Notes"}"#),
            "only the title"
        );
        assert!(send(&mut view).is_empty());
        // The client may know the lost title, so its end is sent explicitly.
        view.forget(&lost[0]);
        let none = view.updates(EventBody::InfoChanged(SessionInfo::new()));
        assert!(show(none).contains(r#""title":null"#));

        let mut view = ClientView {
            compact_command: true,
            ..ClientView::default()
        };
        let lost = view.own_commands();
        assert!(view.own_commands().is_empty());
        view.forget(&lost[0]);
        assert_eq!(view.own_commands().len(), 1);
    }

    #[test]
    fn held_events_are_bounded() {
        let mut view = ClientView::new(Arc::default(), false, true);
        for number in 0..1000 {
            let held = view.hold(number, Vec::new());
            assert_eq!(held.is_ok(), number < 64);
        }
        let held = view.release();
        assert_eq!(held.len(), MAX_HELD);
        assert!(held.iter().map(|held| held.number).eq(0..64));
        assert!(view.hold(0, Vec::new()).is_ok());
    }
}
