//! What goes wrong with a store.

use std::{error::Error, io, path::PathBuf, time::Duration};

use acp_agent::{
    host::{HostError, HostErrorKind},
    kit::HistoryError,
};

/// What SQLite or the system said.
pub(crate) type Cause = Box<dyn Error + Send + Sync>;

/// Why a store could not be opened.
///
/// Whatever it is, a file that was there has not been changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no such folder, or the path names none.
    #[error("find the folder of the session history {}", .path.display())]
    NoFolder {
        /// The file that was to be opened.
        path: PathBuf,
    },
    /// It is a folder, a pipe or a device.
    #[error("open the session history {}: it is not a file", .path.display())]
    NotAFile {
        /// What was to be opened.
        path: PathBuf,
    },
    /// Nothing is in it: not even an unused history is.
    #[error(
        "open the session history {}: the file is empty; remove it, and a new history is begun",
        .path.display()
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It holds something else.
    #[error(
        "open the session history {}: the file holds something else, or its beginning is damaged",
        .path.display()
    )]
    NotAHistory {
        /// The file.
        path: PathBuf,
    },
    /// It is a history, and parts of it are missing or make no sense.
    #[error("open the session history {}: it is damaged", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Cause,
    },
    /// A newer program has written it.
    #[error(
        "open the session history {}: it has form {found}, and this program knows up to {known}",
        .path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The number of its form.
        found: i64,
        /// The newest form that this version knows.
        known: i64,
    },
    /// It could not be made.
    #[error("create the session history {}", .path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Cause,
    },
    /// The system or SQLite does not open it: no permission, most often.
    #[error("open the session history {}", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Cause,
    },
    /// The system gives no thread for it.
    #[error("start a thread for the session history")]
    Thread {
        /// Why.
        source: io::Error,
    },
}

/// Why an open store could not do what it was asked.
///
/// The client reads a few words that hold no path; this is the private cause of
/// the [`HostError`] in [`HistoryError::Failed`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process changes the file for longer than the busy timeout.
    #[error("change the session history while another process does")]
    Busy,
    /// The file is as large as it may be, or the disk is full.
    #[error("write to the session history, which is full")]
    Full,
    /// What was read makes no sense. The store takes no more changes then, so
    /// that nothing else is harmed; what can be read can still be read.
    #[error("use the session history, which is damaged")]
    Damaged {
        /// What is wrong with it.
        source: Cause,
    },
    /// A newer program has written it while it was open, or wrote this session.
    #[error("read form {found} of the session history; this program knows up to {known}")]
    Newer {
        /// The number of the form.
        found: i64,
        /// The newest form that this version knows.
        known: i64,
    },
    /// A record holds something that this version does not know.
    #[error("read a record of a kind that this program does not know")]
    UnknownRecord {
        /// What is not known.
        source: Cause,
    },
    /// A record is larger than one may be.
    #[error("write a record of {bytes} bytes; {max} are allowed")]
    TooLarge {
        /// How large it is.
        bytes: usize,
        /// How large it may be.
        max: usize,
    },
    /// Something cannot be written as JSON: a path that is not UTF-8, say.
    #[error("write down what happened in a session")]
    Unwritable {
        /// What cannot.
        source: Cause,
    },
    /// The store was closed.
    #[error("use the session history, which was closed")]
    Closed,
    /// SQLite or the system failed in another way.
    #[error("use the session history")]
    Failed {
        /// How.
        source: Cause,
    },
}

impl StoreError {
    /// What the client may read of it.
    fn public_text(&self) -> Option<&'static str> {
        Some(match self {
            Self::Busy => "the session history is in use; try again",
            Self::Full => "the session history is full",
            Self::Damaged { .. } => "the session history is damaged",
            Self::Newer { .. } | Self::UnknownRecord { .. } => {
                "the session was written by a newer version of this agent"
            }
            Self::TooLarge { .. } => "the turn is too large for the session history",
            Self::Unwritable { .. } | Self::Closed | Self::Failed { .. } => return None,
        })
    }
}

impl From<StoreError> for HistoryError {
    fn from(error: StoreError) -> Self {
        // The client learns little, so whoever runs the agent has to. What SQLite
        // says holds nothing of the sessions; other causes may.
        match &error {
            StoreError::Failed { source } => tracing::warn!("failed to {error}: {source}"),
            _ => tracing::warn!("failed to {error}"),
        }
        let kind = match error {
            StoreError::Busy => HostErrorKind::Busy {
                retry_after: Some(Duration::from_secs(1)),
            },
            _ => HostErrorKind::Internal,
        };
        let text = error.public_text();
        let host = HostError::internal(error).with_kind(kind);
        Self::Failed(match text {
            Some(text) => host.with_public_text(text),
            None => host,
        })
    }
}
