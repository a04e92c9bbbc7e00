//! A connection of the Agent Client Protocol over a child process, or over this
//! process's own stdin and stdout.
//!
//! [`acp_connection`] moves the messages, [`acp_process`] owns the processes;
//! this crate joins the two.

pub use acp_connection;
pub use acp_process;
