//! `acp completions`: what shells complete.

use clap::{Args, Command};
use clap_complete::{Shell, generate};

use crate::exit::Exit;
use crate::show::print;

/// What `acp completions` is told.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

const HELP: &str = "\
Where each shell looks for them:
  bash        acp completions bash > ~/.local/share/bash-completion/completions/acp
  zsh         acp completions zsh > FOLDER/_acp, FOLDER being one of $fpath
  fish        acp completions fish > ~/.config/fish/completions/acp.fish
  powershell  acp completions powershell >> $PROFILE
  elvish      acp completions elvish >> ~/.config/elvish/rc.elv
";

/// Writes the completions of the program to standard output.
pub(crate) fn run(args: &CompletionsArgs, acp: Command) -> Exit {
    print(Ok(completions(args.shell, acp)))
}

fn completions(shell: Shell, mut acp: Command) -> String {
    let mut text = Vec::new();
    generate(shell, &mut acp, "acp", &mut text);
    // They are made of what this program says of itself.
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, ValueEnum};

    #[test]
    fn every_shell_is_told_of_every_command() {
        let acp = crate::args::Cli::command();
        let names: Vec<_> = acp.get_subcommands().map(Command::get_name).collect();
        for shell in Shell::value_variants() {
            let text = completions(*shell, acp.clone());
            assert_eq!(
                acp_text::clean(&text),
                text,
                "{shell}: it is printed as it is"
            );
            for name in &names {
                assert!(text.contains(name), "{shell}: {name}");
            }
            assert!(text.contains("device-code"), "{shell}");
        }
    }
}
