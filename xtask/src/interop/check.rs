//! What is tried with each peer, by name.

/// Something that is tried with a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) name: &'static str,
    /// What it shows, in a line.
    pub(super) shows: &'static str,
}

const fn check(name: &'static str, shows: &'static str) -> Check {
    Check { name, shows }
}

/// What our client does with an agent of another hand, besides `acp run`.
pub(super) const OF_AGENTS: [Check; 30] = [
    check("initialize", "version 1"),
    check("new", "two sessions, two ids"),
    check("hello", "a prompt is answered, word by word"),
    check("long", "2,000 pieces of text, complete and in order"),
    check("allow", "a tool that is allowed runs, and completes"),
    check(
        "reject",
        "one that is rejected does not, and the session goes on",
    ),
    check(
        "cancel",
        "a turn that runs ends as `cancelled` soon, and the session goes on",
    ),
    check(
        "cancel-at-once",
        "so does one that was cancelled right behind its prompt",
    ),
    check(
        "cancel-asking",
        "and one that waits for permission; its tool does not run",
    ),
    check(
        "model-fails",
        "an error of the model ends the turn, and the session goes on",
    ),
    check("two-sessions", "two turns at once, each in its own session"),
    check(
        "mode",
        "another mode is set; one that is not there is not asked for",
    ),
    check("option", "an option gets another of its values"),
    check("option-value", "a value that is not there is refused"),
    check("option-id", "an option that is not there is refused"),
    check("list", "a session is listed, with its folder"),
    check(
        "load",
        "a closed session is loaded, with every word of it, and goes on",
    ),
    check("load-unknown", "a session that is not there is not loaded"),
    check(
        "resume",
        "a closed session is resumed and goes on; one that is not there is not",
    ),
    check("close", "a session is closed"),
    check("delete", "a deleted session is listed no more"),
    check(
        "dead-mcp",
        "an MCP server that cannot be started harms nobody",
    ),
    check("eof", "the agent ends by itself, with 0, when we hang up"),
    check("eof-busy", "so it does in the middle of a turn"),
    check("killed", "the turn of an agent that is killed ends at once"),
    check("reload", "a session is loaded after a restart, and goes on"),
    check("read", "the agent reads a file of ours"),
    check("write", "it writes one"),
    check("terminal", "it runs a command in a terminal of ours"),
    check(
        "question",
        "it asks a question, which is answered, and declined",
    ),
];

/// What a client of another hand does with the demo agent.
pub(super) const OF_CLIENTS: [Check; 23] = [
    check("initialize", "version 1, and who the agent is"),
    check("new", "two sessions, two ids"),
    check("prompt", "text, thoughts and a plan, then `end_turn`"),
    check("allow", "a tool is allowed once, and completes"),
    check("reject", "a tool is rejected once, and fails"),
    check("cancel", "a turn that runs ends as `cancelled`"),
    check(
        "cancel-at-once",
        "so does one that was cancelled right behind its prompt",
    ),
    check("cancel-asking", "and one that waits for permission"),
    check("two-sessions", "two turns at once, each in its own session"),
    check("unknown-session", "a prompt to no session is refused"),
    check("question", "a question is answered, and declined"),
    check("form", "a form with a field of every type is filled in"),
    check("files", "the agent writes and reads files of the client"),
    check(
        "terminal",
        "it runs a command at the client, and releases it",
    ),
    check("mode", "a mode is set; one that is not there is refused"),
    check(
        "option",
        "an option is set; bad values and bad options are refused",
    ),
    check("list", "the session is listed, with its folder"),
    check("load", "a closed session is loaded, with every word of it"),
    check(
        "resume",
        "a closed session is resumed, without them, and takes a prompt",
    ),
    check("close", "a closed session takes no prompt"),
    check("delete", "a deleted session is listed no more"),
    check(
        "eof",
        "the agent ends by itself, with 0, when its client hangs up",
    ),
    check("reload", "after a restart the session is listed and loaded"),
];

/// Finds out whether a check of that name is among these.
pub(super) fn knows(checks: &[Check], name: &str) -> bool {
    checks.iter().any(|check| check.name == name)
}
