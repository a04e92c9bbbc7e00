//! What may be used only if the other side advertised it.

use std::sync::LazyLock;

use serde_json::Value;

use super::places;
use crate::rules::table::{lists, rows};
use crate::rules::{Check, Finding};

/// What needs a capability, what of it is said to people, and the rules for that.
const TEXT: &str = include_str!("advertised.tsv");

/// Kinds of messages, the place in them, the text that has to stand there (`any` for every
/// value), the capability, what is said of it, and the rules.
static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| rows(TEXT).collect());

type Row = [&'static str; 6];

/// Tells whether a capability is there: `true`, or anything but `false` and null.
pub(crate) fn advertises(capabilities: &Value, path: &str) -> bool {
    !matches!(
        at(capabilities, path),
        None | Some(Value::Null | Value::Bool(false))
    )
}

/// Tells whether the side with these capabilities may be asked this at all.
pub(crate) fn may_ask(method: &str, capabilities: &Value) -> bool {
    TABLE.iter().all(|[kinds, place, _, capability, ..]| {
        *place != "params" || !lists(kinds, method) || advertises(capabilities, capability)
    })
}

/// Finds what needs a capability that the other side did not advertise.
///
/// `part` is `params` or `result`, and `value` what stands there.
pub(super) fn missing(
    method: &str,
    part: &str,
    value: &Value,
    capabilities: &Value,
) -> Option<Finding> {
    let kind = places::kind(method, value);
    let lacks = |[kinds, place, wanted, capability, ..]: &&Row| {
        let used = |(_, value): (_, &Value)| *wanted == "any" || value == *wanted;
        lists(kinds, kind)
            && place.split('.').next() == Some(part)
            && !advertises(capabilities, capability)
            && places::at(value, place).into_iter().any(used)
    };
    let [.., capability, what, rules] = TABLE.iter().find(lacks)?;
    // What is left out counts as unsupported; `false` says so itself.
    let unsaid = at(capabilities, capability).is_none().then_some("R036");
    let rules: Vec<&str> = rules.split_whitespace().chain(unsaid).collect();
    let text = format!("{what} needs `{capability}`, which was not advertised");
    Some(Finding::new(Check::Unadvertised, &rules, text))
}

fn at<'a>(capabilities: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.')
        .try_fold(capabilities, |at, name| at.get(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;
    use serde_json::json;

    #[test]
    fn every_method_names_a_capability_of_who_serves_it() {
        assert_eq!(TABLE.len(), TEXT.lines().count() - 1);
        for [_, _, _, capability, what, rules] in TABLE.iter().filter(|row| row[0] == row[4]) {
            let server = schema::sender(what).unwrap().other();
            assert!(schema::is_capability(server, capability), "{capability}");
            assert!(!rules.is_empty(), "{capability}");
        }
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
    fn check(method: &str, params: Value, capability: &str) {
        let none = missing(method, "params", &params, &json!({}));
        let expected = format!("`{capability}`, which was not advertised");
        let message = none.expect(method).message.to_owned();
        assert!(message.contains(&expected), "{message}");
        let server = schema::sender(method).unwrap().other();
        assert!(schema::is_capability(server, capability), "{capability}");
        // Advertised, it may be used; null and false advertise nothing.
        for (value, allowed) in [
            (json!(true), true),
            (json!({}), true),
            (json!(false), false),
            (json!(null), false),
        ] {
            let capabilities = capability
                .rsplit('.')
                .fold(value, |inner, key| json!({key: inner}));
            let missing = missing(method, "params", &params, &capabilities);
            assert_eq!(missing.is_none(), allowed, "{method} {capabilities}");
        }
    }

    #[test]
    fn what_needs_what() {
        for [_, _, _, capability, what, _] in TABLE.iter().filter(|row| row[0] == row[4]) {
            check(what, json!({}), capability);
        }
        // The same holds for load and resume, once these may be used at all.
        check(
            "session/new",
            json!({"additionalDirectories": ["/a"]}),
            "sessionCapabilities.additionalDirectories",
        );
        check(
            "session/new",
            json!({"mcpServers": [{"type": "http"}]}),
            "mcpCapabilities.http",
        );
        check(
            "session/new",
            json!({"mcpServers": [{"name": "x"}, {"type": "sse"}]}),
            "mcpCapabilities.sse",
        );
        let prompt = |kind: &str| json!({"prompt": [{"type": "text"}, {"type": kind}]});
        check(
            "session/prompt",
            prompt("image"),
            "promptCapabilities.image",
        );
        check(
            "session/prompt",
            prompt("audio"),
            "promptCapabilities.audio",
        );
        check(
            "session/prompt",
            prompt("resource"),
            "promptCapabilities.embeddedContext",
        );
        check(
            "elicitation/create",
            json!({"mode": "form"}),
            "elicitation.form",
        );
        check(
            "elicitation/create",
            json!({"mode": "url"}),
            "elicitation.url",
        );
        let update = |kind: &str| json!({"update": {"sessionUpdate": kind, "configOptions": [{"type": "boolean"}]}});
        check("session/update", update("notice"), "session.notices");
        check(
            "session/update",
            update("compaction_update"),
            "session.compaction",
        );
        check(
            "session/update",
            update("compaction_summary_chunk"),
            "session.compaction",
        );
        check(
            "session/update",
            update("config_option_update"),
            "session.configOptions.boolean",
        );
    }

    #[test]
    fn what_needs_nothing() {
        for (method, params) in [
            (
                "session/new",
                json!({"additionalDirectories": [], "mcpServers": [{"name": "x", "command": "/x"}]}),
            ),
            (
                "session/prompt",
                json!({"prompt": [{"type": "text"}, {"type": "resource_link"}]}),
            ),
            (
                "session/update",
                json!({"update": {"sessionUpdate": "plan"}}),
            ),
            ("session/cancel", json!({})),
        ] {
            assert_eq!(
                missing(method, "params", &params, &json!({})),
                None,
                "{method}"
            );
        }
    }

    #[test]
    fn results_that_need_something() {
        let terminal = json!({"authMethods": [{"id": "a", "type": "terminal"}]});
        assert!(missing("initialize", "result", &terminal, &json!({})).is_some());
        let able = json!({"auth": {"terminal": true}});
        assert!(missing("initialize", "result", &terminal, &able).is_none());
        let boolean = json!({"configOptions": [{"type": "select"}, {"type": "boolean"}]});
        assert!(missing("session/new", "result", &boolean, &json!({})).is_some());
        let able = json!({"session": {"configOptions": {"boolean": {}}}});
        assert!(missing("session/new", "result", &boolean, &able).is_none());
    }
}
