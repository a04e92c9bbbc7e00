//! Files and commands that the agent was served.

use acp_text::{Clean, clean};

use super::line::decided;
use super::{Excerpt, shown};

/// Something that was served to the agent, or refused.
#[derive(Debug)]
pub(crate) enum Served {
    File {
        write: bool,
        path: String,
        error: Option<String>,
    },
    Command {
        /// `None` when it was not started.
        terminal: Option<String>,
        command: String,
        args: Vec<String>,
        cwd: Option<String>,
        error: Option<String>,
    },
    CommandEnd {
        terminal: String,
        exit_code: Option<u32>,
        signal: Option<String>,
        /// The ends of what it wrote.
        output: Excerpt,
    },
}

impl Served {
    /// What a person is told of what was served: commands, and what was refused. Agents tell the
    /// rest themselves.
    pub(super) fn in_words(&self) -> Option<(Clean<'static>, Clean<'static>)> {
        match self {
            Self::File { error: None, .. } | Self::CommandEnd { .. } => None,
            Self::File {
                write,
                path,
                error: Some(error),
            } => {
                let operation = if *write {
                    clean!("write")
                } else {
                    clean!("read")
                };
                let text = clean!("{} {}: {}", operation, decided(path), shown(error));
                Some((clean!("file"), text))
            }
            Self::Command {
                command,
                args,
                error,
                ..
            } => {
                let mut line = command.clone();
                for arg in args {
                    line.push(' ');
                    line.push_str(arg);
                }
                let line = decided(&line);
                let text = match error {
                    Some(error) => clean!("{}: {}", line, shown(error)),
                    None => line,
                };
                Some((clean!("runs"), text))
            }
        }
    }
}
