//! Recordings: conversations as they went over the wire.
//!
//! A recording is a file of JSON lines, one for each thing that was seen:
//!
//! ```text
//! {"t": 8.2, "dir": "client->agent", "line": "{\"jsonrpc\":\"2.0\", …}"}
//! {"t": 9.0, "dir": "agent->client", "hex": "ff0a"}
//! {"t": 9.1, "dir": "agent->client", "line": "{\"json", "unfinished": true}
//! {"t": 9.2, "dir": "agent->client", "stderr": "warning: …"}
//! {"t": 9.9, "dir": "agent->client", "event": "exit", "code": 0}
//! ```
//!
//! `docs/recordings.md` describes it in full.

mod answers;
mod entry;
mod json_strings;
mod redact;
mod skeleton;

use std::fmt;
use std::io::{self, BufRead, Write};
use std::path::Path;

pub(crate) use entry::signal_name;
pub use entry::{Entry, EntryError, What};
pub use redact::Redactor;
#[cfg(feature = "judge")]
pub(crate) use redact::is_secret_name;
pub use skeleton::Style;

/// The longest line of a recording that is read.
const LONGEST_LINE: u64 = 256 << 20;

/// A conversation as it was seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    entries: Vec<Entry>,
}

impl Recording {
    /// Makes a recording of these.
    #[must_use]
    pub fn new(entries: Vec<Entry>) -> Self {
        Self { entries }
    }

    /// Reads a recording from a file.
    ///
    /// # Errors
    ///
    /// [`RecordingError`], with the line that could not be understood.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        let path = path.as_ref();
        let file = std::fs::File::open(path).map_err(|source| RecordingError {
            place: path.display().to_string(),
            cause: Cause::Io(source),
        })?;
        Self::read(&path.display().to_string(), io::BufReader::new(file))
    }

    /// Reads a recording; `name` is what messages show.
    ///
    /// # Errors
    ///
    /// [`RecordingError`], with the line that could not be understood.
    pub fn read(name: &str, mut source: impl BufRead) -> Result<Self, RecordingError> {
        let mut entries = Vec::new();
        let mut line = Vec::new();
        for number in 1.. {
            let fail = |cause| RecordingError {
                place: format!("{name}:{number}"),
                cause,
            };
            line.clear();
            let mut limited = io::Read::take(&mut source, LONGEST_LINE);
            let read = limited.read_until(b'\n', &mut line);
            if read.map_err(|error| fail(Cause::Io(error)))? == 0 {
                break;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let entry = Entry::from_json(&line).map_err(|error| fail(Cause::Entry(error)))?;
            entries.push(entry);
        }
        Ok(Self { entries })
    }

    /// Writes the recording, one line for each entry.
    ///
    /// # Errors
    ///
    /// What the writer says.
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        for entry in &self.entries {
            writeln!(to, "{}", entry.to_json())?;
        }
        to.flush()
    }

    /// Returns what was seen, in order.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds what was seen next.
    pub(crate) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Writes the recording as the text of a scenario, to be edited or played.
    ///
    /// Ids become names, sessions become `$session`, lines that are not valid
    /// become `raw` or `text`.
    #[must_use]
    pub fn to_scenario(&self, style: Style) -> String {
        skeleton::write(self, style)
    }

    /// Returns the recording without secrets and private paths.
    #[must_use]
    pub fn redacted(&self, redactor: &Redactor) -> Self {
        Self {
            entries: self
                .entries
                .iter()
                .map(|entry| redactor.entry(entry))
                .collect(),
        }
    }
}

/// A recording could not be read.
#[derive(Debug)]
pub struct RecordingError {
    place: String,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    Io(io::Error),
    Entry(EntryError),
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Io(_) => write!(f, "read {}", self.place),
            Cause::Entry(error) => write!(f, "{}: {error}", self.place),
        }
    }
}

impl std::error::Error for RecordingError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.cause {
            Cause::Io(error) => Some(error),
            Cause::Entry(_) => None,
        }
    }
}
