//! Every bound of the sessions, with its reason.

use std::time::Duration;

/// Bytes of the file of a session. What is kept of its turns is far below
/// ([`MAX_KEPT`]); escapes of JSON may make six of one.
pub(crate) const MAX_FILE: u64 = 8 << 20;

/// Bytes of prompts and reports that are kept of a session: some hundred pages. Of more,
/// the oldest turns go.
pub(crate) const MAX_KEPT: usize = 1 << 20;

/// Bytes that are kept of a prompt. Long ones hold files and logs, which are found where
/// they came from.
pub(crate) const MAX_PROMPT: usize = 16 << 10;

/// Bytes that are kept of a report.
pub(crate) const MAX_REPORT: usize = 64 << 10;

/// Bytes that are kept of the title of a session.
pub(crate) const MAX_TITLE: usize = 200;

/// Turns that are kept of a session.
pub(crate) const MAX_TURNS: usize = 500;

/// Earlier sessions of the agent under one name whose ids are kept.
pub(crate) const MAX_FORMER: usize = 100;

/// Options that a session remembers to set; agents have some ten.
pub(crate) const MAX_SETTINGS: usize = 64;

/// Bytes of what an agent has to choose from that are remembered, to be told; the longest
/// lists of models have hundreds of some hundred bytes.
pub(crate) const MAX_OFFERS: usize = 256 << 10;

/// Sessions of one user: those of a very busy one. Whoever has more has a program that
/// makes them and does not delete them.
pub(crate) const MAX_SESSIONS: usize = 10_000;

/// Characters of a name.
pub(crate) const MAX_NAME: usize = 64;

/// Damaged files of one session that are kept aside.
pub(crate) const MAX_ASIDE: usize = 100;

/// How often who waits for a session looks whether it has come free. A lock of the system
/// tells nobody; turns take seconds at least, and looking costs a few microseconds.
pub(crate) const LOCK_POLL: Duration = Duration::from_millis(50);

/// How long a turn that runs in the session is waited for, when nothing is said. Most take
/// minutes; whoever waits for longer has probably forgotten a terminal.
pub(crate) const BUSY_WAIT: Duration = Duration::from_secs(600);

/// Bytes of a line on a control socket: a prompt to steer with, escaped.
pub(crate) const MAX_LINE: usize = 1 << 20;

/// Bytes of a prompt that goes over a control socket; a longer one waits for its own turn.
pub(crate) const MAX_STEER: usize = 128 << 10;

/// Who may be served on a control socket at once. Each is a person, or a script of theirs.
pub(crate) const MAX_CALLERS: usize = 16;

/// How long a caller on a control socket may take to say what it wants, and the other side
/// to begin an answer. Both are programs of one machine, which may be busy.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the callers of a turn that has ended may take to hear of it.
pub(crate) const LAST_WORD: Duration = Duration::from_secs(1);

/// How long nobody is let in after one could not be: the system may be short of something,
/// and asking it again at once would make it worse.
pub(crate) const ACCEPT_REST: Duration = Duration::from_millis(50);

/// Bytes of an id or a value that a session remembers to set.
pub(crate) const MAX_VALUE: usize = 1024;

/// How long the agent of a turn that runs may take to set something; the agent may be
/// starting just then.
pub(crate) const SET_TIMEOUT: Duration = Duration::from_secs(60);
