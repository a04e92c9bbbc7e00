//! Serves a product to every client of the Agent Client Protocol.
//!
//! What it promises: each request is answered once; a prompt's answer stands
//! behind the last update of its turn; after a cancel the answer is always
//! `cancelled`; no session waits for another; nothing but an answer of the user
//! allows a tool; and a host that fails, panics or hangs harms nobody but the
//! turn it was asked for.
//!
//! # An agent
//!
//! ```no_run
//! use acp_agent::AgentBuilder;
//! use acp_agent::host::{ToolContent, ToolKind};
//! use acp_agent::kit::{Kit, Prompt, Turn, TurnEnd, TurnError, TurnHandler};
//!
//! struct Gardener;
//!
//! impl TurnHandler for Gardener {
//!     async fn turn(&self, turn: &mut Turn, prompt: Prompt) -> Result<TurnEnd, TurnError> {
//!         turn.text(format!("You said: {}\n", prompt.text())).await?;
//!         let water = turn
//!             .tool("water", "Water the plants")
//!             .kind(ToolKind::Execute)
//!             .announce()
//!             .await?;
//!         if turn.ask_permission(&water).await?.is_allowed() {
//!             water.start().await?;
//!             water.complete(vec![ToolContent::text("two litres")]).await?;
//!         } else {
//!             water.fail("not allowed").await?;
//!         }
//!         turn.text("Done for today.").await?;
//!         Ok(TurnEnd::Done)
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let agent = AgentBuilder::new(Kit::new(Gardener)).info("gardener", "0.1.0").build()?;
//!     tokio::spawn(async move { agent.serve_stdio().await }).await??;
//!     Ok(())
//! }
//! ```
//!
//! # Where to go on
//!
//! | you have | take |
//! |---|---|
//! | a function that answers prompts | the [`kit`] |
//! | an engine with sessions and events of its own | the traits of [`host`] |
//! | something to choose: content, tool servers, bounds | [`AgentBuilder`] |
//! | nothing yet, and a client to try | the [`demo`] agent |

mod agent;
mod builder;
mod client_calls;
mod connection;
mod content;
mod cursor;
pub mod demo;
mod elicit;
mod ending;
mod establish;
mod fault;
mod gate;
mod gate_trip;
mod guard;
mod handshake;
pub mod kit;
mod limits;
mod link;
mod list;
mod login;
mod numbering;
mod outcome;
mod parts;
mod prompt;
mod registry;
mod replay;
mod run;
mod session;
mod settings;
mod setup;
mod shown;
mod slot;
mod stamp;
mod terminal;
mod time;
mod translate;
mod wire;

pub use acp_host as host;
pub use acp_protocol::rpc::CloseCause;
pub use agent::Agent;
pub use builder::{AgentBuilder, BuildError};
pub use limits::AgentLimits;
