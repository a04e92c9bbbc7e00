//! Steps of a longer run: each says what it does, what it takes, and how to repeat it.

use std::env;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How long each step of CI may take, and why.
const BUDGETS: &str = include_str!("../../.ci/budgets");

/// The steps of one run, in order, with the time each took.
pub(crate) struct Steps {
    done: Vec<(String, Duration)>,
}

impl Steps {
    /// Starts an empty run.
    pub(crate) fn new() -> Self {
        Self { done: Vec::new() }
    }

    /// Runs a program as the next step; its output goes where ours goes.
    ///
    /// # Errors
    ///
    /// Fails when the program cannot be started or does not exit with 0.
    pub(crate) fn run(&mut self, title: &str, command: &mut Command) -> Result<()> {
        let line = command_line(command);
        self.task(title, &line, || {
            let status = command
                .status()
                .with_context(|| format!("failed to start `{line}`"))?;
            if !status.success() {
                bail!("`{line}` ended with {status}");
            }
            Ok(())
        })
    }

    /// Prints what was done and how long each step took.
    pub(crate) fn finish(self) {
        let width = self.done.iter().map(|(title, _)| title.len()).max();
        let width = width.unwrap_or_default().max("all".len());
        eprintln!();
        for (title, time) in &self.done {
            eprintln!(
                "  {title:width$}  {:>6.0} s{}",
                time.as_secs_f64(),
                of_budget(title)
            );
        }
        let all: Duration = self.done.iter().map(|(_, time)| *time).sum();
        eprintln!("  {:width$}  {:>6.0} s", "all", all.as_secs_f64());
    }

    /// Runs a function of our own as the next step; `line` says how to run it alone.
    ///
    /// # Errors
    ///
    /// Fails when the function does.
    pub(crate) fn task(
        &mut self,
        title: &str,
        line: &str,
        task: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        eprintln!("\n==> {title}: {line}");
        let started = Instant::now();
        let result = task();
        let time = started.elapsed();
        let word = if result.is_ok() { "done" } else { "FAILED" };
        let seconds = time.as_secs_f64();
        eprintln!(
            "<== {title}: {word} after {seconds:.0} s{}",
            of_budget(title)
        );
        self.done.push((title.to_owned(), time));
        result.with_context(|| format!("step `{title}` failed; repeat it with `{line}`"))?;
        match over_budget(title, time) {
            Some(fault) if env::var_os("CI").is_some_and(|value| value == "true") => bail!(fault),
            Some(fault) => eprintln!("warning: {fault}"),
            None => {}
        }
        Ok(())
    }
}

fn of_budget(title: &str) -> String {
    match budget(title) {
        Some((seconds, _)) => format!(" of {seconds} s"),
        None => String::new(),
    }
}

/// The seconds that a step may take, and the work that takes them.
fn budget(title: &str) -> Option<(u64, &'static str)> {
    let mut rows = budgets();
    rows.find_map(|(known, seconds, work)| (known == title).then_some((seconds, work)))
}

fn budgets() -> impl Iterator<Item = (&'static str, u64, &'static str)> {
    let rows = BUDGETS.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|row| {
        let (seconds, rest) = row.split_once(' ')?;
        let (title, work) = rest.split_once(": ")?;
        Some((title.trim_start(), seconds.parse().ok()?, work))
    })
}

fn over_budget(title: &str, time: Duration) -> Option<String> {
    let (seconds, work) = budget(title)?;
    (time > Duration::from_secs(seconds)).then(|| {
        let took = time.as_secs();
        format!("step `{title}` took {took} s of {seconds} s, and all it does: it {work}")
    })
}

/// Writes a command as one would type it, without its folder.
fn command_line(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    let name = program.rsplit('/').next().unwrap_or(&program).to_owned();
    let variables = command.get_envs().filter_map(|(name, value)| {
        Some(format!(
            "{}={}",
            name.to_string_lossy(),
            quoted(&value?.to_string_lossy())
        ))
    });
    let args = command.get_args().map(|arg| quoted(&arg.to_string_lossy()));
    variables
        .chain([name])
        .chain(args)
        .collect::<Vec<_>>()
        .join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=./:,@+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        let mut command = Command::new("/usr/bin/cargo");
        command
            .args(["doc", "--features", "a b"])
            .env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(
            command_line(&command),
            "RUSTDOCFLAGS='-D warnings' cargo doc --features 'a b'"
        );
    }

    #[test]
    fn a_step_over_its_budget_says_so() {
        assert_eq!(over_budget("tools", Duration::from_secs(10)), None);
        assert_eq!(over_budget("of no budget", Duration::from_secs(9999)), None);
        assert_eq!(
            over_budget("tools", Duration::from_secs(11)).as_deref(),
            Some("step `tools` took 11 s of 10 s, and all it does: it asks for one version")
        );
    }

    #[test]
    fn all_budgets_make_75_minutes_at_most() {
        let rows = BUDGETS
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(rows.count(), budgets().count(), "every row can be read");
        let all: u64 = budgets().map(|(_, seconds, _)| seconds).sum();
        assert!(all <= 75 * 60, "{all} s");
    }

    #[test]
    fn a_failed_step_names_itself_and_how_to_repeat_it() {
        let mut steps = Steps::new();
        let error = steps.run("void", &mut Command::new("/nowhere/void"));
        let text = format!("{:#}", error.expect_err("no such program"));
        assert!(
            text.starts_with("step `void` failed; repeat it with `void`"),
            "{text}"
        );
        let error = steps.task("own", "cargo xtask own", || bail!("no luck"));
        let text = format!("{:#}", error.expect_err("the task fails"));
        assert_eq!(
            text,
            "step `own` failed; repeat it with `cargo xtask own`: no luck"
        );
    }
}
