//! What the program's exit code says.

use std::process::ExitCode;

/// How a run ended, one code for each kind of end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The agent ended its turn.
    EndOfTurn = 0,
    /// The command line cannot be followed.
    Usage = 2,
    /// The agent could not be started.
    StartFailed = 3,
    /// The agent wants a login first.
    AuthRequired = 4,
    /// The agent went away in the middle.
    AgentDied = 5,
    /// The agent speaks another version, or not the protocol.
    Protocol = 6,
    /// The agent refused to go on.
    Refusal = 7,
    /// A limit of the agent ended the turn: tokens or requests.
    Limit = 8,
    /// The agent did not answer in time.
    TimedOut = 9,
    /// The agent answered with an error.
    AgentError = 10,
    /// Another turn runs in the session.
    Busy = 11,
    /// Cancelled.
    Cancelled = 130,
}

/// The table as the help prints it.
pub(crate) const HELP: &str = "\
Exit codes:
    0  the agent ended its turn
    2  usage: the command line cannot be followed
    3  the agent could not be started
    4  the agent requires a login first
    5  the agent died
    6  the agent speaks another protocol version, or breaks the protocol
    7  the agent refused
    8  a limit ended the turn (tokens, turn requests)
    9  the agent did not answer in time
   10  the agent answered with an error
   11  another turn runs in the session
  130  cancelled
";

/// Returns the codes and what each says, as the help prints them.
pub(crate) fn table() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = HELP.lines().skip(1);
    lines.filter_map(|line| line.trim_start().split_once("  "))
}

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
    fn the_help_lists_every_code_once_and_no_other() {
        let all = [
            Exit::EndOfTurn,
            Exit::Usage,
            Exit::StartFailed,
            Exit::AuthRequired,
            Exit::AgentDied,
            Exit::Protocol,
            Exit::Refusal,
            Exit::Limit,
            Exit::TimedOut,
            Exit::AgentError,
            Exit::Busy,
            Exit::Cancelled,
        ];
        let listed: Vec<u8> = table().map(|(code, _)| code.parse().unwrap()).collect();
        assert_eq!(listed, all.map(Exit::code));
    }
}
