//! What `acp run` is told.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use acp_client::Allow;
use clap::{Args, ValueEnum};

use crate::exit;

/// What `acp run` is told.
#[derive(Debug, Args)]
#[command(after_help = exit::HELP, after_long_help = LONG_HELP.as_str())]
pub(crate) struct RunArgs {
    /// The folder the agent works in [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// What the agent may do when it asks; `none` is no sandbox, for an agent may act
    /// without asking
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = AllowLevel::None)]
    pub(crate) allow: AllowLevel,

    /// Set this session mode before the prompt
    #[arg(long, value_name = "ID")]
    pub(crate) mode: Option<String>,

    /// Write one JSON event a line to standard output, and nothing else
    #[arg(long)]
    pub(crate) json: bool,

    /// How long the agent may take to start [default: 30, and up to 120 while it
    /// writes to standard error]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) start_timeout: Option<Duration>,

    /// What to ask; `-` reads it from standard input
    pub(crate) prompt: String,

    /// The agent and its arguments, after `--` [default: the demo agent]
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

/// The levels of `--allow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AllowLevel {
    /// Refuse whatever the agent asks for
    None,
    /// Allow tools that say they read or search
    Reads,
    /// And edit, delete and move, when every path named lies inside the folder
    Edits,
    /// Allow everything
    All,
}

impl From<AllowLevel> for Allow {
    fn from(level: AllowLevel) -> Self {
        match level {
            AllowLevel::None => Self::None,
            AllowLevel::Reads => Self::Reads,
            AllowLevel::Edits => Self::Edits,
            AllowLevel::All => Self::All,
        }
    }
}

static LONG_HELP: std::sync::LazyLock<String> =
    std::sync::LazyLock::new(|| format!("{PERMISSIONS}\n{EVENTS}\n{}", exit::HELP));

const PERMISSIONS: &str = "\
Permissions:
  Agents may ask before they use a tool, and --allow answers. It never picks an
  option that allows for ever, and refuses a request that offers several ways to
  allow it once: that is a question. The kind and the paths of a tool are what the
  agent says they are. `none` is no sandbox: an agent may act without asking (some
  do, by default; look for a stricter --mode). To confine an agent, run it in a
  container.
";

const EVENTS: &str = "\
Events of --json, one object a line, told apart by \"event\":
  session     the session is open: sessionId, cwd, agentInfo, modes, configOptions
  update      params: the parameters of a session/update, as the agent wrote them
  gap         dropped: how many updates were lost because they came too fast
  permission  the agent asked: toolCallId, title, kind, allowed, optionId,
              optionKind (both null if the answer was `cancelled`), reason
  end         the last line, always: stopReason (null without one), exitCode,
              error (null, or an object with message and hint)
";

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<u64>() {
        Ok(number) if number > 0 => Ok(Duration::from_secs(number)),
        _ => Err("a whole number of seconds, at least 1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn run(args: &[&str]) -> Result<RunArgs, clap::error::ErrorKind> {
        let line = ["acp", "run"].iter().chain(args);
        match Cli::try_parse_from(line) {
            Ok(Cli {
                command: Command::Run(args),
            }) => Ok(args),
            Ok(_) => unreachable!("`run` was given"),
            Err(error) => Err(error.kind()),
        }
    }

    #[test]
    fn the_command_of_the_agent_stands_after_two_dashes() {
        let args = run(&["hello", "--", "agent", "--acp", "-"]).unwrap();
        assert_eq!(args.prompt, "hello");
        assert_eq!(args.command, ["agent", "--acp", "-"]);
        assert_eq!(args.allow, AllowLevel::None);
        assert!(!args.json);
    }

    #[test]
    fn options_may_stand_around_the_prompt() {
        let args = run(&[
            "--allow", "edits", "-", "--json", "--mode", "plan", "--", "agent",
        ])
        .unwrap();
        assert_eq!(args.prompt, "-");
        assert_eq!(args.allow, AllowLevel::Edits);
        assert!(args.json);
        assert_eq!(args.mode.as_deref(), Some("plan"));
        assert_eq!(args.command, ["agent"]);
        assert!(run(&["hello"]).unwrap().command.is_empty());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        use clap::error::ErrorKind::*;
        assert_eq!(run(&[]).unwrap_err(), MissingRequiredArgument);
        assert_eq!(run(&["--", "agent"]).unwrap_err(), MissingRequiredArgument);
        assert_eq!(run(&["a", "b"]).unwrap_err(), UnknownArgument);
        assert_eq!(
            run(&["--allow", "some", "a", "--", "agent"]).unwrap_err(),
            InvalidValue
        );
        assert_eq!(
            run(&["--start-timeout", "0", "a", "--", "agent"]).unwrap_err(),
            ValueValidation
        );
    }
}
