//! JSON-RPC 2.0 over lines, as a state machine without I/O.
//!
//! Bytes and instants go in, events and bytes come out. Nothing here waits,
//! spawns or knows a clock, so a test holds both ends of a conversation in one
//! hand. A driver (`acp-connection`) does the reading and writing.
//!
//! What it promises:
//!
//! * every call ends once: answered, refused, abandoned or closed;
//! * every request is answered at most once, and requests start in wire order;
//! * the end of a streamed call stands behind the updates that came before it;
//! * every queue has a bound, named in [`Limits`] with its reason;
//! * a line that is no message loses nothing but itself.
//!
//! ```
//! use std::{task::Waker, time::Instant};
//! use acp_protocol::rpc::{AnswerTo, Connection, ConnectionEvent, IdSpace, Intake, Limits, ConnectionRole, frame};
//!
//! let (mut client, mut agent) = (
//!     Connection::new(ConnectionRole::Client, Limits::default()),
//!     Connection::new(ConnectionRole::Agent, Limits::default()),
//! );
//! let mut tail = Vec::new();
//! frame::call_tail(&mut tail, "session/new", &()).unwrap();
//! client.call(IdSpace::Protocol, AnswerTo::Caller, &tail).unwrap();
//!
//! let mut line = Vec::new();
//! client.take_output(&mut line);
//! let mut intake = Intake::new(ConnectionRole::Agent, agent.limits());
//! intake.push(&line);
//! while let Some(inbound) = intake.next() {
//!     agent.accept(inbound, Instant::now());
//! }
//! assert!(matches!(agent.poll_event(), Some(ConnectionEvent::Request(request, _)) if request.method() == "session/new"));
//! ```

mod calls;
mod clock;
mod connection;
mod credit;
mod decoder;
mod error;
mod error_code;
pub mod frame;
mod head;
mod id;
mod inbound;
mod issue;
mod limits;
mod lines;
mod mailbox;
mod message;
mod pace;
mod serving;
mod setting;
mod stats;
mod wake;
mod watches;
mod wire_error;

pub use calls::{AnswerTo, Answered, CallId, CallOutcome, IdSpace, OnDrop};
pub use clock::{CallFacts, ReceiveSeq};
pub use connection::{Connection, ConnectionEvent, ConnectionRole, DriverTask};
pub use credit::{Lane, Ticket};
pub use decoder::UpdateDecoder;
pub use error::{CallError, CloseCause, Fault, SendError};
pub use error_code::ErrorCode;
pub use head::{Attempt, LostUpdate, Refused, Shape};
pub use id::RequestId;
pub use inbound::{Inbound, Intake, Run};
pub use issue::{Issue, Issues};
pub use limits::Limits;
pub use lines::{FoundLines, Line, LineBlock, LineDecoder, LineFault};
pub use mailbox::{Flow, MailboxCounts, MailboxEntry, MailboxId, Progress, Reading};
pub use message::{Incoming, RawResponse, ResponseError};
pub use serving::CancelWatch;
pub use setting::{NewestSetting, SettingKind};
pub use stats::Stats;
pub use wake::Wakes;
pub use watches::CallWatch;
pub use wire_error::WireError;
