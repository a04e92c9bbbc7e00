//! How a child is ended, and how it ended; the same on every system.

mod exit;
mod kill_ladder;
mod signal;

pub(crate) use exit::Strays;
pub use exit::{Exit, ExitError, ExitStatus};
pub use kill_ladder::{Ending, KillLadder, Rung};
pub(crate) use kill_ladder::{Step, Teardown};
pub use signal::{Signal, SignalError};
