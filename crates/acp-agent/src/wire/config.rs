//! Options of a session on the wire.

use acp_host::{ConfigCategory, ConfigChoice, ConfigKind, ConfigOption, ConfigValue};
use acp_protocol::v1::{self, SessionConfigOptionCategory, SessionConfigOptionValue};

/// The two choices of a switch for clients that show none.
const ON: &str = "on";
const OFF: &str = "off";

/// All options, as the client shows them.
pub(crate) fn config_options(
    options: Vec<ConfigOption>,
    shows_switches: bool,
) -> Vec<v1::SessionConfigOption> {
    options
        .into_iter()
        .map(|option| config_option(option, shows_switches))
        .collect()
}

fn config_option(option: ConfigOption, shows_switches: bool) -> v1::SessionConfigOption {
    let kind: v1::SessionConfigOptionKind = match option.kind {
        ConfigKind::Switch { is_on } if shows_switches => {
            v1::SessionConfigBoolean::new(is_on).into()
        }
        ConfigKind::Switch { is_on } => {
            let choices = [
                v1::SessionConfigSelectOption::new(OFF, "Off"),
                v1::SessionConfigSelectOption::new(ON, "On"),
            ];
            let current = if is_on { ON } else { OFF };
            v1::SessionConfigSelect::new(current, choices.to_vec()).into()
        }
        ConfigKind::Select {
            current, choices, ..
        } => v1::SessionConfigSelect::new(current, select_options(choices)).into(),
    };
    let mut wire = v1::SessionConfigOption::new(option.id, option.name, kind);
    wire.description = option.description;
    wire.category = option.category.map(category);
    wire
}

fn select_options(choices: Vec<ConfigChoice>) -> v1::SessionConfigSelectOptions {
    if choices.iter().all(|choice| choice.group.is_none()) {
        let options: Vec<_> = choices.into_iter().map(select_option).collect();
        return options.into();
    }
    let mut groups: Vec<v1::SessionConfigSelectGroup> = Vec::new();
    for mut choice in choices {
        let name = choice.group.take().unwrap_or_default();
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.options.push(select_option(choice)),
            None => groups.push(v1::SessionConfigSelectGroup::new(
                name.clone(),
                name,
                [select_option(choice)],
            )),
        }
    }
    groups.into()
}

fn select_option(choice: ConfigChoice) -> v1::SessionConfigSelectOption {
    let mut wire = v1::SessionConfigSelectOption::new(choice.id, choice.name);
    wire.description = choice.description;
    wire
}

fn category(category: ConfigCategory) -> SessionConfigOptionCategory {
    match category {
        ConfigCategory::Mode => SessionConfigOptionCategory::Mode,
        ConfigCategory::Model => SessionConfigOptionCategory::Model,
        ConfigCategory::ModelConfig => SessionConfigOptionCategory::ModelConfig,
        ConfigCategory::ThoughtLevel => SessionConfigOptionCategory::ThoughtLevel,
        ConfigCategory::Other(name) => SessionConfigOptionCategory::Unrecognized(name.into()),
    }
}

/// The modes of a session, if it has any.
pub(crate) fn mode_state(options: &[ConfigOption]) -> Option<v1::SessionModeState> {
    let mode = options
        .iter()
        .find(|option| option.id == ConfigOption::MODE)?;
    let ConfigKind::Select {
        current, choices, ..
    } = &mode.kind
    else {
        return None;
    };
    let modes = choices.iter().map(|choice| {
        let mut wire = v1::SessionMode::new(choice.id.as_str(), choice.name.as_str());
        wire.description.clone_from(&choice.description);
        wire
    });
    Some(v1::SessionModeState::new(current.as_str(), modes))
}

/// The value that the client chose for an option, if it has this value.
pub(crate) fn config_value(
    option: &ConfigOption,
    value: SessionConfigOptionValue,
    shows_switches: bool,
) -> Option<ConfigValue> {
    let is_switch = matches!(option.kind, ConfigKind::Switch { .. });
    let value = match value {
        SessionConfigOptionValue::Boolean(value) => ConfigValue::Switch(value),
        SessionConfigOptionValue::ValueId(id) if is_switch && !shows_switches => {
            match id.as_str() {
                ON => ConfigValue::Switch(true),
                OFF => ConfigValue::Switch(false),
                _ => return None,
            }
        }
        SessionConfigOptionValue::ValueId(id) => ConfigValue::Choice(id.as_str().to_owned()),
        _ => return None,
    };
    option.accepts(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(option: ConfigOption, shows_switches: bool) -> String {
        serde_json::to_string(&config_options(vec![option], shows_switches)).unwrap()
    }

    #[test]
    fn a_switch_is_shown_as_the_client_can() {
        let web = ConfigOption::switch("web", "Web search", true);
        assert_eq!(
            show(web.clone(), true),
            r#"[{"id":"web","name":"Web search","type":"boolean","currentValue":true}]"#
        );
        let two = show(web.clone(), false);
        assert!(
            two.contains(r#""type":"select","currentValue":"on""#),
            "{two}"
        );
        let check = |value: SessionConfigOptionValue, shows, want: Option<bool>| {
            let value = config_value(&web, value, shows);
            assert_eq!(value, want.map(ConfigValue::Switch));
        };
        check(false.into(), true, Some(false));
        check("off".into(), true, None);
        check("off".into(), false, Some(false));
        check("on".into(), false, Some(true));
        check("true".into(), false, None);
    }

    #[test]
    fn choices_stand_under_their_headings() {
        let choices = vec![
            ConfigChoice::new("a", "A").with_group("Fast"),
            ConfigChoice::new("b", "B").with_group("Slow"),
            ConfigChoice::new("c", "C").with_group("Fast"),
        ];
        let shown = show(ConfigOption::select("model", "Model", "a", choices), true);
        let groups: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let names: Vec<_> = groups[0]["options"]
            .as_array()
            .unwrap()
            .iter()
            .map(|group| {
                (
                    group["name"].clone(),
                    group["options"].as_array().unwrap().len(),
                )
            })
            .collect();
        assert_eq!(names, [("Fast".into(), 2), ("Slow".into(), 1)]);
    }
}
