//! A run of a program that asks for its version and does nothing else.

use std::time::Duration;

use acp_process::{ExitStatus, KillLadder, Launch};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

use super::{Version, VersionRejection};
use crate::limits::{MAX_PROBE_OUTPUT, PROBE_TIMEOUT};

/// Asks a program for its version: one run, bounded in time and output.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    minimum: Version,
    bound: Duration,
}

/// How such a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProbeEnd {
    /// It could not be run, or did not end well.
    Failed {
        /// How, without secrets.
        reason: String,
    },
    /// It ended with exit code 0.
    Printed {
        /// What it wrote to standard output, or the beginning of it.
        stdout: Vec<u8>,
    },
}

/// Runs programs for [`Probe`]; [`ChildRunner`] is the one that really does.
pub trait RunProbe: Send + Sync {
    /// Runs the command to its end.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends what was started.
    fn run(&self, command: &Launch) -> impl Future<Output = ProbeEnd> + Send;
}

impl Probe {
    /// Makes a probe that accepts this version and every later one.
    #[must_use]
    pub fn new(minimum: Version) -> Self {
        Self {
            minimum,
            bound: PROBE_TIMEOUT,
        }
    }

    /// Waits this long; no time at all stands for the default, 5 seconds.
    #[must_use]
    pub fn with_timeout(mut self, bound: Duration) -> Self {
        self.bound = if bound.is_zero() {
            PROBE_TIMEOUT
        } else {
            bound
        };
        self
    }

    /// Runs the command and judges what it printed, unless `cancelled` resolves before;
    /// [`std::future::pending`] never does.
    ///
    /// # Errors
    ///
    /// [`VersionRejection`], each kind for one reason.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: dropping the future ends the run, and nothing is lost.
    pub async fn run(
        &self,
        runner: &impl RunProbe,
        command: &Launch,
        cancelled: impl Future<Output = ()> + Send,
    ) -> Result<Version, VersionRejection> {
        let minimum = self.minimum;
        command
            .validate()
            .map_err(|error| VersionRejection::BadProgram {
                reason: error.to_string(),
            })?;
        let end = tokio::select! {
            // An answer that is there is taken, whatever else has come true by now.
            biased;
            end = timeout(self.bound, runner.run(command)) => end,
            () = cancelled => return Err(VersionRejection::Cancelled { minimum }),
        };
        match end {
            Err(_) => Err(VersionRejection::Timeout {
                bound: self.bound,
                minimum,
            }),
            Ok(ProbeEnd::Failed { reason }) => {
                Err(VersionRejection::NonzeroExit { reason, minimum })
            }
            Ok(ProbeEnd::Printed { stdout }) => {
                Version::accept(&String::from_utf8_lossy(&stdout), minimum)
            }
        }
    }
}

/// Runs the program as a child, with its standard input closed.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChildRunner;

impl RunProbe for ChildRunner {
    async fn run(&self, command: &Launch) -> ProbeEnd {
        // A program that only prints has nothing to save: no grace when it is given up.
        let no_grace = KillLadder::default()
            .with_abort_eof_grace(Duration::ZERO)
            .with_interrupt_grace(Duration::ZERO)
            .with_terminate_grace(Duration::ZERO);
        let launch = command.clone().with_kill_ladder(no_grace);
        let mut child = match launch.spawn() {
            Ok(child) => child,
            Err(error) => return failed(chain(&error)),
        };
        let handle = child.handle();
        drop(child.take_stdin());
        let stdout = match child.take_stdout() {
            Some(stdout) => read(stdout).await,
            None => Vec::new(),
        };
        // All output is there, or more than is wanted; a program that stays all the same
        // is waited for as long as the probe does.
        let exit = handle.wait().await;
        match exit.status() {
            ExitStatus::Code(0) => ProbeEnd::Printed { stdout },
            status => failed(status.to_string()),
        }
    }
}

/// Reads to the end, and keeps the beginning.
async fn read(mut stdout: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(read @ 1..) = stdout.read(&mut chunk).await {
        let room = MAX_PROBE_OUTPUT.saturating_sub(kept.len());
        kept.extend_from_slice(&chunk[..read.min(room)]);
    }
    kept
}

fn failed(reason: String) -> ProbeEnd {
    ProbeEnd::Failed { reason }
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    /// Ends as it is told to, after a time.
    struct Fake(Duration, ProbeEnd);

    impl RunProbe for Fake {
        async fn run(&self, command: &Launch) -> ProbeEnd {
            assert_eq!(command.args(), ["--version"]);
            tokio::time::sleep(self.0).await;
            self.1.clone()
        }
    }

    const MINIMUM: Version = Version::new(1, 1, 7);

    async fn run(probe: Probe, fake: &Fake, cancelled: impl Future<Output = ()> + Send) -> String {
        let command = Launch::new("/opt/agent").with_args(["--version"]);
        match probe.run(fake, &command, cancelled).await {
            Ok(version) => version.to_string(),
            Err(rejection) => rejection.to_string(),
        }
    }

    async fn check(after: u64, end: ProbeEnd, expected: &str) {
        let fake = Fake(Duration::from_secs(after), end);
        assert_eq!(run(Probe::new(MINIMUM), &fake, pending()).await, expected);
    }

    fn printed(stdout: &str) -> ProbeEnd {
        let stdout = stdout.into();
        ProbeEnd::Printed { stdout }
    }

    #[tokio::test(start_paused = true)]
    async fn each_end_has_its_own_class() {
        check(4, printed("agent 1.2.0\n"), "1.2.0").await;
        check(
            6,
            printed("agent 1.2.0\n"),
            "learn a version of at least 1.1.7: no answer within 5 s",
        )
        .await;
        check(
            6,
            failed("exit code 1".to_owned()),
            "learn a version of at least 1.1.7: no answer within 5 s",
        )
        .await;
        check(
            0,
            failed("exit code 1".to_owned()),
            "learn a version of at least 1.1.7: exit code 1",
        )
        .await;
        check(
            0,
            printed("\n"),
            "learn a version of at least 1.1.7: nothing was told",
        )
        .await;
        check(
            0,
            printed("agent\n"),
            "read a version of at least 1.1.7 in \"agent\"",
        )
        .await;
        check(
            0,
            printed("1.1.6"),
            "accept version 1.1.6: 1.1.7 or later is needed",
        )
        .await;
        let not_text = ProbeEnd::Printed {
            stdout: b"agent \xff 1.2.3".to_vec(),
        };
        check(0, not_text, "1.2.3").await;
    }

    #[tokio::test(start_paused = true)]
    async fn no_time_at_all_stands_for_five_seconds() {
        let fake = Fake(Duration::from_secs(4), printed("2.0.0"));
        let probe = Probe::new(MINIMUM).with_timeout(Duration::ZERO);
        assert_eq!(run(probe, &fake, pending()).await, "2.0.0");
        let probe = Probe::new(MINIMUM).with_timeout(Duration::from_secs(3));
        assert_eq!(
            run(probe, &fake, pending()).await,
            "learn a version of at least 1.1.7: no answer within 3 s"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn cancelling_is_told_as_such_unless_the_answer_is_there() {
        let cancelled = "learn a version of at least 1.1.7: cancelled";
        let fake = Fake(Duration::from_secs(1), printed("2.0.0"));
        assert_eq!(run(Probe::new(MINIMUM), &fake, ready(())).await, cancelled);
        struct Ready;
        impl RunProbe for Ready {
            async fn run(&self, _: &Launch) -> ProbeEnd {
                printed("2.0.0")
            }
        }
        let command = Launch::new("/opt/agent").with_args(["--version"]);
        let version = Probe::new(MINIMUM).run(&Ready, &command, ready(())).await;
        assert_eq!(version, Ok(Version::new(2, 0, 0)));
    }

    #[tokio::test]
    async fn only_clean_absolute_paths_are_asked() {
        for path in [
            "",
            "agent",
            "./agent",
            "/opt/../agent",
            "/opt//agent",
            "/opt/a\0b",
        ] {
            struct Never;
            impl RunProbe for Never {
                async fn run(&self, _: &Launch) -> ProbeEnd {
                    unreachable!("nothing is run")
                }
            }
            let command = Launch::new(path);
            let end = Probe::new(MINIMUM).run(&Never, &command, pending()).await;
            assert!(
                matches!(end, Err(VersionRejection::BadProgram { .. })),
                "{path:?}"
            );
        }
    }
}
