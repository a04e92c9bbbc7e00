//! Children as the system at hand supervises them.

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod unix;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod unsupported;

#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) use unix::spawn;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub use unix::{Child, ChildHandle, ChildStdin, ChildStdout};
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) use unsupported::spawn;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub use unsupported::{Child, ChildHandle, ChildStdin, ChildStdout, Never};
