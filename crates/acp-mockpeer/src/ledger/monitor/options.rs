//! Options of sessions, and their values.

use serde_json::Value;

use super::broken;
use crate::rules::Finding;

/// The categories that the protocol has.
const CATEGORIES: [&str; 4] = ["mode", "model", "model_config", "thought_level"];

/// Finds options whose value is none that they offer (R169), and categories
/// that are neither the protocol's nor somebody's own (R166).
pub(super) fn wrong(holder: &Value) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    for option in holder["configOptions"].as_array().into_iter().flatten() {
        let id = &option["id"];
        let value = &option["currentValue"];
        let fits = match option["type"].as_str() {
            Some("boolean") => value.is_boolean(),
            Some("select") => offered(option).any(|offered| offered == value),
            _ => true,
        };
        // That there is no value at all is told by the schema.
        if !fits && !value.is_null() {
            all.push(broken(
                &["R169"],
                format!("the option {id} does not offer its value {value}"),
            ));
        }
        if let Some(category) = option["category"].as_str()
            && !category.starts_with('_')
            && !CATEGORIES.contains(&category)
        {
            all.push(broken(
                &["R166"],
                format!("the category {category:?} of the option {id} is reserved"),
            ));
        }
    }
    all
}

/// The values of an option, in groups or not.
pub(super) fn offered(option: &Value) -> impl Iterator<Item = &Value> {
    let entries = option["options"].as_array().into_iter().flatten();
    entries.flat_map(|entry| match entry["options"].as_array() {
        Some(group) => group.iter().map(|one| &one["value"]).collect(),
        None => vec![&entry["value"]],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
    fn check(holder: Value, expected: &[&str]) {
        let found = wrong(&holder);
        let found: Vec<&str> = found
            .iter()
            .flat_map(|finding| &finding.rules)
            .copied()
            .collect();
        assert_eq!(found, expected, "{holder}");
    }

    #[test]
    fn values_are_among_those_offered() {
        let flat = json!([{"value": "a"}, {"value": "b"}]);
        let grouped = json!([{"group": "g", "options": [{"value": "a"}]}, {"group": "h", "options": [{"value": "b"}]}]);
        for offered in [flat, grouped] {
            let option = |value: &str| json!({"configOptions": [{"id": "o", "type": "select", "currentValue": value, "options": offered}]});
            check(option("b"), &[]);
            check(option("c"), &["R169"]);
        }
        let switch = |value: Value| json!({"configOptions": [{"id": "s", "type": "boolean", "currentValue": value}]});
        check(switch(json!(false)), &[]);
        check(switch(json!("no")), &["R169"]);
        check(
            json!({"configOptions": [{"id": "u", "type": "_slider", "currentValue": 5}]}),
            &[],
        );
        check(json!({}), &[]);
    }

    #[test]
    fn categories_are_known_or_one_s_own() {
        let option = |category: &str| json!({"configOptions": [{"id": "o", "category": category}]});
        for category in CATEGORIES.iter().chain(&["_plants"]) {
            check(option(category), &[]);
        }
        check(option("plants"), &["R166"]);
        let schema: Value = serde_json::from_str(include_str!("../../../schema.json")).unwrap();
        let known = &schema["$defs"]["SessionConfigOptionCategory"]["anyOf"];
        let known: Vec<&str> = known
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|one| one["const"].as_str())
            .collect();
        assert_eq!(known, CATEGORIES);
    }
}
