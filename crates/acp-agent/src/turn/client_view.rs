//! What a client shows, and what it was told about a session as a whole.

use acp_host::{ClientFeatures, Command, CompactionStatus, EventBody, Gate, GateKind, SessionInfo};
use acp_protocol::{
    Patch,
    v1::{self, SessionUpdate},
};

use crate::{turn::sent::SentMark, turn::translator::Updates, wire, wire::rfc3339};

/// The most updates that wait for the client to learn of the session. A host
/// tells its commands, its title and its options then; more is not expected.
const MAX_HELD: usize = 64;

/// What the client shows of a session, and what it knows already.
#[derive(Debug, Default)]
pub(crate) struct ClientView {
    forms: bool,
    urls: bool,
    notices: bool,
    compaction: bool,
    booleans: bool,
    /// The command with which the user shortens the conversation is offered.
    compact_command: bool,
    commands_told: bool,
    /// What was told last.
    info: SessionInfo,
    /// Whether telling it failed, so that the client may know something else.
    is_title_lost: bool,
    is_time_lost: bool,
    /// The client does not know the session yet: what concerns it waits.
    held: Option<Vec<Held>>,
}

/// An update that waits for the client to learn of the session.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) number: u64,
    pub(crate) updates: Updates,
}

impl ClientView {
    pub(crate) fn new(client: &ClientFeatures, compact_command: bool) -> Self {
        Self {
            forms: client.forms,
            urls: client.urls,
            notices: client.notices,
            compaction: client.compaction,
            booleans: client.boolean_options,
            compact_command,
            ..Self::default()
        }
    }

    /// Holds back what is told until [`release`](Self::release).
    pub(crate) fn hold(mut self) -> Self {
        self.held = Some(Vec::new());
        self
    }

    /// Keeps updates back if the client does not know the session yet.
    ///
    /// # Errors
    ///
    /// The updates, if no more of them are kept.
    pub(crate) fn keep_back(
        &mut self,
        number: u64,
        updates: Updates,
    ) -> Result<Option<Updates>, Updates> {
        match &mut self.held {
            Some(held) if held.len() < MAX_HELD => {
                held.push(Held { number, updates });
                Ok(None)
            }
            Some(_) => Err(updates),
            None => Ok(Some(updates)),
        }
    }

    /// Forgets what was taken as told and was not.
    pub(crate) fn forget(&mut self, memory: &SentMark) {
        match memory {
            SentMark::Info { title, updated_at } => {
                self.is_title_lost |= title;
                self.is_time_lost |= updated_at;
            }
            SentMark::Commands => self.commands_told = false,
            _ => {}
        }
    }

    /// Gives what was held back; from now on nothing is.
    pub(crate) fn release(&mut self) -> Vec<Held> {
        self.held.take().unwrap_or_default()
    }

    /// Whether the client can be asked at a gate.
    pub(crate) fn can_ask(&self, gate: &Gate) -> bool {
        match &gate.kind {
            GateKind::Permission { controls, .. } => !controls.is_empty(),
            GateKind::Form { form, .. } => self.forms && form.check().is_ok(),
            GateKind::OpenUrl { .. } => self.urls,
            _ => false,
        }
    }

    /// Whether the client shows notices.
    pub(crate) fn has_notices(&self) -> bool {
        self.notices
    }

    /// Tells what means the same inside and outside of turns.
    pub(crate) fn tell(&mut self, body: EventBody) -> Updates {
        match body {
            EventBody::PlanChanged(entries) => Updates::One(wire::plan(entries).into()),
            EventBody::ContextMeasured(measured) => {
                let mut update = v1::UsageUpdate::new(measured.used, measured.limit);
                update.cost = measured
                    .cost
                    .map(|cost| v1::Cost::new(cost.amount, cost.currency));
                Updates::One(update.into())
            }
            EventBody::CommandsChanged(commands) => Updates::One(self.commands(commands)),
            EventBody::ConfigChanged(options) => {
                let mode = wire::mode_state(&options);
                let mode = mode.map(|state| v1::CurrentModeUpdate::new(state.current_mode_id));
                let options = wire::config_options(options, self.booleans);
                let mut updates = vec![v1::ConfigOptionUpdate::new(options).into()];
                updates.extend(mode.map(SessionUpdate::from));
                Updates::Many(updates)
            }
            EventBody::InfoChanged(info) => self.info(info).into(),
            EventBody::Noticed(notice) if self.notices => {
                Updates::One(wire::notice(*notice).into())
            }
            EventBody::Compacting(compaction) if self.compaction => {
                let id = compaction.id;
                Updates::One(match compaction.status {
                    CompactionStatus::Summary(block) => {
                        v1::CompactionSummaryChunk::new(id, wire::block(block)).into()
                    }
                    status => wire::compaction(id, status).into(),
                })
            }
            _ => Updates::Nothing,
        }
    }

    /// Tells of the agent's own command, unless the host has told its commands.
    pub(crate) fn own_commands(&mut self) -> Updates {
        if self.compact_command && !self.commands_told {
            Updates::One(self.commands(Vec::new()))
        } else {
            Updates::Nothing
        }
    }

    fn commands(&mut self, commands: Vec<Command>) -> SessionUpdate {
        self.commands_told = true;
        let own = self
            .compact_command
            .then(|| Command::new("compact", "Shorten the conversation so far"));
        let all = own.into_iter().chain(commands).map(wire::command);
        v1::AvailableCommandsUpdate::new(all).into()
    }

    fn info(&mut self, info: SessionInfo) -> Option<SessionUpdate> {
        let mut update = v1::SessionInfoUpdate::new();
        let is_title_news =
            std::mem::take(&mut self.is_title_lost) || info.title != self.info.title;
        if is_title_news {
            update.title = info.title.clone().map_or(Patch::Clear, Patch::Set);
        }
        let is_time_news =
            std::mem::take(&mut self.is_time_lost) || info.updated_at != self.info.updated_at;
        if is_time_news {
            let time = info.updated_at.and_then(rfc3339);
            update.updated_at = time.map_or(Patch::Clear, Patch::Set);
        }
        self.info = info;
        (is_title_news || is_time_news).then(|| update.into())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn show(told: Updates) -> String {
        let updates = match told {
            Updates::Nothing => Vec::new(),
            Updates::One(update) => vec![update],
            Updates::Many(updates) => updates,
        };
        serde_json::to_string(&updates).unwrap()
    }

    #[test]
    fn only_news_of_the_title_are_told() {
        let mut shown = ClientView::default();
        let mut check = |info: SessionInfo, want: &str| {
            assert_eq!(show(shown.tell(EventBody::InfoChanged(info))), want);
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
    fn what_could_not_be_told_is_told_again() {
        let mut shown = ClientView::default();
        let tell = |shown: &mut ClientView| {
            let info = SessionInfo::new().with_title("Notes");
            shown.tell(EventBody::InfoChanged(info))
        };
        let Updates::One(lost) = tell(&mut shown) else {
            panic!("a title is news")
        };
        assert!(matches!(tell(&mut shown), Updates::Nothing));
        shown.forget(&SentMark::of(&lost));
        let again = tell(&mut shown);
        assert!(
            show(again).contains(r#""title":"Notes"}"#),
            "only the title"
        );
        assert!(matches!(tell(&mut shown), Updates::Nothing));
        // The client may know the lost title, so its end is told explicitly.
        shown.forget(&SentMark::of(&lost));
        let none = shown.tell(EventBody::InfoChanged(SessionInfo::new()));
        assert!(show(none).contains(r#""title":null"#));

        let mut shown = ClientView {
            compact_command: true,
            ..ClientView::default()
        };
        let Updates::One(lost) = shown.own_commands() else {
            panic!("they were not told")
        };
        assert!(matches!(shown.own_commands(), Updates::Nothing));
        shown.forget(&SentMark::of(&lost));
        assert!(matches!(shown.own_commands(), Updates::One(_)));
    }

    #[test]
    fn what_is_held_back_is_bounded() {
        let mut shown = ClientView::default().hold();
        for number in 0..1000 {
            let kept = shown.keep_back(number, Updates::Nothing);
            assert_eq!(kept.is_ok(), number < 64);
        }
        let held = shown.release();
        assert_eq!(held.len(), MAX_HELD);
        assert!(held.iter().map(|held| held.number).eq(0..64));
        assert!(matches!(shown.keep_back(0, Updates::Nothing), Ok(Some(_))));
    }
}
