//! What may be used only if the other side advertised it.

use serde_json::Value;

use crate::rules::Check;
use crate::rules::Finding;

/// Tells whether a capability is there: `true`, or anything but `false` and null.
pub(crate) fn advertises(capabilities: &Value, path: &str) -> bool {
    !matches!(
        at(capabilities, path),
        None | Some(Value::Null | Value::Bool(false))
    )
}

/// Methods that need a capability as a whole.
const METHODS: [(&str, &str, &[&str]); 14] = [
    ("session/load", "loadSession", &["R059", "R060"]),
    (
        "session/resume",
        "sessionCapabilities.resume",
        &["R064", "R065"],
    ),
    (
        "session/close",
        "sessionCapabilities.close",
        &["R068", "R069"],
    ),
    (
        "session/list",
        "sessionCapabilities.list",
        &["R088", "R089"],
    ),
    (
        "session/delete",
        "sessionCapabilities.delete",
        &["R102", "R103"],
    ),
    ("logout", "auth.logout", &["R044"]),
    ("fs/read_text_file", "fs.readTextFile", &["R140", "R141"]),
    ("fs/write_text_file", "fs.writeTextFile", &["R140", "R141"]),
    ("terminal/create", "terminal", &["R146", "R147"]),
    ("terminal/output", "terminal", &["R146", "R147"]),
    ("terminal/wait_for_exit", "terminal", &["R146", "R147"]),
    ("terminal/kill", "terminal", &["R146", "R147"]),
    ("terminal/release", "terminal", &["R146", "R147"]),
    ("elicitation/complete", "elicitation.url", &["R190"]),
];

/// Tells whether the side with these capabilities may be asked this at all.
pub(crate) fn may_ask(method: &str, capabilities: &Value) -> bool {
    let mut needed = METHODS.into_iter().filter(|(name, ..)| *name == method);
    needed.all(|(_, path, _)| advertises(capabilities, path))
}

/// What these params need and the other side did not advertise.
pub(super) fn missing_for(method: &str, params: &Value, capabilities: &Value) -> Option<Finding> {
    let lacks = |path: &str| !advertises(capabilities, path);
    let finding =
        |what: &str, path: &str, rules| Some(unadvertised(what, path, rules, capabilities));
    if let Some((name, path, rules)) = METHODS.into_iter().find(|(name, ..)| *name == method)
        && lacks(path)
    {
        return finding(name, path, rules);
    }
    match method {
        "session/new" | "session/load" | "session/resume" => {
            let roots = params["additionalDirectories"].as_array();
            if roots.is_some_and(|roots| !roots.is_empty())
                && lacks("sessionCapabilities.additionalDirectories")
            {
                let path = "sessionCapabilities.additionalDirectories";
                return finding("additionalDirectories", path, &["R073"]);
            }
            let servers = params["mcpServers"].as_array().into_iter().flatten();
            for kind in servers.filter_map(|server| server["type"].as_str()) {
                let path = match kind {
                    "http" => "mcpCapabilities.http",
                    "sse" => "mcpCapabilities.sse",
                    _ => continue,
                };
                if lacks(path) {
                    return finding(&format!("an MCP server by {kind}"), path, &["R085"]);
                }
            }
            None
        }
        "session/prompt" => {
            let blocks = params["prompt"].as_array().into_iter().flatten();
            for kind in blocks.filter_map(|block| block["type"].as_str()) {
                let path = match kind {
                    "image" => "promptCapabilities.image",
                    "audio" => "promptCapabilities.audio",
                    "resource" => "promptCapabilities.embeddedContext",
                    _ => continue,
                };
                if lacks(path) {
                    return finding(&format!("a block of type {kind}"), path, &["R107"]);
                }
            }
            None
        }
        "elicitation/create" => match params["mode"].as_str() {
            Some("form") if lacks("elicitation.form") => {
                finding("a form", "elicitation.form", &["R190"])
            }
            Some("url") if lacks("elicitation.url") => {
                finding("a url to open", "elicitation.url", &["R190"])
            }
            _ => None,
        },
        "session/update" => {
            let update = &params["update"];
            match update["sessionUpdate"].as_str() {
                Some("notice") if lacks("session.notices") => {
                    finding("a notice", "session.notices", &[])
                }
                Some("compaction_update" | "compaction_summary_chunk")
                    if lacks("session.compaction") =>
                {
                    finding("news of compaction", "session.compaction", &[])
                }
                Some("config_option_update") => boolean_options(update, capabilities),
                _ => None,
            }
        }
        _ => None,
    }
}

/// What a result holds that the side that asked did not advertise.
pub(super) fn missing_for_result(
    method: &str,
    result: &Value,
    capabilities: &Value,
) -> Option<Finding> {
    match method {
        "initialize" => {
            let methods = result["authMethods"].as_array().into_iter().flatten();
            let mut terminal = methods.filter(|method| method["type"] == "terminal");
            let path = "auth.terminal";
            (terminal.next().is_some() && !advertises(capabilities, path))
                .then(|| unadvertised("a login by terminal", path, &["R047"], capabilities))
        }
        "session/new" | "session/load" | "session/resume" | "session/set_config_option" => {
            boolean_options(result, capabilities)
        }
        _ => None,
    }
}

fn boolean_options(holder: &Value, capabilities: &Value) -> Option<Finding> {
    let options = holder["configOptions"].as_array().into_iter().flatten();
    let mut boolean = options.filter(|option| option["type"] == "boolean");
    let path = "session.configOptions.boolean";
    (boolean.next().is_some() && !advertises(capabilities, path))
        .then(|| unadvertised("a boolean option", path, &["R163"], capabilities))
}

fn unadvertised(what: &str, path: &str, rules: &[&'static str], capabilities: &Value) -> Finding {
    let mut rules = rules.to_vec();
    // What is left out counts as unsupported; `false` says so itself.
    if at(capabilities, path).is_none() {
        rules.push("R036");
    }
    Finding::new(
        Check::Unadvertised,
        &rules,
        format!("{what} needs `{path}`, which was not advertised"),
    )
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
        for (method, path, rules) in METHODS {
            let server = schema::sender(method).unwrap().other();
            assert!(schema::is_capability(server, path), "{method} {path}");
            assert!(!rules.is_empty(), "{method}");
        }
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
    fn check(method: &str, params: Value, capability: &str) {
        let none = missing_for(method, &params, &json!({}));
        let expected = format!("`{capability}`, which was not advertised");
        let message = none.expect(method).message().to_owned();
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
            let missing = missing_for(method, &params, &capabilities);
            assert_eq!(missing.is_none(), allowed, "{method} {capabilities}");
        }
    }

    #[test]
    fn what_needs_what() {
        for (method, path, _) in METHODS {
            check(method, json!({}), path);
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
            assert_eq!(missing_for(method, &params, &json!({})), None, "{method}");
        }
    }

    #[test]
    fn results_that_need_something() {
        let terminal = json!({"authMethods": [{"id": "a", "type": "terminal"}]});
        assert!(missing_for_result("initialize", &terminal, &json!({})).is_some());
        let able = json!({"auth": {"terminal": true}});
        assert!(missing_for_result("initialize", &terminal, &able).is_none());
        let boolean = json!({"configOptions": [{"type": "select"}, {"type": "boolean"}]});
        assert!(missing_for_result("session/new", &boolean, &json!({})).is_some());
        let able = json!({"session": {"configOptions": {"boolean": {}}}});
        assert!(missing_for_result("session/new", &boolean, &able).is_none());
    }
}
