//! Commands that read files and play nothing: `lint`, `scenario`, `redact`.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::{EXIT_FAILED, Misuse, RedactArgs, say};
use crate::{Recording, Redactor, Scenario, Style};

pub(super) fn lint(files: &[PathBuf]) -> Result<u8, Misuse> {
    let mut code = 0;
    for file in files {
        if let Err(error) = Scenario::load(file) {
            say(Misuse::new(&error).0);
            code = EXIT_FAILED;
        }
    }
    Ok(code)
}

pub(super) fn scenario(recording: &Path, style: Style) -> Result<u8, Misuse> {
    let recording = Recording::load(recording).map_err(|error| Misuse::new(&error))?;
    let text = recording.to_scenario(style);
    print(|to| to.write_all(text.as_bytes()))
}

pub(super) fn redact(args: &RedactArgs) -> Result<u8, Misuse> {
    let recording = Recording::load(&args.recording).map_err(|error| Misuse::new(&error))?;
    let redactor = args.secrets.apply(Redactor::new().with_environment())?;
    let redacted = recording.redacted(&redactor);
    print(|to| redacted.write(to))
}

fn print(
    write: impl FnOnce(&mut std::io::StdoutLock<'static>) -> std::io::Result<()>,
) -> Result<u8, Misuse> {
    let mut stdout = std::io::stdout().lock();
    write(&mut stdout)
        .and_then(|()| stdout.flush())
        .map_err(|error| Misuse::new(&error))?;
    Ok(0)
}
