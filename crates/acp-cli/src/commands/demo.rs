//! `acp demo-agent`: the demo agent on standard input and output.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use acp_agent::AgentBuilder;
use acp_agent::demo::{DemoAgent, WORDS};
use acp_agent::kit::{History, MemoryHistory};
use acp_store::SqliteHistory;
use acp_text::{Clean, clean};
use clap::Args;

use crate::exit::Exit;
use crate::outcome::in_words;

/// What `acp demo-agent` is told.
#[derive(Debug, Args)]
#[command(after_help = HELP.as_str())]
pub(crate) struct DemoArgs {
    /// How long it rests behind each word, in milliseconds; with 0 it rests nowhere
    #[arg(long, value_name = "MS", default_value_t = 20)]
    pace: u64,

    /// Remember sessions in this file, which is made if it is not there [default: only
    /// for as long as it runs]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

    /// Have the client log in before there are sessions
    #[arg(long)]
    login: bool,
}

static HELP: LazyLock<String> = LazyLock::new(|| {
    let width = WORDS.iter().map(|(word, _)| word.len()).max();
    let width = width.unwrap_or_default();
    let words = WORDS
        .iter()
        .map(|(word, about)| format!("  {word:width$}  {about}\n"));
    let words: String = words.collect();
    format!("Words a prompt may begin with; any other prompt shows a bit of everything:\n{words}")
});

/// Serves the demo agent until its client hangs up.
pub(crate) async fn serve(args: DemoArgs) -> Exit {
    let Some(file) = &args.store else {
        return run(builder(&args, MemoryHistory::new())).await;
    };
    // This blocks, and there is nothing else to do yet.
    let history = match SqliteHistory::open(file) {
        Ok(history) => history,
        Err(error) => {
            crate::show::tell(&clean!("acp: {}", Clean::line(&in_words(&error))));
            return Exit::StartFailed;
        }
    };
    let exit = run(builder(&args, history.clone())).await;
    history.close().await;
    exit
}

async fn run(builder: AgentBuilder) -> Exit {
    let Ok(agent) = builder.build() else {
        return Exit::StartFailed;
    };
    match agent.serve_stdio().await {
        Ok(_) => Exit::EndOfTurn,
        Err(_) => Exit::StartFailed,
    }
}

fn builder(args: &DemoArgs, history: impl History) -> AgentBuilder {
    let mut demo = DemoAgent::default().with_pace(Duration::from_millis(args.pace));
    if args.login {
        demo = demo.with_login();
    }
    demo.into_builder_with_history(history)
}
