//! A whole conversation, read and written.

use std::io::{self, BufRead, Write};
use std::path::Path;

use crate::entry::{EntryError, RecordedEvent, RecordingEntry};
use acp_text::Redactor;

/// The longest line of a recording that is read.
const LONGEST_LINE: u64 = 256 << 20;

/// A conversation as it was seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    entries: Vec<RecordingEntry>,
}

impl Recording {
    /// Makes a recording of these.
    #[must_use]
    pub fn new(entries: Vec<RecordingEntry>) -> Self {
        Self { entries }
    }

    /// Reads a recording from a file.
    ///
    /// # Errors
    ///
    /// [`RecordingError`], with the line that could not be understood.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        let path = path.as_ref();
        let file = std::fs::File::open(path).map_err(|source| RecordingError::Read {
            place: path.display().to_string(),
            source,
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
            let place = || format!("{name}:{number}");
            line.clear();
            let mut limited = io::Read::take(&mut source, LONGEST_LINE);
            let read = limited.read_until(b'\n', &mut line);
            let read = read.map_err(|source| RecordingError::Read {
                place: place(),
                source,
            })?;
            if read == 0 {
                break;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let entry = RecordingEntry::from_json(&line);
            entries.push(entry.map_err(|error| RecordingError::RecordingEntry {
                place: place(),
                error,
            })?);
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
    pub fn entries(&self) -> &[RecordingEntry] {
        &self.entries
    }

    /// Adds what was seen next.
    pub fn push(&mut self, entry: RecordingEntry) {
        self.entries.push(entry);
    }

    /// Returns the recording without secrets and private paths.
    #[must_use]
    pub fn redacted(&self, redactor: &Redactor) -> Self {
        let mut stderr = redactor.stream();
        let mut entries: Vec<RecordingEntry> = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            entries.push(match &entry.what {
                // A secret may lie across two pieces.
                RecordedEvent::Stderr(bytes) => RecordingEntry {
                    what: RecordedEvent::Stderr(stderr.push(bytes).into_bytes()),
                    ..*entry
                },
                _ => entry.redacted(redactor),
            });
        }
        let last = entries
            .iter_mut()
            .rev()
            .find_map(|entry| match &mut entry.what {
                RecordedEvent::Stderr(bytes) => Some(bytes),
                _ => None,
            });
        if let Some(last) = last {
            last.extend_from_slice(stderr.finish().as_bytes());
        }
        Self { entries }
    }
}

/// A recording could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file could not be read.
    #[error("read {place}")]
    Read {
        /// The file, with the line where it had one.
        place: String,
        /// The reason.
        source: io::Error,
    },
    /// A line is not one of a recording.
    #[error("{place}: {error}")]
    RecordingEntry {
        /// The file and the line.
        place: String,
        /// The fault in it.
        error: EntryError,
    },
}
