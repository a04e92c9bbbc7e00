//! Text of agents, made fit to be shown: bounded, without control characters, redacted.
//!
//! An agent's words reach terminals, logs and other models. [`clean`] takes out what acts
//! instead of being read; [`Redactor`] takes out secrets, addresses and paths; [`ModelText`]
//! does both, and bounds each kind of text, for what goes into the prompt of a model.
//! Cutting comes last, so that half a secret never escapes the patterns.

mod for_model;
mod redact;

pub use for_model::ModelText;
pub use redact::Redactor;

/// Stands at the end of a text that was cut.
const CUT: &str = "…";

/// Returns the beginning of a text, at most this many bytes, whole characters only.
///
/// ```
/// use acp_harness::text::cut_bytes;
///
/// assert_eq!(cut_bytes("köln", 2), "k");
/// assert_eq!(cut_bytes("köln", 9), "köln");
/// ```
#[must_use]
pub fn cut_bytes(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the end of a text, at most this many bytes, whole characters only.
#[must_use]
pub fn last_bytes(text: &str, max: usize) -> &str {
    let mut start = text.len().saturating_sub(max);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// Returns the beginning of a text, at most this many characters.
#[must_use]
pub fn cut_chars(text: &str, max: usize) -> &str {
    match text.char_indices().nth(max) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Shortens a text to at most this many bytes, and says so by `…` at its end.
#[must_use]
pub fn shorten_bytes(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    match max.checked_sub(CUT.len()) {
        Some(room) => format!("{}{CUT}", cut_bytes(text, room)),
        None => String::new(),
    }
}

/// Shortens a text to at most this many characters, and says so by `…` at its end.
#[must_use]
pub fn shorten_chars(text: &str, max: usize) -> String {
    if cut_chars(text, max).len() == text.len() {
        return text.to_owned();
    }
    match max.checked_sub(1) {
        Some(room) => format!("{}{CUT}", cut_chars(text, room)),
        None => String::new(),
    }
}

/// Takes out what acts on a terminal, hides or reorders, instead of being read.
///
/// Gone are escape sequences, control characters (but for line ends and tabs), characters
/// that change the direction of writing, and invisible ones, which can carry words that
/// only a model reads. Line ends become `\n`. Doing it again changes nothing.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    kept.push('\n');
                }
            }
            '\u{85}' | '\u{2028}' | '\u{2029}' => kept.push('\n'),
            '\n' | '\t' => kept.push(c),
            _ if c.is_control() || is_invisible(c) => {}
            _ => kept.push(c),
        }
    }
    kept
}

/// Makes one clean line of at most this many characters: every run of blanks and line
/// ends becomes one blank.
#[must_use]
pub fn one_line(text: &str, max_chars: usize) -> String {
    // What is shown comes from the beginning, however long the text is: four bytes a
    // character, and as much again for what is taken out.
    let beginning = cut_bytes(text, max_chars.saturating_mul(8).max(4096));
    let mut line = String::new();
    for word in clean(beginning).split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    shorten_chars(&line, max_chars)
}

/// Skips what follows an escape character, up to the end of the sequence or the line.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.peek() {
        // Control sequence: parameters, then one final character.
        Some('[') => {
            chars.next();
            while let Some(&c) = chars.peek() {
                match c {
                    '\u{20}'..='\u{3f}' => chars.next(),
                    '\u{40}'..='\u{7e}' => {
                        chars.next();
                        return;
                    }
                    _ => return,
                };
            }
        }
        // Strings: up to BEL or `ESC \`. One that does not end is given up with its line.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(&c) = chars.peek() {
                match c {
                    '\n' | '\r' => return,
                    '\u{7}' => {
                        chars.next();
                        return;
                    }
                    '\u{1b}' => {
                        chars.next();
                        if chars.peek() == Some(&'\\') {
                            chars.next();
                        }
                        return;
                    }
                    _ => chars.next(),
                };
            }
        }
        // Intermediate bytes and one final one.
        Some(' '..='/') => {
            while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
            chars.next_if(|c| ('0'..='~').contains(c));
        }
        Some('0'..='~') => {
            chars.next();
        }
        _ => {}
    }
}

/// Characters that nobody sees, or that turn the order of others round.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(clean(text), expected, "{text:?}");
    }

    #[test]
    fn what_acts_is_taken_out() {
        check("plain text\n\tindented", "plain text\n\tindented");
        check("a\u{1b}[1;31mred\u{1b}[0m", "ared");
        check("\u{1b}]0;title\u{7}after", "after");
        check("\u{1b}]8;;https://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link");
        check("\u{1b}(Bx\u{1b}=y\u{1b}7z", "xyz");
        check("a\u{8}b\u{7f}c\u{9b}d\0", "abcd");
        check("left\u{202e}thgir", "leftthgir");
        check("hi\u{e0041}\u{e0042}\u{200b}dden", "hidden");
    }

    #[test]
    fn line_ends_become_one_kind() {
        check("a\r\nb\rc\u{2028}d\u{85}e", "a\nb\nc\nd\ne");
        check("\r\r\n\n", "\n\n\n");
    }

    #[test]
    fn an_escape_without_end_takes_no_more_than_its_line() {
        check("\u{1b}]0;open\nnext", "\nnext");
        check("\u{1b}[12\nnext", "\nnext");
        check("end\u{1b}", "end");
        check("\u{1b}[", "");
    }

    #[test]
    fn writing_of_all_kinds_stays() {
        for text in ["日本語", "שלום", "👩\u{200d}💻", "e\u{301}", "ﬁ ½ €"] {
            check(text, text);
        }
    }

    #[test]
    fn one_line_of_bounded_length() {
        assert_eq!(one_line("  a\n\n b\tc  ", 80), "a b c");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(one_line("abcd", 4), "abcd");
        assert_eq!(one_line("\u{1b}[2J", 4), "");
        assert_eq!(one_line(&"x".repeat(1 << 20), 3), "xx…");
    }

    #[test]
    fn shortened_texts_say_so_where_there_is_room() {
        assert_eq!(shorten_bytes("日本語", 9), "日本語");
        assert_eq!(shorten_bytes("日本語", 8), "日…");
        assert_eq!(shorten_bytes("日本語", 3), "…");
        assert_eq!(shorten_bytes("日本語", 2), "");
        assert_eq!(shorten_chars("日本語", 2), "日…");
        assert_eq!(shorten_chars("日本語", 0), "");
        assert_eq!(last_bytes("日本語", 4), "語");
        assert_eq!(last_bytes("日本語", 99), "日本語");
    }

    proptest! {
        #[test]
        fn cleaning_leaves_nothing_to_clean(text in "(\\PC|[\u{1b}\u{7}\r\n\t\\[\\]0-9;m\u{202e}\u{85}]){0,60}") {
            let once = clean(&text);
            prop_assert!(once.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
            prop_assert_eq!(clean(&once), once);
        }

        #[test]
        fn cutting_is_exact(text in "\\PC{0,40}", max in 0_usize..60) {
            let chars: String = text.chars().take(max).collect();
            prop_assert_eq!(cut_chars(&text, max), chars);
            // The longest beginning that fits, found from the characters.
            let longest = (0..=text.chars().count())
                .map(|n| text.chars().take(n).collect::<String>())
                .rfind(|beginning| beginning.len() <= max)
                .unwrap_or_default();
            prop_assert_eq!(cut_bytes(&text, max), longest);
            let shown = shorten_bytes(&text, max);
            prop_assert!(shown.len() <= max);
            prop_assert_eq!(shown == text, text.len() <= max);
            let end = last_bytes(&text, max);
            prop_assert!(text.ends_with(end) && end.len() <= max);
            prop_assert!(text.len() - end.len() < 4 + text.len().saturating_sub(max));
        }
    }
}
