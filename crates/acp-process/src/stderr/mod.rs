//! The child's stderr: the last of it, and its lines for a callback.

mod lines;
mod tail;

pub(crate) use lines::{LineCallback, LineFeed};
pub use tail::StderrActivity;
pub(crate) use tail::{DEFAULT_CAPACITY, MAX_CAPACITY, StderrTail, TailText};
