//! Which session of an agent a conversation goes on in.
//!
//! An agent mints the ids of its sessions; a conversation is known to its owner by a key
//! (a thread, a ticket, a channel). A [`SessionRecord`] joins the two, in a small file
//! named after a hash of agent and key. Whoever runs a turn first claims the conversation
//! ([`SessionRecords::claim`]): two turns of one conversation at once would tear its
//! session apart, whether they run in one process or in two.
//!
//! * A record is replaced as a whole or not at all, and only its owner may read it (0600).
//! * A record that makes no sense is forgotten with a warning: the conversation begins a
//!   new session, which is better than none.
//! * A claim ends with its process, however that ends; no claim is left behind.
//!
//! ```
//! use std::time::SystemTime;
//! use acp_harness::record::{SessionRecord, SessionRecords};
//!
//! # let dir = tempfile::tempdir()?;
//! # let folder = dir.path().join("sessions");
//! let records = SessionRecords::in_folder(folder);
//! let claim = records.try_claim("codex", "ticket 17")?;
//! assert_eq!(claim.load()?, None);
//! claim.save(&SessionRecord::new("s-1", "codex", "/home/ada/project", SystemTime::now()))?;
//! drop(claim);
//!
//! let claim = records.try_claim("codex", "ticket 17")?;
//! assert_eq!(claim.load()?.unwrap().session_id, "s-1");
//! assert!(records.try_claim("codex", "ticket 17").is_err(), "it is claimed");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod claim;

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use acp_protocol::v1::SessionId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep};

use crate::files::{self, FileError};
use crate::launch::AgentHome;
use crate::limits::{CLAIM_POLL, MAX_RECORDS};
use crate::lock::Lock;
use crate::seconds;

pub use claim::Claim;

/// What is known of a conversation's session.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionRecord {
    /// The id the agent gave it.
    pub session_id: SessionId,
    /// The agent.
    pub agent: String,
    /// The folder it works in: to be said again when it is resumed.
    pub cwd: String,
    /// When it was opened, to the second.
    #[serde(with = "seconds")]
    pub created: SystemTime,
}

impl SessionRecord {
    /// Makes a record.
    #[must_use]
    pub fn new(
        session_id: impl Into<SessionId>,
        agent: impl Into<String>,
        cwd: impl Into<String>,
        created: SystemTime,
    ) -> Self {
        Self {
            session_id: session_id.into(),
            agent: agent.into(),
            cwd: cwd.into(),
            created: seconds::whole(created),
        }
    }
}

/// A record as it is written.
#[derive(Deserialize, Serialize)]
struct Written<R> {
    /// The format; another one is not read.
    version: u32,
    #[serde(flatten)]
    record: R,
}

const FORMAT: u32 = 1;

/// Keeps the records of one user's conversations in a folder.
///
/// Its operations block for a few small file operations.
#[derive(Clone, Debug)]
pub struct SessionRecords {
    folder: PathBuf,
}

/// Why a record cannot be had or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Another turn of this conversation is running.
    #[error("claim the conversation: another turn of it is running")]
    Busy,
    /// What is to be recorded is longer than anything of its kind.
    #[error("record the session: it would have {bytes} bytes")]
    TooLong {
        /// How long the record would be.
        bytes: usize,
    },
    /// The system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Hexadecimal digits of the hash of a conversation: 128 bits, beyond any chance of
/// meeting.
const NAME_DIGITS: usize = 32;

impl SessionRecords {
    /// Keeps records in this folder, which is made if it is missing.
    #[must_use]
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Self { folder }
    }

    /// Keeps records in the home of a user's agent.
    #[must_use]
    pub fn in_home(home: &AgentHome) -> Self {
        Self::in_folder(home.sessions())
    }

    /// Claims a conversation with an agent, if nobody else has.
    ///
    /// # Errors
    ///
    /// [`RecordError::Busy`] when somebody has, in this process or another.
    pub fn try_claim(&self, agent: &str, conversation: &str) -> Result<Claim, RecordError> {
        files::make_folder(&self.folder).map_err(FileError::at("make the folder", &self.folder))?;
        let name = name(agent, conversation);
        let path = self.folder.join(format!("{name}.lock"));
        let lock = Lock::take(&path).map_err(FileError::at("lock", &path))?;
        let lock = lock.ok_or(RecordError::Busy)?;
        Ok(Claim::new(lock, self.folder.join(format!("{name}.json"))))
    }

    /// Claims a conversation with an agent, and waits this long for who has.
    ///
    /// # Errors
    ///
    /// [`RecordError::Busy`] when somebody still has it then.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: dropping the future claims nothing. Who waits has no place in a queue.
    pub async fn claim(
        &self,
        agent: &str,
        conversation: &str,
        patience: Duration,
    ) -> Result<Claim, RecordError> {
        let begun = Instant::now();
        loop {
            match self.try_claim(agent, conversation) {
                Err(RecordError::Busy) if begun.elapsed() < patience => {
                    // A lock of the system tells nobody when it comes free.
                    let left = patience.saturating_sub(begun.elapsed());
                    sleep(CLAIM_POLL.min(left)).await;
                }
                result => return result,
            }
        }
    }

    /// Reads all records that make sense, in no order.
    ///
    /// # Errors
    ///
    /// [`RecordError::File`] when the folder cannot be read; one that is missing has none.
    pub fn list(&self) -> Result<Vec<SessionRecord>, RecordError> {
        let files = self.files()?.into_iter();
        let read = files.filter_map(|(path, _)| claim::read(&path).ok().flatten());
        Ok(read.collect())
    }

    /// Forgets what was last written longer ago than this, and returns how many records
    /// that were. Conversations that are claimed are left.
    ///
    /// # Errors
    ///
    /// [`RecordError::File`] when the folder cannot be read.
    pub fn sweep(&self, age: Duration) -> Result<usize, RecordError> {
        let mut swept = 0;
        for (path, written) in self.files()? {
            let is_old = written.elapsed().is_ok_and(|elapsed| elapsed >= age);
            if !is_old {
                continue;
            }
            let Ok(Some(lock)) = Lock::take(&path.with_extension("lock")) else {
                continue;
            };
            if Claim::new(lock, path).abandon().is_ok() {
                swept += 1;
            }
        }
        Ok(swept)
    }

    /// The files of records, and when they were written.
    fn files(&self) -> Result<Vec<(PathBuf, SystemTime)>, RecordError> {
        let failed = FileError::at("read the folder", &self.folder);
        let all = files::with_extension(&self.folder, "json").map_err(failed)?;
        let written = |path: PathBuf| {
            let written = path.symlink_metadata().ok()?.modified().ok()?;
            Some((path, written))
        };
        Ok(all
            .into_iter()
            .take(MAX_RECORDS)
            .filter_map(written)
            .collect())
    }
}

/// A file name that says nothing of the conversation, and leads nowhere else.
fn name(agent: &str, conversation: &str) -> String {
    let mut hash = Sha256::new();
    // The length keeps two pairs apart that are the same when written behind each other.
    hash.update(agent.len().to_be_bytes());
    hash.update(agent);
    hash.update(conversation);
    let mut name = format!("{:x}", hash.finalize());
    name.truncate(NAME_DIGITS);
    name
}
