//! What could command a terminal, taken out of text.
//!
//! Whole sequences go, not their first character alone: a coloured word stays a word.
//! A sequence that never ends is given up after a while, so that it can hide a little
//! text and not all that follows.

use std::borrow::Cow;

/// Characters of a control sequence (`ESC [ …`) after which it is given up.
const MAX_CONTROL: usize = 64;

/// Characters of a string that is meant for the terminal (`ESC ] …`) after which it is
/// given up; addresses of links are of this length.
const MAX_STRING: usize = 1024;

/// Takes what commands a terminal out of text that comes in pieces. Line ends and tabs
/// stay.
#[derive(Debug, Default)]
pub(super) struct Cleaner {
    state: State,
    swallowed: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum State {
    #[default]
    Text,
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
    /// Cleans the next piece.
    pub(super) fn clean<'a>(&mut self, piece: &'a str) -> Cow<'a, str> {
        if self.state == State::Text && !piece.contains(is_command) {
            return piece.into();
        }
        piece.chars().filter(|c| self.keeps(*c)).collect()
    }

    /// Tells whether a character is text.
    fn keeps(&mut self, c: char) -> bool {
        use State::{Control, Escape, String, StringEscape, Text};
        let (next, keep) = match (self.state, c) {
            // A line end ends everything: what stands on a line cannot hide the next.
            (_, '\n') => (Text, true),
            (Text | Escape | Control, '\u{1b}') => (Escape, false),
            (Text | Escape | Control, '\u{9b}') => (Control, false),
            (Text | Escape | Control, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => (String, false),
            (Text, _) => (Text, !is_command(c)),
            (Escape | StringEscape, '[') => (Control, false),
            (Escape | StringEscape, ']' | 'P' | 'X' | '^' | '_') => (String, false),
            (Escape, ' '..='/') => (Escape, false),
            (Escape, '0'..='~') => (Text, false),
            (Control, ' '..='?') if self.swallowed < MAX_CONTROL => (Control, false),
            (Control, '@'..='~') => (Text, false),
            (String | StringEscape, '\u{7}' | '\u{9c}') => (Text, false),
            (String | StringEscape, '\u{1b}') => (StringEscape, false),
            (StringEscape, '\\') => (Text, false),
            (String | StringEscape, _) if self.swallowed < MAX_STRING => (String, false),
            (Escape | Control | String | StringEscape, _) => (Text, !is_command(c)),
        };
        self.swallowed = match self.state == next {
            true => self.swallowed + 1,
            false => 0,
        };
        self.state = next;
        keep
    }
}

/// Cleans a text that is there as a whole.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    Cleaner::default().clean(text)
}

/// Tells whether a character would change the order in which a line is read, so that
/// it seems to say something else.
pub(super) fn reorders(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_command(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, cleaned: &str) {
        assert_eq!(clean(text), cleaned);
        // In pieces of one character it is the same.
        let mut cleaner = Cleaner::default();
        let mut whole = String::new();
        for c in text.chars() {
            whole.push_str(&cleaner.clean(c.encode_utf8(&mut [0; 4])));
        }
        assert_eq!(whole, cleaned, "in pieces");
    }

    #[test]
    fn text_stays() {
        check("plain\ttext\n", "plain\ttext\n");
        check("grüße, 你好 👩‍👩‍👧 [31m", "grüße, 你好 👩‍👩‍👧 [31m");
    }

    #[test]
    fn whole_sequences_go() {
        check("\u{1b}[1;31mred\u{1b}[0m", "red");
        check("\u{9b}2Jgone", "gone");
        check("\u{1b}]0;title\u{7}text", "text");
        check(
            "\u{1b}]8;;https://a.example/\u{1b}\\link\u{1b}]8;;\u{1b}\\",
            "link",
        );
        check("\u{90}dcs\u{9c}text", "text");
        check("\u{1b}(Btext\u{1b}c", "text");
        check("a\rb\u{8}c\u{7f}d\0", "abcd");
    }

    #[test]
    fn a_sequence_without_an_end_hides_no_more_than_its_line() {
        check("\u{1b}]0;title\nnext", "\nnext");
        check("\u{1b}[\nnext", "\nnext");
        check("\u{1b}\nnext", "\nnext");
        let long = "x".repeat(2 * MAX_STRING);
        let seen = clean(&format!("\u{1b}]{long}")).len();
        assert!(seen >= MAX_STRING - 1, "{seen}");
        let numbers = "1".repeat(2 * MAX_CONTROL);
        let seen = clean(&format!("\u{1b}[{numbers}")).len();
        assert!(seen >= MAX_CONTROL - 1, "{seen}");
    }

    #[test]
    fn nothing_that_commands_comes_through() {
        // Every pair and every third of the characters that matter.
        let sort = [
            '\u{1b}', '\u{9b}', '\u{9d}', '\u{9c}', '\u{7}', '[', ']', '\\', 'm', '1', '\n', '\r',
            'é',
        ];
        for a in sort {
            for b in sort {
                for c in sort {
                    let text: String = [a, b, c, 'x'].iter().collect();
                    let cleaned = clean(&text);
                    assert!(!cleaned.contains(is_command), "{text:?}: {cleaned:?}");
                }
            }
        }
    }
}
