//! What every conversation needs: programs, a model, folders, and an eye on what is left.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use std::{env, fs};

use anyhow::{Context, Result};

use super::check::Check;
use super::conversation::Seen;
use super::model::Model;
use super::outcome::Outcome;
use super::program::{self, Ended};
use super::recipe::{Places, Recipe};
use super::report::{Report, Told};
use super::table::Column;
use crate::tree::{Process, Tree};

/// Everything that the conversations share.
pub(super) struct Stage {
    /// The `acp` program.
    pub(super) acp: PathBuf,
    /// The program that judges.
    pub(super) mockpeer: PathBuf,
    /// The driver of our client.
    pub(super) driver: PathBuf,
    /// The program that runs one turn through the harness.
    pub(super) turn: PathBuf,
    pub(super) model: Model,
    pub(super) tree: Tree,
    /// Homes and the folders where turns run.
    pub(super) scratch: PathBuf,
}

impl Stage {
    /// Gives a peer its places, among them a fresh home.
    pub(super) fn settle(&self, recipe: &Recipe, install: PathBuf) -> Result<Places> {
        let places = Places {
            install,
            home: self.scratch.join(&recipe.name).join("home"),
            model: self.model.url().to_owned(),
        };
        recipe.make_home(&places)?;
        Ok(places)
    }

    /// Makes an empty folder to work in.
    pub(super) fn folder(&self, recipe: &Recipe, name: &str) -> Result<PathBuf> {
        let folder = self.scratch.join(&recipe.name).join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).context("failed to remove the folder of a former turn")?;
        }
        fs::create_dir_all(&folder).context("failed to make the folder of a turn")?;
        Ok(folder)
    }

    /// Ends what a program left, and tells what it was.
    pub(super) fn left(&self) -> Vec<Process> {
        self.tree.clear(&[self.model.pid()])
    }

    /// Gathers what a program came to.
    pub(super) fn seen(&self, ended: Ended, folder: PathBuf) -> Seen {
        // The processes first: what is left may still ask the model.
        let left = self.left();
        let asked = self.model.take_asked();
        Seen {
            ended,
            folder,
            asked,
            left,
        }
    }

    /// Runs a program that reports, and judges what it tells of each check.
    pub(super) fn report(
        &self,
        recipe: &Recipe,
        checks: &[Check],
        command: Command,
    ) -> Result<Vec<Outcome>> {
        let started = Instant::now();
        let bury = |program| self.tree.bury(&[self.model.pid(), program]);
        let ended = program::run_meanwhile(command, program::LIMIT, &bury)?;
        let trouble = trouble(checks, &ended, &self.left());
        let report = Report::read(&ended.stdout).unwrap_or_default();
        let judge = |check: &Check| recipe.known.judge(check.name, report.of(check.name));
        let mut outcomes: Vec<_> = checks.iter().map(judge).collect();
        for (check, outcome) in checks.iter().zip(&outcomes) {
            say(recipe, check, outcome);
        }
        if let Some(trouble) = trouble {
            eprintln!("FAILED  {}: {trouble}", recipe.title);
            outcomes[0] = Outcome::Failed(trouble);
        }
        if outcomes
            .iter()
            .any(|outcome| matches!(outcome, Outcome::Failed(_)))
        {
            print_tails(&ended);
        }
        eprintln!(
            "        {} took {:.1} s",
            recipe.title,
            started.elapsed().as_secs_f64()
        );
        Ok(outcomes)
    }
}

/// Finds what is wrong with a program that reports, whatever it reports.
fn trouble(checks: &[Check], ended: &Ended, left: &[Process]) -> Option<String> {
    let report = match Report::read(&ended.stdout) {
        Ok(report) => report,
        Err(error) => return Some(format!("{error:#}")),
    };
    let stray = report
        .names()
        .find(|name| !super::check::knows(checks, name));
    match (ended.status, left.first()) {
        (None, _) => Some("it did not come to its end in time".to_owned()),
        (Some(status), _) if !status.success() => Some(format!("it ended with {status}")),
        _ if !report.complete => Some("it did not come to its end".to_owned()),
        (_, Some(process)) => Some(format!("a process was left: {}", process.command)),
        _ => stray.map(|name| format!("it told of {name:?}, which is no check")),
    }
}

/// Makes the column of a peer.
pub(super) fn column(recipe: &Recipe, outcomes: Vec<Outcome>) -> Column {
    Column {
        name: recipe.name.clone(),
        title: recipe.title.clone(),
        outcomes,
    }
}

/// Says how a check went.
fn say(recipe: &Recipe, check: &Check, outcome: &Outcome) {
    let (title, name) = (&recipe.title, check.name);
    match outcome {
        Outcome::Passed(time) => eprintln!("ok      {title} {name} ({:.1} s)", time.as_secs_f64()),
        Outcome::Differs(why) => eprintln!("differs {title} {name}: {why}"),
        Outcome::Lacks => eprintln!("lacks   {title} {name}"),
        Outcome::Failed(why) => eprintln!("FAILED  {title} {name}: {why}"),
        Outcome::Skipped => eprintln!("skipped {title} {name}"),
    }
}

/// Judges a turn by what each process of ours came to, the last one's time among it.
pub(super) fn conclude(recipe: &Recipe, check: &Check, told: Result<()>, all: &[Seen]) -> Outcome {
    let time = all.last().map(|seen| seen.ended.time).unwrap_or_default();
    let told = match told {
        Ok(()) => Told::Passed(time),
        Err(error) => Told::Failed(format!("{error:#}")),
    };
    let outcome = recipe.known.judge(check.name, Some(&told));
    say(recipe, check, &outcome);
    if let Outcome::Failed(_) = outcome {
        all.iter().for_each(|seen| print_tails(&seen.ended));
    }
    outcome
}

/// Gives a program what a fresh login would, and nothing of ours: no key, no proxy.
fn set_environment(command: &mut Command, recipe: &Recipe, places: &Places) {
    let home = &places.home;
    command
        .env_clear()
        .envs(env::var_os("PATH").map(|path| ("PATH", path)))
        .env("LANG", "C.UTF-8")
        .env("NO_COLOR", "1")
        .env("NO_PROXY", "127.0.0.1,localhost")
        .env("HOME", home)
        .env("XDG_CACHE_HOME", home.join(".cache"))
        .env("XDG_CONFIG_HOME", home.join(".config"))
        .env("XDG_DATA_HOME", home.join(".local/share"))
        .env("XDG_STATE_HOME", home.join(".local/state"))
        .envs(recipe.env(places));
}

/// Prints the last lines that a program wrote.
fn print_tails(ended: &Ended) {
    const LINES: usize = 30;
    for (name, text) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
        let count = text.lines().count();
        for line in text.lines().skip(count.saturating_sub(LINES)) {
            let shown: String = line.chars().take(400).collect();
            eprintln!("        {name}: {shown}");
        }
    }
}

/// Starts a program in a folder, with the environment of a peer.
pub(super) fn command(
    program: impl AsRef<OsStr>,
    recipe: &Recipe,
    places: &Places,
    folder: &Path,
) -> Command {
    let mut command = Command::new(program);
    set_environment(&mut command, recipe, places);
    command.current_dir(folder);
    command
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;
    use std::time::Duration;

    use super::*;

    const CHECKS: [Check; 1] = [Check {
        name: "new",
        shows: "a session",
    }];

    fn ended(code: i32, stdout: &str) -> Ended {
        Ended {
            status: Some(ExitStatus::from_raw(code << 8)),
            stdout: stdout.to_owned(),
            stderr: String::new(),
            time: Duration::ZERO,
            after_interrupt: None,
        }
    }

    #[test]
    fn a_program_must_come_to_its_end_and_leave_nothing() {
        const ALL: &str = "{\"check\":\"new\",\"ms\":1}\n{\"end\":true}\n";
        let trouble = |ended: &Ended, left: &[Process]| trouble(&CHECKS, ended, left);
        assert_eq!(trouble(&ended(0, ALL), &[]), None);
        let code = trouble(&ended(1, ALL), &[]).expect("it did not end well");
        assert_eq!(code, "it ended with exit status: 1");
        let open = trouble(&ended(0, "{\"check\":\"new\",\"ms\":1}"), &[]);
        assert_eq!(open.as_deref(), Some("it did not come to its end"));
        let command = "sleep 7".to_owned();
        let left = trouble(&ended(0, ALL), &[Process { pid: 7, command }]);
        assert_eq!(left.as_deref(), Some("a process was left: sleep 7"));
        let other = trouble(&ended(0, &ALL.replace("new", "old")), &[]);
        assert_eq!(
            other.as_deref(),
            Some("it told of \"old\", which is no check")
        );
        assert!(trouble(&ended(0, "hello"), &[]).is_some());
        let late = Ended {
            status: None,
            ..ended(0, ALL)
        };
        assert_eq!(
            trouble(&late, &[]).as_deref(),
            Some("it did not come to its end in time")
        );
    }
}
