//! Makes a program an agent of the Agent Client Protocol.
//!
//! Each request is answered once, and a prompt behind the last update of its turn;
//! after a cancel the answer is always `cancelled`; no session waits for another;
//! only an answer of the user allows a tool; and a host that fails, panics or hangs
//! harms its own turn and nothing else.
//!
//! # An agent
//!
//! In thirty lines (`examples/thirty_lines.rs`):
//!
//! ```no_run
//! use acp_agent::AgentBuilder;
//! use acp_agent::host::{ToolContent, ToolKind};
//! use acp_agent::kit::{Kit, Prompt, Turn, TurnEnd, TurnError, TurnHandler};
//!
//! /// Waters the plants, if it may.
//! pub struct Gardener;
//!
//! impl TurnHandler for Gardener {
//!     async fn turn(&self, turn: &mut Turn, prompt: Prompt) -> Result<TurnEnd, TurnError> {
//!         turn.text(format!("You said: {}\n", prompt.text())).await?;
//!         let draft = turn.tool("water", "Water the plants");
//!         let water = draft.kind(ToolKind::Execute).announce().await?;
//!         if turn.ask_permission(&water).await?.is_allowed() {
//!             water.start().await?;
//!             water
//!                 .complete(vec![ToolContent::text("two litres")])
//!                 .await?;
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
//!     let agent = AgentBuilder::new(Kit::new(Gardener))
//!         .info("gardener", "0.1.0")
//!         .build()?;
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
//! | a model behind an HTTP API | the example `chat_agent`, to copy |
//! | an engine with sessions and events of its own | the traits of [`host`] |
//! | something to choose: content, tool servers, bounds | [`AgentBuilder`] |
//! | nothing yet, and a client to try | the [`demo`] agent |
//!
//! # The trait for each thing an agent can do
//!
//! Each is registered by one call of [`AgentBuilder`], and what is registered
//! is advertised.
//!
//! | the client wants to | implement | register by |
//! |---|---|---|
//! | start, prompt, cancel, close a session | [`SessionHost`](host::SessionHost), [`LiveSession`](host::LiveSession) | [`new`](AgentBuilder::new) |
//! | resume an earlier session | [`SessionResumer`](host::SessionResumer) | [`resumer`](AgentBuilder::resumer) |
//! | load an earlier conversation | [`SessionLoader`](host::SessionLoader) | [`loader`](AgentBuilder::loader) |
//! | list earlier sessions | [`SessionCatalog`](host::SessionCatalog) | [`catalog`](AgentBuilder::catalog) |
//! | delete one | [`SessionDeleter`](host::SessionDeleter) | [`deleter`](AgentBuilder::deleter) |
//! | set a mode, a model, an option | [`ConfigController`](host::ConfigController) | [`config`](AgentBuilder::config) |
//! | log in | [`Authenticator`](host::Authenticator) | [`authenticator`](AgentBuilder::authenticator) |
//! | log in before sessions begin, and for nothing else | the same | [`lenient_login`](AgentBuilder::lenient_login) |
//! | log out | [`LogoutHandler`](host::LogoutHandler) | [`logout`](AgentBuilder::logout) |
//! | shorten the conversation | [`LiveSession::compact`](host::LiveSession::compact) | [`compact_command`](AgentBuilder::compact_command) |
//!
//! | a session wants to | it calls |
//! |---|---|
//! | send text, thoughts, tool calls, plans, usage | [`ClientLink::emit`](host::ClientLink::emit) |
//! | report its title, its commands, its options, a notice | the same, with an event [of the session](host::HostEvent::of_session) |
//! | ask for permission, ask questions, send to an address | the same, with a [`Gate`](host::Gate) |
//! | read and write the client's files | [`ClientLink::read_text_file`](host::ClientLink::read_text_file) and its sibling |
//! | have the client run a command | [`ClientLink::create_terminal`](host::ClientLink::create_terminal) |

// Rooms, each built on those below it:
//
//   demo                     an agent written with the kit
//   kit                      an agent from a function that answers prompts
//   serve                    connections: registration, handshake, methods
//   session                  a live session and its link to the host
//   turn                     the turns of a session, without I/O
//   wire                     host values in the types of the protocol
//   fault, host_call, limits, random_id
pub mod demo;
mod fault;
mod host_call;
pub mod kit;
mod limits;
mod random_id;
mod refused;
mod serve;
mod session;
mod turn;
mod wire;

pub use acp_host as host;
pub use acp_protocol::rpc::CloseCause;
pub use limits::AgentLimits;
pub use serve::{Agent, AgentBuilder, AgentFailure, BuildError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
