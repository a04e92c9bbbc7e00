//! `acp man`: the pages of the manual, made from the definition of the command line.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;
use roff::{Roff, bold, roman};

use super::config;
use crate::exit::{self, Exit};
use crate::outcome::Outcome;
use crate::show::{fail, one_line, print};

/// What `acp man` is told.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub(crate) struct ManArgs {
    /// The command to write the page of, such as `run` or `config show` [default: acp
    /// itself]
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    command: Vec<String>,

    /// Write the pages of all commands into this folder, which is made if it is not there
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

const HELP: &str = "\
To read a page:     acp man run > acp-run.1; man ./acp-run.1
To install them:    acp man --dir ~/.local/share/man/man1
";

/// Commands that have exit codes of their own, which their pages tell.
const OTHER_CODES: &[&str] = &["check", "completions", "man", "mock", "replay", "tap"];

/// Writes a page to standard output, or all of them into a folder.
pub(crate) fn run(args: &ManArgs, acp: Command) -> Exit {
    let acp = named(acp);
    let Some(dir) = &args.dir else {
        let mut command = &acp;
        for word in &args.command {
            match command.find_subcommand(word) {
                Some(inner) => command = inner,
                None => {
                    let message = format!("there is no command {}", one_line(word));
                    return fail(&Outcome::usage(message, "acp --help lists the commands"));
                }
            }
        }
        // It is made of what this program says of itself.
        let page = page(command).map(|page| String::from_utf8_lossy(&page).into_owned());
        return print(page.map_err(Outcome::from));
    };
    match write_all(&acp, dir) {
        Ok(()) => Exit::EndOfTurn,
        Err(error) => fail(&Outcome::usage(
            format!("failed to write the pages into {}: {error}", dir.display()),
            "--dir takes a folder that this user may write to",
        )),
    }
}

fn write_all(command: &Command, dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    let name = format!("{}.1", name_of(command));
    fs::write(dir.join(name), page(command)?)?;
    for inner in commands(command) {
        write_all(inner, dir)?;
    }
    Ok(())
}

/// Gives each command the name of its page.
fn named(mut acp: Command) -> Command {
    acp.build();
    acp
}

fn name_of(command: &Command) -> &str {
    command
        .get_display_name()
        .unwrap_or_else(|| command.get_name())
}

/// The commands below one, without the help of each, which has no page.
fn commands(command: &Command) -> impl Iterator<Item = &Command> {
    let inner = command.get_subcommands();
    inner.filter(|inner| inner.get_name() != "help" && !inner.is_hide_set())
}

/// Writes the page of one command.
fn page(command: &Command) -> io::Result<Vec<u8>> {
    let name = name_of(command).to_owned();
    let version = format!("acp {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone())
        .title(name.to_uppercase())
        .source(version)
        .manual("acp");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().next().is_some() {
        man.render_options_section(&mut page)?;
    }
    if commands(command).next().is_some() {
        subcommands(command).to_writer(&mut page)?;
    }
    notes(command).to_writer(&mut page)?;
    let own = name.strip_prefix("acp-").unwrap_or("run");
    if !OTHER_CODES.contains(&own.split('-').next().unwrap_or_default()) {
        exit_status().to_writer(&mut page)?;
    }
    if name == command.get_name() {
        surroundings().to_writer(&mut page)?;
    }
    Ok(page)
}

/// Lists the commands below one, each with its page.
fn subcommands(command: &Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["COMMANDS"]);
    for inner in commands(command) {
        roff.control("TP", []);
        roff.text([bold(format!("{}(1)", name_of(inner)))]);
        let about = inner.get_about().map(ToString::to_string);
        roff.text([roman(about.unwrap_or_default())]);
    }
    roff
}

/// Writes what stands behind the options in the help, line for line.
fn notes(command: &Command) -> Roff {
    let mut roff = Roff::new();
    let help = command
        .get_after_long_help()
        .or_else(|| command.get_after_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    // They have a section of their own.
    let help = help.replace(exit::HELP.trim_end(), "");
    if help.trim().is_empty() {
        return roff;
    }
    roff.control("SH", ["NOTES"]);
    roff.control("nf", []);
    for line in help.trim().lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff
}

/// Writes the table of exit codes.
fn exit_status() -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for (exit, meaning) in exit::TABLE {
        roff.control("TP", []);
        roff.text([bold(exit.code().to_string())]);
        roff.text([roman(meaning)]);
    }
    roff
}

/// Writes, for the page of the whole program, what it reads around it.
fn surroundings() -> Roff {
    let mut roff = Roff::new();
    let mut section = |title: &str, rows: &[(&str, &str)]| {
        roff.control("SH", [title]);
        for (name, about) in rows {
            roff.control("TP", []);
            roff.text([bold(*name)]);
            roff.text([roman(*about)]);
        }
    };
    let settings = config::variables();
    section("ENVIRONMENT", &settings);
    section("FILES", FILES);
    roff
}

/// The files that the program reads and writes by itself.
const FILES: &[(&str, &str)] = &[
    (
        "$XDG_CONFIG_HOME/acp/config.toml, ~/.config/acp/config.toml",
        "your configuration, see acp-config(1)",
    ),
    (
        ".acp.toml",
        "the configuration of a project, see acp-config(1)",
    ),
    (
        "$XDG_STATE_HOME/acp/sessions, ~/.local/state/acp/sessions",
        "sessions that are kept, see acp-sessions(1)",
    ),
    (
        "$XDG_DATA_HOME/acp/keys, ~/.local/share/acp/keys",
        "stored keys, see acp-login(1)",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn acp() -> Command {
        named(crate::args::Cli::command())
    }

    fn text(command: &Command) -> String {
        String::from_utf8(page(command).unwrap()).unwrap()
    }

    #[test]
    fn every_command_has_a_page_with_every_option() {
        fn check(command: &Command, pages: &mut Vec<String>) {
            let page = text(command);
            pages.push(name_of(command).to_owned());
            assert!(page.contains(".SH NAME"), "{page}");
            let shown = command
                .get_arguments()
                .filter(|option| !option.is_hide_set());
            for option in shown.filter_map(clap::Arg::get_long) {
                let shown = option.replace('-', r"\-");
                assert!(
                    page.contains(&shown),
                    "{}: {option}\n{page}",
                    name_of(command)
                );
            }
            for inner in commands(command) {
                assert!(page.contains(name_of(inner).rsplit('-').next().unwrap()));
                check(inner, pages);
            }
        }
        let mut pages = Vec::new();
        check(&acp(), &mut pages);
        for name in ["acp", "acp-run", "acp-config-show", "acp-doctor", "acp-man"] {
            assert!(pages.iter().any(|page| page == name), "{name}: {pages:?}");
        }
        let dir = tempfile::tempdir().unwrap();
        write_all(&acp(), &dir.path().join("man1")).unwrap();
        let written = fs::read_dir(dir.path().join("man1")).unwrap().count();
        assert_eq!(written, pages.len());
    }

    #[test]
    fn the_exit_codes_are_those_of_the_program() {
        let page = text(&acp());
        for (exit, meaning) in exit::TABLE {
            let code = exit.code();
            assert!(
                page.contains(&format!("\\fB{code}\\fR\n{meaning}")),
                "{page}"
            );
        }
        for (name, _) in config::variables() {
            assert!(page.contains(&format!("\\fB{name}\\fR")), "{name}: {page}");
        }
        let acp = acp();
        let run = text(acp.find_subcommand("run").unwrap());
        assert!(run.contains(".SH \"EXIT STATUS\""), "{run}");
        assert!(!run.contains("Exit codes:"), "{run}");
        let mock = text(acp.find_subcommand("mock").unwrap());
        assert!(!mock.contains(".SH \"EXIT STATUS\""));
    }
}
