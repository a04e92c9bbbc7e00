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
pub(crate) fn is_called(test: &str) -> bool {
    let called = std::env::var(VARIABLE).is_ok_and(|called| called == test);
    if called {
        let mut stdout = std::io::stdout();
        stdout.write_all(MARK.as_bytes()).unwrap();
        stdout.flush().unwrap();
    }
    called
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
