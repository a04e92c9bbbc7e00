//! What is asked.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use crate::outcome::Outcome;

/// The longest prompt: what a message may hold.
const MAX_PROMPT: u64 = 32 << 20;

/// Puts together what is asked: the argument, and behind it what a file or standard input
/// holds.
///
/// Standard input is read where it is asked for, and where there is nothing else to ask and
/// nobody types: a pipe that somebody left open must not keep a run from its start.
pub(super) fn gather(argument: Option<&str>, file: Option<&Path>) -> Result<String, Outcome> {
    let is_stdin = |file: &Path| file == Path::new("-");
    let mut prompt = match (argument, file) {
        (Some("-"), Some(file)) if is_stdin(file) => {
            return Err(Outcome::usage(
                "standard input is asked for twice".to_owned(),
                "leave out one of the two -",
            ));
        }
        (Some("-"), _) => from_stdin()?,
        (Some(text), _) => text.to_owned(),
        (None, Some(_)) => String::new(),
        (None, None) if io::stdin().is_terminal() => {
            return Err(Outcome::usage(
                "there is nothing to ask".to_owned(),
                "say what the agent shall do: acp run \"What does this project do?\"",
            ));
        }
        (None, None) => from_stdin()?,
    };
    if let Some(file) = file {
        let text = if is_stdin(file) {
            from_stdin()?
        } else {
            from_file(file)?
        };
        if !prompt.is_empty() {
            prompt.push_str("\n\n");
        }
        prompt.push_str(&text);
    }
    if prompt.trim().is_empty() {
        return Err(Outcome::usage(
            "the prompt is empty".to_owned(),
            "say what the agent shall do; - reads it from standard input",
        ));
    }
    Ok(prompt)
}

fn from_stdin() -> Result<String, Outcome> {
    read(io::stdin(), "standard input")
}

fn from_file(path: &Path) -> Result<String, Outcome> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => read(file, &name),
        Err(error) => {
            let message = format!("failed to read the prompt from {name}: {error}");
            Err(Outcome::usage(message, "--file takes a file of text"))
        }
    }
}

fn read(from: impl Read, name: &str) -> Result<String, Outcome> {
    let mut prompt = String::new();
    let refuse = |what: &str| {
        let message = format!("failed to read the prompt from {name}: {what}");
        Outcome::usage(message, "it must be text, of at most 32 MiB")
    };
    match from.take(MAX_PROMPT + 1).read_to_string(&mut prompt) {
        Ok(length) if length as u64 > MAX_PROMPT => Err(refuse("it is too long")),
        Ok(_) => {
            prompt.truncate(prompt.trim_end_matches(['\r', '\n']).len());
            Ok(prompt)
        }
        Err(error) => Err(refuse(&error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_goes_behind_what_is_said_about_it() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all("a line\nand another\r\n\n".as_bytes())
            .unwrap();
        let alone = gather(None, Some(file.path())).unwrap();
        assert_eq!(alone, "a line\nand another");
        let both = gather(Some("Review this:"), Some(file.path())).unwrap();
        assert_eq!(both, "Review this:\n\na line\nand another");
        assert_eq!(gather(Some("Just this"), None).unwrap(), "Just this");
    }

    #[test]
    fn what_cannot_be_asked_is_told() {
        let message = |argument, file: Option<&str>| {
            let refused = gather(argument, file.map(Path::new)).unwrap_err();
            refused.failure.unwrap().message
        };
        assert_eq!(message(Some(" \n"), None), "the prompt is empty");
        assert_eq!(
            message(Some("-"), Some("-")),
            "standard input is asked for twice"
        );
        let missing = message(None, Some("/no/such/file"));
        assert!(
            missing.starts_with("failed to read the prompt from /no/such/file: "),
            "{missing}"
        );
        let mut binary = tempfile::NamedTempFile::new().unwrap();
        binary.write_all(&[0xff, 0xfe]).unwrap();
        let path = binary.path().to_str();
        assert!(message(None, path).contains("valid UTF-8"));
    }
}
