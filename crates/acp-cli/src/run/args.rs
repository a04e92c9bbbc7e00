//! What `acp run` is told.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::agent::{AgentArgs, word};
use crate::config::{AllowLevel, Colour, Files, Flags};
use crate::exit;
use crate::outcome::Outcome;
use crate::sessions::KeepArgs;
use crate::values::{Bound, pair, time, time_or_none};

/// What `acp run` is told.
#[derive(Debug, Args)]
#[command(after_help = exit::HELP.as_str(), after_long_help = super::help::LONG.as_str())]
pub(crate) struct RunArgs {
    /// What to ask; `-` reads it from standard input, and so does a pipe without it
    pub(crate) prompt: Option<String>,

    /// Read what to ask from this file, or what is asked about when there is a PROMPT
    /// too; `-` is standard input
    #[arg(long, short, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Attach this file, folder or address to the prompt; may be given several times. The
    /// agent gets its content where it takes that, or else a link
    #[arg(long, value_name = "FILE")]
    pub(crate) attach: Vec<String>,

    /// Write one JSON event a line to standard output, and nothing else; see
    /// `acp schema run-events`
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the report to standard output, which is the last message of the agent, and
    /// nothing else
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,

    /// When to use colours [default: on terminals that can show them, unless NO_COLOR or
    /// CLICOLOR_FORCE say otherwise]
    #[arg(long, value_name = "WHEN", value_enum)]
    pub(crate) color: Option<Colour>,

    #[command(flatten)]
    pub(crate) agent: AgentArgs,

    #[command(flatten)]
    pub(crate) session: SessionArgs,

    #[command(flatten)]
    pub(crate) keep: KeepArgs,

    #[command(flatten)]
    pub(crate) consent: ConsentArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

impl RunArgs {
    /// Returns what it says of the settings that others may say something of, too.
    pub(crate) fn flags(&self) -> Result<Flags, Outcome> {
        Ok(Flags {
            model: word("--model", self.session.model.as_deref())?,
            effort: word("--effort", self.session.effort.as_deref())?,
            mode: word("--mode", self.session.mode.as_deref())?,
            timeout: self.limits.timeout.map(Into::into),
            idle_timeout: self.limits.idle_timeout,
            allow: self.consent.allow,
            files: self.consent.files,
            terminals: self.consent.terminals,
            color: self.color,
            ..self.agent.flags()?
        })
    }
}

/// Which session the turn runs in, and how it is set.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Session")]
pub(crate) struct SessionArgs {
    /// Use this model, by its id or name
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// Let the model think this much, by the agent's words for it
    #[arg(long, value_name = "LEVEL")]
    pub(crate) effort: Option<String>,

    /// Set this session mode before the prompt
    #[arg(long, value_name = "ID")]
    pub(crate) mode: Option<String>,

    /// Set an option of the session; may be given several times
    #[arg(long, value_name = "ID=VALUE", value_parser = pair)]
    pub(crate) option: Vec<(String, String)>,

    /// Let the session use this folder besides; may be given several times
    #[arg(long, value_name = "DIR")]
    pub(crate) add_dir: Vec<PathBuf>,

    /// Give the agent this MCP server: a command, an http address, or a .json file with
    /// `mcpServers`; may be given several times, as NAME=SERVER too
    #[arg(long, value_name = "SERVER")]
    pub(crate) mcp: Vec<String>,
}

/// What the agent may do.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Permissions")]
pub(crate) struct ConsentArgs {
    /// What the agent may do when it asks; `none` is no sandbox, for an agent may act
    /// without asking [default: none]
    #[arg(long, value_name = "LEVEL", value_enum)]
    pub(crate) allow: Option<AllowLevel>,

    /// Allow tools of this kind too, wherever they act; may be given several times
    #[arg(long, value_name = "KIND", value_parser = KINDS)]
    pub(crate) allow_tool: Vec<String>,

    /// Refuse tools of this kind, whatever allows them, and those that do not say what they
    /// are; may be given several times
    #[arg(long, value_name = "KIND", value_parser = KINDS)]
    pub(crate) deny_tool: Vec<String>,

    /// Ask you, at the terminal, about everything else, and let the agent ask questions
    #[arg(long, conflicts_with = "answer")]
    pub(crate) ask: bool,

    /// What the agent is told when it has a question and nobody is there [default: none]
    #[arg(long, value_name = "HOW", value_enum)]
    pub(crate) answer: Option<AnswerHow>,

    /// Which files of the session's folders the agent may use by way of acp
    /// [default: none]
    #[arg(long, value_name = "ACCESS", value_enum)]
    pub(crate) files: Option<Files>,

    /// Let the agent run commands by way of acp, with your rights
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        hide_possible_values = true
    )]
    pub(crate) terminals: Option<bool>,

    /// Hold the agent and its commands in a sandbox: the session's folders are writable,
    /// the system is readable, and other files, keys and processes are not there
    #[arg(
        long,
        value_name = "LEVEL",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "workspace"
    )]
    pub(crate) sandbox: Option<SandboxLevel>,
}

/// The kinds of tools that the protocol knows. Others cannot be named: a rule that is
/// misspelled would allow what it was to refuse.
const KINDS: [&str; 10] = [
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
];

/// What a sandbox leaves to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SandboxLevel {
    /// The session's folders and the network
    Workspace,
    /// The session's folders, and no network
    Offline,
}

/// What is answered to questions when nobody is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerHow {
    /// It is told from the start that nobody answers, and does without
    None,
    /// It may ask, and everything is declined
    Decline,
    /// It may ask, and gets what it proposes itself; the rest is declined
    Defaults,
}

/// How long things may take.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// How long all of it may take, as 90, 90s, 5m or 1h; then the turn is cancelled, and an
    /// agent that does not end it within as long again, at most 10 seconds, is killed
    /// [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) timeout: Option<Duration>,

    /// How long the agent may be silent while nothing is owed to it, or `none`; then the
    /// turn is cancelled [default: 30m]
    #[arg(long, value_name = "TIME", value_parser = time_or_none)]
    pub(crate) idle_timeout: Option<Bound>,
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
            }) => Ok(*args),
            Ok(_) => unreachable!("`run` was given"),
            Err(error) => Err(error.kind()),
        }
    }

    #[test]
    fn the_command_of_the_agent_stands_after_two_dashes() {
        let args = run(&["hello", "--", "agent", "--acp", "-"]).unwrap();
        assert_eq!(args.prompt.as_deref(), Some("hello"));
        assert_eq!(args.agent.command, ["agent", "--acp", "-"]);
        assert_eq!(args.consent.allow, None);
        assert!(!args.json);
        let args = run(&["--", "agent"]).unwrap();
        assert_eq!((args.prompt, args.agent.command.len()), (None, 1));
    }

    #[test]
    fn options_may_stand_around_the_prompt() {
        let args = run(&[
            "--allow", "edits", "-", "--json", "--mode", "plan", "--", "agent",
        ])
        .unwrap();
        assert_eq!(args.prompt.as_deref(), Some("-"));
        assert_eq!(args.consent.allow, Some(AllowLevel::Edits));
        assert!(args.json);
        assert_eq!(args.session.mode.as_deref(), Some("plan"));
        assert_eq!(args.agent.command, ["agent"]);
        assert!(run(&["hello"]).unwrap().agent.command.is_empty());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        use clap::error::ErrorKind::*;
        assert_eq!(run(&["a", "b"]).unwrap_err(), UnknownArgument);
        let refused: [(&[&str], _); 6] = [
            (&["--allow", "some", "a"], InvalidValue),
            (&["--start-timeout", "0", "a"], ValueValidation),
            (&["--option", "style", "a"], ValueValidation),
            (&["--deny-tool", "exec", "a"], InvalidValue),
            (&["--quiet", "--json", "a"], ArgumentConflict),
            (&["--agent", "codex", "a", "--", "agent"], ArgumentConflict),
        ];
        for (args, kind) in refused {
            assert_eq!(run(args).unwrap_err(), kind, "{args:?}");
        }
    }
}
