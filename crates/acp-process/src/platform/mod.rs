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

/// Fails where no sandbox can be made.
pub(crate) fn check_sandbox() -> Result<(), crate::sandbox::SandboxError> {
    #[cfg(target_os = "linux")]
    return unix::check_sandbox();
    #[cfg(target_os = "macos")]
    if std::path::Path::new(crate::sandbox::SANDBOX_EXEC).exists() {
        return Ok(());
    }
    #[cfg(not(target_os = "linux"))]
    Err(crate::sandbox::SandboxError::Unsupported {
        missing: format!(
            "{} has no means of it that this program knows",
            std::env::consts::OS
        ),
    })
}
