//! The standard streams of this process, and what shows a turn on them.

use std::io::{self, IsTerminal, Write, stderr, stdout};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
use std::time::Instant;

use parking_lot::Mutex;

use super::Format;
use super::human::Screen;
use super::page::{Facts, Look};
use super::terminal::{self, Beside};
use super::ticker::Ticker;
use crate::config::Colour;

pub(super) type Sink = Box<dyn Write + Send>;

/// Whether rows are on the terminal that have to be taken away before we go.
static IS_UP: AtomicBool = AtomicBool::new(false);

/// A screen that also changes with time.
pub(super) struct Stage {
    screen: Arc<Mutex<Screen<Sink, Sink>>>,
    is_live: bool,
    ticker: Option<Ticker>,
}

/// Writes lines of JSON to a terminal; each comes in one piece.
struct EscapedLines<W>(W);

impl<W: Write> Write for EscapedLines<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        self.0.write_all(acp_text::escape_json(&text).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Stage {
    /// Opens the standard streams; the second is the one for a program, if it is for one.
    pub(super) fn standard(format: Format, colour: Colour) -> (Self, Option<Sink>) {
        let (out, err) = (stdout(), stderr());
        let facts = facts(format, colour, out.is_terminal(), err.is_terminal());
        let (text, json): (Sink, Option<Sink>) = match format {
            Format::Json if out.is_terminal() => {
                (Box::new(io::sink()), Some(Box::new(EscapedLines(out))))
            }
            Format::Json => (Box::new(io::sink()), Some(Box::new(out))),
            Format::Human | Format::Quiet => (Box::new(out), None),
        };
        let look = Box::new(terminal::window);
        (Self::new(text, Box::new(err), facts, look), json)
    }

    /// Shows nothing.
    #[cfg(test)]
    pub(super) fn nowhere() -> Self {
        let (out, err) = (Box::new(io::sink()), Box::new(io::sink()));
        Self::new(out, err, Facts::default(), Box::new(|| None))
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
    pub(super) fn status(&mut self, words: &str) {
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
    pub(super) fn act<T>(&self, act: impl FnOnce(&mut Screen<Sink, Sink>) -> T) -> T {
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

fn act<T>(screen: &Mutex<Screen<Sink, Sink>>, act: impl FnOnce(&mut Screen<Sink, Sink>) -> T) -> T {
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

fn facts(format: Format, colour: Colour, out_is_terminal: bool, err_is_terminal: bool) -> Facts {
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
