//! The settings of a session, one step after the other.

use std::collections::{BTreeMap, VecDeque};

use acp_protocol::v1::{
    SessionConfigId, SessionConfigOption, SessionConfigOptionValue, SessionModeId, SessionModeState,
};

use super::{Demand, LeftBecause, Selection, Setting, SettingError, Wanted, select, select_option};
use crate::limits::MAX_OFFERED_SHOWN;

/// What a session is to be set to.
///
/// Several sources may say it, and [`or`](Self::or) is their order: first the command line
/// or the caller, then what a session remembers, then a configuration, then the agent's row
/// of the table. Each takes its place where no stronger one says anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionSettings {
    wanted: BTreeMap<Setting, Wanted>,
    options: Vec<(String, String)>,
}

impl SessionSettings {
    /// Wants nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Wants a model. An empty name stands for none.
    #[must_use]
    pub fn with_model(self, value: impl Into<String>, demand: Demand) -> Self {
        self.with(Setting::Model, value.into(), demand)
    }

    /// Wants an effort. An empty name stands for none.
    #[must_use]
    pub fn with_effort(self, value: impl Into<String>, demand: Demand) -> Self {
        self.with(Setting::Effort, value.into(), demand)
    }

    /// Wants a mode. An empty name stands for none.
    #[must_use]
    pub fn with_mode(self, value: impl Into<String>, demand: Demand) -> Self {
        self.with(Setting::Mode, value.into(), demand)
    }

    /// Wants an option of the session at a value; see [`select_option`].
    #[must_use]
    pub fn with_option(mut self, id: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.push((id.into(), value.into()));
        self
    }

    /// Returns the model that is wanted.
    #[must_use]
    pub fn model(&self) -> Option<&Wanted> {
        self.wanted.get(&Setting::Model)
    }

    /// Wants what is missing here as a weaker source wants it.
    #[must_use]
    pub fn or(self, weaker: Self) -> Self {
        let mut options = weaker.options;
        options.retain(|(id, _)| self.options.iter().all(|(stronger, _)| stronger != id));
        options.extend(self.options);
        let mut wanted = weaker.wanted;
        wanted.extend(self.wanted);
        Self { wanted, options }
    }

    /// Tells whether it sets anything that the other does.
    #[must_use]
    pub fn sets(&self, other: &Self) -> bool {
        let option = |(id, _): &(String, String)| self.options.iter().any(|(own, _)| own == id);
        let mut settings = other.wanted.keys();
        settings.any(|setting| self.wanted.contains_key(setting))
            || other.options.iter().any(option)
    }

    /// Begins to carry it out.
    #[must_use]
    pub fn plan(&self) -> SettingPlan {
        // The model first: what efforts there are depends on it.
        let settings = self.wanted.clone().into_iter();
        let left = settings
            .map(|(setting, wanted)| Wish::Setting(setting, wanted))
            .chain(self.options.iter().cloned().map(Wish::Option))
            .collect();
        SettingPlan {
            left,
            kept: Vec::new(),
        }
    }

    /// An empty value is none.
    fn with(mut self, setting: Setting, value: String, demand: Demand) -> Self {
        match value.is_empty() {
            true => self.wanted.remove(&setting),
            false => self.wanted.insert(setting, Wanted::new(value, demand)),
        };
        self
    }
}

/// One thing to ask of the agent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SettingStep {
    /// `session/set_config_option`.
    Option {
        /// The option.
        option: SessionConfigId,
        /// Its value.
        value: SessionConfigOptionValue,
    },
    /// `session/set_mode`, for agents whose modes are no configuration option.
    Mode(SessionModeId),
}

/// Carries [`SessionSettings`] out, as far as the agent's offers let it.
#[derive(Clone, Debug)]
pub struct SettingPlan {
    left: VecDeque<Wish>,
    kept: Vec<(Setting, LeftBecause)>,
}

/// One of the settings that are still to be set.
#[derive(Clone, Debug)]
enum Wish {
    Setting(Setting, Wanted),
    Option((String, String)),
}

impl SettingPlan {
    /// Returns the next step, or `None` when there is nothing more to do.
    ///
    /// `options` is the newest list: that of the session's opening at first, then that of
    /// the last answer. `modes` is what agents have that know no options for it (R161,
    /// R175).
    ///
    /// # Errors
    ///
    /// [`SettingError`] when a value cannot be had that is wanted too much to go without.
    /// The plan may be gone on with, without that one.
    pub fn next(
        &mut self,
        options: &[SessionConfigOption],
        modes: Option<&SessionModeState>,
    ) -> Result<Option<SettingStep>, SettingError> {
        while let Some(wish) = self.left.pop_front() {
            let (setting, wanted) = match wish {
                Wish::Setting(setting, wanted) => (setting, wanted),
                Wish::Option((option, value)) => match select_option(options, &option, &value)? {
                    Some((option, value)) => {
                        return Ok(Some(SettingStep::Option { option, value }));
                    }
                    None => continue,
                },
            };
            let selection = match modes {
                Some(modes) if setting == Setting::Mode => mode(options, modes, &wanted)?,
                _ => selected(select(options, setting, &wanted)?),
            };
            match selection {
                Ok(step) => return Ok(Some(step)),
                Err(kept) => self.kept.push((setting, kept)),
            }
        }
        Ok(None)
    }

    /// Returns what was left as it is so far, and why.
    #[must_use]
    pub fn kept(&self) -> &[(Setting, LeftBecause)] {
        &self.kept
    }
}

fn selected(selection: Selection) -> Result<SettingStep, LeftBecause> {
    match selection {
        Selection::Set { option, value } => Ok(SettingStep::Option {
            option,
            value: value.into(),
        }),
        Selection::Keep(kept) => Err(kept),
    }
}

/// Chooses a mode by option where there is one, or else among the modes.
fn mode(
    options: &[SessionConfigOption],
    modes: &SessionModeState,
    wanted: &Wanted,
) -> Result<Result<SettingStep, LeftBecause>, SettingError> {
    // Where there is no option, the modes decide: even what is required may go on to them.
    let demand = match wanted.demand {
        Demand::Suggest => Demand::Suggest,
        Demand::Prefer | Demand::Require => Demand::Prefer,
    };
    let by_option = select(options, Setting::Mode, &Wanted::new(&*wanted.value, demand))?;
    if by_option != Selection::Keep(LeftBecause::NoChoice) {
        return Ok(selected(by_option));
    }
    let value = &wanted.value;
    if modes.current_mode_id == **value {
        return Ok(Err(LeftBecause::Current));
    }
    let offered = &modes.available_modes;
    let found = offered
        .iter()
        .find(|mode| mode.id == **value)
        .or_else(|| offered.iter().find(|mode| mode.name == *value));
    match (found, wanted.demand) {
        (Some(mode), _) if mode.id == modes.current_mode_id => Ok(Err(LeftBecause::Current)),
        (Some(mode), _) => Ok(Ok(SettingStep::Mode(mode.id.clone()))),
        (None, Demand::Suggest) => Ok(Err(LeftBecause::NotOffered)),
        (None, Demand::Prefer | Demand::Require) => Err(SettingError::NotOffered {
            setting: Setting::Mode,
            value: value.clone(),
            offered: offered
                .iter()
                .take(MAX_OFFERED_SHOWN)
                .map(|mode| acp_text::one_line(mode.id.as_str(), 80))
                .collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn option(id: &str, current: &str, values: &[&str]) -> Value {
        let values: Vec<_> = values
            .iter()
            .map(|value| json!({"value": value, "name": value}))
            .collect();
        json!({"id": id, "name": id, "type": "select", "currentValue": current, "options": values})
    }

    fn options(json: &[Value]) -> Vec<SessionConfigOption> {
        json.iter()
            .map(|option| serde_json::from_value(option.clone()).unwrap())
            .collect()
    }

    fn modes() -> SessionModeState {
        serde_json::from_value(json!({"currentModeId": "auto", "availableModes":
            [{"id": "auto", "name": "Auto"}, {"id": "ask", "name": "Ask first"}]}))
        .unwrap()
    }

    fn shown(step: Result<Option<SettingStep>, SettingError>) -> String {
        match step {
            Ok(Some(SettingStep::Option { option, value, .. })) => {
                let SessionConfigOptionValue::ValueId(value) = value else {
                    panic!("{value:?}")
                };
                format!("{}={}", option.as_str(), value.as_str())
            }
            Ok(Some(SettingStep::Mode(mode))) => format!("mode {}", mode.as_str()),
            Ok(None) => "done".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn effort_is_chosen_from_the_list_that_the_model_brought() {
        let settings = SessionSettings::new()
            .with_effort("max", Demand::Require)
            .with_model("large", Demand::Require);
        let mut plan = settings.plan();
        let before = options(&[
            option("model", "small", &["small", "large"]),
            option("effort", "low", &["low"]),
        ]);
        assert_eq!(shown(plan.next(&before, None)), "model=large");
        let after = options(&[
            option("model", "large", &["small", "large"]),
            option("effort", "low", &["low", "max"]),
        ]);
        assert_eq!(shown(plan.next(&after, None)), "effort=max");
        assert_eq!(shown(plan.next(&after, None)), "done");
        assert_eq!(plan.kept(), []);
    }

    #[test]
    fn nothing_is_asked_for_what_is_so_already() {
        let settings = SessionSettings::new()
            .with_model("small", Demand::Require)
            .with_effort("high", Demand::Prefer)
            .with_mode("", Demand::Require);
        let mut plan = settings.plan();
        let offered = options(&[option("model", "small", &["small"])]);
        assert_eq!(shown(plan.next(&offered, None)), "done");
        let kept = [
            (Setting::Model, LeftBecause::Current),
            (Setting::Effort, LeftBecause::NoChoice),
        ];
        assert_eq!(plan.kept(), kept);
    }

    #[test]
    fn modes_are_taken_where_there_is_no_option_for_them() {
        let step = |options: &[_], value: &str, demand| {
            let settings = SessionSettings::new().with_mode(value, demand);
            shown(settings.plan().next(options, Some(&modes())))
        };
        let by_option = options(&[option("mode", "auto", &["auto", "plan"])]);
        assert_eq!(step(&[], "ask", Demand::Require), "mode ask");
        assert_eq!(step(&[], "Ask first", Demand::Prefer), "mode ask");
        assert_eq!(step(&[], "auto", Demand::Require), "done");
        assert_eq!(step(&[], "Auto", Demand::Require), "done");
        assert_eq!(step(&by_option, "plan", Demand::Require), "mode=plan");
        assert_eq!(
            step(&by_option, "ask", Demand::Prefer),
            "set the mode to \"ask\": the agent offers auto, plan"
        );
        assert_eq!(step(&by_option, "ask", Demand::Suggest), "done");
        assert_eq!(step(&[], "fly", Demand::Suggest), "done");
        assert_eq!(
            step(&[], "fly", Demand::Prefer),
            "set the mode to \"fly\": the agent offers auto, ask"
        );
        let settings = SessionSettings::new().with_mode("fly", Demand::Require);
        assert_eq!(
            shown(settings.plan().next(&[], None)),
            "set the mode to \"fly\": the agent has no choice of mode"
        );
    }

    #[test]
    fn one_that_cannot_be_had_does_not_end_the_plan() {
        let settings = SessionSettings::new()
            .with_model("x", Demand::Require)
            .with_mode("ask", Demand::Require);
        let mut plan = settings.plan();
        assert!(plan.next(&[], Some(&modes())).is_err());
        assert_eq!(shown(plan.next(&[], Some(&modes()))), "mode ask");
    }
}
