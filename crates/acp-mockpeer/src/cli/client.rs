//! `acp-mockpeer client`.

use acp_process::Launch;

use super::{ClientArgs, Misuse};
use crate::language::Scenario;
use crate::player::Play;
use crate::transcription::Style;
use acp_recording::cli::{absolute, find_program};

pub(super) fn run(args: &ClientArgs) -> Result<u8, Misuse> {
    let scenario = scenario(args)?;
    let cwd = match &args.cwd {
        Some(cwd) => absolute(cwd),
        None => std::env::current_dir(),
    };
    let cwd = cwd?;
    let play = Play::client(&scenario).with_value("cwd", cwd.to_string_lossy().into_owned());
    let play = args.play.apply(play, &scenario)?;
    let Some((program, arguments)) = args.command.split_first() else {
        return Err(Misuse("expected the agent behind `--`".to_owned()));
    };
    let program = find_program(program)?;
    let launch = Launch::new(program)
        .with_args(arguments)
        .with_inherited_env()
        .with_cwd(cwd);
    let runtime = super::runtime()?;
    let outcome = runtime.block_on(play.against(&launch))?;
    args.play.report(&outcome);
    Ok(super::code_of(&outcome.verdict))
}

fn scenario(args: &ClientArgs) -> Result<Scenario, Misuse> {
    match (&args.script, &args.recording) {
        (Some(script), _) => super::load(script),
        (None, Some(recording)) => super::scripted(recording, Style::Client),
        (None, None) => Err(Misuse(
            "expected --script FILE or --recording FILE".to_owned(),
        )),
    }
}
