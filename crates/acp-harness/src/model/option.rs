//! Choosing a value of any option, by what a person calls both.

use acp_protocol::v1::{
    SessionConfigId, SessionConfigOption, SessionConfigOptionKind, SessionConfigOptionValue,
};

use super::SettingError;
use super::select::{id_of, values};
use crate::limits::MAX_OFFERED_SHOWN;

/// Finds what is to be asked of an agent to have an option at a value; `None` when it has
/// that already.
///
/// Option and value are found by their ids, or else by the names they are shown with. What
/// is on or off is set by `true`, `on`, `yes` or their opposites.
///
/// # Errors
///
/// [`SettingError`] with what there is instead.
pub fn select_option(
    options: &[SessionConfigOption],
    option: &str,
    value: &str,
) -> Result<Option<(SessionConfigId, SessionConfigOptionValue)>, SettingError> {
    let by_id = options.iter().find(|known| id_of(known) == *option);
    let found = by_id.or_else(|| options.iter().find(|known| known.name == option));
    let Some(found) = found else {
        return Err(SettingError::NoSuchOption {
            option: option.to_owned(),
            offered: shown(options.iter().map(|known| id_of(known).as_str().to_owned())),
        });
    };
    let no_such_value = |offered| SettingError::NoSuchValue {
        option: option.to_owned(),
        value: value.to_owned(),
        offered,
    };
    let wanted = match &found.kind {
        SessionConfigOptionKind::Select(choice) => {
            let by_id = values(choice).find(|offer| offer.value == *value);
            let offer = by_id.or_else(|| values(choice).find(|offer| offer.name == value));
            let Some(offer) = offer else {
                let offered = values(choice).map(|offer| offer.value.as_str().to_owned());
                return Err(no_such_value(shown(offered)));
            };
            (offer.value != choice.current_value).then(|| offer.value.clone().into())
        }
        SessionConfigOptionKind::Boolean(switch) => {
            let wanted = match value {
                "true" | "on" | "yes" => true,
                "false" | "off" | "no" => false,
                _ => {
                    let offered = ["true", "false"].map(str::to_owned);
                    return Err(no_such_value(offered.to_vec()));
                }
            };
            (wanted != switch.current_value).then(|| wanted.into())
        }
        _ => {
            let option = option.to_owned();
            return Err(SettingError::UnknownKind { option });
        }
    };
    Ok(wanted.map(|wanted| (id_of(found), wanted)))
}

fn shown(names: impl Iterator<Item = String>) -> Vec<String> {
    names
        .take(MAX_OFFERED_SHOWN)
        .map(|name| acp_text::one_line(&name, 80))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(option: &str, value: &str, expected: &str) {
        let options: Vec<SessionConfigOption> = serde_json::from_value(json!([
            {"id": "style", "name": "Answer style", "type": "select", "currentValue": "short",
             "options": [{"value": "short", "name": "Short"}, {"value": "long", "name": "At length"}]},
            {"id": "web", "name": "Web search", "type": "boolean", "currentValue": false},
            {"id": "x", "name": "X", "type": "dial", "currentValue": 3},
        ]))
        .unwrap();
        let got = match select_option(&options, option, value) {
            Ok(Some((id, value))) => format!(
                "{} = {}",
                id.as_str(),
                serde_json::to_string(&value).unwrap()
            ),
            Ok(None) => "nothing to do".to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(got, expected);
    }

    #[test]
    fn options_and_values_are_found_by_id_or_name() {
        check("style", "long", r#"style = {"value":"long"}"#);
        check("Answer style", "At length", r#"style = {"value":"long"}"#);
        check("style", "short", "nothing to do");
        check("web", "on", r#"web = {"type":"boolean","value":true}"#);
        check("web", "false", "nothing to do");
    }

    #[test]
    fn what_is_not_there_is_told_with_what_is() {
        check(
            "colour",
            "red",
            r#"set the option "colour": the agent has style, web, x"#,
        );
        check(
            "style",
            "loud",
            r#"set the option "style" to "loud": the agent offers short, long"#,
        );
        check(
            "web",
            "maybe",
            r#"set the option "web" to "maybe": the agent offers true, false"#,
        );
        check(
            "x",
            "4",
            r#"set the option "x": it is of a kind that is not known here"#,
        );
    }
}
