//! Every bound of this crate, with its reason.

use std::time::Duration;

/// How long a program may take to tell its version. Programs that only print take well
/// under a second; those that look for updates first take longer, and one that takes
/// more than this does something else than was asked.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// How much of what a program prints about its version is kept. A version is a line; a
/// program that knows no `--version` prints its help.
pub const MAX_PROBE_OUTPUT: usize = 64 << 10;

/// How much of a text is read to make a short one of it for a model. What is shown is at
/// most 2 KiB, so all of it comes from the beginning.
pub const MAX_MODEL_INPUT: usize = 64 << 10;

/// Characters of the name of a tool that a model is shown.
pub const MODEL_TOOL_NAME_CHARS: usize = 512;

/// Characters of one part of a tool's result that a model is shown: enough for its
/// first lines.
pub const MODEL_PREVIEW_CHARS: usize = 512;

/// Characters of a tool's result that a model is shown when it has several parts.
pub const MODEL_RESULT_CHARS: usize = 2048;

/// Bytes of a peer's error that a model is shown: a message is a sentence, the rest is
/// traces and payloads.
pub const MODEL_ERROR_BYTES: usize = 512;

/// How many of the values that an agent offers an error lists. The longest lists of
/// models have hundreds; who mistyped one finds it among the first.
pub const MAX_OFFERED_SHOWN: usize = 20;

/// Bytes of a file of agents: the built-in table has some 8 KiB, and the whole official
/// registry some hundred.
pub const MAX_REGISTRY_FILE: u64 = 1 << 20;

/// Agents a registry holds. The official registry has some forty.
pub const MAX_AGENTS: usize = 1024;

/// Search paths whose programs are remembered. A process has one, and each user's
/// environment perhaps another.
pub const MAX_SEARCH_PATHS: usize = 8;

/// Bytes of the record of a session. Ids have some tens of bytes, and a path has at most
/// 4 KiB.
pub const MAX_RECORD: u64 = 64 << 10;

/// Records of one folder that are listed or swept at a time: those of a very busy user.
pub const MAX_RECORDS: usize = 10_000;

/// How long an agent may say nothing in a turn, while we owe it nothing. Models that
/// think hard are silent for minutes; one that is silent for longer has lost its
/// connection.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(600);

/// How often within that time it is looked whether the agent moved: an agent is given up
/// not before the time is over, and at most this part of it later.
pub const IDLE_LOOKS: u32 = 16;

/// How long an agent has to be silent after it loaded a session, before it is prompted. Some
/// agents answer `session/load` while they still write the history, which would then be
/// taken for the answer to the prompt; its pieces come within a millisecond or two of each
/// other.
pub const LATE_REPLAY_QUIET: Duration = Duration::from_millis(100);

/// How long such a late history may take in all. An agent that still talks then is prompted
/// all the same.
pub const LATE_REPLAY_LIMIT: Duration = Duration::from_secs(2);

/// How long `authenticate` may take where nobody sits in front of the machine: a key is
/// looked at, or a token fetched.
pub const HEADLESS_LOGIN_TIMEOUT: Duration = Duration::from_secs(60);

/// Methods of logging in that are tried in a row. Agents offer two or three; whoever
/// offers more shall not keep a turn from its end.
pub const MAX_LOGIN_METHODS: usize = 8;

/// What an agent is told on top of its prompt, and has not answered: more than a person
/// could say within a turn.
pub const MAX_STEERINGS: usize = 128;

/// How long answers to that may come after the turn has ended. They are under way by then,
/// or the agent forgot them.
pub const STEERING_GRACE: Duration = Duration::from_millis(100);

/// Pieces of text that wait for who calls an agent without a runtime. The agent then waits
/// too, as it would if the caller read from it.
pub const CALL_CHUNKS: usize = 64;

/// Bytes of texts that wait for who follows a turn; of more, the oldest give way. A
/// person who looks away for a while still finds the last hundred pages.
pub const MAX_PROGRESS_TEXT: usize = 1 << 20;

/// What else waits for who follows a turn: calls, results, plans. Long turns have some
/// thousand.
pub const MAX_PROGRESS_EVENTS: usize = 4096;

/// How often who waits for a conversation looks whether it has come free. A turn takes
/// seconds at least, so nobody notices; and looking costs a few microseconds.
pub const CLAIM_POLL: Duration = Duration::from_millis(50);

/// Bytes of the history that a new session is handed: some eight thousand tokens, which
/// every model has room for.
pub const TRANSCRIPT_BYTES: usize = 32 << 10;

/// Messages of that history: twenty questions and answers.
pub const TRANSCRIPT_MESSAGES: usize = 40;

/// Bytes of one message of it, so that a long answer does not drive out all others.
pub const TRANSCRIPT_MESSAGE_BYTES: usize = 4 << 10;

/// Bytes of a line that a login command prints in which an address and a code are looked
/// for.
pub const MAX_LOGIN_LINE: usize = 4 << 10;

/// Bytes of what is remembered of a login.
pub const MAX_LOGIN_MARKER: u64 = 4 << 10;

/// How long a model proxy may take to start: it opens a port, and may ask whoever it
/// stands for who it is.
pub const PROXY_START_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a model proxy may take to close: requests that run in it have lost the agent
/// that made them.
pub const PROXY_CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an agent that did not come up may take to be killed before its proxy is closed
/// all the same. Killing takes milliseconds, unless the system itself is stuck.
pub const UNWIND_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a login command may take to show an address and a code: it asks its service
/// for one.
pub const LOGIN_CODE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a person may take to enter a code. Services let codes live for some minutes.
pub const LOGIN_USER_TIMEOUT: Duration = Duration::from_secs(4 * 60);

/// How long a login by device code may take in all.
pub const LOGIN_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// Logins by device code that run at the same time, of all users. Each is a process and
/// somebody who looks at a screen.
pub const MAX_LOGINS: usize = 256;

/// How long a login on a terminal may take: as long as one that an agent does itself.
pub const TERMINAL_LOGIN_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// How long a login command that is given up has after an interrupt, and again after it
/// was asked to terminate, to take back what it began.
pub const LOGIN_GRACE: Duration = Duration::from_millis(500);
