//! Recordings of conversations of the Agent Client Protocol.
//!
//! A [`Recording`] holds what each side wrote, byte for byte, with the time at which it
//! was seen. It is a file of JSON lines, one for each [`RecordingEntry`]:
//!
//! ```text
//! {"t": 8.2, "dir": "client->agent", "line": "{\"jsonrpc\":\"2.0\", …}"}
//! {"t": 9.0, "dir": "agent->client", "hex": "ff0a"}
//! {"t": 9.1, "dir": "agent->client", "line": "{\"json", "unfinished": true}
//! {"t": 9.2, "dir": "agent->client", "stderr": "warning: …"}
//! {"t": 9.9, "dir": "agent->client", "event": "exit", "code": 0}
//! ```
//!
//! `docs/recordings.md` of the repository describes it in full. A [`Redactor`] takes
//! secrets and private paths out, and the feature `cli` adds the `tap` command, which
//! stands between a client and its agent and records both.
//!
//! ```
//! use acp_recording::{Recording, PeerSide, redactor};
//!
//! let file = br#"{"t": 0.4, "dir": "client->agent", "line": "{\"apiKey\":\"k-1\"}"}"#;
//! let recording = Recording::read("hello.ndjson", file.as_slice())?;
//! assert_eq!(recording.entries()[0].from, PeerSide::Client);
//! let redacted = recording.redacted(&redactor());
//! assert!(redacted.entries()[0].to_json().contains("[redacted]"));
//! # Ok::<(), acp_recording::RecordingError>(())
//! ```

#[cfg(feature = "cli")]
pub mod cli;
mod entry;
mod recording;
mod redact;
mod side;
mod signal;
#[cfg(feature = "cli")]
pub mod tap;

pub use acp_text::Redactor;
pub use entry::{EntryError, RecordedEvent, RecordingEntry};
pub use recording::{Recording, RecordingError};
pub use redact::{redactor, variables};
pub use side::PeerSide;
pub use signal::{SignalName, signal_name};
