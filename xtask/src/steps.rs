//! Steps of a longer run: each says what it does, what it takes, and how to repeat it.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

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
        self.step(title, &line, || {
            let status = command
                .status()
                .with_context(|| format!("failed to start `{line}`"))?;
            if !status.success() {
                bail!("`{line}` ended with {status}");
            }
            Ok(())
        })
    }

    /// Runs a function of our own as the next step; `hint` says how to run it alone.
    ///
    /// # Errors
    ///
    /// Fails when the function does.
    pub(crate) fn task(
        &mut self,
        title: &str,
        hint: &str,
        task: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        self.step(title, hint, task)
    }

    /// Prints what was done and how long each step took.
    pub(crate) fn finish(self) {
        let width = self.done.iter().map(|(title, _)| title.len()).max();
        let width = width.unwrap_or_default().max("all".len());
        eprintln!();
        for (title, time) in &self.done {
            eprintln!("  {title:width$}  {:>7.1} s", time.as_secs_f64());
        }
        let all: Duration = self.done.iter().map(|(_, time)| *time).sum();
        eprintln!("  {:width$}  {:>7.1} s", "all", all.as_secs_f64());
    }

    fn step(&mut self, title: &str, line: &str, task: impl FnOnce() -> Result<()>) -> Result<()> {
        eprintln!("\n==> {title}: {line}");
        let started = Instant::now();
        let result = task();
        let time = started.elapsed();
        let word = if result.is_ok() { "done" } else { "FAILED" };
        eprintln!("<== {title}: {word} after {:.1} s", time.as_secs_f64());
        self.done.push((title.to_owned(), time));
        result.with_context(|| format!("step `{title}` failed; repeat it with `{line}`"))
    }
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
