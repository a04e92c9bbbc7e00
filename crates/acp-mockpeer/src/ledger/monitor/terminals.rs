//! What a client answers of its terminals, one answer held against the others.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{MOST, broken};
use crate::rules::Finding;

/// The terminals that a client made.
#[derive(Debug, Default)]
pub(super) struct Terminals {
    all: BTreeMap<String, Terminal>,
}

/// What is known of a terminal.
#[derive(Debug, Default)]
struct Terminal {
    limit: Option<u64>,
    /// Its output was told with how it ended.
    ended: bool,
    killed: bool,
    released: bool,
}

impl Terminals {
    /// Looks at an answer to one of the methods of terminals; `None` is an error.
    pub(super) fn answered(
        &mut self,
        method: &str,
        params: &Value,
        result: Option<&Value>,
    ) -> Option<Finding> {
        if method == "terminal/create" {
            if let Some(id) = result.and_then(|result| result["terminalId"].as_str())
                && self.all.len() < MOST
            {
                let terminal = Terminal {
                    limit: params["outputByteLimit"].as_u64(),
                    ..Terminal::default()
                };
                self.all.insert(id.to_owned(), terminal);
            }
            return None;
        }
        let id = params["terminalId"].as_str()?;
        let terminal = self.all.get_mut(id)?;
        let Some(result) = result else {
            let works = matches!(method, "terminal/output" | "terminal/wait_for_exit");
            let wrong = terminal.killed && !terminal.released && works;
            return wrong.then(|| {
                let text = format!("{id:?} was killed and not released, and is gone");
                broken(&["R156"], text)
            });
        };
        if terminal.released {
            let text = format!("{id:?} was released, and its id is still good");
            return Some(broken(&["R157"], text));
        }
        match method {
            "terminal/output" => terminal.output(id, result),
            "terminal/kill" => {
                terminal.killed = true;
                None
            }
            "terminal/release" => {
                terminal.released = true;
                None
            }
            _ => None,
        }
    }
}

impl Terminal {
    fn output(&mut self, id: &str, result: &Value) -> Option<Finding> {
        let ended = result["exitStatus"].is_object();
        if self.ended && !ended {
            let text = format!("the command of {id:?} was told to have ended, and is not any more");
            return Some(broken(&["R154"], text));
        }
        self.ended |= ended;
        let length = u64::try_from(result["output"].as_str()?.len()).unwrap_or(u64::MAX);
        let limit = self.limit.filter(|limit| *limit < length)?;
        let text = format!("{id:?} shows {length} bytes, and was to keep {limit}");
        Some(broken(&["R149"], text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Answers in order; `null` is an error. Shows what is found in the last.
    #[track_caller]
    fn check(answers: &[(&str, Value)], expected: &str) {
        let mut terminals = Terminals::default();
        let made = json!({"terminalId": "t"});
        let params = json!({"terminalId": "t", "outputByteLimit": 5});
        terminals.answered("terminal/create", &params, Some(&made));
        let mut found = None;
        for (method, result) in answers {
            assert_eq!(found, None, "{method}");
            let result = Some(result).filter(|result| !result.is_null());
            found = terminals.answered(&format!("terminal/{method}"), &params, result);
        }
        assert_eq!(
            found.map_or("", |finding| finding.rules[0]),
            expected,
            "{answers:?}"
        );
    }

    #[test]
    fn courses() {
        let (empty, error) = (json!({}), Value::Null);
        let runs = json!({"output": "12345", "truncated": true});
        let over = json!({"output": "1", "truncated": false, "exitStatus": {"exitCode": 0}});
        let output = |result: &Value| ("output", result.clone());
        check(&[output(&runs), output(&over), output(&over)], "");
        check(&[output(&over), output(&runs)], "R154");
        // How it ended may be left out.
        check(
            &[("wait_for_exit", json!({"exitCode": 1})), output(&runs)],
            "",
        );
        check(
            &[output(&json!({"output": "123456", "truncated": true}))],
            "R149",
        );
        let kill = ("kill", empty.clone());
        check(&[kill.clone(), output(&over)], "");
        check(&[kill.clone(), output(&error)], "R156");
        check(&[output(&error)], "");
        let release = ("release", empty);
        check(&[release.clone(), output(&error)], "");
        check(&[release.clone(), output(&over)], "R157");
        check(&[kill, release, output(&error)], "");
    }
}
