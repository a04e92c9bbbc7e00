//! Text of an agent on a line of ours.

/// Characters of a title or a name that are shown.
const MAX_TITLE: usize = 120;

/// Characters of an error that are shown.
const MAX_MESSAGE: usize = 600;

/// Makes a title fit one line: white space and control characters become single
/// spaces, and what is too long is cut.
pub(crate) fn one_line(text: &str) -> String {
    squeeze(text, MAX_TITLE)
}

/// The same for an error, which may be longer.
pub(crate) fn shown(text: &str) -> String {
    squeeze(text, MAX_MESSAGE)
}

/// Takes out what could command a terminal; line ends and tabs stay.
pub(crate) fn harmless(text: &str) -> std::borrow::Cow<'_, str> {
    let commands = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.contains(commands) {
        text.chars()
            .filter(|c| !commands(*c))
            .collect::<String>()
            .into()
    } else {
        text.into()
    }
}

fn squeeze(text: &str, limit: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    let words = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty());
    for word in words {
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        for c in word.chars() {
            if length == limit {
                line.push('…');
                return line;
            }
            line.push(c);
            length += 1;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_one_line() {
        assert_eq!(one_line("Read notes.md"), "Read notes.md");
        assert_eq!(one_line("  a\n\tb\r\n\u{1b}[31mc\u{7f} "), "a b [31mc");
        assert_eq!(one_line("\n\n"), "");
        let long = "ä".repeat(MAX_TITLE);
        assert_eq!(one_line(&long), long);
        assert_eq!(one_line(&format!("{long}ä")), format!("{long}…"));
    }

    #[test]
    fn commands_to_the_terminal_are_taken_out() {
        assert_eq!(harmless("plain\ttext\n"), "plain\ttext\n");
        assert_eq!(
            harmless("\u{1b}]0;title\u{7}text\r\u{9b}2J"),
            "]0;titletext2J"
        );
    }
}
