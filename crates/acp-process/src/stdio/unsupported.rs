//! Where the standard streams are not supported: the same names.

use std::io;

/// Reads this process's stdin.
pub type Stdin = crate::platform::Never;
/// Writes to this process's stdout.
pub type Stdout = crate::platform::Never;

/// Refuses.
///
/// # Errors
///
/// Always [`Unsupported`](io::ErrorKind::Unsupported).
pub fn protocol_stdio() -> io::Result<(Stdin, Stdout)> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        format!(
            "stdin and stdout are not supported on {}, only on Linux and macOS",
            std::env::consts::OS
        ),
    ))
}
