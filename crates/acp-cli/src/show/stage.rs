//! The standard streams of this process, and what shows a turn on them.

use std::io::{self, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
use std::time::Instant;

use acp_process::stdio;
use acp_text::{Clean, ScreenWriter};
use parking_lot::Mutex;

use super::Format;
use super::human::Screen;
use super::page::{Facts, Look};
use super::terminal::{self, Beside};
use super::ticker::Ticker;
use crate::config::Colour;

/// A stream of any kind.
pub(super) type AnyStream = Box<dyn Write + Send>;

/// All that can be done with one.
pub(super) type Sink = ScreenWriter<AnyStream>;

/// Whether rows are on the terminal that have to be taken away before we go.
static IS_UP: AtomicBool = AtomicBool::new(false);

/// A screen that also changes with time.
pub(super) struct Stage {
    screen: Arc<Mutex<Screen<AnyStream, AnyStream>>>,
    is_live: bool,
    ticker: Option<Ticker>,
}

impl Stage {
    /// Opens the standard streams; the second is the one for a program, if it is for one.
    pub(super) fn standard(format: Format, colour: Colour) -> (Self, Option<Sink>) {
        let facts = facts(format, colour);
        let (text, json) = match format {
            Format::Json => (nowhere(), Some(stdio::stdout().boxed())),
            Format::Human | Format::Quiet => (stdio::stdout().boxed(), None),
        };
        let look = Box::new(terminal::window);
        (Self::new(text, stdio::stderr().boxed(), facts, look), json)
    }

    /// Shows nothing.
    #[cfg(test)]
    pub(super) fn nowhere() -> Self {
        Self::new(
            self::nowhere(),
            self::nowhere(),
            Facts::default(),
            Box::new(|| None),
        )
    }

    fn new(out: Sink, err: Sink, facts: Facts, look: Look) -> Self {
        let screen = Screen::new(out, err, facts, look, Instant::now());
        Self {
            screen: Arc::new(Mutex::new(screen)),
            is_live: facts.live,
            ticker: None,
        }
    }

    /// Says what goes on from now on, on a terminal alone.
    pub(super) fn status(&mut self, words: &Clean<'_>) {
        if !self.is_live {
            return;
        }
        self.act(|screen| screen.status(words));
        let screen = &self.screen;
        self.ticker.get_or_insert_with(|| {
            tidy_up_before_panics();
            let screen = Arc::clone(screen);
            Ticker::start(move || act(&screen, Screen::settle))
        });
    }

    /// Does something on the screen.
    pub(super) fn act<T>(&self, act: impl FnOnce(&mut Screen<AnyStream, AnyStream>) -> T) -> T {
        self::act(&self.screen, act)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.ticker = None;
        // After a panic, or where nothing has been said of an end.
        self.act(Screen::leave);
    }
}

/// Takes away what is drawn again and again, for a program that ends in the middle.
pub(crate) fn clear() {
    if IS_UP.swap(false, Ordering::Relaxed) {
        terminal::erase_below();
    }
}

fn act<T>(
    screen: &Mutex<Screen<AnyStream, AnyStream>>,
    act: impl FnOnce(&mut Screen<AnyStream, AnyStream>) -> T,
) -> T {
    let mut screen = screen.lock();
    let done = act(screen.at(Instant::now()));
    IS_UP.store(screen.is_up(), Ordering::Relaxed);
    done
}

fn tidy_up_before_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            clear();
            report(info);
        }));
    });
}

/// Writes to no stream.
fn nowhere() -> Sink {
    ScreenWriter::to_file(io::sink()).boxed()
}

fn facts(format: Format, colour: Colour) -> Facts {
    let (out_is_terminal, err_is_terminal) =
        (stdio::stdout_is_terminal(), stdio::stderr_is_terminal());
    let drawn = err_is_terminal && !terminal::is_dumb();
    let beside = match drawn {
        true => terminal::beside(),
        false => Beside::Unknown,
    };
    let colour = match colour {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => terminal::colour_wanted().unwrap_or(drawn),
    };
    let is_text = format != Format::Json;
    Facts {
        out_is_terminal: out_is_terminal && is_text,
        together: out_is_terminal && err_is_terminal && is_text,
        drawn,
        live: drawn && is_text && beside != Beside::Unknown,
        colour,
        unicode: terminal::knows_unicode(),
    }
}
