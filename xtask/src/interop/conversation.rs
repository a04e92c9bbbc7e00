//! What we ask of each agent, and how we tell whether it went well.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail, ensure};

use super::check::Check;
use super::model::Asked;
use super::program::Ended;
use crate::tree::Process;

/// How long a conversation may take on a busy machine.
pub(super) const LIMIT: Duration = Duration::from_secs(120);

/// How long a turn may go on after Ctrl-C: agents take up to two seconds to close.
pub(super) const PROMPT: Duration = Duration::from_secs(10);

/// One run of the `acp` program.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) check: Check,
    /// What `--allow` is given.
    pub(super) allow: &'static str,
    /// The prompt; `{folder}` is where the turn runs.
    pub(super) prompt: &'static str,
    /// The text on stdout at which Ctrl-C is pressed.
    pub(super) interrupt_at: Option<&'static str>,
    /// Says what went wrong.
    judge: fn(&Seen) -> Result<()>,
}

/// Everything that can be seen of a conversation from outside.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) ended: Ended,
    /// Where the turn ran.
    pub(super) folder: PathBuf,
    /// What the agent asked the model meanwhile.
    pub(super) asked: Vec<Asked>,
    /// The processes that were left.
    pub(super) left: Vec<Process>,
}

/// The conversations, in order.
pub(super) const ALL: [Conversation; 5] = [
    Conversation {
        check: Check {
            name: "run-hello",
            shows: "a prompt is answered",
        },
        allow: "none",
        prompt: "Say hello",
        interrupt_at: None,
        judge: hello,
    },
    Conversation {
        check: Check {
            name: "run-allowed",
            shows: "a tool that is allowed runs",
        },
        allow: "all",
        prompt: "USE_TOOL CWD={folder}",
        interrupt_at: None,
        judge: allowed,
    },
    Conversation {
        check: Check {
            name: "run-refused",
            shows: "a tool that is refused does not",
        },
        allow: "none",
        prompt: "USE_TOOL CWD={folder}",
        interrupt_at: None,
        judge: refused,
    },
    Conversation {
        check: Check {
            name: "run-cancelled",
            shows: "Ctrl-C ends the turn, and the agent hangs up on its model",
        },
        allow: "none",
        prompt: "SLOW",
        interrupt_at: Some("slow2 "),
        judge: cancelled,
    },
    Conversation {
        check: Check {
            name: "run-long",
            shows: "2,000 pieces of text, complete and in order",
        },
        allow: "none",
        prompt: "LONG",
        interrupt_at: None,
        judge: long,
    },
];

impl Conversation {
    /// Returns the prompt for a turn in this folder.
    pub(super) fn prompt(&self, folder: &Path) -> String {
        self.prompt.replace("{folder}", &folder.to_string_lossy())
    }

    /// Tells whether the conversation went well.
    ///
    /// # Errors
    ///
    /// Fails with the first thing that went wrong.
    pub(super) fn judge(&self, seen: &Seen) -> Result<()> {
        ensure!(
            seen.ended.status.is_some(),
            "it was still running after {LIMIT:?}"
        );
        (self.judge)(seen)?;
        seen.left_nothing()
    }
}

fn hello(seen: &Seen) -> Result<()> {
    seen.exit_is(&[0])?;
    seen.text_is("Hello from mock.")
}

fn allowed(seen: &Seen) -> Result<()> {
    seen.exit_is(&[0])?;
    seen.asked("tool")?;
    seen.asked("tool said")?;
    let file = fs::read_to_string(seen.tool_file());
    ensure!(
        file.is_ok_and(|text| text == "mock\n"),
        "the tool did not write its file"
    );
    Ok(())
}

/// Some agents end a turn whose tool was refused, others tell the model so and go on.
fn refused(seen: &Seen) -> Result<()> {
    seen.exit_is(&[0, 130])?;
    seen.asked("tool")?;
    ensure!(
        !seen.tool_file().exists(),
        "the tool ran, though nothing was allowed"
    );
    Ok(())
}

fn cancelled(seen: &Seen) -> Result<()> {
    let Some(time) = seen.ended.after_interrupt else {
        bail!("it ended before Ctrl-C, with {}", seen.exit());
    };
    seen.exit_is(&[130])?;
    ensure!(time < PROMPT, "it went on for {time:?} after Ctrl-C");
    let text = seen.ended.stdout.as_str();
    ensure!(
        text.starts_with("slow0 slow1 slow2 "),
        "the text before Ctrl-C is not {text:?}"
    );
    seen.hung_up("slow")
}

fn long(seen: &Seen) -> Result<()> {
    seen.exit_is(&[0])?;
    let words: Vec<String> = (0..2000).map(|n| format!("w{n:04}")).collect();
    seen.text_is(&words.join(" "))
}

impl Seen {
    /// Fails when a process was left.
    pub(super) fn left_nothing(&self) -> Result<()> {
        if let Some(process) = self.left.first() {
            let more = match self.left.len() - 1 {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            bail!(
                "a process was left: {} ({}){more}",
                process.command,
                process.pid
            );
        }
        Ok(())
    }

    /// Fails unless the agent broke off the answer that the model gave by this script.
    pub(super) fn hung_up(&self, script: &str) -> Result<()> {
        self.asked(script)?;
        let sent = self.asked.iter().find(|asked| asked.script == script);
        let end = sent.and_then(|asked| asked.end.as_deref());
        ensure!(
            end == Some("hung up"),
            "the agent did not hang up on the model"
        );
        Ok(())
    }

    fn exit(&self) -> String {
        match self.ended.status {
            Some(status) => status.to_string(),
            None => "no exit".to_owned(),
        }
    }

    fn exit_is(&self, codes: &[i32]) -> Result<()> {
        let code = self.ended.status.and_then(|status| status.code());
        ensure!(
            code.is_some_and(|code| codes.contains(&code)),
            "it ended with {}, where {codes:?} was expected",
            self.exit()
        );
        Ok(())
    }

    /// Compares stdout but for white space at its end.
    fn text_is(&self, expected: &str) -> Result<()> {
        let text = self.ended.stdout.trim_end();
        if text == expected {
            return Ok(());
        }
        let same = text
            .chars()
            .zip(expected.chars())
            .take_while(|(a, b)| a == b)
            .count();
        let rest: String = text.chars().skip(same).take(40).collect();
        let missing: String = expected.chars().skip(same).take(40).collect();
        bail!("stdout has {rest:?} at character {same}, where {missing:?} was expected")
    }

    /// Fails unless the model was asked to follow this script.
    pub(super) fn asked(&self, script: &str) -> Result<()> {
        let scripts: Vec<&str> = self
            .asked
            .iter()
            .map(|asked| asked.script.as_str())
            .collect();
        ensure!(
            scripts.contains(&script),
            "the model was never to follow {script:?}: {scripts:?}"
        );
        Ok(())
    }

    /// The file that the tool writes.
    pub(super) fn tool_file(&self) -> PathBuf {
        self.folder.join("mock_shell.txt")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    pub(in super::super) fn seen(code: i32, stdout: &str) -> Seen {
        let ended = Ended {
            status: Some(ExitStatus::from_raw(code << 8)),
            stdout: stdout.to_owned(),
            stderr: String::new(),
            time: Duration::ZERO,
            after_interrupt: None,
        };
        let folder = PathBuf::from("/nowhere");
        Seen {
            ended,
            folder,
            asked: Vec::new(),
            left: Vec::new(),
        }
    }

    pub(in super::super) fn asked(script: &str, end: &str) -> Asked {
        let (script, end) = (script.to_owned(), Some(end.to_owned()));
        Asked {
            number: 1,
            script,
            end,
        }
    }

    #[track_caller]
    fn check(name: &str, seen: &Seen, expected: &str) {
        let conversation = ALL
            .iter()
            .find(|conversation| conversation.check.name == name);
        let result = conversation.expect("the conversation exists").judge(seen);
        let result = result.map_or_else(|error| error.to_string(), |()| "well".to_owned());
        assert_eq!(result, expected);
    }

    #[test]
    fn hello_is_exact() {
        check("run-hello", &seen(0, "Hello from mock.\n"), "well");
        let wrong = "it ended with exit status: 4, where [0] was expected";
        check("run-hello", &seen(4, "Hello from mock.\n"), wrong);
        let wrong = r#"stdout has "i" at character 1, where "ello from mock." was expected"#;
        check("run-hello", &seen(0, "Hi\n"), wrong);
    }

    #[test]
    fn what_is_left_counts() {
        let mut seen = seen(0, "Hello from mock.\n");
        seen.left.push(Process {
            pid: 7,
            command: "node agent.js".to_owned(),
        });
        check("run-hello", &seen, "a process was left: node agent.js (7)");
    }

    #[test]
    fn a_run_without_end_counts() {
        let mut seen = seen(0, "Hello from mock.\n");
        seen.ended.status = None;
        check("run-hello", &seen, "it was still running after 120s");
    }

    #[test]
    fn an_allowed_tool_writes_its_file() {
        let folder = tempfile::tempdir().expect("make a folder");
        let mut seen = seen(0, "");
        seen.folder = folder.path().to_path_buf();
        let wrong = "the model was never to follow \"tool\": []";
        check("run-allowed", &seen, wrong);
        seen.asked = vec![asked("tool", "sent"), asked("tool said", "sent")];
        check("run-allowed", &seen, "the tool did not write its file");
        fs::write(seen.tool_file(), "mock\n").expect("write the file");
        check("run-allowed", &seen, "well");
        check(
            "run-refused",
            &seen,
            "the tool ran, though nothing was allowed",
        );
    }

    #[test]
    fn a_refused_tool_was_asked_for() {
        let mut seen = seen(130, "");
        let wrong = "the model was never to follow \"tool\": []";
        check("run-refused", &seen, wrong);
        seen.asked = vec![asked("tool", "sent")];
        check("run-refused", &seen, "well");
    }

    #[test]
    fn a_cancelled_turn_ends_soon_and_hangs_up() {
        let mut seen = seen(130, "slow0 slow1 slow2 \n");
        check(
            "run-cancelled",
            &seen,
            "it ended before Ctrl-C, with exit status: 130",
        );
        seen.ended.after_interrupt = Some(Duration::from_secs(11));
        check("run-cancelled", &seen, "it went on for 11s after Ctrl-C");
        seen.ended.after_interrupt = Some(Duration::from_secs(1));
        seen.asked = vec![asked("slow", "sent")];
        check(
            "run-cancelled",
            &seen,
            "the agent did not hang up on the model",
        );
        seen.asked = vec![asked("slow", "hung up")];
        check("run-cancelled", &seen, "well");
    }

    #[test]
    fn a_long_text_is_complete_and_in_order() {
        let text: String = (0..2000).map(|n| format!("w{n:04} ")).collect();
        check("run-long", &seen(0, &text), "well");
        let swapped = text.replace("w0002", "w0009");
        let conversation = &ALL[4];
        let error = conversation
            .judge(&seen(0, &swapped))
            .expect_err("the order is wrong");
        assert!(
            error.to_string().starts_with("stdout has \"9 w0003"),
            "{error}"
        );
        let error = conversation
            .judge(&seen(0, &text[..9000]))
            .expect_err("the end is missing");
        assert!(
            error.to_string().contains("stdout has \"\" at character"),
            "{error}"
        );
    }
}
