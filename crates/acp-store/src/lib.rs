//! Stores the sessions of an agent in one file: embedded SQLite.
//!
//! An acknowledged change survives the end of the process, and by default a loss of
//! power; a change is made as a whole or not at all; several processes may use one file
//! at once; a file that is damaged, of a newer program or of another kind is refused
//! and left as it is; and deleted content is overwritten.
//!
//! With the feature `kit`, which is on by default, the crate holds [`SqliteHistory`];
//! without it there is nothing here yet.
//!
//! [`SqliteHistory`] is a [`History`](acp_agent::kit::History) of the
//! [`kit`](acp_agent::kit): with it, the sessions of an agent can be listed,
//! loaded, resumed and deleted after a restart.
//!
//! ```no_run
//! use acp_agent::kit::{Kit, Prompt, Turn, TurnEnd, TurnError, TurnHandler};
//! use acp_store::SqliteHistory;
//!
//! struct Gardener;
//!
//! impl TurnHandler for Gardener {
//!     async fn turn(&self, turn: &mut Turn, prompt: Prompt) -> Result<TurnEnd, TurnError> {
//!         turn.text(format!("You said: {}\n", prompt.text())).await?;
//!         Ok(TurnEnd::Done)
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let history = SqliteHistory::open("sessions.db")?;
//!     let agent = Kit::new(Gardener)
//!         .with_history(history.clone())
//!         .into_builder()
//!         .info("gardener", "0.1.0")
//!         .build()?;
//!     tokio::spawn(async move { agent.serve_stdio().await }).await??;
//!     history.close().await;
//!     Ok(())
//! }
//! ```
//!
//! # How durable
//!
//! SQLite in write-ahead mode: a change is appended to the log `FILE-wal`, and
//! is committed when the append is whole. [`Durability`] says whether the log is
//! also forced to the disk each time (`synchronous=FULL`, the default) or only
//! now and then (`NORMAL`).
//!
//! | what happens | `PowerLoss`, the default | `ProcessEnd` |
//! |---|---|---|
//! | the process is killed or crashes | nothing is lost | nothing is lost |
//! | the machine loses power | nothing is lost, if the disk keeps its word | the last changes may be lost; the file is whole |
//!
//! # Several processes
//!
//! One file serves many processes of one machine. Readers never wait. A writer
//! waits for the writer before it, up to the [busy
//! timeout](StoreOptions::with_busy_timeout); then the change fails, and the
//! client reads that it may try again. Two processes that go on with one and the
//! same session are told apart by the kit: see
//! [`History`](acp_agent::kit::History).
//!
//! The file has to be on a disk of this machine: the processes share memory, and
//! network file systems do not carry that.
//!
//! # What is deleted
//!
//! Deleted content is overwritten with zeros in the file, and the log is emptied
//! behind it: at once, or as soon as no process reads an older state, or when the
//! file is opened next if the process is killed in between. The file does not
//! shrink, its room is used again; [`compact`](SqliteHistory::compact) gives it
//! back. Copies that the file system or the disk made are beyond its reach.

#[cfg(feature = "kit")]
mod sqlite;

#[cfg(feature = "kit")]
pub use sqlite::{Durability, OpenError, SqliteHistory, StoreError, StoreOptions};

#[cfg(all(doctest, feature = "kit"))]
#[doc = include_str!("../README.md")]
struct Readme;
