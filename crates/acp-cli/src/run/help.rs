//! The long help of `acp run`.

use std::sync::LazyLock;

use crate::exit;

/// What stands behind the options.
pub(crate) static LONG: LazyLock<String> =
    LazyLock::new(|| format!("{PERMISSIONS}\n{EVENTS}\n{}", exit::HELP));

const PERMISSIONS: &str = "\
Permissions:
  Agents may ask before they use a tool, and --allow answers. It never picks an
  option that allows for ever, and refuses a request that offers several ways to
  allow it once: that is a question. The kind and the paths of a tool are what the
  agent says they are. `none` is no sandbox: an agent may act without asking (some
  do, by default; look for a stricter --mode). To confine an agent, run it in a
  container.
";

const EVENTS: &str = "\
Events of --json, one object a line, told apart by \"event\":
  session     the session is open: sessionId, cwd, agentInfo, modes, configOptions
  update      params: the parameters of a session/update, as the agent wrote them
  gap         dropped: how many updates were lost because they came too fast
  permission  the agent asked: toolCallId, title, kind, allowed, optionId,
              optionKind (both null if the answer was `cancelled`), reason
  end         the last line, always: stopReason (null without one), exitCode,
              error (null, or an object with message and hint)
";
