//! Paths and lines in messages.

use std::sync::LazyLock;

use serde_json::Value;

use super::broken;
use crate::ledger::places;
use crate::rules::Finding;
use crate::rules::table::{lists, rows};

/// Where paths and lines stand, and the rules for those that are no absolute paths, or
/// are not counted from 1.
const TEXT: &str = include_str!("paths.tsv");

/// Methods, the place, whether it is a `path` or a `line`, and the rules.
static TABLE: LazyLock<Vec<[&str; 4]>> = LazyLock::new(|| rows(TEXT).collect());

/// Finds paths that are not absolute, and lines that are not counted from 1; `part` is
/// `params` or `result`.
pub(super) fn wrong(method: &str, part: &str, value: &Value) -> Vec<Finding> {
    let rows = TABLE.iter();
    let rows = rows.filter(|[of, at, ..]| lists(of, method) && at.starts_with(part));
    let wrong = rows.flat_map(|[_, place, what, rules]| {
        let rules: Vec<&str> = rules.split(' ').collect();
        let found = places::at(value, place).into_iter();
        found.filter_map(move |(at, value)| {
            let text = match (*what, value) {
                ("path", Value::String(path)) if !is_absolute(path) => {
                    format!("at {at}: {path:?} is no absolute path")
                }
                ("line", line) if line.as_u64() == Some(0) => {
                    format!("at {at}: lines are counted from 1")
                }
                _ => return None,
            };
            Some(broken(&rules, text))
        })
    });
    wrong.collect()
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
        let found = wrong(method, "params", &params);
        // That a path is no path at all breaks R011 besides.
        let found: Vec<&str> = found.iter().map(|finding| finding.rules[0]).collect();
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
        assert_eq!(wrong("session/list", "result", &listed).len(), 2);
    }
}
