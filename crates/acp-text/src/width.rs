//! Text measured in columns of a terminal.

use unicode_width::UnicodeWidthChar;

/// Joins two emoji into one.
const JOINER: char = '\u{200d}';

/// Returns the columns that a character takes at most. Terminals do not agree on emoji
/// that are joined or varied, nor on ligatures, so the widest form counts.
#[must_use]
pub fn char_width(c: char) -> usize {
    match c {
        // Asks for the colourful form of the character before it, which is wider.
        '\u{fe0f}' => 1,
        '\u{2e3a}' => 2,
        '\u{2e3b}' => 3,
        // One character that is a whole sentence.
        '\u{fdfd}' => 12,
        c => c.width().unwrap_or(0),
    }
}

/// Returns the columns that a text takes at most.
#[must_use]
pub fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// Returns how much of the beginning of a text fits into so many columns.
#[must_use]
pub fn fit(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += char_width(c);
        if used > columns {
            return text[..at].trim_end_matches(JOINER);
        }
    }
    text
}

/// Returns how much of the end of a text fits into so many columns.
#[must_use]
pub fn fit_end(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices().rev() {
        used += char_width(c);
        if used > columns {
            return text[at + c.len_utf8()..].trim_start_matches(JOINER);
        }
    }
    text
}

/// Cuts a text to so many columns, and ends it with `more` where it was cut.
#[must_use]
pub fn shorten_width(text: &str, columns: usize, more: &str) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let beginning = fit(text, columns.saturating_sub(width(more)));
    format!("{}{more}", beginning.trim_end())
}
