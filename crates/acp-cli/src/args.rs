//! The command line.

use clap::{Parser, Subcommand};

use crate::commands::agents::AgentsArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::config::{self, ConfigCommand};
use crate::commands::demo::DemoArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::login::{LoginArgs, LogoutArgs};
use crate::commands::man::ManArgs;
use crate::commands::schema::SchemaName;
use crate::commands::sessions::{CancelArgs, SessionsCommand, SetArgs};
use crate::run::RunArgs;

/// One command for every agent of the Agent Client Protocol.
#[derive(Debug, Parser)]
#[command(
    name = "acp",
    version,
    about,
    max_term_width = 100,
    subcommand_required = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Send one prompt to an agent and show its turn
    ///
    /// The text of the agent goes to standard output as it comes, everything else to
    /// standard error. Ctrl-C asks the agent to cancel, a second Ctrl-C kills it with
    /// everything it started.
    Run(Box<RunArgs>),
    /// List the agents that are known: installed or not, their versions and keys
    Agents(AgentsArgs),
    /// Log in to an agent, or store its key
    Login(LoginArgs),
    /// Log out of an agent, and forget its key
    Logout(LogoutArgs),
    /// Look whether all is well with an agent, without a prompt
    Doctor(DoctorArgs),
    /// Show what is chosen where the command line says nothing, and write a file for it
    #[command(after_help = config::HELP.as_str())]
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// List sessions that are kept, show them, close and delete them
    ///
    /// Without a command it lists those of this folder.
    Sessions {
        #[command(subcommand)]
        command: Option<SessionsCommand>,
    },
    /// Set the mode, the model or an option of a kept session
    ///
    /// Of a session in which a turn runs it is set at once; else it is remembered, and set
    /// before each turn to come.
    Set(SetArgs),
    /// Cancel the turn that another process runs in a kept session of this folder
    ///
    /// It waits until the turn has ended. When none runs, there is nothing to do.
    Cancel(CancelArgs),
    /// Be a small agent on standard input and output, to try clients with
    DemoAgent(DemoArgs),
    /// Stand between a client and its agent, and record what they say
    ///
    /// Give it to the client in the place of the agent. Every byte is passed on as it
    /// is, stderr and signals too; it ends as the agent ends (128 and the number of
    /// the signal that ended it). What is recorded is redacted.
    Tap(acp_recording::tap::TapArgs),
    /// Play a recording to a client, or to an agent
    ///
    /// Without a command it is the agent of the recording, on stdin and stdout. With
    /// one it says to that agent what the client said, and tells what went otherwise.
    Replay(acp_mockpeer::cli::ReplayArgs),
    /// Print a JSON schema of what acp writes
    Schema {
        /// What it describes
        name: SchemaName,
    },
    /// Tell whether an agent or a client keeps the rules of the protocol
    Check(acp_mockpeer::cli::CheckArgs),
    /// Play a scripted agent or client, or work on scenarios and recordings
    Mock {
        #[command(subcommand)]
        command: acp_mockpeer::cli::MockpeerCommand,
    },
    /// Write what a shell needs to complete commands and options
    Completions(CompletionsArgs),
    /// Write pages of the manual
    Man(ManArgs),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_is_reviewed_like_code() {
        use clap::CommandFactory;
        let mut acp = Cli::command().term_width(100);
        acp.build();
        expect_test::expect_file!["help/acp.txt"].assert_eq(&acp.render_help().to_string());
        let run = acp.find_subcommand_mut("run").expect("`acp run` is there");
        expect_test::expect_file!["help/run.txt"].assert_eq(&run.render_help().to_string());
        expect_test::expect_file!["help/run-long.txt"]
            .assert_eq(&run.render_long_help().to_string());
        let demo = acp.find_subcommand_mut("demo-agent");
        let demo = demo.expect("`acp demo-agent` is there");
        expect_test::expect_file!["help/demo-agent.txt"].assert_eq(&demo.render_help().to_string());
    }

    /// The commands whose help is in a file of its own: its words, joined by hyphens.
    const COMMANDS: &[&str] = &[
        "check",
        "agents",
        "login",
        "logout",
        "doctor",
        "config",
        "config show",
        "config init",
        "sessions",
        "sessions list",
        "sessions show",
        "sessions history",
        "sessions close",
        "sessions delete",
        "sessions agent",
        "set",
        "cancel",
        "completions",
        "man",
    ];

    #[test]
    fn so_is_that_of_every_command() {
        use clap::CommandFactory;
        let mut acp = Cli::command().term_width(100);
        acp.build();
        for name in COMMANDS {
            let command = name.split(' ').fold(&mut acp, |command, word| {
                command.find_subcommand_mut(word).expect("it is a command")
            });
            let file = format!("help/{}.txt", name.replace(' ', "-"));
            expect_test::expect_file![file].assert_eq(&command.render_long_help().to_string());
        }
    }
}
