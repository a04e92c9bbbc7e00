//! Sessions that go on over several runs of the program.
//!
//! An agent is started for each turn and ended behind it, so what a conversation is made of
//! is kept here ([`store`]): which agent it is with, what the agent calls its session, what
//! it is set to, and what was said. The next turn goes on by a ladder: the agent resumes the
//! session, or loads it, or gets a new one that is told what was said ([`claimed`]).
//!
//! * **One turn at a time**: whoever runs one holds the lock of the session, which ends
//!   with its process ([`busy`]).
//! * **Others reach it** on a socket, for as long as it runs: to cancel it, to tell its
//!   agent more, to set something ([`control`]).
//! * **Nothing of the user's is lost by a crash**: files are replaced as a whole, and one
//!   that makes no sense is put aside.

mod args;
pub(crate) mod busy;
mod claimed;
pub(crate) mod control;
pub(crate) mod key;
pub(crate) mod limits;
pub(crate) mod record;
pub(crate) mod store;
pub(crate) mod target;
pub(crate) mod wishes;

pub(crate) use args::KeepArgs;
pub(crate) use claimed::{ClaimedSession, OpeningKind, SessionOpening};
pub(crate) use key::AgentId;
pub(crate) use record::TurnEnded;
pub(crate) use target::Target;
pub(crate) use wishes::{Change, prove_all};
