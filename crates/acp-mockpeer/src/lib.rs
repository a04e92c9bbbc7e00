//! Plays one side of a conversation from a script, and tells what the other
//! side does wrong.
//!
//! A [`Scenario`] is text in which `->` is what the client does and `<-` what
//! the agent does. A [`Play`] plays one of the two against a program under
//! test: over pipes in memory, with tokio's paused clock if one likes, or
//! against a process. Every line, both ways, is held against the pinned schema
//! and the rules that hold for every line ([`Check`]); each can be allowed by
//! name. The [`PlayOutcome`] is a report for people and data for programs.
//!
//! ```
//! use acp_mockpeer::{Play, Scenario};
//! use tokio::io::AsyncWriteExt;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let scenario = Scenario::parse("hello.acpt", "-> initialize {\"protocolVersion\": 1}\n<- result\n")?;
//! let (mut client, agent) = tokio::io::duplex(1024);
//! client.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialise\"}\n").await?;
//! let (reader, writer) = tokio::io::split(agent);
//! let outcome = Play::agent(&scenario).over(reader, writer).await;
//! assert_eq!(outcome.failure.as_ref().unwrap().line, 1);
//! # Ok(())
//! # }
//! ```
//!
//! Conversations can be kept as a [`Recording`], redacted, turned into a
//! scenario, and played again. No code for messages is shared with any
//! implementation that this crate judges.

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "judge")]
pub mod judge;
mod language;
mod ledger;
mod player;
mod rules;
mod schema;
pub mod suite;
mod transcription;

pub use acp_recording::{
    PeerSide, RecordedEvent, Recording, RecordingEntry, RecordingError, Redactor, SignalName,
    redactor,
};
pub use language::{
    DEFAULT_LIMIT, DEFAULT_PATIENCE, ExitAs, Header, LoadError, Mutant, Need, ParseError, Scenario,
};
pub use player::{
    Ended, Failure, PlacedFinding, Play, PlayOutcome, Rehearsal, Unplayable, Verdict, rehearse,
};
pub use rules::{Breach, Check, Finding, Level, Rule, RuleEvidence, Rules};
pub use transcription::{Style, transcribe};
