//! One choice among what the agent offers.

use acp_protocol::v1::{
    SessionConfigId, SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionKind,
    SessionConfigSelect, SessionConfigSelectOption, SessionConfigSelectOptions,
    SessionConfigValueId,
};
use serde_json::Value;

use super::{Demand, LeftBecause, Setting, SettingError, Wanted};
use crate::limits::MAX_OFFERED_SHOWN;

/// What is to be done to have a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Set this option to this value.
    Set {
        /// The option.
        option: SessionConfigId,
        /// Its value.
        value: SessionConfigValueId,
    },
    /// Nothing, and why.
    Keep(LeftBecause),
}

/// Finds out what is to be done to have a value.
///
/// The option is the first choice of one among several whose category is the setting's,
/// or else whose id is (R164: a category is a hint, and may be missing). A value is found
/// by its id, or else by the name it is shown with; groups make no difference.
///
/// # Errors
///
/// [`SettingError`] when it cannot be had and the [`Demand`] does not let that pass.
pub fn select(
    options: &[SessionConfigOption],
    setting: Setting,
    wanted: &Wanted,
) -> Result<Selection, SettingError> {
    let value = &wanted.value;
    let Some((option, choice)) = find(options, setting) else {
        return match wanted.demand {
            Demand::Suggest | Demand::Prefer => Ok(Selection::Keep(LeftBecause::NoChoice)),
            Demand::Require => Err(SettingError::NoChoice {
                setting,
                value: value.clone(),
            }),
        };
    };
    if choice.current_value == **value {
        return Ok(Selection::Keep(LeftBecause::Current));
    }
    let offered = || values(choice);
    let by_id = offered().find(|offer| offer.value == **value);
    let Some(offer) = by_id.or_else(|| offered().find(|offer| offer.name == *value)) else {
        return match wanted.demand {
            Demand::Suggest => Ok(Selection::Keep(LeftBecause::NotOffered)),
            Demand::Prefer | Demand::Require => Err(SettingError::NotOffered {
                setting,
                value: value.clone(),
                offered: offered()
                    .take(MAX_OFFERED_SHOWN)
                    .map(|offer| acp_text::one_line(offer.value.as_str(), 80))
                    .collect(),
            }),
        };
    };
    if offer.value == choice.current_value {
        return Ok(Selection::Keep(LeftBecause::Current));
    }
    Ok(Selection::Set {
        option: id_of(option),
        value: offer.value.clone(),
    })
}

/// The option that holds a setting.
fn find(
    options: &[SessionConfigOption],
    setting: Setting,
) -> Option<(&SessionConfigOption, &SessionConfigSelect)> {
    let choices = || options.iter().filter_map(|o| Some((o, choice(o)?)));
    let (category, ids) = marks(setting);
    choices()
        .find(|(option, _)| option.category.as_ref() == Some(&category))
        .or_else(|| {
            ids.iter()
                .find_map(|id| choices().find(|(option, _)| id_of(option) == *id))
        })
}

/// How an option is known to be a setting's: by its category, or by one of these ids.
fn marks(setting: Setting) -> (SessionConfigOptionCategory, &'static [&'static str]) {
    use SessionConfigOptionCategory as Category;
    match setting {
        Setting::Model => (Category::Model, &["model"]),
        Setting::Effort => (
            Category::ThoughtLevel,
            &["effort", "thought_level", "reasoning_effort"],
        ),
        Setting::Mode => (Category::Mode, &["mode"]),
    }
}

/// The choice of one among several that an option is; others cannot be set to a name.
fn choice(option: &SessionConfigOption) -> Option<&SessionConfigSelect> {
    match &option.kind {
        SessionConfigOptionKind::Select(choice) => Some(choice),
        _ => None,
    }
}

/// Returns all values of a choice, whatever group they are in.
pub fn values(choice: &SessionConfigSelect) -> impl Iterator<Item = &SessionConfigSelectOption> {
    let (alone, groups) = match &choice.options {
        SessionConfigSelectOptions::Ungrouped(values) => (values.as_slice(), [].as_slice()),
        SessionConfigSelectOptions::Grouped(groups) => ([].as_slice(), groups.as_slice()),
        _ => ([].as_slice(), [].as_slice()),
    };
    alone
        .iter()
        .chain(groups.iter().flat_map(|group| &group.options))
}

/// The id of an option; some adapters leave it empty and give it beside.
pub(super) fn id_of(option: &SessionConfigOption) -> SessionConfigId {
    if option.id.as_str().is_empty()
        && let Some(meta) = &option.meta
        && let Some(Value::String(id)) = meta.get("configId")
    {
        return id.as_str().into();
    }
    option.id.clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn options(json: Value) -> Vec<SessionConfigOption> {
        serde_json::from_value(json).unwrap()
    }

    fn one(id: &str, category: Option<&str>, values: &[&str]) -> Value {
        let offered: Vec<_> = values
            .iter()
            .map(|v| json!({"value": v, "name": v.to_uppercase()}))
            .collect();
        let mut option = json!({"id": id, "name": "Name", "type": "select",
            "currentValue": values[0], "options": offered});
        if let Some(category) = category {
            option["category"] = category.into();
        }
        option
    }

    fn told(
        options: &[SessionConfigOption],
        setting: Setting,
        value: &str,
        demand: Demand,
    ) -> String {
        match select(options, setting, &Wanted::new(value, demand)) {
            Ok(Selection::Set { option, value }) => {
                format!("{}={}", option.as_str(), value.as_str())
            }
            Ok(Selection::Keep(kept)) => format!("{kept:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[track_caller]
    fn check(json: Value, value: &str, expected: &str) {
        let got = told(&options(json), Setting::Model, value, Demand::Prefer);
        assert_eq!(got, expected);
    }

    #[test]
    fn the_category_goes_before_the_id() {
        let by_id = one("model", None, &["a", "b"]);
        let by_category = one("llm", Some("model"), &["a", "b"]);
        check(json!([by_id, by_category]), "b", "llm=b");
        check(json!([by_id]), "b", "model=b");
        check(json!([one("llm", None, &["a", "b"])]), "b", "NoChoice");
        check(json!([]), "b", "NoChoice");
        // An unknown category does not keep the id from counting (R165).
        check(
            json!([one("model", Some("x"), &["a", "b"])]),
            "b",
            "model=b",
        );
    }

    #[test]
    fn values_are_found_by_id_and_then_by_name() {
        let json = json!([one("model", None, &["a", "b", "B"])]);
        check(json.clone(), "a", "Current");
        check(json.clone(), "A", "Current");
        check(json.clone(), "b", "model=b");
        check(json.clone(), "B", "model=B");
        check(
            json,
            "c",
            "set the model to \"c\": the agent offers a, b, B",
        );
    }

    #[test]
    fn groups_are_flattened() {
        let groups = json!([
            {"group": "g1", "name": "One", "options": [{"value": "a", "name": "A"}]},
            {"group": "g2", "name": "Two", "options": [{"value": "b", "name": "Bee"}]},
        ]);
        let json = json!([{"id": "m", "name": "M", "category": "model", "type": "select",
            "currentValue": "a", "options": groups}]);
        check(json.clone(), "b", "m=b");
        check(json.clone(), "Bee", "m=b");
        check(json, "c", "set the model to \"c\": the agent offers a, b");
    }

    #[test]
    fn only_a_choice_of_one_counts() {
        let switch = json!({"id": "model", "name": "M", "category": "model", "type": "boolean",
            "currentValue": true});
        let unknown = json!({"id": "model", "name": "M", "category": "model", "type": "slider",
            "currentValue": 3});
        check(json!([switch, unknown]), "b", "NoChoice");
        check(
            json!([switch, unknown, one("m", Some("model"), &["a", "b"])]),
            "b",
            "m=b",
        );
    }

    #[test]
    fn an_empty_id_is_made_good_by_what_stands_beside() {
        let mut option = one("", Some("model"), &["a", "b"]);
        option["_meta"] = json!({"configId": "beside"});
        check(json!([option]), "b", "beside=b");
        option["id"] = "own".into();
        check(json!([option]), "b", "own=b");
        option["id"] = "".into();
        option["_meta"] = json!({"configId": 3});
        check(json!([option]), "b", "=b");
    }

    #[test]
    fn demands() {
        let offered = options(json!([one("model", None, &["a"])]));
        let of = |options: &[_], demand| told(options, Setting::Model, "z", demand);
        let no_choice = "set the model to \"z\": the agent has no choice of model";
        let not_offered = "set the model to \"z\": the agent offers a";
        assert_eq!(of(&[], Demand::Suggest), "NoChoice");
        assert_eq!(of(&[], Demand::Prefer), "NoChoice");
        assert_eq!(of(&[], Demand::Require), no_choice);
        assert_eq!(of(&offered, Demand::Suggest), "NotOffered");
        assert_eq!(of(&offered, Demand::Prefer), not_offered);
        assert_eq!(of(&offered, Demand::Require), not_offered);
    }

    #[test]
    fn the_other_settings_have_marks_of_their_own() {
        let all = options(json!([
            one("model", Some("model"), &["x", "y"]),
            one("thinking", Some("thought_level"), &["low", "high"]),
            one("mode", None, &["ask", "code"]),
        ]));
        let of = |setting, value| told(&all, setting, value, Demand::Require);
        assert_eq!(of(Setting::Effort, "high"), "thinking=high");
        assert_eq!(of(Setting::Mode, "code"), "mode=code");
        let effort = options(json!([one("effort", None, &["low", "high"])]));
        assert_eq!(
            told(&effort, Setting::Effort, "high", Demand::Require),
            "effort=high"
        );
    }

    #[test]
    fn what_is_offered_is_shown_in_part() {
        let names: Vec<_> = (0..100).map(|n| format!("m{n}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let json = json!([one("model", None, &names)]);
        let error = select(
            &options(json),
            Setting::Model,
            &Wanted::new("z", Demand::Prefer),
        );
        let Err(SettingError::NotOffered { offered, .. }) = error else {
            panic!("{error:?}");
        };
        assert_eq!(offered.len(), MAX_OFFERED_SHOWN);
    }

    proptest! {
        /// What is set was offered, differs from what is current, and the option is right.
        #[test]
        fn what_is_set_is_offered(
            drawn in prop::collection::vec(
                (prop::sample::select(vec!["model", "m", "mode"]),
                 prop::option::of(prop::sample::select(vec!["model", "mode", "x"])),
                 prop::collection::vec("[abc]", 1..4)), 0..4),
            value in "[abcd]",
        ) {
            let json: Vec<_> = drawn.iter().map(|(id, category, values)| {
                let values: Vec<_> = values.iter().map(String::as_str).collect();
                one(id, *category, &values)
            }).collect();
            let got = select(&options(json.into()), Setting::Model, &Wanted::new(&*value, Demand::Suggest));
            // The same said otherwise: sort the options by how well they are marked.
            let mut ranked: Vec<_> = drawn.iter().filter_map(|option| match option {
                (_, Some("model"), _) => Some((0, option)),
                ("model", _, _) => Some((1, option)),
                _ => None,
            }).collect();
            ranked.sort_by_key(|(rank, _)| *rank);
            let expected = match ranked.first() {
                None => Selection::Keep(LeftBecause::NoChoice),
                Some((_, (_, _, values))) if values[0] == value => Selection::Keep(LeftBecause::Current),
                Some((_, (id, _, values))) if values.contains(&value) => Selection::Set {
                    option: (*id).into(),
                    value: value.as_str().into(),
                },
                Some(_) => Selection::Keep(LeftBecause::NotOffered),
            };
            prop_assert_eq!(got, Ok(expected));
        }
    }
}
