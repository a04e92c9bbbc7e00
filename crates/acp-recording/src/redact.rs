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
    #[must_use]
    pub fn redacted(&self, redactor: &Redactor) -> Self {
        let redact = |bytes: &[u8]| redactor.redact_bytes(bytes).into_bytes();
        let what = match &self.what {
            RecordedEvent::Line(bytes) => RecordedEvent::Line(redact(bytes)),
            RecordedEvent::Unfinished(bytes) => RecordedEvent::Unfinished(redact(bytes)),
            RecordedEvent::Stderr(bytes) => RecordedEvent::Stderr(redact(bytes)),
            other => other.clone(),
        };
        Self { what, ..*self }
    }
}
