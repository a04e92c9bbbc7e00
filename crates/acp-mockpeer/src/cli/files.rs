//! Commands that read files and play nothing: `lint`, `scenario`, `redact`.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::{EXIT_FAILED, Misuse, RedactArgs, print, say};
use crate::language::Scenario;
use crate::transcription::{Style, transcribe};
use acp_recording::Recording;

pub(super) fn lint(files: &[PathBuf]) -> Result<u8, Misuse> {
    let mut code = 0;
    for file in files {
        if let Err(error) = Scenario::load(file) {
            say(Misuse::from(error).0);
            code = EXIT_FAILED;
        }
    }
    Ok(code)
}

pub(super) fn scenario(recording: &Path, style: Style) -> Result<u8, Misuse> {
    let recording = Recording::load(recording)?;
    let text = transcribe(&recording, style);
    print(|to| to.write_all(text.as_bytes()))
}

pub(super) fn redact(args: &RedactArgs) -> Result<u8, Misuse> {
    let recording = Recording::load(&args.recording)?;
    let redactor = args.secrets.redactor()?;
    let redacted = recording.redacted(&redactor);
    print(|to| redacted.write(to))
}
