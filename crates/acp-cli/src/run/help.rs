//! The long help of `acp run`.

use std::sync::LazyLock;

use crate::exit;

/// What stands behind the options.
pub(crate) static LONG: LazyLock<String> =
    LazyLock::new(|| format!("{PERMISSIONS}\n{SESSIONS}\n{EVENTS}\n{}", *exit::HELP));

const PERMISSIONS: &str = "\
Permissions:
  Agents may ask before they use a tool, and --allow answers; with --ask you do, where
  it does not allow. A policy never picks an option that allows for ever, and refuses a
  request that offers several ways to allow it once: that is a question. The kind and
  the paths of a tool are what the agent says they are. `none` is no sandbox: an agent
  may act without asking (some do, by default; look for a stricter --mode). To confine
  an agent, run it in a container.
  --files and --terminals offer the agent ways through acp, and with that allow them:
  files inside the folder and those of --add-dir, and commands with your rights.
";

const SESSIONS: &str = "\
Kept sessions:
  A run is forgotten when it ends, unless it is part of a session: of --session NAME, of
  the last one (--continue), of one the agent knows (--resume ID). Sessions belong to a
  folder (the root of the repository, if there is one), an agent and a name. The next run
  goes on in it: the agent resumes its session, or loads it, or, if it knows it no longer,
  gets a new one that is told what was said. Your prompts and the reports are kept for
  that in $XDG_STATE_HOME/acp or ~/.local/state/acp, for you alone; `acp sessions` lists,
  shows and deletes them, `acp set` sets a mode for all turns to come, and `acp cancel`
  cancels a turn that another process runs. One turn runs in a session at a time; --if-busy
  says what a second one does.
";

const EVENTS: &str = "\
Events of --json, one object a line, each with \"v\":1, told apart by \"event\"; `acp schema
run-events` prints their schema. New ones and new members may come, so pass over what you
do not know:
  session      the session is open: sessionId, opened, cwd, agent, agentInfo, modes,
               configOptions
  kept         the session is kept (--session and its like): name, agent, opened (begun,
               resumed, loaded, handed_on), handedOn, refusal
  steered      the turn that runs in the session took the prompt (--if-busy steer)
  update       params: the parameters of a session/update, as the agent wrote them
               (and error: why they cannot be read, if they cannot)
  gap          dropped: how many updates were lost: in a line of more than 32 MiB, or
               because they came faster than they could be kept
  permission   the agent asked: toolCallId, title, kind, allowed, optionId, optionKind
               (both null if the answer was `cancelled`), by, reason
  question     the agent asked: message, fields or url, action, by
  file         the agent read or wrote through acp: operation, path, error
  command      it started a command through acp: terminalId, command, args, cwd, error
  command_end  how that ended: terminalId, exitCode, signal
  login        the agent insists on a login: method, succeeded (null while it is tried)
  notice       message: what acp tells people
  end          the last line, always: sessionId, stopReason (null without one), exitCode,
               report (the last message of the agent), reportIsWhole, error (null, or an
               object with message and hint)
";
