//! The long help of `acp run`.

use std::sync::LazyLock;

use crate::exit;

/// What stands behind the options.
pub(crate) static LONG: LazyLock<String> =
    LazyLock::new(|| format!("{PERMISSIONS}\n{EVENTS}\n{}", exit::HELP));

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

const EVENTS: &str = "\
Events of --json, one object a line, each with \"v\":1, told apart by \"event\"; `acp schema
run-events` prints their schema. New ones and new members may come, so pass over what you
do not know:
  session      the session is open: sessionId, opened, cwd, agent, agentInfo, modes,
               configOptions
  update       params: the parameters of a session/update, as the agent wrote them
  gap          dropped: how many updates were lost because they came too fast
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
