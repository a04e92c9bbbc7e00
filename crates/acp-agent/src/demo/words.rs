//! The words with which a prompt chooses what the demo agent does.

/// The words with which a prompt may begin, and what each does; what may follow the word
/// stands behind a colon.
#[rustfmt::skip] // a row a word
pub const WORDS: &[(&str, &str)] = &[
    ("echo", "repeats your text"),
    ("think", "thinks aloud before it answers"),
    ("plan", "makes a plan and works through it"),
    ("ask", "asks for permission to change a note; in the mode `act` it does not ask"),
    ("tools", "calls a tool of each kind; the last one fails"),
    ("diff", "shows a new file and a changed one, without asking"),
    ("sub-agent", "has a sub-agent ask for permission"),
    ("question", "asks you to choose; in plain text if the client has no forms"),
    ("form", "asks you to fill in a form with a field of each kind"),
    ("address", "asks you to open a web page"),
    ("secret", "asks for a secret on a web page, because a form must not"),
    ("read", "reads a file through the client, in the session's folders: read [PATH]"),
    ("write", "asks, then writes a file through the client, in the session's folders: write [PATH]"),
    ("terminal", "asks, then runs a command through the client: terminal [COMMAND]"),
    ("timeout", "asks, then runs a command and kills it after a moment: timeout [COMMAND]"),
    ("image", "sends a picture"),
    ("link", "sends a link and an embedded file"),
    ("title", "sets the title of the session: title [TEXT]"),
    ("mode", "switches to the other mode"),
    ("commands", "offers these words as slash commands"),
    ("notice", "sends a notice of each severity"),
    ("usage", "reports how much of the context is used, and the cost"),
    ("compact", "compacts the conversation"),
    ("about", "lists the session's folders, MCP servers, client capabilities and options"),
    ("content", "lists the parts of your prompt"),
    ("earlier", "lists your earlier prompts in this session"),
    ("refuse", "ends the turn with a refusal"),
    ("tokens", "ends the turn at the limit of tokens"),
    ("steps", "ends the turn at the limit of model requests"),
    ("silent", "ends the turn without any output"),
    ("slow", "counts to sixty, two numbers a second; cancel it"),
    ("wait", "sends one word and waits until you cancel it"),
    ("deaf", "sends one word and ignores that you cancel it"),
    ("flood", "counts as fast as the client reads, an update for each number: flood [NUMBER]"),
    ("big", "sends one update of this many KiB: big [NUMBER]"),
    ("fail", "fails: fail [busy|login|context|empty|secret]"),
    ("panic", "panics"),
];

/// Splits a prompt into the word with which it begins, as a slash command or not, and the
/// rest; the word is empty if it is none of [`WORDS`].
pub(super) fn split(text: &str) -> (&'static str, &str) {
    let text = text.trim();
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let name = first.strip_prefix('/').unwrap_or(first);
    let known = WORDS.iter().find(|(word, _)| *word == name);
    (known.map_or("", |(word, _)| word), rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read() {
        assert_eq!(split("ask"), ("ask", ""));
        assert_eq!(split(" /flood  10 \n"), ("flood", "10"));
        assert_eq!(split("ask me"), ("ask", "me"));
        assert_eq!(split("Ask"), ("", ""));
        assert_eq!(split("asked"), ("", ""));
        assert_eq!(split(""), ("", ""));
    }

    #[test]
    fn words_are_different() {
        let names: std::collections::BTreeSet<_> = WORDS.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), WORDS.len());
    }
}
