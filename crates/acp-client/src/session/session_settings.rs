//! What is known of a session's modes and options.

use acp_protocol::json_length;
use acp_protocol::rpc::ReceiveSeq;
use acp_protocol::v1::{
    SessionConfigId, SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionKind,
    SessionConfigOptionValue, SessionConfigSelect, SessionConfigSelectOptions,
    SessionConfigValueId, SessionModeId, SessionModeState, SessionUpdate,
    SetSessionConfigOptionRequest,
};
use serde::Serialize;

use crate::error::ClientError;
use crate::limits::{MAX_ID, MAX_SETTINGS};

/// The newest modes and options, by the receive clock: answers and notifications overtake
/// each other on their way to the caller.
#[derive(Debug, Default)]
pub(super) struct SessionSettings {
    modes: Dated<SessionModeState>,
    options: Dated<Vec<SessionConfigOption>>,
}

/// A value, if there is one, and when it was received.
type Dated<T> = (Option<T>, ReceiveSeq);

/// Returns the value for change when nothing newer is known.
fn newer<T>(known: &mut Dated<T>, at: ReceiveSeq) -> Option<&mut Option<T>> {
    if at < known.1 {
        return None;
    }
    known.1 = at;
    Some(&mut known.0)
}

/// The option, and its value, by which a mode is set at this agent.
pub(super) type ModeOption = (SessionConfigId, SessionConfigValueId);

impl SessionSettings {
    /// Takes what the agent told when it opened the session, if it told anything.
    pub(super) fn opened(
        &mut self,
        modes: Option<SessionModeState>,
        options: Option<Vec<SessionConfigOption>>,
        at: ReceiveSeq,
    ) {
        if let (Some(modes), Some(known)) = (modes, newer(&mut self.modes, at)) {
            *known = within_bounds("modes", modes);
        }
        if let Some(options) = options {
            self.set_options(options, at);
        }
    }

    /// Learns from an update of the session; most say nothing about settings.
    pub(super) fn learn(&mut self, update: &SessionUpdate, at: ReceiveSeq) {
        match update {
            SessionUpdate::CurrentModeUpdate(change) => {
                self.set_mode(change.current_mode_id.clone(), at)
            }
            SessionUpdate::ConfigOptionUpdate(change) => {
                self.set_options(change.config_options.clone(), at)
            }
            _ => {}
        }
    }

    /// Notes the current mode.
    pub(super) fn set_mode(&mut self, mode: SessionModeId, at: ReceiveSeq) {
        if mode.as_str().len() > MAX_ID {
            tracing::warn!(bytes = mode.as_str().len(), "the id of a mode is too long");
            return;
        }
        if let Some(modes) = newer(&mut self.modes, at) {
            match modes {
                Some(modes) => modes.current_mode_id = mode,
                None => *modes = Some(SessionModeState::new(mode, Vec::new())),
            }
        }
    }

    /// Replaces all options.
    ///
    /// Agents that offer their modes in both ways tell of a change as an option alone, so
    /// the mode follows.
    pub(super) fn set_options(&mut self, options: Vec<SessionConfigOption>, at: ReceiveSeq) {
        let Some(known) = newer(&mut self.options, at) else {
            return;
        };
        *known = within_bounds("options", options);
        self.follow_option(at);
    }

    /// Notes the value of an option that was set.
    pub(super) fn set_value(&mut self, set: &SetSessionConfigOptionRequest, at: ReceiveSeq) {
        let Some(Some(options)) = newer(&mut self.options, at) else {
            return;
        };
        let option = options.iter_mut().find(|option| option.id == set.config_id);
        match (option.map(|option| &mut option.kind), &set.value) {
            (
                Some(SessionConfigOptionKind::Select(select)),
                SessionConfigOptionValue::ValueId(value),
            ) => select.current_value = value.clone(),
            (
                Some(SessionConfigOptionKind::Boolean(boolean)),
                SessionConfigOptionValue::Boolean(value),
            ) => boolean.current_value = *value,
            _ => {}
        }
        self.follow_option(at);
    }

    /// Takes the mode that an option has as its current value for the current one.
    fn follow_option(&mut self, at: ReceiveSeq) {
        if let Some(mode) = self.mode_by_option().cloned() {
            self.set_mode(mode, at);
        }
    }

    fn mode_by_option(&self) -> Option<&SessionModeId> {
        let modes = &self.modes()?.available_modes;
        self.mode_options().find_map(|(_, select)| {
            let current = select.current_value.as_str();
            let mode = modes.iter().find(|mode| mode.id.as_str() == current);
            mode.map(|mode| &mode.id)
        })
    }

    pub(super) fn modes(&self) -> Option<&SessionModeState> {
        self.modes.0.as_ref()
    }

    pub(super) fn options(&self) -> Option<&[SessionConfigOption]> {
        self.options.0.as_deref()
    }

    /// Finds the way to set a mode: an option of the category `mode` that has it as
    /// a value; `None` for `session/set_mode` (R161, R175).
    ///
    /// # Errors
    ///
    /// [`ClientError::UnknownMode`] when the agent has modes but not this one,
    /// [`ClientError::Unsupported`] when it has none at all.
    pub(super) fn mode_option(
        &self,
        mode: &SessionModeId,
    ) -> Result<Option<ModeOption>, ClientError> {
        let mut offered: Vec<SessionModeId> = Vec::new();
        for (config, select) in self.mode_options() {
            for value in values(select) {
                if value.as_str() == mode.as_str() {
                    return Ok(Some((config.clone(), value.clone())));
                }
                offered.push(value.as_str().into());
            }
        }
        for known in self.modes().iter().flat_map(|modes| &modes.available_modes) {
            if known.id == *mode {
                return Ok(None);
            }
            if !offered.contains(&known.id) {
                offered.push(known.id.clone());
            }
        }
        Err(match offered.is_empty() {
            true => ClientError::Unsupported {
                capability: "session modes",
            },
            false => ClientError::UnknownMode {
                mode: mode.clone(),
                offered,
            },
        })
    }

    fn mode_options(&self) -> impl Iterator<Item = (&SessionConfigId, &SessionConfigSelect)> {
        self.options()
            .unwrap_or_default()
            .iter()
            .filter(|option| option.category == Some(SessionConfigOptionCategory::Mode))
            .filter_map(|option| match &option.kind {
                SessionConfigOptionKind::Select(select) => Some((&option.id, select)),
                _ => None,
            })
    }
}

/// Keeps what the agent told, unless it is more than anybody chooses from: then nothing
/// is known of it.
fn within_bounds<T: Serialize>(what: &str, told: T) -> Option<T> {
    let bytes = json_length(&told);
    if bytes > MAX_SETTINGS {
        tracing::warn!(bytes, "the {what} of a session are too many to be kept");
        return None;
    }
    Some(told)
}

fn values(select: &SessionConfigSelect) -> Vec<&SessionConfigValueId> {
    match &select.options {
        SessionConfigSelectOptions::Ungrouped(options) => {
            options.iter().map(|option| &option.value).collect()
        }
        SessionConfigSelectOptions::Grouped(groups) => groups
            .iter()
            .flat_map(|group| &group.options)
            .map(|option| &option.value)
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acp_protocol::v1::{SessionConfigSelectOption, SessionMode};

    fn at(seq: u64) -> ReceiveSeq {
        ReceiveSeq::default().plus(seq)
    }

    fn opened(modes: SessionModeState) -> SessionSettings {
        let mut settings = SessionSettings::default();
        settings.opened(Some(modes), None, at(1));
        settings
    }

    fn current(settings: &SessionSettings) -> &str {
        settings.modes().unwrap().current_mode_id.as_str()
    }

    #[test]
    fn the_newest_word_counts_in_whatever_order_it_is_heard() {
        let modes = SessionModeState::new("a", vec![SessionMode::new("a", "A")]);
        let mut settings = opened(modes);
        settings.set_mode("c".into(), at(9));
        settings.set_mode("b".into(), at(5));
        assert_eq!(current(&settings), "c");
        settings.set_options(Vec::new(), at(5));
        assert_eq!(settings.options(), Some(&[][..]));
        assert_eq!(
            settings.modes().unwrap().available_modes.len(),
            1,
            "the list stays"
        );
    }

    #[test]
    fn the_mode_follows_an_option_that_has_it() {
        let modes = ["a", "b"].map(|id| SessionMode::new(id, id));
        let modes = SessionModeState::new("a", modes.to_vec());
        let mut settings = opened(modes);
        let option = |category, current: &str| {
            let values = ["a", "b", "c"].map(|id| SessionConfigSelectOption::new(id, id));
            let select = SessionConfigSelect::new(current, values.to_vec());
            SessionConfigOption::new("m", "Mode", select).with_category(category)
        };
        let mode = SessionConfigOptionCategory::Mode;
        settings.set_options(vec![option(mode.clone(), "b")], at(2));
        assert_eq!(current(&settings), "b");
        settings.set_options(vec![option(mode.clone(), "c")], at(3));
        assert_eq!(current(&settings), "b", "no mode is called so");
        settings.set_options(vec![option(SessionConfigOptionCategory::Model, "a")], at(4));
        assert_eq!(current(&settings), "b", "that is no mode");
        settings.set_mode("a".into(), at(6));
        settings.set_options(vec![option(mode, "b")], at(5));
        assert_eq!(current(&settings), "a", "something newer is known");
    }

    #[test]
    fn more_than_anybody_chooses_from_is_not_kept() {
        let select = |name: &str| {
            let values = vec![SessionConfigSelectOption::new("a", name)];
            vec![SessionConfigOption::new(
                "m",
                "Model",
                SessionConfigSelect::new("a", values),
            )]
        };
        let mut settings = SessionSettings::default();
        settings.set_options(select("A"), at(1));
        assert!(settings.options().is_some());
        settings.set_options(select(&"A".repeat(MAX_SETTINGS)), at(2));
        assert!(settings.options().is_none());
        let modes =
            SessionModeState::new("a", vec![SessionMode::new("a", "A".repeat(MAX_SETTINGS))]);
        settings.opened(Some(modes), None, at(3));
        assert!(settings.modes().is_none());
        settings.set_mode("m".repeat(MAX_ID + 1).into(), at(4));
        assert!(settings.modes().is_none());
    }

    #[test]
    fn a_mode_nobody_told_of_becomes_the_only_thing_known() {
        let mut settings = SessionSettings::default();
        assert!(settings.modes().is_none());
        settings.set_mode("x".into(), at(1));
        assert_eq!(current(&settings), "x");
        // It is current, but the agent offers no choice.
        assert!(matches!(
            settings.mode_option(&"x".into()),
            Err(ClientError::Unsupported { .. })
        ));
    }
}
