//! Paths and lines in messages.

use serde_json::Value;

use super::member_names::Wrong;

/// Finds paths that are not absolute, and lines that are not counted from 1, in
/// what somebody asks or tells.
pub(super) fn in_params(method: &str, params: &Value) -> Vec<Wrong> {
    let mut all = Vec::new();
    match method {
        "session/new" | "session/load" | "session/resume" => {
            path(&params["cwd"], "params.cwd", &["R076", "R011"], &mut all);
            each(
                &params["additionalDirectories"],
                "params.additionalDirectories",
                |value, at| {
                    path(value, at, &["R072", "R011"], &mut all);
                },
            );
            each(&params["mcpServers"], "params.mcpServers", |server, at| {
                path(
                    &server["command"],
                    &format!("{at}.command"),
                    &["R083", "R011"],
                    &mut all,
                );
            });
        }
        "session/list" => path(&params["cwd"], "params.cwd", &["R092", "R011"], &mut all),
        "fs/read_text_file" | "fs/write_text_file" => {
            path(&params["path"], "params.path", &["R143", "R011"], &mut all);
            line(&params["line"], "params.line", &mut all);
        }
        "terminal/create" => path(&params["cwd"], "params.cwd", &["R151", "R011"], &mut all),
        "session/update" => in_call(&params["update"], "params.update", &mut all),
        "session/request_permission" => in_call(&params["toolCall"], "params.toolCall", &mut all),
        _ => {}
    }
    all
}

/// Finds them in answers.
pub(super) fn in_result(method: &str, result: &Value) -> Vec<Wrong> {
    let mut all = Vec::new();
    if method == "session/list" {
        each(&result["sessions"], "result.sessions", |session, at| {
            path(&session["cwd"], &format!("{at}.cwd"), &["R011"], &mut all);
            let more = format!("{at}.additionalDirectories");
            each(&session["additionalDirectories"], &more, |value, at| {
                path(value, at, &["R011"], &mut all);
            });
        });
    }
    all
}

/// Finds them in what is told of a tool call.
fn in_call(call: &Value, place: &str, all: &mut Vec<Wrong>) {
    each(
        &call["locations"],
        &format!("{place}.locations"),
        |location, at| {
            path(
                &location["path"],
                &format!("{at}.path"),
                &["R133", "R011"],
                all,
            );
            line(&location["line"], &format!("{at}.line"), all);
        },
    );
    each(
        &call["content"],
        &format!("{place}.content"),
        |content, at| {
            if content["type"] == "diff" {
                path(
                    &content["path"],
                    &format!("{at}.path"),
                    &["R133", "R011"],
                    all,
                );
            }
        },
    );
}

fn each(values: &Value, place: &str, mut what: impl FnMut(&Value, &str)) {
    for (index, value) in values.as_array().into_iter().flatten().enumerate() {
        what(value, &format!("{place}[{index}]"));
    }
}

fn path(value: &Value, place: &str, rules: &'static [&'static str], all: &mut Vec<Wrong>) {
    if let Some(text) = value.as_str()
        && !is_absolute(text)
    {
        all.push((rules, format!("at {place}: {text:?} is no absolute path")));
    }
}

fn line(value: &Value, place: &str, all: &mut Vec<Wrong>) {
    if value.as_u64() == Some(0) {
        all.push((&["R012"], format!("at {place}: lines are counted from 1")));
    }
}

/// Of Unix, or of Windows: `C:\` or `\\server`.
fn is_absolute(path: &str) -> bool {
    let drive = |path: &str| {
        let mut letters = path.chars();
        letters.next().is_some_and(|c| c.is_ascii_alphabetic())
            && letters.next() == Some(':')
            && matches!(letters.next(), Some('\\' | '/'))
    };
    path.starts_with('/') || path.starts_with("\\\\") || drive(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn absolute_paths() {
        for path in ["/", "/a/b", "C:\\a", "c:/a", "\\\\server\\share"] {
            assert!(is_absolute(path), "{path}");
        }
        for path in ["", "a", "./a", "~/a", "C:", "C:a", "file:///a"] {
            assert!(!is_absolute(path), "{path}");
        }
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
    fn check(method: &str, params: Value, expected: &[&str]) {
        let found = in_params(method, &params);
        // That a path is no path at all breaks R011 besides.
        let found: Vec<&str> = found.iter().map(|(rules, _)| rules[0]).collect();
        assert_eq!(found, expected, "{method}");
    }

    #[test]
    fn every_place() {
        let relative = json!({"cwd": "a", "additionalDirectories": ["/a", "b"], "mcpServers": [{"command": "c"}, {"url": "d"}]});
        check("session/new", relative, &["R076", "R072", "R083"]);
        check("session/list", json!({"cwd": "a"}), &["R092"]);
        check("session/list", json!({}), &[]);
        check(
            "fs/read_text_file",
            json!({"path": "a", "line": 0}),
            &["R143", "R012"],
        );
        check("fs/read_text_file", json!({"path": "/a", "line": 1}), &[]);
        check("terminal/create", json!({"cwd": "a"}), &["R151"]);
        let call = json!({"locations": [{"path": "a", "line": 0}], "content": [{"type": "diff", "path": "b"}, {"type": "content"}]});
        check(
            "session/update",
            json!({"update": call}),
            &["R133", "R012", "R133"],
        );
        check(
            "session/request_permission",
            json!({"toolCall": call}),
            &["R133", "R012", "R133"],
        );
        let listed = json!({"sessions": [{"cwd": "a", "additionalDirectories": ["b"]}]});
        assert_eq!(in_result("session/list", &listed).len(), 2);
    }
}
