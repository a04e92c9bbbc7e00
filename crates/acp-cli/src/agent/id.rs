//! Which agent a session belongs to, and back: how the agent of a session is asked for.

use std::ffi::OsString;

use acp_harness::Registry;

use super::{Agent, AgentArgs, DEMO, Origin};
use crate::outcome::Outcome;
use crate::sessions::AgentId;

/// Returns the agent that the command line asks for.
pub(crate) fn asked(args: &AgentArgs) -> Option<AgentId> {
    match (args.agent.as_deref(), args.command.as_slice()) {
        (None, []) => None,
        (None, command) => Some(AgentId::of_command(command)),
        (Some(DEMO), _) => Some(AgentId::Demo),
        (Some(name), _) => {
            // Whether there is one is for others to say.
            let entry = Registry::builtin().get(name);
            let name = entry.map_or(name, |entry| &entry.name).to_owned();
            Some(AgentId::Named { name })
        }
    }
}

/// Asks for the agent of a session.
pub(crate) fn ask(args: &mut AgentArgs, agent: &AgentId) -> Result<(), Outcome> {
    match agent {
        AgentId::Demo => args.agent = Some(DEMO.to_owned()),
        AgentId::Named { name } => args.agent = Some(name.clone()),
        AgentId::Command {
            argv: Some(argv), ..
        } => args.command = argv.iter().map(OsString::from).collect(),
        AgentId::Command { label, .. } => {
            return Err(Outcome::usage(
                format!(
                    "failed to start {label}, the agent of the session: its command is not kept"
                ),
                "it looks as if a secret stood in it; give it again, behind --",
            ));
        }
    }
    Ok(())
}

/// Lets the demo agent remember its sessions, where they are kept.
pub(crate) fn let_remember(agent: &mut Agent, store: &std::path::Path) {
    if matches!(agent.origin, Origin::Fallback | Origin::Demo) {
        let file = store.join("demo-agent.db");
        let launch = agent.launch.clone();
        agent.launch = launch.with_args(["--store".into(), file.into_os_string()]);
    }
}

/// Returns what tells an agent from others.
pub(crate) fn id_of(agent: &Agent, args: &AgentArgs) -> AgentId {
    match agent.origin {
        Origin::Fallback | Origin::Demo => AgentId::Demo,
        Origin::Command => AgentId::of_command(&args.command),
        Origin::Known => AgentId::Named {
            name: agent.entry.name.clone(),
        },
    }
}
