//! The exit codes: one table, which the help, the manual and the README show.

use std::process::ExitCode;
use std::sync::LazyLock;

/// How a run ended, one code for each kind of end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    EndOfTurn = 0,
    Usage = 2,
    StartFailed = 3,
    AuthRequired = 4,
    AgentDied = 5,
    Protocol = 6,
    Refusal = 7,
    Limit = 8,
    TimedOut = 9,
    AgentError = 10,
    Busy = 11,
    Cancelled = 130,
}

/// Each code and its meaning.
pub(crate) const TABLE: [(Exit, &str); 12] = [
    (Exit::EndOfTurn, "the agent ended its turn"),
    (Exit::Usage, "usage: the command line cannot be followed"),
    (Exit::StartFailed, "the agent could not be started"),
    (Exit::AuthRequired, "the agent requires a login first"),
    (Exit::AgentDied, "the agent died"),
    (
        Exit::Protocol,
        "the agent speaks another protocol version, or breaks the protocol",
    ),
    (Exit::Refusal, "the agent refused"),
    (
        Exit::Limit,
        "a limit ended the turn (tokens, turn requests)",
    ),
    (Exit::TimedOut, "the agent did not answer in time"),
    (Exit::AgentError, "the agent answered with an error"),
    (Exit::Busy, "another turn runs in the session"),
    (Exit::Cancelled, "cancelled"),
];

/// The table as the help prints it.
pub(crate) static HELP: LazyLock<String> = LazyLock::new(|| {
    let rows = TABLE.map(|(exit, meaning)| format!("  {:3}  {meaning}\n", exit.code()));
    format!("Exit codes:\n{}", rows.concat())
});

impl Exit {
    /// Returns the number.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_shows_the_table() {
        let rows = TABLE.map(|(exit, meaning)| format!("| {} | {meaning} |\n", exit.code()));
        let table = format!("| code | meaning |\n|---|---|\n{}", rows.concat());
        assert!(include_str!("../README.md").contains(&table), "{table}");
    }

    #[test]
    fn each_code_is_in_the_table_once() {
        let codes = TABLE.map(|(exit, _)| exit.code());
        assert!(codes.is_sorted_by(|one, next| one < next), "{codes:?}");
    }
}
