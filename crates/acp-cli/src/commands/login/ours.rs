//! This program's own terminal: typed without an echo, or passed on key by key.

use std::io::{self, BufRead as _, IsTerminal, Read as _, stdin};

use acp_harness::Secret;
use acp_text::{Clean, clean};

use crate::agent::keys::{MAX_KEY, read_key};

/// Reads a secret: typed without being shown where there is a terminal, else from
/// standard input.
///
/// # Cancel safety
///
/// Dropped while it waits, the terminal is as it was; what is typed then is lost.
pub(super) async fn read_secret(prompt: &str) -> io::Result<Secret> {
    let mut quiet = None;
    if stdin().is_terminal() {
        crate::show::ask(&Clean::line(prompt))?;
        quiet = Some(state::Changed::quiet()?);
    }
    let typed = quiet.is_some();
    let read = aside(move || match typed {
        true => read_key(line()?.as_bytes()),
        false => read_key(stdin().lock()),
    });
    let read = read.await;
    if quiet.take().is_some() {
        // The end of the line was not shown either.
        crate::show::ask(&clean!("\n"))?;
    }
    read
}

/// Reads what a person types to choose something.
pub(super) async fn read_choice() -> io::Result<String> {
    aside(line).await
}

/// Bytes of a line that is typed: a key, or a number.
const MAX_LINE: u64 = MAX_KEY as u64 + 2;

fn line() -> io::Result<String> {
    let mut line = String::new();
    stdin().lock().take(MAX_LINE).read_line(&mut line)?;
    Ok(line)
}

/// Works on a thread of its own: nobody knows how long a person takes, and Ctrl-C is to be
/// heard meanwhile.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await?
}

/// A terminal whose keys are passed on one by one, until this is dropped.
pub(super) struct Raw {
    _changed: state::Changed,
}

impl Raw {
    pub(super) fn begin() -> io::Result<Self> {
        Ok(Self {
            _changed: state::Changed::raw()?,
        })
    }
}

#[cfg(unix)]
mod state {
    use std::io::{self, stdin};

    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

    /// A terminal that is otherwise than it was, until this is dropped.
    pub(super) struct Changed {
        before: Termios,
    }

    impl Changed {
        /// Shows nothing of what is typed.
        pub(super) fn quiet() -> io::Result<Self> {
            // What was typed before stands on the screen already: it is no secret.
            let when = OptionalActions::Flush;
            Self::with(when, |termios| termios.local_modes.remove(LocalModes::ECHO))
        }

        /// Passes every key on as it is, Ctrl-C too.
        pub(super) fn raw() -> io::Result<Self> {
            Self::with(OptionalActions::Now, Termios::make_raw)
        }

        fn with(when: OptionalActions, change: impl FnOnce(&mut Termios)) -> io::Result<Self> {
            let before = tcgetattr(stdin())?;
            let mut after = before.clone();
            change(&mut after);
            tcsetattr(stdin(), when, &after)?;
            Ok(Self { before })
        }
    }

    impl Drop for Changed {
        fn drop(&mut self) {
            // A terminal that is gone needs nothing.
            let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
        }
    }
}

#[cfg(not(unix))]
mod state {
    use std::io;

    /// Not there yet; what is typed would be shown, so nothing is asked for.
    pub(super) struct Changed;

    impl Changed {
        pub(super) fn quiet() -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(super) fn raw() -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }
}
