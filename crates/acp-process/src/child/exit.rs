//! How a child ended.

use std::fmt;
use std::sync::Arc;

use super::Rung;
use crate::stderr::TailText;

/// How a child ended, and what it said last; cheap to clone.
///
/// All callers of `wait`, `kill` and the like get the same one.
#[derive(Clone, Debug)]
pub struct Exit {
    facts: Arc<ExitFacts>,
}

/// Counts of descendants that left the child's process group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Strays {
    pub(crate) escaped: usize,
    pub(crate) survivors: usize,
}

#[derive(Debug)]
struct ExitFacts {
    status: ExitStatus,
    reached: Option<Rung>,
    escaped: usize,
    survivors: usize,
    tail: TailText,
}

impl Exit {
    pub(crate) fn new(
        status: ExitStatus,
        reached: Option<Rung>,
        strays: Strays,
        tail: TailText,
    ) -> Self {
        Self {
            facts: Arc::new(ExitFacts {
                status,
                reached,
                escaped: strays.escaped,
                survivors: strays.survivors,
                tail,
            }),
        }
    }

    /// Returns the status of the leader.
    #[must_use]
    pub fn status(&self) -> ExitStatus {
        self.facts.status
    }

    /// Tells whether the leader exited with code 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.status().success()
    }

    /// Returns how far the kill ladder had gone, `None` when it was not begun.
    #[must_use]
    pub fn reached(&self) -> Option<Rung> {
        self.facts.reached
    }

    /// Returns how many descendants had left the child's process group and were
    /// running when the child ended.
    ///
    /// Under [`OrphanGuard::Descendants`](crate::OrphanGuard::Descendants) they were
    /// killed then. Under a weaker guard only those are known that ran when the
    /// kill ladder took a step. Outside Linux this is 0.
    #[must_use]
    pub fn escaped(&self) -> usize {
        self.facts.escaped
    }

    /// Returns how many of the [escaped](Self::escaped) run on.
    ///
    /// Under [`OrphanGuard::Descendants`](crate::OrphanGuard::Descendants) this is 0
    /// unless the kernel could not end one, or somebody killed the guard.
    #[must_use]
    pub fn survivors(&self) -> usize {
        self.facts.survivors
    }

    /// Returns the last of what the child wrote to stderr, as text.
    ///
    /// Control characters are taken out and the redaction of the launch is
    /// done. It may still hold secrets; that is why no message shows it.
    #[must_use]
    pub fn stderr_tail(&self) -> String {
        self.facts.tail.to_text()
    }

    /// Turns an exit that is no success into an error.
    ///
    /// # Errors
    ///
    /// [`ExitError`] for every status but exit code 0.
    pub fn into_result(self) -> Result<Self, ExitError> {
        if self.success() {
            Ok(self)
        } else {
            Err(ExitError(self))
        }
    }
}

/// A child did not end with exit code 0.
///
/// The message tells the status only; those who may see it ask [`exit`](Self::exit) for
/// what the child wrote last.
#[derive(Clone, Debug, thiserror::Error)]
#[error("end in order: {}{}", .0.status(), .0.facts.tail.hint())]
pub struct ExitError(Exit);

impl ExitError {
    /// Returns how the child ended.
    #[must_use]
    pub fn exit(&self) -> &Exit {
        &self.0
    }
}

/// The status with which a child's leader ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExitStatus {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// It is gone, but somebody else in this process took its status (a
    /// `wait` for any child, or `SIGCHLD` being ignored).
    Unknown,
}

impl ExitStatus {
    /// Tells whether this is exit code 0.
    #[must_use]
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }

    /// Returns the exit code, if it exited by itself.
    #[must_use]
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(_) | Self::Unknown => None,
        }
    }

    /// Returns the number of the signal that ended it.
    #[must_use]
    pub fn signal(self) -> Option<i32> {
        match self {
            Self::Signal(number) => Some(number),
            Self::Code(_) | Self::Unknown => None,
        }
    }

    /// Returns the name of the signal that ended it, `SIGKILL` for example, where
    /// the signal has the same number on all systems served.
    #[must_use]
    pub fn signal_name(self) -> Option<&'static str> {
        self.signal().and_then(signal_name)
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(number) => match signal_name(*number) {
                Some(name) => write!(f, "ended by {name}"),
                None => write!(f, "ended by signal {number}"),
            },
            Self::Unknown => f.write_str("its status is not known"),
        }
    }
}

/// Names the signals whose numbers are the same on all systems served.
fn signal_name(number: i32) -> Option<&'static str> {
    Some(match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stderr::StderrTail;
    use std::time::Instant;

    fn exit(status: ExitStatus, stderr: &str) -> Exit {
        let tail = StderrTail::new(64, None);
        if !stderr.is_empty() {
            tail.push(stderr.as_bytes(), Instant::now(), 0);
        }
        Exit::new(status, None, Strays::default(), tail.snapshot())
    }

    #[test]
    fn messages_show_the_status_and_never_the_tail() {
        #[track_caller]
        fn check(status: ExitStatus, stderr: &str, expected: &str) {
            let error = exit(status, stderr).into_result().unwrap_err();
            assert_eq!(error.to_string(), expected);
            assert_eq!(error.exit().stderr_tail(), stderr);
            assert!(!format!("{error:?}").contains("s3cret"));
        }
        check(ExitStatus::Code(3), "", "end in order: exit code 3");
        check(
            ExitStatus::Code(1),
            "token s3cret",
            "end in order: exit code 1 (it wrote to stderr)",
        );
        check(ExitStatus::Signal(9), "", "end in order: ended by SIGKILL");
        check(
            ExitStatus::Signal(60),
            "",
            "end in order: ended by signal 60",
        );
        check(
            ExitStatus::Unknown,
            "",
            "end in order: its status is not known",
        );
    }

    #[test]
    fn only_code_zero_is_a_success() {
        let exit = exit(ExitStatus::Code(0), "warning").into_result().unwrap();
        assert!(exit.success());
        assert_eq!(exit.stderr_tail(), "warning");
        assert_eq!(exit.status().code(), Some(0));
        assert_eq!(exit.status().signal(), None);
    }
}
