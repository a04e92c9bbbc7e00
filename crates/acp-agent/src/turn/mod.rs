//! The turns of a session as a state machine: host events go in, updates for the
//! client and the answer to the prompt come out. No I/O, and nothing waits.

pub(crate) mod active_prompt;
mod chunk;
pub(crate) mod client_view;
pub(crate) mod draft;
pub(crate) mod effects;
pub(crate) mod gate_signal;
mod message_ids;
pub(crate) mod outcome;
pub(crate) mod session_turns;
pub(crate) mod translator;
mod waiting_events;
