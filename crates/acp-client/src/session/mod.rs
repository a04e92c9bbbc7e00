//! A session: how it is opened, loaded or resumed, its state, and the stream of what
//! happens in it.
//!
//! [`Sessions`] is the connection to one agent with all that is open on it. A turn, and
//! the serving of what the agent asks, are built on [`SessionState`] in the rooms above.

mod cancelling;
mod control;
mod counters;
mod dedup;
mod event;
mod loading;
mod merge;
mod model;
mod opening;
mod opens;
mod reader;
mod services;
#[expect(clippy::module_inception, reason = "the room is named after its noun")]
mod session;
mod session_settings;
mod session_setup;
mod sessions;
mod set_option;
mod state;
mod waiting;

pub use control::SessionControl;
pub use counters::SessionCounters;
pub use event::TurnEvent;
pub use loading::{LoadedSession, Loading};
pub use model::SetModelProof;
pub use session::Session;
pub use session_setup::SessionSetup;

pub(crate) use opening::{open, resume};
pub(crate) use reader::{Read, Reader};
pub(crate) use services::Services;
pub(crate) use session_setup::path_text;
pub(crate) use sessions::{Lease, Sessions, check_id};
pub(crate) use state::SessionState;
pub(crate) use waiting::{Waiting, refuse_unread};
