//! Cleaning: what is done to a text, and the type of one to which it was done.

mod cleaner;
mod compose;
mod text;

use std::borrow::Cow;

use crate::cut::shorten_chars;

pub use cleaner::{Cleaner, Layout};
pub use compose::{CleanPart, captures, has_braces};
pub use text::{Clean, CleanEnds};

/// Cleans a text of several lines. Cleaning it again changes nothing.
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    Clean::new(text).into_cow()
}

/// Makes one clean line of at most this many characters, with `…` where it was cut.
#[must_use]
pub fn one_line(text: &str, max_chars: usize) -> String {
    let mut cleaner = Cleaner::new(Layout::Line);
    let mut line = String::new();
    for c in text.chars() {
        cleaner.push(c, &mut line);
        // Four bytes a character: what comes behind is not shown.
        if line.len() > max_chars.saturating_mul(4) {
            break;
        }
    }
    shorten_chars(&line, max_chars)
}

/// Writes a text so that a reader sees all of it: what would not be seen, or would act,
/// becomes an escape. For text on which a person decides.
///
/// ```
/// assert_eq!(acp_text::visible("ls\u{200b}\n\u{1b}[8m"), r"ls\u{200b}\n\u{1b}[8m");
/// ```
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    Clean::visible(text).into_cow()
}
