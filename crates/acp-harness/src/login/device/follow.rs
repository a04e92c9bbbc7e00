//! What a login command prints, followed to its end.

use acp_process::ExitStatus;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, BufReader};
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
    let (mut output, mut line) = (BufReader::new(output), Vec::new());
    loop {
        tokio::select! {
            // A command that never stops printing does not hold up the clock.
            biased;
            error = first_of(&step, &all) => return Err(error),
            line = next_line(&mut output, &mut line) => {
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
    let all = [one, other].into_iter();
    let bounds = all.filter_map(|(at, error)| Some(((*at)?, error)));
    match bounds.min_by_key(|(at, _)| *at) {
        Some((at, error)) => {
            sleep_until(at).await;
            error.clone()
        }
        None => std::future::pending().await,
    }
}

/// Reads the next line that is not empty, ended as on paper or on a terminal; `None` at the
/// end. A line has at most [`MAX_LOGIN_LINE`] bytes: the rest of it is left out.
///
/// Cancel-safe: what was read of the line so far stays in `line`.
async fn next_line(output: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> Option<String> {
    loop {
        // A terminal or pipe that cannot be read has nothing more to say.
        let read = output.fill_buf().await.unwrap_or_default();
        let end = read.iter().position(|byte| b"\n\r".contains(byte));
        let has_ended = end.is_some() || read.is_empty();
        let used = end.unwrap_or(read.len());
        let room = MAX_LOGIN_LINE - line.len();
        line.extend_from_slice(&read[..used.min(room)]);
        let is_over = read.is_empty();
        output.consume(used + usize::from(end.is_some()));
        if has_ended && !line.is_empty() {
            let whole = std::mem::take(line);
            return Some(String::from_utf8_lossy(&whole).into_owned());
        }
        if is_over {
            return None;
        }
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
        let (mut output, mut line) = (text.as_bytes(), Vec::new());
        for expected in ["a", "b", "c", &long[..MAX_LOGIN_LINE], "d"] {
            assert_eq!(
                next_line(&mut output, &mut line).await.as_deref(),
                Some(expected)
            );
        }
        assert_eq!(next_line(&mut output, &mut line).await, None);
        assert_eq!(next_line(&mut output, &mut line).await, None);
    }
}
