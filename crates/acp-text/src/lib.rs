//! Text that strangers wrote, made fit to be shown: cleaned, cut, measured, redacted.
//!
//! Agents, clients and their tools write titles, errors, logs and files, and some of them
//! are hostile. Their text reaches terminals, logs, pages and other models only after it
//! passed here.
//!
//! * [`clean()`] and [`Cleaner`] remove all that acts instead of being read: escape
//!   sequences, control characters, marks that reorder a line, invisible characters.
//!   [`visible`] shows these as escapes, for text that a person decides on.
//! * [`Clean`] is text that was cleaned, as a type; [`clean!`] puts parts of it together.
//!   A [`ScreenText`] takes nothing else but the commands of a terminal that are ours, and
//!   a [`ScreenWriter`] writes nothing else.
//! * [`one_line`], [`cut_bytes`], [`shorten_chars`] and their kin bound a text;
//!   [`width`] and [`fit`] measure it in the columns of a terminal.
//! * [`Redactor`] removes secrets, and paths and addresses where that is asked for.
//!
//! Clean first, redact second, cut last: an escape sequence can split a secret, and half a
//! secret matches no pattern.
//!
//! ```
//! use acp_text::{Redactor, clean, one_line, visible};
//!
//! assert_eq!(clean("\u{1b}[31mred\u{1b}[0m \u{202e}text"), "red text");
//! assert_eq!(visible("rm \u{202e}txt.a"), r"rm \u{202e}txt.a");
//! assert_eq!(one_line("Read\n notes.md", 8), "Read no…");
//! assert_eq!(
//!     Redactor::new().redact("curl --token hunter2 https://ada:pw@example.com"),
//!     "curl --token [redacted] https://ada:[redacted]@example.com",
//! );
//! ```

mod char_class;
mod clean;
mod cut;
mod json;
mod redact;
mod screen;
mod secret;
mod width;

pub use char_class::CharClass;
pub use clean::{Clean, CleanEnds, CleanPart, Cleaner, Layout, clean, one_line, visible};
#[doc(hidden)]
pub use clean::{captures, has_braces};
pub use cut::{
    cut_bytes, cut_chars, last_bytes, last_chars, shorten_bytes, shorten_chars, shorten_counted,
    shorten_middle,
};
pub use json::{escape_json, json_text};
pub use redact::{REDACTED, RedactStream, Redactor, is_secret_name};
pub use screen::{ScreenText, ScreenWriter, TerminalCommand};
pub use secret::Secret;
pub use width::{char_width, fit, fit_end, shorten_width, width};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
