//! What is known of the terminal behind the standard streams.

use std::env;

/// The window that shows us, at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// Whether it is ours to draw on: not while the shell has it back.
    pub(super) is_ours: bool,
}

/// What standard output is, beside the terminal of standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// The same terminal.
    Same,
    /// Nothing that could show on it: a file, or nowhere.
    Apart,
    /// It may well show there: a pipe into a program that writes on.
    Unknown,
}

/// Tells whether a terminal says it can do nothing.
pub(super) fn is_dumb() -> bool {
    variable("TERM").is_none_or(|term| term == "dumb")
}

/// Tells whether characters beyond ASCII are shown, by the locale.
pub(super) fn knows_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"];
    let locale = locale.into_iter().find_map(variable);
    locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// Tells what the environment wants of colours: `NO_COLOR` before `CLICOLOR_FORCE`.
pub(super) fn colour_wanted() -> Option<bool> {
    if variable("NO_COLOR").is_some() {
        return Some(false);
    }
    variable("CLICOLOR_FORCE")
        .filter(|value| value != "0")
        .map(|_| true)
}

fn variable(name: &str) -> Option<String> {
    let value = env::var_os(name)?;
    let value = value.to_string_lossy().into_owned();
    (!value.is_empty()).then_some(value)
}

pub(super) use platform::{beside, erase_below, window};

#[cfg(unix)]
#[expect(
    clippy::disallowed_methods,
    reason = "asks what the streams are, and erases rows of ours where a lock may be held"
)]
mod platform {
    use std::fs::{File, Metadata};
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::stdio::{stderr, stdout};
    use rustix::{process, termios};

    use super::{Beside, Window};

    /// Looks at the window of standard error.
    pub(in crate::show) fn window() -> Option<Window> {
        let terminal = stderr();
        let size = termios::tcgetwinsize(terminal).ok()?;
        // What is not the terminal that controls us has no foreground.
        let foreground = termios::tcgetpgrp(terminal);
        Some(Window {
            columns: size.ws_col.into(),
            rows: size.ws_row.into(),
            is_ours: foreground.is_ok_and(|group| group == process::getpgrp()),
        })
    }

    pub(in crate::show) fn beside() -> Beside {
        let (Some(out), Some(err)) = (metadata(&stdout()), metadata(&stderr())) else {
            return Beside::Unknown;
        };
        let kind = out.file_type();
        if acp_process::stdio::stdout_is_terminal() {
            match out.rdev() == err.rdev() {
                true => Beside::Same,
                false => Beside::Unknown,
            }
        } else if kind.is_file() || kind.is_char_device() {
            Beside::Apart
        } else {
            Beside::Unknown
        }
    }

    /// Takes away what is drawn below the cursor, unless that would wait.
    pub(in crate::show) fn erase_below() {
        let terminal = stderr();
        let mut ready = [PollFd::new(&terminal, PollFlags::OUT)];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        if poll(&mut ready, Some(&now)).is_ok_and(|count| count > 0) {
            // There is nobody left to tell.
            let _ = rustix::io::write(terminal, b"\x1b[J");
        }
    }

    fn metadata(stream: &impl AsFd) -> Option<Metadata> {
        let copy = stream.as_fd().try_clone_to_owned().ok()?;
        File::from(copy).metadata().ok()
    }
}

#[cfg(not(unix))]
mod platform {
    use super::{Beside, Window};

    /// Nothing is known, so nothing is drawn.
    pub(in crate::show) fn window() -> Option<Window> {
        None
    }

    pub(in crate::show) fn beside() -> Beside {
        Beside::Unknown
    }

    pub(in crate::show) fn erase_below() {}
}
