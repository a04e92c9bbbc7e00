//! Secrets and private paths, taken out of recordings.

use acp_text::Redactor;

use crate::entry::{RecordedEvent, RecordingEntry};

/// Makes a redactor for recordings: it hides home folders, and knows the secrets of this
/// process's environment.
#[must_use]
pub fn redactor() -> Redactor {
    Redactor::new().hiding_homes().with_variables(variables())
}

/// Returns the variables of this process's environment.
pub fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().map(|(name, value)| {
        let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
        (text(&name), text(&value))
    })
}

impl RecordingEntry {
    /// Returns the entry without secrets; everything else keeps its bytes.
    ///
    /// A line that cannot be read as JSON becomes [`RecordedEvent::Unreadable`]: nobody knows
    /// what is secret in it.
    #[must_use]
    pub fn redacted(&self, redactor: &Redactor) -> Self {
        let line = |bytes: &Vec<u8>, event: fn(Vec<u8>) -> RecordedEvent| {
            let read = redactor.redact_json(bytes);
            read.map_or(RecordedEvent::Unreadable(bytes.len() as u64), |line| {
                event(line.into_bytes())
            })
        };
        let what = match &self.what {
            RecordedEvent::Line(bytes) => line(bytes, RecordedEvent::Line),
            RecordedEvent::Unfinished(bytes) => line(bytes, RecordedEvent::Unfinished),
            RecordedEvent::Stderr(bytes) => {
                RecordedEvent::Stderr(redactor.redact_bytes(bytes).into_bytes())
            }
            other => other.clone(),
        };
        Self { what, ..*self }
    }
}
