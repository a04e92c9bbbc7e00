//! `replay`: a recording, said again to a client or to an agent.

use super::{AgentArgs, ClientArgs, Misuse, ReplayArgs, agent, client};

pub(super) fn run(args: ReplayArgs) -> Result<u8, Misuse> {
    if args.command.is_empty() {
        return agent::run(&AgentArgs {
            script: None,
            play: args.play,
            recording: Some(args.recording),
            join: None,
        });
    }
    client::run(&ClientArgs {
        script: None,
        play: args.play,
        recording: Some(args.recording),
        cwd: args.cwd,
        command: args.command,
    })
}
