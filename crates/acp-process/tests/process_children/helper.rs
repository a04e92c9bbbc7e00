//! Runs a part of this test program as a process of its own.
//!
//! A helper is an ignored test that does something only when it is called by
//! name through [`command`]. The test harness prints before the
//! helper's own words, so these begin behind a mark.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

const VARIABLE: &str = "ACP_TEST_HELPER";
const MARK: &str = "\n#the helper speaks#\n";

/// A command that runs the helper test with this path.
pub(crate) fn command(test: &str) -> Command {
    let mut command = Command::new(program());
    command.args(args(test)).env(VARIABLE, test);
    command
}

/// Tells whether this process is the helper; says the mark if so.
#[expect(clippy::disallowed_methods, reason = "plays a program that prints")]
pub(crate) fn is_called(test: &str) -> bool {
    let called = std::env::var(VARIABLE).is_ok_and(|called| called == test);
    if called {
        let mut stdout = std::io::stdout();
        stdout.write_all(MARK.as_bytes()).unwrap();
        stdout.flush().unwrap();
    }
    called
}

/// Says a line on stdout.
#[expect(clippy::disallowed_methods, reason = "plays a program that prints")]
pub(crate) fn say(line: &str) {
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{line}").unwrap();
    stdout.flush().unwrap();
}

/// Runs a helper that must succeed; returns what it said.
pub(crate) fn run(test: &str) -> String {
    words_of(&mut command(test))
}

/// Runs a helper that has these signals ignored from its start.
pub(crate) fn run_ignoring(signals: &str, test: &str) -> String {
    let helper = command(test);
    let mut env = Command::new("env");
    env.arg(format!("--ignore-signal={signals}"))
        .arg(helper.get_program())
        .args(helper.get_args());
    for (name, value) in helper.get_envs() {
        env.env(name, value.unwrap_or_default());
    }
    words_of(&mut env)
}

fn words_of(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {stderr}", output.status);
    String::from_utf8(own_words(&output.stdout).to_vec()).unwrap()
}

/// Takes away what the harness printed.
pub(crate) fn own_words(stdout: &[u8]) -> &[u8] {
    let at = memchr::memmem::find(stdout, MARK.as_bytes()).expect("the helper spoke");
    &stdout[at + MARK.len()..]
}

fn program() -> PathBuf {
    std::env::current_exe().unwrap()
}

fn args(test: &str) -> [&str; 6] {
    [
        "--exact",
        test,
        "--ignored",
        "--nocapture",
        "--test-threads",
        "1",
    ]
}
