//! `acp config`.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use acp_process::stdio::stdout_is_terminal;
use clap::{Args, Subcommand};

use crate::config::{Flags, Settings, Surroundings, init, load, show, trust};
use crate::exit::Exit;
use crate::outcome::Outcome;
use crate::show::{Printed, print};
use crate::table::width;

/// What `acp config` is told.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show what is in force here, and who said it
    ///
    /// Keys and other secrets are never shown: of MCP servers and agents only the names.
    Show(ShowArgs),
    /// Write a file in which every setting stands, to be chosen from
    ///
    /// A file that is there already is left as it is.
    Init(InitArgs),
    /// Trust the file of a project, `.acp.toml`, as it is now
    ///
    /// It may then choose an agent, run programs and allow more than you do. Read it first.
    /// Trust ends as soon as its text, its owner or its mode changes; a file that other
    /// users could change cannot be trusted.
    Trust(TrustArgs),
    /// Trust the file of a project no longer
    Untrust(TrustArgs),
}

/// The project that `acp config trust` and `untrust` are about.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// A folder of the project
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    folder: PathBuf,
}

/// What `acp config show` is told.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Write one JSON object
    #[arg(long)]
    json: bool,

    /// The folder to show it for [default: the current one]
    #[arg(
        long,
        value_name = "DIR",
        default_value = ".",
        hide_default_value = true
    )]
    cwd: PathBuf,
}

/// What `acp config init` is told.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Write the file of this project, `.acp.toml`, instead of your own
    #[arg(long)]
    project: bool,
}

/// Does what `acp config` was told.
pub(crate) fn run(command: &ConfigCommand) -> Exit {
    print(match command {
        ConfigCommand::Show(args) => show(args),
        ConfigCommand::Init(args) => init(args).map(Printed::from),
        ConfigCommand::Trust(args) => trust::trust(&args.folder)
            .map(Printed::from)
            .map_err(Into::into),
        ConfigCommand::Untrust(args) => trust::untrust(&args.folder)
            .map(Printed::from)
            .map_err(Into::into),
    })
}

fn show(args: &ShowArgs) -> Result<Printed, Outcome> {
    let configuration = load(&args.cwd, Flags::default())?;
    Ok(match args.json {
        true => Printed::json(show::json(&configuration)),
        false => show::table(&configuration, width(stdout_is_terminal())).into(),
    })
}

fn init(args: &InitArgs) -> Result<String, Outcome> {
    let surroundings = Surroundings::of_process();
    let written = match args.project {
        true => init::project(Path::new(".")),
        false => init::global(&surroundings),
    };
    let path = written?;
    Ok(format!(
        "{} is written; take the # from the lines you want\n",
        path.display()
    ))
}

/// Returns the variables of the environment that are read, and what each is about.
pub(crate) fn variables() -> Vec<(&'static str, &'static str)> {
    let rows = Settings::of(Vec::new()).rows().into_iter();
    let settings = rows.map(|row| (row.variable, row.about));
    let others = [("NO_COLOR", "no colours, unless ACP_COLOR says otherwise")];
    settings.chain(others).collect()
}

/// What the help says of files and precedence.
pub(crate) static HELP: LazyLock<String> = LazyLock::new(|| {
    let rows = Settings::of(Vec::new()).rows();
    let rows: String = rows
        .iter()
        .map(|row| format!("  {:14} {:18} {}\n", row.name, row.variable, row.about))
        .collect();
    format!(
        "Who says it, the strongest first:\n  \
           1. flags of the command\n  \
           2. variables of the environment\n  \
           3. .acp.toml, of the project: in the folder or above it, up to the root of\n     \
              its repository; the nearest counts\n  \
           4. config.toml, of your own: in $XDG_CONFIG_HOME/acp, or in ~/.config/acp\n  \
           5. what the program does by itself\n\n\
         Settings, and their variables:\n{rows}\n\
         Files say besides:\n  \
           [agents.NAME]  an agent of your own, or what is different about a known one\n  \
           [mcp.NAME]     an MCP server for every session: command, args, env, env_from,\n                 \
                          or url, headers, headers_from, sse\n  \
           registry       a document of the official registry, by its absolute path\n  \
           protect        more files and folders that an agent writes only when a person\n                 \
                          allows it, by their name or the last names of their path\n\n\
         A project's file comes with what was cloned. Unless you trust it as it is (acp config\n\
         trust) it can only tighten: allow less than you do, shorten times, choose a careful\n\
         mode (ask, plan, read-only) and protect more paths; the rest is ignored, and you are\n\
         told. Model, effort and mode go with the agent that the same file names, and do not\n\
         count for another.\n"
    )
});
