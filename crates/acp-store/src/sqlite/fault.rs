//! What SQLite says, sorted.

use acp_agent::kit::HistoryError;
use rusqlite::ErrorCode;

use super::StoreError;
use super::error::Cause;

/// Why work on a connection did not succeed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// There is no such session.
    NotFound,
    /// The session goes on at another position.
    Moved,
    /// There is such a session already.
    Exists,
    /// Anything else.
    Store(StoreError),
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Fault {
    /// Something in the file contradicts something else.
    pub(crate) fn damaged(what: impl Into<Cause>) -> Self {
        Self::Store(StoreError::Damaged {
            source: what.into(),
        })
    }

    pub(crate) fn unwritable(source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Store(StoreError::Unwritable {
            source: source.into(),
        })
    }

    pub(crate) fn is_damage(&self) -> bool {
        matches!(self, Self::Store(StoreError::Damaged { .. }))
    }

    /// The failure of work that has nothing to do with a session.
    pub(crate) fn into_store(self) -> StoreError {
        match self {
            Self::Store(error) => error,
            other => StoreError::Failed {
                source: HistoryError::from(other).into(),
            },
        }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(match SqliteErrorKind::of(&error) {
            SqliteErrorKind::Busy => StoreError::Busy,
            SqliteErrorKind::Full => StoreError::Full,
            SqliteErrorKind::Damaged | SqliteErrorKind::NoDatabase => StoreError::Damaged {
                source: error.into(),
            },
            SqliteErrorKind::Other => StoreError::Failed {
                source: error.into(),
            },
        })
    }
}

impl From<Fault> for HistoryError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::NotFound => Self::NotFound,
            Fault::Moved => Self::Moved,
            Fault::Exists => Self::Exists,
            Fault::Store(error) => error.into(),
        }
    }
}

/// The sorts of failure of SQLite that somebody can do something about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SqliteErrorKind {
    Busy,
    Full,
    Damaged,
    NoDatabase,
    Other,
}

impl SqliteErrorKind {
    pub(crate) fn of(error: &rusqlite::Error) -> Self {
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, SqliteFailure,
            Utf8Error,
        };
        let code = match error {
            SqliteFailure(failure, _) => failure,
            // The tables are strict and their columns checked: a value of another
            // type was never written.
            InvalidColumnType(..)
            | FromSqlConversionFailure(..)
            | IntegralValueOutOfRange(..)
            | Utf8Error(..) => return Self::Damaged,
            _ => return Self::Other,
        };
        match code.code {
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::FileLockingProtocolFailed => Self::Busy,
            ErrorCode::DiskFull => Self::Full,
            ErrorCode::DatabaseCorrupt => Self::Damaged,
            ErrorCode::NotADatabase => Self::NoDatabase,
            ErrorCode::SystemIoFailure
                if code.extended_code == rusqlite::ffi::SQLITE_IOERR_SHORT_READ =>
            {
                Self::Damaged
            }
            _ => Self::Other,
        }
    }
}
