//! Turns through the harness: what we ask of each agent, and how we tell whether it went well.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use super::check::Check;
use super::conversation::{LIMIT, PROMPT, Seen};
use super::outcome::Outcome;
use super::program;
use super::recipe::{Places, Recipe};
use super::stage::{self, Stage};

/// One turn of the harness, or two in one conversation.
struct Turn {
    check: Check,
    /// The prompt; `{folder}` is where the turn runs.
    prompt: &'static str,
    /// The text of the agent at which the turn is stopped.
    stop_at: Option<&'static str>,
    /// How many processes of ours ask it, one after the other.
    processes: usize,
    /// Says what went wrong.
    judge: fn(&[(Came, &Seen)]) -> Result<()>,
}

/// What a turn came to, as the program tells it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Came {
    report: String,
    said: String,
    whole: bool,
    empty: bool,
    stop: String,
    failure: Option<String>,
    /// `new`, `resumed` or `loaded`; absent when there was no session.
    opened: Option<String>,
    session: Option<String>,
    /// How many messages were handed on to a new session.
    handed_on: usize,
    allowed: usize,
    refused: usize,
    after_stop_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Failed { error: String },
    Came(Came),
}

const TURNS: [Turn; 4] = [
    Turn {
        check: Check {
            name: "harness-report",
            shows: "the report of a turn through the harness is the answer, whole",
        },
        prompt: "Say hello",
        stop_at: None,
        processes: 1,
        judge: report,
    },
    Turn {
        check: Check {
            name: "harness-resume",
            shows: "a second process goes on in the session of the first",
        },
        prompt: "Say hello",
        stop_at: None,
        processes: 2,
        judge: resume,
    },
    Turn {
        check: Check {
            name: "harness-stop",
            shows: "a turn that is stopped keeps what was said, and leaves no process",
        },
        prompt: "SLOW",
        stop_at: Some("slow2 "),
        processes: 1,
        judge: stop,
    },
    Turn {
        check: Check {
            name: "harness-refuse",
            shows: "a tool that acts is refused where nobody said otherwise",
        },
        prompt: "USE_TOOL CWD={folder}",
        stop_at: None,
        processes: 1,
        judge: refuse,
    },
];

/// Returns everything that is tried through the harness.
pub(super) fn checks() -> impl Iterator<Item = Check> {
    TURNS.iter().map(|turn| turn.check)
}

/// Has the harness run every turn on one agent.
///
/// # Errors
///
/// Fails when the program of ours cannot be run.
pub(super) fn run(stage: &Stage, recipe: &Recipe, places: &Places) -> Result<Vec<Outcome>> {
    let hold = |turn| match recipe.without_model {
        true => Ok(Outcome::Lacks),
        false => hold(stage, recipe, places, turn),
    };
    TURNS.iter().map(hold).collect()
}

fn hold(stage: &Stage, recipe: &Recipe, places: &Places, turn: &Turn) -> Result<Outcome> {
    let folder = stage.folder(recipe, turn.check.name)?;
    let mut all = Vec::new();
    for number in 0..turn.processes {
        let mut command = stage::command(&stage.turn, recipe, places, &folder);
        command.args(["--agent", &recipe.name, "--conversation", turn.check.name]);
        command.arg("--records").arg(places.home.join("records"));
        for (name, _) in recipe.env(places) {
            command.args(["--env", &name]);
        }
        if let Some(mode) = &recipe.asking_mode {
            command.args(["--asking-mode", mode]);
        }
        if let Some(text) = turn.stop_at {
            command.args(["--stop-at", text]);
        }
        if number > 0 {
            command.args(["--said", turn.prompt]);
        }
        let prompt = turn.prompt.replace("{folder}", &folder.to_string_lossy());
        command.arg(prompt).arg("--").args(recipe.command(places));

        let bury = |program| stage.tree.bury(&[stage.model.pid(), program]);
        let ended = program::run_meanwhile(command, LIMIT, &bury)?;
        all.push(stage.seen(ended, folder.clone()));
    }
    Ok(stage::conclude(recipe, &turn.check, turn.judge(&all), &all))
}

impl Turn {
    /// Tells whether it went well, by what each process of ours came to.
    fn judge(&self, all: &[Seen]) -> Result<()> {
        let came = all.iter().map(|seen| Ok((Came::read(seen)?, seen)));
        // What is left counts, however the turn was.
        all.iter().try_for_each(Seen::left_nothing)?;
        (self.judge)(&came.collect::<Result<Vec<_>>>()?)
    }
}

impl Came {
    fn read(seen: &Seen) -> Result<Self> {
        ensure!(
            seen.ended.status.is_some(),
            "it was still running after {LIMIT:?}"
        );
        let text = seen.ended.stdout.trim_end();
        let line = serde_json::from_str(text);
        match line.with_context(|| format!("failed to read {text:?}"))? {
            Line::Failed { error } => bail!("{error}"),
            Line::Came(came) => Ok(came),
        }
    }

    fn ended_with(&self, reasons: &[&str]) -> Result<()> {
        if let Some(failure) = &self.failure {
            bail!("{failure}");
        }
        ensure!(
            reasons.contains(&self.stop.as_str()),
            "the turn ended as {:?}, where {reasons:?} was expected",
            self.stop
        );
        Ok(())
    }

    fn says_hello(&self) -> Result<()> {
        self.ended_with(&["end_turn"])?;
        ensure!(
            self.report.trim_end() == "Hello from mock.",
            "the report is {:?}",
            self.report
        );
        ensure!(self.whole, "the report is not whole");
        ensure!(!self.empty, "the turn counts as empty");
        Ok(())
    }
}

fn report(all: &[(Came, &Seen)]) -> Result<()> {
    let (came, _) = &all[0];
    came.says_hello()?;
    ensure!(
        came.opened.as_deref() == Some("new"),
        "the session was {:?}, and the conversation is new",
        came.opened
    );
    Ok(())
}

fn resume(all: &[(Came, &Seen)]) -> Result<()> {
    let [(first, _), (second, _)] = all else {
        bail!("there were not two processes");
    };
    first.says_hello()?;
    second.says_hello()?;
    ensure!(first.session.is_some(), "the session has no name");
    match second.opened.as_deref() {
        Some("resumed" | "loaded") => {
            let (one, other) = (&first.session, &second.session);
            ensure!(one == other, "it went on in {other:?}, not in {one:?}");
            ensure!(second.handed_on == 0, "what it remembers was handed on");
            Ok(())
        }
        _ => {
            ensure!(
                second.handed_on == 1,
                "a new session was not told what was said before"
            );
            bail!("it went on in a new session, with what was said before")
        }
    }
}

fn stop(all: &[(Came, &Seen)]) -> Result<()> {
    let (came, seen) = &all[0];
    came.ended_with(&["cancelled"])?;
    let time = came.after_stop_ms.map(Duration::from_millis);
    let time = time.context("it ended before it was stopped")?;
    ensure!(time < PROMPT, "it went on for {time:?} after the stop");
    seen.hung_up("slow")?;
    // Some agents say a message of their own about the stop, which is the report then.
    ensure!(
        came.said.contains("slow0 slow1 slow2 "),
        "what was said is {:?}",
        came.said
    );
    Ok(())
}

/// Some agents end a turn whose tool was refused, others tell the model so and go on.
fn refuse(all: &[(Came, &Seen)]) -> Result<()> {
    let (came, seen) = &all[0];
    came.ended_with(&["end_turn", "cancelled"])?;
    seen.asked("tool")?;
    ensure!(
        !seen.tool_file().exists(),
        "the tool ran, though nothing was allowed"
    );
    ensure!(came.allowed == 0, "something was allowed");
    ensure!(came.refused > 0, "it did not ask for permission");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::conversation::tests::{asked, seen};
    use super::*;
    use crate::tree::Process;

    /// What the program tells of a turn that said hello, with some of it changed.
    fn line(changes: &[(&str, serde_json::Value)]) -> String {
        let mut line = serde_json::json!({
            "report": "Hello from mock.", "said": "Hello from mock.", "whole": true, "empty": false, "stop": "end_turn",
            "failure": null, "opened": "new", "session": "s1", "handed_on": 0,
            "allowed": 0, "refused": 0, "after_stop_ms": null,
        });
        for (name, value) in changes {
            line[*name] = value.clone();
        }
        line.to_string()
    }

    #[track_caller]
    fn check(name: &str, all: &[Seen], expected: &str) {
        let turn = TURNS.iter().find(|turn| turn.check.name == name);
        let result = turn.expect("the turn exists").judge(all);
        let result = result.map_or_else(|error| error.to_string(), |()| "well".to_owned());
        assert_eq!(result, expected);
    }

    #[test]
    fn a_report_is_the_answer_and_whole() {
        let told = |changes: &[_]| [seen(0, &line(changes))];
        check("harness-report", &told(&[]), "well");
        let other = told(&[("report", "Hi".into())]);
        check("harness-report", &other, "the report is \"Hi\"");
        let cut = told(&[("whole", false.into())]);
        check("harness-report", &cut, "the report is not whole");
        let error = [seen(1, r#"{"error":"failed to log in"}"#)];
        check("harness-report", &error, "failed to log in");
    }

    #[test]
    fn what_is_left_counts_before_what_was_said() {
        let mut left = seen(1, r#"{"error":"failed to log in"}"#);
        let command = "node agent.js".to_owned();
        left.left.push(Process { pid: 7, command });
        let expected = "a process was left: node agent.js (7)";
        check("harness-report", &[left], expected);
    }

    #[test]
    fn a_second_process_goes_on_in_the_session() {
        let pair = |changes: &[_]| [seen(0, &line(&[])), seen(0, &line(changes))];
        let resumed = pair(&[("opened", "resumed".into())]);
        check("harness-resume", &resumed, "well");
        let other = pair(&[("opened", "loaded".into()), ("session", "s2".into())]);
        let expected = "it went on in Some(\"s2\"), not in Some(\"s1\")";
        check("harness-resume", &other, expected);
        let fresh = pair(&[("handed_on", 1.into())]);
        let expected = "it went on in a new session, with what was said before";
        check("harness-resume", &fresh, expected);
        let expected = "a new session was not told what was said before";
        check("harness-resume", &pair(&[]), expected);
    }

    #[test]
    fn a_stop_keeps_the_text_and_frees_the_model() {
        let stopped = |said: &str, end: &str| {
            let mut seen = seen(
                0,
                &line(&[
                    ("said", said.into()),
                    ("stop", "cancelled".into()),
                    ("after_stop_ms", 40.into()),
                ]),
            );
            seen.asked.push(asked("slow", end));
            [seen]
        };
        let text = "slow0 slow1 slow2 ";
        check("harness-stop", &stopped(text, "hung up"), "well");
        check(
            "harness-stop",
            &stopped("", "hung up"),
            "what was said is \"\"",
        );
        let expected = "the agent did not hang up on the model";
        check("harness-stop", &stopped(text, "sent"), expected);
    }

    #[test]
    fn a_refusal_is_seen() {
        let used = |changes: &[_]| {
            let mut seen = seen(0, &line(changes));
            seen.asked.push(asked("tool", "sent"));
            [seen]
        };
        check("harness-refuse", &used(&[("refused", 1.into())]), "well");
        let expected = "it did not ask for permission";
        check("harness-refuse", &used(&[]), expected);
        let allowed = used(&[("refused", 1.into()), ("allowed", 1.into())]);
        check("harness-refuse", &allowed, "something was allowed");
    }
}
