//! What is known of a session's modes and options.

use acp_connection::Update;
use acp_protocol::Patch;
use acp_protocol::json_length;
use acp_protocol::rpc::{NewestSetting, ReceiveSeq, SettingKind};
use acp_protocol::v1::{
    AvailableCommand, SessionConfigId, SessionConfigOption, SessionConfigOptionCategory,
    SessionConfigOptionKind, SessionConfigOptionValue, SessionConfigSelect,
    SessionConfigSelectOptions, SessionConfigValueId, SessionModeId, SessionModeState,
    SessionUpdate, SetSessionConfigOptionRequest,
};
use serde::Serialize;

use super::opens::{MODEL_OPTION, OlderModels};
use crate::error::ClientError;
use crate::limits::{MAX_ID, MAX_SETTINGS};

/// The newest modes, options, commands and title, by the receive clock: answers and
/// notifications overtake each other on their way to the caller.
#[derive(Debug, Default)]
pub(super) struct SessionSettings {
    modes: Dated<SessionModeState>,
    options: Dated<Vec<SessionConfigOption>>,
    /// Of an agent that has no option for them.
    models: Dated<OlderModels>,
    commands: Dated<Vec<AvailableCommand>>,
    title: Dated<String>,
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
        models: Option<OlderModels>,
        at: ReceiveSeq,
    ) {
        if let (Some(models), Some(known)) = (models, newer(&mut self.models, at)) {
            *known = within_bounds("models", models);
        }
        if let (Some(modes), Some(known)) = (modes, newer(&mut self.modes, at)) {
            *known = within_bounds("modes", modes);
        }
        if let Some(options) = options {
            self.set_options(options, at);
        }
    }

    /// Takes in an update as it arrived. One that makes no sense changes nothing.
    pub(super) fn take(&mut self, newest: NewestSetting) {
        let at = newest.receive_seq;
        match newest.line.map(|line| Update::decode(line, at)) {
            Some(Ok(update)) => self.learn(update.update, at),
            Some(Err(_)) => {}
            None => self.forget(newest.kind, at),
        }
    }

    /// Notes that something was set to more than is kept: nothing is known of it then.
    fn forget(&mut self, kind: SettingKind, at: ReceiveSeq) {
        tracing::warn!(
            ?kind,
            "an update that sets this takes too much room to be kept"
        );
        match kind {
            SettingKind::Mode => _ = newer(&mut self.modes, at).map(Option::take),
            SettingKind::Options => _ = newer(&mut self.options, at).map(Option::take),
            SettingKind::Commands => _ = newer(&mut self.commands, at).map(Option::take),
            SettingKind::Title => _ = newer(&mut self.title, at).map(Option::take),
        }
    }

    /// Learns from an update of the session.
    fn learn(&mut self, update: SessionUpdate, at: ReceiveSeq) {
        match update {
            SessionUpdate::CurrentModeUpdate(change) => self.set_mode(change.current_mode_id, at),
            SessionUpdate::ConfigOptionUpdate(change) => {
                self.set_options(change.config_options, at);
            }
            SessionUpdate::AvailableCommandsUpdate(change) => {
                if let Some(known) = newer(&mut self.commands, at) {
                    *known = within_bounds("commands", change.available_commands);
                }
            }
            SessionUpdate::SessionInfoUpdate(change) => {
                if let (Patch::Set(_) | Patch::Clear, Some(known)) =
                    (&change.title, newer(&mut self.title, at))
                {
                    change.title.apply_to(known);
                    *known = known.take().and_then(|title| within_bounds("title", title));
                }
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

    pub(super) fn commands(&self) -> Option<&[AvailableCommand]> {
        self.commands.0.as_deref()
    }

    pub(super) fn title(&self) -> Option<&str> {
        self.title.0.as_deref()
    }

    /// Returns the options, with one that stands for the models of an older agent.
    pub(super) fn options(&self) -> Option<Vec<SessionConfigOption>> {
        let options = self.options.0.clone();
        match self.older_models() {
            None => options,
            Some(models) => {
                let mut options = options.unwrap_or_default();
                options.push(models.as_option());
                Some(options)
            }
        }
    }

    /// Returns the models that an older agent named and has no option for.
    fn older_models(&self) -> Option<&OlderModels> {
        let is_model = |option: &SessionConfigOption| {
            option.category == Some(SessionConfigOptionCategory::Model)
                || option.id.as_str() == MODEL_OPTION
        };
        let has_option = self.options.0.iter().flatten().any(is_model);
        self.models.0.as_ref().filter(|_| !has_option)
    }

    /// Tells whether an option stands for the models of an older agent.
    pub(super) fn is_older_model(&self, option: &SessionConfigId) -> bool {
        option.as_str() == MODEL_OPTION && self.older_models().is_some()
    }

    /// Notes the model that was set.
    pub(super) fn set_model(&mut self, model: &str, at: ReceiveSeq) {
        if let Some(Some(models)) = newer(&mut self.models, at) {
            models.set(model);
        }
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
        self.options
            .0
            .iter()
            .flatten()
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
        tracing::warn!(
            bytes,
            "the {what} of a session take too much room to be kept"
        );
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
        settings.opened(Some(modes), None, None, at(1));
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
        assert_eq!(settings.options(), Some(Vec::new()));
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
        settings.opened(Some(modes), None, None, at(3));
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
