//! The processes below this one: how much memory they took, and which of them are left.

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod system;

pub(crate) use system::Tree;

/// A process that should have ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    /// What it was started with.
    pub(crate) command: String,
}
