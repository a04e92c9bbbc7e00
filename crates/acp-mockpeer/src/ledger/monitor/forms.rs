//! Whether a form was filled in as it asks to be.

use serde_json::Value;

use super::broken;
use crate::rules::Finding;

/// Holds what a user accepted against the form.
pub(super) fn wrong(question: &Value, result: &Value) -> Option<Finding> {
    if result["action"] != "accept" || question["mode"] != "form" {
        return None;
    }
    let form = &question["requestedSchema"];
    // A form that is no schema is not the client's fault.
    let validator = jsonschema::validator_for(form).ok()?;
    let nothing = Value::Object(serde_json::Map::new());
    let content = match &result["content"] {
        Value::Null => &nothing,
        content => content,
    };
    let error = validator.iter_errors(content).next()?;
    let place = error.instance_path().to_string();
    Some(broken(
        &["R201"],
        format!("the form does not take this at content{place}: {error}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn forms() {
        let form = json!({"mode": "form", "requestedSchema": {
            "type": "object",
            "properties": {"plant": {"type": "string"}, "count": {"type": "integer", "minimum": 1}},
            "required": ["plant"],
        }});
        let check = |result: Value, found: bool| {
            assert_eq!(wrong(&form, &result).is_some(), found, "{result}");
        };
        check(
            json!({"action": "accept", "content": {"plant": "basil", "count": 2}}),
            false,
        );
        check(
            json!({"action": "accept", "content": {"plant": "basil", "count": 0}}),
            true,
        );
        check(json!({"action": "accept", "content": {"plant": 5}}), true);
        check(json!({"action": "accept", "content": {}}), true);
        check(json!({"action": "accept"}), true);
        check(json!({"action": "decline"}), false);
    }
}
