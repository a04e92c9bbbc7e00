//! Drives an Agent Client Protocol connection over byte streams, stdio and child processes.

mod driver;
mod handler;
mod mailbox;
mod peer;
pub mod process;
mod serve;
mod shared;
pub mod stdio;

pub use acp_protocol::rpc;
pub use handler::{
    BoxFuture, Context, Handler, IncomingNotification, IncomingRequest, NoHandler, Responder,
};
pub use mailbox::{
    DuplicateSession, Item, Mailbox, MailboxControl, RawLine, StreamEnd, Update, UpdateHold,
};
pub use peer::{CallHandle, Peer, SendLane};
pub use serve::{connect, serve};
