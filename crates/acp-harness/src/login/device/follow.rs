//! What a login command prints, followed to its end.

use acp_process::ExitStatus;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, sleep_until};

use super::command::Bounds;
use crate::limits::MAX_LOGIN_LINE;
use crate::login::{Challenge, ChallengeScanner, LoginError};

/// Reads what a command prints and waits for its exit; `challenge` is told once.
///
/// Dropped or returning an error, the command may still run.
pub(super) async fn follow(
    output: impl AsyncRead + Unpin,
    exit: impl Future<Output = ExitStatus>,
    mut scanner: ChallengeScanner,
    bounds: Bounds,
    mut challenge: impl FnMut(Challenge),
) -> Result<(), LoginError> {
    let begun = Instant::now();
    let all = (
        begun.checked_add(bounds.all),
        LoginError::TimedOut { bound: bounds.all },
    );
    let mut step = (
        begun.checked_add(bounds.code),
        LoginError::NoCode { bound: bounds.code },
    );
    let mut shown = false;
    let mut lines = Lines::new(output);
    loop {
        tokio::select! {
            // A command that never stops printing does not hold up the clock.
            biased;
            error = first_of(&step, &all) => return Err(error),
            line = lines.next() => {
                let Some(line) = line else { break };
                if let Some(found) = scanner.line(&line) {
                    challenge(found);
                    shown = true;
                    let bound = bounds.user;
                    step = (Instant::now().checked_add(bound), LoginError::NotEntered { bound });
                }
            }
        }
    }
    let status = tokio::select! {
        biased;
        // What it came to counts, also when the time is over at the same moment.
        status = exit => status,
        error = first_of(&step, &all) => return Err(error),
    };
    match status {
        status if !shown => Err(LoginError::EndedFirst { status }),
        status if status.success() => Ok(()),
        status => Err(LoginError::Failed { status }),
    }
}

/// A time, and what it means when it has come; without one, it never comes.
type Bound = (Option<Instant>, LoginError);

async fn first_of(one: &Bound, other: &Bound) -> LoginError {
    let (first, error) = match (one.0, other.0) {
        (Some(a), Some(b)) if b < a => other,
        (None, Some(_)) => other,
        _ => one,
    };
    match first {
        Some(at) => sleep_until(*at).await,
        None => std::future::pending().await,
    }
    error.clone()
}

/// Lines of at most [`MAX_LOGIN_LINE`] bytes, ended as on paper or on a terminal. What is
/// longer is cut.
struct Lines<R> {
    output: R,
    read: Vec<u8>,
    /// How much of `read` was looked at.
    at: usize,
    line: Vec<u8>,
    ended: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new(output: R) -> Self {
        Self {
            output,
            read: Vec::new(),
            at: 0,
            line: Vec::new(),
            ended: false,
        }
    }

    /// Returns the next line that is not empty. Cancel-safe.
    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(line) = self.take() {
                return Some(line);
            }
            if self.ended {
                return None;
            }
            let mut chunk = [0; 4096];
            // A terminal or pipe that cannot be read has nothing more to say.
            match self.output.read(&mut chunk).await {
                Ok(count @ 1..) => {
                    self.read = chunk[..count].to_vec();
                    self.at = 0;
                }
                Ok(0) | Err(_) => self.ended = true,
            }
        }
    }

    /// Takes a line out of what was read.
    fn take(&mut self) -> Option<String> {
        while let Some(byte) = self.read.get(self.at) {
            self.at += 1;
            match byte {
                b'\n' | b'\r' if self.line.is_empty() => {}
                b'\n' | b'\r' => return Some(self.whole()),
                byte if self.line.len() < MAX_LOGIN_LINE => self.line.push(*byte),
                _ => {}
            }
        }
        (self.ended && !self.line.is_empty()).then(|| self.whole())
    }

    fn whole(&mut self) -> String {
        let line = std::mem::take(&mut self.line);
        String::from_utf8_lossy(&line).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::time::Duration;

    use tokio::io::{AsyncWriteExt, duplex};

    use super::*;

    const CODE: &str = "Go to https://example.com/device and enter ABCD-1234\n";

    /// A command that prints, each after so many seconds, and ends after the last.
    async fn run(prints: &[(u64, &str)], exit: Option<i32>) -> (usize, String, u64) {
        let (mut theirs, ours) = duplex(64);
        let prints: Vec<_> = prints
            .iter()
            .map(|(after, text)| (Duration::from_secs(*after), (*text).to_owned()))
            .collect();
        let printing = async move {
            for (after, text) in prints {
                tokio::time::sleep(after).await;
                let _ = theirs.write_all(text.as_bytes()).await;
            }
            if exit.is_none() {
                pending::<()>().await;
            }
        };
        let printing = tokio::spawn(printing);
        let mut found = 0;
        let begun = Instant::now();
        let exit = async { ready(ExitStatus::Code(exit.unwrap_or_default())).await };
        let scanner = ChallengeScanner::new();
        let end = follow(ours, exit, scanner, Bounds::default(), |challenge| {
            assert_eq!(challenge.code, "ABCD-1234");
            found += 1;
        })
        .await;
        printing.abort();
        let told = end.map_or_else(|error| error.to_string(), |()| "in".to_owned());
        (found, told, begun.elapsed().as_secs())
    }

    #[track_caller]
    fn check(end: (usize, String, u64), found: usize, told: &str, after: u64) {
        assert_eq!(end, (found, told.to_owned(), after));
    }

    #[tokio::test(start_paused = true)]
    async fn a_login_comes_to_an_end_in_time() {
        let whole = [(1, "hello\r\n"), (28, CODE), (239, "done\n")];
        check(run(&whole, Some(0)).await, 1, "in", 268);
        let refused = "log in: the command ended with exit code 1";
        check(run(&whole, Some(1)).await, 1, refused, 268);
        // The last line of all may have no end.
        let unended = [(1, CODE.trim_end())];
        check(run(&unended, Some(0)).await, 1, "in", 1);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_ends_first_has_logged_in_nobody() {
        for code in [0, 2] {
            let told =
                format!("get a code to log in with: the command ended first, exit code {code}");
            check(run(&[(3, "no luck\n")], Some(code)).await, 0, &told, 3);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_part_has_its_bound() {
        let no_code = "get a code to log in with: none was shown within 30 s";
        check(run(&[(31, CODE)], None).await, 0, no_code, 30);
        let chatter: Vec<_> = (0..100).map(|_| (1, "still here\n")).collect();
        check(run(&chatter, None).await, 0, no_code, 30);
        let not_entered = "log in: the code was not entered within 240 s";
        check(run(&[(29, CODE)], None).await, 1, not_entered, 269);
    }

    #[tokio::test(start_paused = true)]
    async fn all_of_it_has_a_bound_too() {
        let (mut theirs, ours) = duplex(64);
        theirs.write_all(b"hello\n").await.unwrap();
        let bounds = Bounds {
            code: Duration::MAX,
            user: Duration::MAX,
            all: Duration::from_secs(5),
        };
        let end = follow(ours, pending(), ChallengeScanner::new(), bounds, |_| {}).await;
        assert_eq!(
            end.unwrap_err().to_string(),
            "log in: it was not done within 5 s"
        );
        // It says no more and does not end either.
        let (_, ours) = duplex(64);
        let end = follow(ours, pending(), ChallengeScanner::new(), bounds, |_| {}).await;
        assert!(matches!(end, Err(LoginError::TimedOut { .. })));
    }

    #[tokio::test]
    async fn lines_are_bounded_and_end_in_any_way() {
        let long = "x".repeat(3 * MAX_LOGIN_LINE);
        let text = format!("a\r\n\r\n\nb\rc\n{long}\nd");
        let mut lines = Lines::new(text.as_bytes());
        for expected in ["a", "b", "c", &long[..MAX_LOGIN_LINE], "d"] {
            assert_eq!(lines.next().await.as_deref(), Some(expected));
        }
        assert_eq!(lines.next().await, None);
        assert_eq!(lines.next().await, None);
    }
}
