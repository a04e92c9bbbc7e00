//! Every bound of this crate, with its reason.

use std::time::Duration;

/// Permission requests of one session that may wait for an answer, and as many
/// questions. Agents ask one at a time, or one for each parallel tool; more than this
/// is a runaway, and gets `cancelled`.
pub const MAX_OPEN_ASKS: usize = 64;

/// Decisions about permissions that are kept, the oldest forgotten first. Enough to
/// look back over a long turn; whoever needs all of them has a callback.
pub const MAX_DECISIONS: usize = 256;

/// Bytes kept of the title of a decided tool call; agents put whole commands there.
pub const MAX_DECISION_TITLE: usize = 256;

/// Protected paths that are added to those built in. Each is compared with every path
/// that is written.
pub const MAX_PROTECTED: usize = 256;

/// Bytes of the name of a protected path: a few names of a path.
pub const MAX_PROTECTED_NAME: usize = 512;

/// How long the folders of a session may take to open. They do at once, or belong to
/// a disk that does not answer; the session then goes on without them.
pub const FOLDERS_TIMEOUT: Duration = Duration::from_secs(10);

/// How long one file may take to be read or written, waiting included. Within it
/// even a large part of a slow disk is read.
pub const FILE_TIMEOUT: Duration = Duration::from_secs(60);

/// How long it may take to find a program, and again to start it.
pub const TERMINAL_START_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of one file that are read or written at once: the text of a program is
/// shorter, and an answer with all of it fits into a message, unless most of it is control
/// characters: each becomes six bytes, and what does not fit is an error.
pub const MAX_FILE_BYTES: u64 = 10 << 20;

/// Bytes that are looked at to find a line far down in a file. Reading that much
/// takes a second or two; who wants lines from behind it has other tools.
pub const MAX_FILE_SEEN: u64 = 1 << 30;

/// Files of all sessions that are read or written at the same time, each on a thread
/// and with a buffer of its own. More of them do not make a disk faster.
pub const MAX_FILE_JOBS: usize = 8;

/// Terminals of one session in which commands run on this machine, or have run and
/// were not released.
pub const MAX_TERMINALS: usize = 16;

/// Bytes of the output of one command that are kept, if the agent does not ask for
/// fewer. An agent reads the end of it; more would not fit its context.
pub const MAX_TERMINAL_OUTPUT: usize = 1 << 20;

/// How long a command that is ended has after `SIGINT`, and again after `SIGTERM`,
/// before it is killed. An agent waits for it.
pub const TERMINAL_KILL_GRACE: Duration = Duration::from_millis(500);

/// Terminals of one session that an agent may hold, whoever serves them: a memory of
/// ids that has no other end. Agents run one command at a time, or a few.
pub const MAX_KNOWN_TERMINALS: usize = 1024;

/// Links the user agreed to whose end the agent may still tell, over a connection. The
/// end is a courtesy that many agents forget; then the oldest are forgotten here.
pub const MAX_OPEN_LINKS: usize = 64;

/// Bytes of a question, as its message came: a page of text and a form that a person
/// fills in has some ten thousand. A longer one is refused.
pub const MAX_QUESTION: usize = 256 << 10;

/// Fields of a form. Nobody fills in more.
pub const MAX_FORM_FIELDS: usize = 512;

/// Choices of all fields of a form: every model of a large provider, and every region.
pub const MAX_FORM_CHOICES: usize = 4096;

/// Different patterns of a form that are read; the texts of the others are left to the
/// agent. Each takes a millisecond or two to read.
pub const MAX_FORM_PATTERNS: usize = 16;

/// Bytes of a pattern that the text of a form must match; longer ones are left to the
/// agent. Patterns for versions, keys and addresses have a few dozen.
pub const MAX_PATTERN: usize = 1024;

/// Memory such a pattern may take once it is read, in bytes; one that wants more is left
/// to the agent. Its time grows with it, by each byte of the text.
pub const MAX_PATTERN_SIZE: usize = 256 << 10;

/// Bytes of a text that is matched with a pattern; a longer one is left to the agent.
/// Texts with a pattern are names, versions and keys.
pub const MAX_MATCHED_TEXT: usize = 1024;

/// Bytes of the address of a link. Browsers take about as much.
pub const MAX_LINK: usize = 16 << 10;

/// Bytes of an id that an agent chooses: of a session, a tool call, an option, a link.
/// Ids have some forty; a longer one is refused, because it is written into records,
/// logs and requests again and again.
pub const MAX_ID: usize = acp_conversation::limits::MAX_ID;

/// Options of a permission request. Agents offer two to five.
pub const MAX_PERMISSION_OPTIONS: usize = 64;

/// Bytes of the name of such an option: a button.
pub const MAX_OPTION_NAME: usize = 4 << 10;

/// Bytes of the sessions that are listed at once, ids, folders and titles: some hundred
/// thousand sessions.
pub const MAX_LIST_BYTES: usize = 16 << 20;

/// Bytes of the modes, and of the options, that are known of a session. The longest lists
/// of models have a hundred thousand.
pub const MAX_SETTINGS: usize = 1 << 20;

/// Bytes kept of a reason or an error with which an agent answers a steering: a
/// sentence or two for a person.
pub const MAX_STEERING_TEXT: usize = 1024;

/// How long starting the program may take: the system reads it from a disk or a network.
pub const SPAWN_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a client that is closed waits for a program that is just being started, to end it.
/// Starting takes milliseconds, ten times that where a machine is busy.
pub const START_GRACE: Duration = Duration::from_secs(1);

/// How long an agent may be silent, on both of its outputs, before its first byte.
pub const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long it may take from there to answer `initialize`, while it is silent.
pub const INITIALIZE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long both may take in all while it keeps writing to standard error. The first
/// start of an agent that is fetched by a package runner installs for 16 to 81
/// seconds.
pub const INITIALIZE_PATIENCE: Duration = Duration::from_secs(120);

/// How long `session/new` may take: agents start their MCP servers in it.
pub const NEW_SESSION_TIMEOUT: Duration = Duration::from_secs(120);

/// How long `session/load` may take, not counting the time its caller takes to read
/// the history.
pub const LOAD_TIMEOUT: Duration = Duration::from_secs(90);

/// How long `authenticate` may take: its user may have to find a browser and a
/// password.
pub const AUTHENTICATE_TIMEOUT: Duration = Duration::from_secs(600);

/// Bytes of history, as it came over the wire, that are collected in one piece. The
/// longest that was seen has some 25 MiB.
pub const COLLECTED_BYTES: usize = 64 << 20;

/// Events of a session that are remembered, so that one that is told of twice is read
/// once. An agent repeats the last few, after a hiccup of its own transport.
pub const DEDUP_WINDOW: usize = 512;

/// Bytes of the id of an event that is remembered. Ids have some forty; a longer one is
/// not compared.
pub const MAX_EVENT_ID: usize = 256;

/// Bytes of text up to which adjacent pieces are joined: a screen or more.
pub const MERGED_TEXT: usize = 64 << 10;

/// Pages of a list of sessions. An agent that gives more goes round.
pub const MAX_LIST_PAGES: usize = 1000;

/// How long a request about a session we do not know waits while one is being opened:
/// an agent may ask as soon as it has a name for the session, before we have read it.
/// The answer with the name is there already or comes at once; an agent that holds it
/// back until its own request is answered shall not wait for ever.
pub const NAMING_WAIT: Duration = Duration::from_secs(1);

/// Sessions that are loaded or resumed by a call that was given up, and that are
/// closed if it succeeds all the same.
pub const MAX_UNDO: usize = 64;

/// How long short requests (modes, options, close) may take.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a cancelled turn may take to end before it counts as stuck. Agents that listen
/// take less than a second; a caller's timeout must not be exceeded by much.
pub const CANCEL_GRACE: Duration = Duration::from_secs(10);

/// When a cancel without an answer is said again, counted from the first one.
/// Agents answer within 0.7 seconds; those that lose a cancel which comes right
/// behind its prompt hear the next one. Few, because at least one agent keeps a
/// surplus cancel for its next turn. All come within [`CANCEL_GRACE`].
pub const CANCEL_REPEATS: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(4),
    Duration::from_secs(8),
];

/// How long a permission request waits for whoever reads the session to come to the
/// announcement of its tool, where the request itself says too little. A reader is
/// there within milliseconds; one that is stuck shall not hold up the agent.
pub const ANNOUNCEMENT_WAIT: Duration = Duration::from_secs(1);

/// How long a permission request or a question waits in the stream of a session that
/// nobody reads, before it is refused. A program that starts turn after turn reads within
/// it; an agent that asks between turns is not left waiting for ever.
pub const UNREAD_WAIT: Duration = Duration::from_secs(60);

/// How long closing a client waits for the agent to close its sessions, before the
/// agent is ended.
pub const CLOSE_SESSIONS_TIMEOUT: Duration = Duration::from_secs(2);

/// How long the end of a connection waits for the exit status of the agent, so
/// that an error can tell both.
pub const DEATH_GRACE: Duration = Duration::from_millis(800);
