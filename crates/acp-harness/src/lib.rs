//! Runs headless turns on any known agent of the Agent Client Protocol.
//!
//! The short way is [`call`](call()): a prompt in, the report out. All that can be said
//! about a turn is said to a [`turn::Harness`]. The other modules are the parts that a turn
//! is made of; each can be used alone:
//!
//! * [`registry`] knows agents: what each is started by, needs, and does differently;
//! * [`version`] asks a program for its version, and judges what it says;
//! * [`launch`] builds an agent's environment, gives each user and agent a home, and starts
//!   an agent together with the proxy to its model;
//! * [`login`] says which methods of logging in are tried, and logs in by device code or on
//!   a terminal;
//! * [`model`] chooses model, effort and mode among what an agent offers;
//! * [`reader`] takes the updates of a turn into a
//!   [`Conversation`](acp_conversation::Conversation), and gives few kinds of events;
//! * [`transcript`] hands a conversation on to a session that does not know it;
//! * [`record`] remembers which session a conversation goes on in, for one turn at a time;
//! * [`files`] and [`lock`] are what records are kept with;
//! * [`text`] makes words of agents fit to be shown to people and models.
//!
//! What an agent does that others do not is data in its row of the registry; nothing is
//! branched on a name.
//!
//! ```
//! use acp_harness::{detect_installed, validate_agent};
//!
//! let codex = validate_agent("codex")?;
//! assert_eq!(codex.invocation(), "npx -y @agentclientprotocol/codex-acp@2.6.0");
//! for agent in detect_installed() {
//!     println!("{} is here", agent.title);
//! }
//! # Ok::<(), acp_harness::registry::UnknownAgent>(())
//! ```

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod call;
pub mod files;
pub mod launch;
pub mod limits;
pub mod lock;
pub mod login;
pub mod model;
pub mod reader;
pub mod record;
pub mod registry;
mod seconds;
pub mod text;
pub mod transcript;
pub mod turn;
pub mod version;

pub use acp_text::Secret;
pub use call::{Called, call, call_blocking};
pub use registry::{AgentEntry, Registry, detect_installed, validate_agent};
