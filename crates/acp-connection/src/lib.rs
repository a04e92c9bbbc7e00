//! Runs a connection of the Agent Client Protocol over a stream of bytes or messages.
//!
//! The crate promises that reading never waits for a write, a handler or a
//! consumer, but for the pauses that flow control asks for; and that a handler
//! may call the peer whenever it likes.
//!
//! | you have | take |
//! |---|---|
//! | a reader and a writer | [`connect`], which returns a [`Peer`], or [`serve`] |
//! | a stream and a sink of messages | [`connect_messages`] or [`serve_messages`] |
//! | something to serve | [`Handler`], [`IncomingRequest::serve`] |
//! | updates to consume | [`Peer::open_mailbox`], [`Mailbox::next`] |
//!
//! ```
//! use acp_protocol::{Request, v1::{InitializeRequest, InitializeResponse, ProtocolVersion}};
//! use acp_connection::{BoxFuture, Handler, IncomingRequest, NoHandler, connect, rpc::{Limits, ConnectionRole}};
//!
//! struct Agent;
//!
//! impl Handler for Agent {
//!     fn request(&self, request: IncomingRequest) -> Option<BoxFuture> {
//!         match request.method() {
//!             InitializeRequest::METHOD => request.serve(|asked: InitializeRequest, _| async move {
//!                 Ok(InitializeResponse::new(asked.protocol_version))
//!             }),
//!             _ => {
//!                 request.unknown_method();
//!                 None
//!             }
//!         }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let (near, far) = tokio::io::duplex(64 << 10);
//! let (reader, writer) = tokio::io::split(far);
//! connect(ConnectionRole::Agent, reader, writer, Agent, Limits::default());
//!
//! let (reader, writer) = tokio::io::split(near);
//! let agent = connect(ConnectionRole::Client, reader, writer, NoHandler, Limits::default());
//! let answer = agent.call(&InitializeRequest::new(ProtocolVersion::from(1))).await;
//! assert_eq!(answer.unwrap().protocol_version, ProtocolVersion::from(1));
//! # }
//! ```

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod driver;
mod handler;
mod link;
mod peer;
mod serve;

pub use acp_protocol::rpc;
pub use handler::{
    BoxFuture, Context, Handler, IncomingNotification, IncomingRequest, NoHandler, Responder, Then,
    UntilCancelled, correlation_id,
};
pub use peer::{
    CallHandle, DuplicateSession, Item, Mailbox, MailboxControl, Peer, RawLine, SendLane, Sending,
    StreamEnd, Unsent, Update, UpdateHold,
};
pub use serve::{connect, connect_messages, serve, serve_messages, serve_until};
