//! The characters that no output may hold. The list is written here once more, apart from the
//! one of the programs: a judge shares no code with the judged.

use super::definition::TextRule;

/// Which of two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Stdout,
    Stderr,
}

/// Finds the first character that a stream must not hold, and says where it is.
pub(super) fn find(rule: TextRule, stream: Stream, bytes: &[u8]) -> Option<String> {
    match (rule, stream) {
        (TextRule::Stderr, Stream::Stdout) => None,
        (TextRule::Json, Stream::Stdout) => first(bytes, is_control),
        (TextRule::Terminal, _) => in_terminal(bytes),
        _ => first(bytes, |c| is_control(c) || is_hidden(c)),
    }
}

fn first(bytes: &[u8], forbidden: fn(char) -> bool) -> Option<String> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let byte = bytes[error.valid_up_to()];
            return Some(format!("byte {byte:#04x}, which is no UTF-8"));
        }
    };
    let (at, c) = text.char_indices().find(|(_, c)| forbidden(*c))?;
    Some(format!("{} in {:?}", name(c), around(text, at)))
}

/// Looks for commands that no program of ours gives to a terminal: strings of any kind (OSC,
/// DCS and the like), C1, and what is hidden. Colours and movements of the cursor are ours.
fn in_terminal(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let string = before == '\u{1b}' && matches!(c, ']' | 'P' | 'X' | '^' | '_' | 'c');
        let ours = matches!(c, '\u{1b}' | '\r' | '\u{7}' | '\u{8}');
        if string || is_hidden(c) || (is_control(c) && !ours) {
            return Some(format!("{} in {:?}", name(c), around(&text, at)));
        }
        before = c;
    }
    None
}

fn is_control(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

/// Turns the order of reading round, or cannot be seen. Joiners and the two variation selectors
/// of emoji are not among them: words of several languages need these.
fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{61c}'
            | '\u{ad}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e01ef}'
    )
}

fn name(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

fn around(text: &str, at: usize) -> String {
    let skipped = text[..at].chars().count().saturating_sub(24);
    text.chars().skip(skipped).take(48).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rule: TextRule, stream: Stream, text: &str, found: Option<&str>) {
        let fault = find(rule, stream, text.as_bytes());
        assert_eq!(fault.as_deref().map(|fault| &fault[..6]), found, "{text:?}");
    }

    #[test]
    fn each_rule_finds_its_characters() {
        use Stream::{Stderr, Stdout};
        use TextRule::{Clean, Json, Terminal};
        check(Clean, Stdout, "a line\n\ta tab, 👩‍👩‍👧, é\n", None);
        check(Clean, Stderr, "a\u{1b}[2J", Some("U+001B"));
        check(Clean, Stdout, "a\u{9b}2J", Some("U+009B"));
        check(Clean, Stdout, "a\u{202e}b", Some("U+202E"));
        check(Clean, Stdout, "a\u{e0041}", Some("U+E004"));
        check(Json, Stdout, "{\"a\":\"\u{202e}\"}\n", None);
        check(Json, Stdout, "{\"a\":\"\u{9b}\"}\n", Some("U+009B"));
        check(Json, Stderr, "a\u{202e}b", Some("U+202E"));
        check(TextRule::Stderr, Stdout, "a\u{1b}[2J", None);
        check(
            TextRule::Stderr,
            Stream::Stderr,
            "a\u{1b}[2J",
            Some("U+001B"),
        );
        check(Terminal, Stdout, "\u{1b}[2K\r\u{1b}[32mgreen", None);
        check(Terminal, Stdout, "a\u{1b}]0;title\u{7}", Some("U+005D"));
        check(Terminal, Stdout, "a\u{9d}0;title", Some("U+009D"));
        let fault = find(Clean, Stdout, b"a\x9b2J");
        assert_eq!(fault.as_deref(), Some("byte 0x9b, which is no UTF-8"));
    }
}
