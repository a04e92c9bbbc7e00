//! The one table of what a character can do to its reader.

use crate::width::char_width;

/// Sorts characters by what they can do to a reader or a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharClass {
    /// A visible character with a place of its own.
    Text,
    /// A blank: the space, the tab, and the other spaces of Unicode.
    Blank,
    /// Ends a line for some reader: LF, CR, VT, FF, NEL, and Unicode's two separators.
    LineEnd,
    /// C0, DEL and C1: begins or is a command to a terminal.
    Control,
    /// Changes the order in which a line is read.
    Bidi,
    /// Cannot be seen, and can carry words that only a model reads.
    Invisible,
    /// Invisible too, but emoji, Indic and Persian words need it behind a character.
    Joiner,
    /// Is drawn onto the character before it.
    Mark,
    /// Has no agreed look: private use, or no character at all.
    Private,
}

impl CharClass {
    /// Returns the class of a character.
    #[must_use]
    pub fn of(c: char) -> Self {
        match c {
            '!'..='~' => Self::Text,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => Self::LineEnd,
            '\t' => Self::Blank,
            c if c.is_control() => Self::Control,
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{206f}' => Self::Bidi,
            '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' => Self::Joiner,
            c if is_invisible(c) => Self::Invisible,
            '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}' => Self::Private,
            // The last two of each plane, and 32 more.
            c if u32::from(c) & 0xfffe == 0xfffe || ('\u{fdd0}'..='\u{fdef}').contains(&c) => {
                Self::Private
            }
            c if c.is_whitespace() => Self::Blank,
            c if char_width(c) == 0 => Self::Mark,
            _ => Self::Text,
        }
    }
}

/// Soft hyphens, fillers, zero-width blanks, variation selectors but the two of emoji,
/// shorthand and musical controls, annotations, and tags.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'
            | '\u{2060}'..='\u{2065}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0d}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{13430}'..='\u{1345f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}
