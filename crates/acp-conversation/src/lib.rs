//! The state of a conversation of the Agent Client Protocol, folded from its messages.
//!
//! A [`Conversation`] takes the messages of a session in the order of the wire and holds
//! what they amount to: turns with their messages, tool calls, questions to the user and
//! their outcomes, plan, usage, mode, title.
//! It is a function of what it was given: it waits for nothing, has no clock, and asks
//! nobody. Everything that is kept has a limit in number and in bytes
//! ([`limits`]), and what a limit drops is counted.
//!
//! Policies, readers and screens are views of this state: each takes from a
//! [`ConversationChange`] what is news to it, and looks up the rest.
//!
//! ```
//! use acp_conversation::{Conversation, ConversationChange};
//! use acp_protocol::v1::{SessionUpdate, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate};
//!
//! let mut conversation = Conversation::new();
//! conversation.update(&SessionUpdate::agent_text("Let me look."));
//! let call = ToolCall::new("t-1", "read_file").with_content(vec![ToolCallContent::text("one")]);
//! conversation.update(&call.into());
//! // What an update leaves out stays as it was.
//! let end = ToolCallUpdate::status("t-1", ToolCallStatus::Completed);
//! let update = SessionUpdate::from(end);
//! let ConversationChange::ToolCall(change) = conversation.update(&update) else {
//!     panic!("it is about a tool call");
//! };
//! assert!(change.ends && !change.begins);
//! assert_eq!(change.call.text(100), ("one".to_owned(), false));
//! conversation.update(&SessionUpdate::agent_text("One line."));
//! let report = conversation.turn.report().unwrap();
//! assert_eq!(report.text, "One line.");
//! ```

mod conversation;
mod input_names;
pub mod limits;
mod part;
mod question;
mod questions;
mod tool_call;
mod tool_calls;
mod turn;
mod usage;

pub use conversation::{Conversation, ConversationChange};
pub use limits::ConversationLimits;
pub use part::{FileChange, KeptText, ToolCallPart};
pub use question::{QuestionNumber, QuestionOutcome, QuestionState, QuestionSubject};
pub use questions::Questions;
pub use tool_call::{ToolCallChange, ToolCallState};
pub use tool_calls::ToolCalls;
pub use turn::{ConversationTurn, MessageChange, MessageRole, TurnCounts, TurnEntry, TurnMessage};
pub use usage::TokenUsage;
