//! Removes or shows all that acts instead of being read.
//!
//! Whole sequences go, not their first character alone: a coloured word stays a word. A
//! sequence that never ends is given up after a while, so that it can hide a little text
//! and not all that follows.

use super::text::Clean;
use crate::char_class::CharClass;

/// Characters of a control sequence (`ESC [ …`) after which it is given up.
const MAX_CONTROL: usize = 64;

/// Characters of a string that is meant for the terminal (`ESC ] …`) after which it is
/// given up; addresses of links are of this length.
const MAX_STRING: usize = 1024;

/// Marks drawn onto one character. Languages need five; more of them climb over lines.
const MAX_MARKS: usize = 8;

/// Joiners behind one character: a colourful emoji that is joined to the next has two.
const MAX_JOINERS: usize = 2;

/// How a cleaned text is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Lines and tabs stay; every kind of line end becomes `\n`.
    #[default]
    Lines,
    /// One line: every run of blanks and line ends becomes one space.
    Line,
    /// One line in which nothing is removed: whatever is no plain text is written as an
    /// escape, such as `\u{202e}`, `\n` or `\t`.
    Visible,
}

/// Cleans text that comes in pieces. Pieces give the same text as the whole.
#[derive(Debug, Default)]
pub struct Cleaner {
    layout: Layout,
    sequence: Sequence,
    /// Characters of the sequence so far.
    swallowed: usize,
    /// A carriage return was the last line end, so a line feed belongs to it.
    after_return: bool,
    /// A character stands on this line to which marks and joiners can be attached.
    has_base: bool,
    marks: usize,
    joiners: usize,
    /// Of one line: text came, and then a blank.
    has_text: bool,
    owes_blank: bool,
}

/// Where in an escape sequence the text stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Sequence {
    #[default]
    None,
    /// Behind an escape.
    Escape,
    /// In a control sequence.
    Control,
    /// In a string.
    String,
    /// Behind an escape in a string, which may end it.
    StringEscape,
}

impl Cleaner {
    /// Makes a cleaner for the beginning of a text.
    #[must_use]
    pub fn new(layout: Layout) -> Self {
        Self {
            layout,
            ..Self::default()
        }
    }

    /// Cleans the next piece.
    pub fn clean<'a>(&mut self, piece: &'a str) -> Clean<'a> {
        if self.is_plain(piece) {
            if let Some(last) = piece.bytes().last() {
                self.attach_to(last.is_ascii_graphic());
                self.after_return = false;
            }
            return Clean::of_cleaner(piece.into());
        }
        let mut cleaned = String::with_capacity(piece.len());
        for c in piece.chars() {
            self.push(c, &mut cleaned);
        }
        Clean::of_cleaner(cleaned.into())
    }

    /// Tells quickly of most pieces that they are clean.
    fn is_plain(&self, piece: &str) -> bool {
        let plain = |byte: u8| match byte {
            b' '..=b'~' => true,
            b'\t' => self.layout == Layout::Lines,
            b'\n' => self.layout == Layout::Lines && !self.after_return,
            _ => false,
        };
        self.layout != Layout::Line && self.sequence == Sequence::None && piece.bytes().all(plain)
    }

    pub(super) fn push(&mut self, c: char, out: &mut String) {
        let class = CharClass::of(c);
        if self.layout != Layout::Visible && self.is_sequence(c, class) {
            return;
        }
        match (class, self.layout) {
            (CharClass::Text, _) => {
                self.text(c, out);
            }
            (CharClass::Mark, _) if self.has_base && self.marks < MAX_MARKS => {
                self.marks += 1;
                out.push(c);
            }
            (CharClass::Blank, Layout::Visible) if c == ' ' => {
                self.attach_to(false);
                out.push(c);
            }
            (_, Layout::Visible) => {
                out.extend(c.escape_default());
            }
            (CharClass::LineEnd, Layout::Lines) => {
                if !(std::mem::take(&mut self.after_return) && c == '\n') {
                    out.push('\n');
                }
                self.attach_to(false);
                self.after_return = c == '\r';
            }
            (CharClass::Blank, Layout::Lines) => {
                self.attach_to(false);
                self.after_return = false;
                out.push(c);
            }
            (CharClass::LineEnd | CharClass::Blank, Layout::Line) => {
                self.attach_to(false);
                self.owes_blank = self.has_text;
            }
            (CharClass::Joiner, _) if self.has_base && self.joiners < MAX_JOINERS => {
                self.joiners += 1;
                out.push(c);
            }
            (CharClass::Private, _) => self.text(char::REPLACEMENT_CHARACTER, out),
            (
                CharClass::Control
                | CharClass::Bidi
                | CharClass::Invisible
                | CharClass::Joiner
                | CharClass::Mark,
                _,
            ) => {}
        }
    }

    fn text(&mut self, c: char, out: &mut String) {
        if std::mem::take(&mut self.owes_blank) {
            out.push(' ');
        }
        self.has_text = true;
        self.after_return = false;
        self.attach_to(true);
        out.push(c);
    }

    fn attach_to(&mut self, base: bool) {
        (self.has_base, self.marks, self.joiners) = (base, 0, 0);
    }

    /// Tells whether a character belongs to an escape sequence.
    fn is_sequence(&mut self, c: char, class: CharClass) -> bool {
        use Sequence::{Control, Escape, None, String, StringEscape};
        let (next, is_part) = match (self.sequence, c) {
            // A line end ends everything: text on one line cannot hide the next.
            _ if class == CharClass::LineEnd => (None, false),
            (None | Escape | Control, '\u{1b}') => (Escape, true),
            (None | Escape | Control, '\u{9b}') => (Control, true),
            (None | Escape | Control, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => (String, true),
            (None, _) => return false,
            (Escape | StringEscape, '[') => (Control, true),
            (Escape | StringEscape, ']' | 'P' | 'X' | '^' | '_') => (String, true),
            (Escape, ' '..='/') if self.swallowed < MAX_CONTROL => (Escape, true),
            (Escape, '0'..='~') => (None, true),
            (Control, ' '..='?') if self.swallowed < MAX_CONTROL => (Control, true),
            (Control, '@'..='~') => (None, true),
            (String | StringEscape, '\u{7}' | '\u{9c}') => (None, true),
            (StringEscape, '\\') => (None, true),
            (String | StringEscape, '\u{1b}') if self.swallowed < MAX_STRING => {
                (StringEscape, true)
            }
            (String | StringEscape, '\u{1b}') => (Escape, true),
            (String | StringEscape, _) if self.swallowed < MAX_STRING => (String, true),
            (Escape | Control | String | StringEscape, _) => (None, false),
        };
        let strings = [String, StringEscape];
        let goes_on =
            self.sequence == next || (strings.contains(&self.sequence) && strings.contains(&next));
        self.swallowed = if goes_on { self.swallowed + 1 } else { 0 };
        self.sequence = next;
        is_part
    }
}
