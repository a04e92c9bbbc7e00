//! `acp agents`: which agents are known, and what is known of them.

mod look;
mod show;

use std::path::Path;

use acp_process::stdio::stdout_is_terminal;
use clap::Args;

use crate::agent::keys::Keys;
use crate::config::{self, Agent, Configuration, Flags};
use crate::exit::Exit;
use crate::outcome::Outcome;
use crate::show::{Printed, print};
use crate::table::width;
pub(crate) use look::{Seen, SeenVersion, look};

/// What `acp agents` is told.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub(crate) struct AgentsArgs {
    /// Show all that is known of this one
    #[arg(value_name = "NAME")]
    agent: Option<String>,

    /// Write one JSON object
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
Nothing is started but the programs of agents that tell their version; each may take
5 seconds, all at once. Whether an agent really wants a login only the agent can say:
`acp doctor NAME` asks it, without a prompt. Agents of your own and documents of the
official registry come from your configuration, see `acp config`.
";

/// Shows the agents.
pub(crate) async fn run(args: AgentsArgs) -> Exit {
    print(show(&args).await)
}

async fn show(args: &AgentsArgs) -> Result<Printed, Outcome> {
    let configuration = config::load(Path::new("."), Flags::default())?;
    let width = width(stdout_is_terminal());
    let Some(name) = &args.agent else {
        let seen = seen(&configuration, None).await;
        return Ok(match args.json {
            true => Printed::json(show::all_json(&configuration, &seen)),
            false => show::all(&configuration, &seen, width).into(),
        });
    };
    let agent = configuration.find(name);
    match agent? {
        Agent::Known(name) => {
            let seen = seen(&configuration, Some(&name)).await;
            let seen = seen.iter();
            Ok(match args.json {
                true => Printed::Json(seen.map(|seen| show::json(&configuration, seen)).collect()),
                false => {
                    let texts = seen.map(|seen| show::one(&configuration, seen));
                    texts.collect::<String>().into()
                }
            })
        }
        _ => Ok("demo is built in: it has no model, and needs nothing\n".into()),
    }
}

/// Looks at all agents, or at one.
async fn seen(configuration: &Configuration, name: Option<&str>) -> Vec<Seen> {
    let registry = &configuration.registry;
    let entries = registry.iter();
    let entries = entries.filter(|entry| name.is_none_or(|name| entry.name == name));
    look(registry, entries, Keys::of_user().ok().as_ref()).await
}
