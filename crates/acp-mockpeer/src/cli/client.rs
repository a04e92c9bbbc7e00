//! `acp-mockpeer client`.

use acp_process::Launch;

use super::{ClientArgs, EXIT_CONFIG, EXIT_FAILED, Misuse};
use crate::language::Scenario;
use crate::player::{Play, Verdict};
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
    let play = args.play.apply(play)?;
    play.check()
        .map_err(|why| Misuse(format!("{}: {why}", scenario.file())))?;
    let Some((program, arguments)) = args.command.split_first() else {
        return Err(Misuse("expected the agent behind `--`".to_owned()));
    };
    let program = find_program(program)?;
    let launch = Launch::new(program)
        .with_args(arguments)
        .with_inherited_env()
        .with_cwd(cwd);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(play.against(&launch))?;
    args.play.report(&outcome);
    Ok(match outcome.verdict() {
        Verdict::Passed | Verdict::Skipped(_) | Verdict::NotExercised(_) => 0,
        Verdict::Broken(_) => EXIT_CONFIG,
        Verdict::Failed => EXIT_FAILED,
    })
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
