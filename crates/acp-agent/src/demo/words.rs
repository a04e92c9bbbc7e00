//! The words with which a prompt chooses what the demo agent shows.

macro_rules! words {
    ($($(#[$group:meta])* $word:ident $name:literal $about:literal,)*) => {
        /// The words with which a prompt may begin, and what they show.
        pub const WORDS: &[(&str, &str)] = &[$(($name, $about)),*];

        /// What a prompt asks to be shown.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Word {
            $($(#[$group])* $word,)*
        }

        impl Word {
            fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$word),)*
                    _ => None,
                }
            }
        }
    };
}

words! {
    Echo "echo" "says what you said, word by word",
    Think "think" "thinks aloud before it answers",
    Plan "plan" "makes a plan and works through it",
    Ask "ask" "asks for permission, and changes a note if it may (in the mode `act` it may)",
    Tools "tools" "uses a tool of each kind; the last one fails",
    Diff "diff" "shows a new file and a changed one, without asking",
    SubAgent "sub-agent" "has a sub-agent ask for permission",
    Question "question" "asks you to choose, in words if you show no forms",
    Form "form" "asks for one of everything that a form can hold",
    Address "address" "sends you to an address",
    Secret "secret" "asks for a secret at an address, which a form may not",
    Read "read" "reads a file of the client, in its folders: read [PATH]",
    Write "write" "writes a file of the client, if it may, in its folders: write [PATH]",
    Terminal "terminal" "runs a command at the client, if it may: terminal [COMMAND]",
    Timeout "timeout" "runs a command, and kills it as it takes too long: timeout [COMMAND]",
    Image "image" "shows a picture",
    Link "link" "shows a link, and a file as a whole",
    Title "title" "gives the session a title: title [TEXT]",
    Mode "mode" "goes over to the other mode by itself",
    Commands "commands" "offers its words as commands",
    Notice "notice" "tells a notice of each severity",
    Usage "usage" "tells how much of the context is used, and what it cost",
    Compact "compact" "shortens the conversation",
    About "about" "says what it was told by the client: folders, servers, abilities, options",
    Content "content" "says what your prompt holds",
    Earlier "earlier" "says what you asked before in this session",
    Refuse "refuse" "declines",
    Tokens "tokens" "stops because its answer is as long as it may be",
    Steps "steps" "stops because it took as many steps as it may",
    Silent "silent" "ends without a word",
    Slow "slow" "counts to sixty, twice a second, to be cancelled",
    Wait "wait" "says one word, and waits to be cancelled",
    Deaf "deaf" "says one word, and does not hear that it is cancelled",
    Flood "flood" "counts as fast as you read, in as many updates: flood [NUMBER]",
    Big "big" "says as many KiB in one update: big [NUMBER]",
    Fail "fail" "fails: fail [busy|login|context|empty|secret]",
    Panic "panic" "panics",
}

impl Word {
    /// The word with which a text begins, as a command or not, and what stands
    /// behind it.
    pub(super) fn read(text: &str) -> (Option<Self>, &str) {
        let text = text.trim();
        let (first, rest) = match text.split_once(char::is_whitespace) {
            Some((first, rest)) => (first, rest.trim()),
            None => (text, ""),
        };
        let name = first.strip_prefix('/').unwrap_or(first);
        (Self::named(name), rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read() {
        assert_eq!(Word::read("ask"), (Some(Word::Ask), ""));
        assert_eq!(Word::read(" /flood  10 \n"), (Some(Word::Flood), "10"));
        assert_eq!(Word::read("ask me"), (Some(Word::Ask), "me"));
        assert_eq!(Word::read("Ask"), (None, ""));
        assert_eq!(Word::read("asked"), (None, ""));
        assert_eq!(Word::read(""), (None, ""));
    }

    #[test]
    fn words_are_told_apart() {
        let names: std::collections::BTreeSet<_> = WORDS.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), WORDS.len());
    }
}
