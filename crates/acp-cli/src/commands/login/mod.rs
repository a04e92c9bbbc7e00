//! `acp login` and `acp logout`.

mod device;
mod logout;
mod methods;
mod ours;
mod terminal;

use std::io::{IsTerminal, stdin};
use std::path::Path;

use acp_harness::registry::AgentEntry;
use acp_process::stdio::stderr_is_terminal;
use acp_protocol::v1::{AuthMethod, AuthMethodAgent};
use acp_text::{Clean, clean};
use clap::Args;

use crate::agent::Agent;
use crate::agent::inquiry::{Inquiry, LoginState, unless_interrupted};
use crate::agent::keys::Keys;
use crate::config::{self, Agent as Chosen, Configuration, Flags, Word};
use crate::exit::Exit;
use crate::outcome::Outcome;
use crate::show::{one_line, print};
pub(crate) use logout::{LogoutArgs, log_out};
use methods::{LoginWay, Methods};

/// What `acp login` is told.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub(crate) struct LoginArgs {
    /// Log in to this agent [default: the one that is chosen here]
    #[arg(value_name = "AGENT")]
    agent: Option<Word>,

    /// Only list the ways to log in
    #[arg(long, group = "way")]
    list: bool,

    /// Log in by this method of the agent's own, as --list names it
    #[arg(long, short, value_name = "ID", group = "way")]
    method: Option<String>,

    /// Log in by a code that is entered on a web page, on any device
    #[arg(long, group = "way")]
    device_code: bool,

    /// Store a key: it is asked for, or read from standard input, and never an argument,
    /// which everybody on this machine could read
    #[arg(long, group = "way")]
    key: bool,
}

const HELP: &str = "\
The ways to log in are asked of the agent itself, so it is started for that, but for
--key and --device-code. Without any of them you choose, where there is more than one.

A stored key is a file that only you may read, in $XDG_DATA_HOME/acp/keys or
~/.local/share/acp/keys. The agent gets it in the variable it takes keys from, when no
such variable is set. `acp logout` forgets it.
";

/// Logs in.
pub(crate) async fn log_in(args: LoginArgs) -> Exit {
    let done = unless_interrupted(carry_out(&args)).await;
    print(done.unwrap_or_else(Err).map(|said| format!("{said}\n")))
}

async fn carry_out(args: &LoginArgs) -> Result<String, Outcome> {
    let (configuration, entry) = &chosen(args.agent.as_ref(), "login")?;
    let way = match args {
        LoginArgs { key: true, .. } => LoginWay::Key,
        LoginArgs {
            device_code: true, ..
        } => LoginWay::Device,
        _ => {
            let inquiry = inquiry(configuration, entry)?;
            let asked = by_method(args, configuration, &inquiry).await;
            inquiry.end().await;
            match asked? {
                AskedForWays::Listed(list) => return Ok(list),
                AskedForWays::Chosen(way) => way,
            }
        }
    };
    match &way {
        LoginWay::Key => return store_key(entry).await,
        LoginWay::Device => {
            let agent = start(configuration, entry)?;
            device::log_in(&configuration.registry, &agent).await?;
        }
        // The agent's own program runs on this terminal, without the connection.
        LoginWay::Own(AuthMethod::Terminal(method)) => {
            let agent = start(configuration, entry)?;
            terminal::log_in(&agent.launch, method).await?;
        }
        LoginWay::Own(_) => {}
    }
    verify(configuration, entry).await
}

/// The answer of an agent that was asked for its ways.
enum AskedForWays {
    Listed(String),
    /// This way was chosen; a method that the agent carries out itself is done.
    Chosen(LoginWay),
}

/// Asks the agent for its ways, and lets it log in, where it does so itself.
async fn by_method(
    args: &LoginArgs,
    configuration: &Configuration,
    inquiry: &Inquiry,
) -> Result<AskedForWays, Outcome> {
    let client = inquiry.client();
    let hello = client.dial().await.map_err(|error| {
        let noise = client.noise();
        Outcome::from(error).with_noise(noise)
    })?;
    let entry = &inquiry.agent().entry;
    let methods = Methods::of(&configuration.registry, entry, &hello.auth_methods);
    if args.list {
        return Ok(AskedForWays::Listed(methods.list(entry)));
    }
    let way = match &args.method {
        Some(id) => methods.called(entry, id)?,
        None => {
            let asks = stdin().is_terminal() && stderr_is_terminal();
            methods.choose(entry, asks).await?
        }
    };
    if let LoginWay::Own(AuthMethod::Agent(method)) = &way {
        authenticate(inquiry, method).await?;
    }
    Ok(AskedForWays::Chosen(way))
}

async fn authenticate(inquiry: &Inquiry, method: &AuthMethodAgent) -> Result<(), Outcome> {
    say(&format!(
        "logging in by {}; the agent may open a browser, Ctrl-C gives up",
        one_line(&method.name)
    ));
    let done = inquiry.client().authenticate(method.id.clone()).await;
    done.map_err(Outcome::from)
}

/// Looks whether a session opens now, with the agent started anew: some read what a login
/// left only when they start.
async fn verify(configuration: &Configuration, entry: &AgentEntry) -> Result<String, Outcome> {
    let inquiry = inquiry(configuration, entry)?;
    let answer = inquiry.opens().await;
    inquiry.end().await;
    match (answer.failure, answer.login) {
        (None, _) => Ok(format!("logged in to {}: a session opens", entry.name)),
        (Some(outcome), LoginState::Required) => Err(outcome.with_hint(
            "the login ended well, and the agent asks for one all the same; \
             it may take another way (acp login --list)",
        )),
        (Some(outcome), _) => Err(outcome),
    }
}

/// Stores a key for an agent.
async fn store_key(entry: &AgentEntry) -> Result<String, Outcome> {
    let Some(variable) = entry.login.keys.first() else {
        return Err(Outcome::usage(
            format!("failed to store a key for {}: it takes none", entry.name),
            &format!("acp login {} lists its ways to log in", entry.name),
        ));
    };
    let key = ours::read_secret(&format!("{} for {}: ", variable, entry.title)).await;
    let key = key.map_err(|error| {
        Outcome::usage(
            format!("failed to read the key: {error}"),
            "type it, or give it on standard input, alone on one line",
        )
    })?;
    let stored = Keys::of_user().and_then(|keys| keys.store(entry, &key));
    stored?;
    Ok(format!(
        "stored; {} gets it in {variable}. acp doctor {} asks whether a session opens",
        entry.name, entry.name
    ))
}

/// Finds which agent is meant; the demo agent is none that anybody logs in to.
fn chosen(given: Option<&Word>, command: &str) -> Result<(Configuration, AgentEntry), Outcome> {
    let flags = Flags {
        agent: given.cloned(),
        ..Flags::default()
    };
    let configuration = config::load(Path::new("."), flags)?;
    let entry = match &configuration.agent.value {
        Chosen::Known(name) => configuration.registry.get(name).cloned(),
        _ => None,
    };
    match entry {
        Some(entry) => Ok((configuration, entry)),
        _ if given.is_some() => Err(Outcome::usage(
            "the demo agent knows no logins".to_owned(),
            "acp agents lists agents that do",
        )),
        _ => Err(Outcome::usage(
            "no agent is chosen".to_owned(),
            &format!("acp {command} NAME; acp agents lists the names"),
        )),
    }
}

fn start(configuration: &Configuration, entry: &AgentEntry) -> Result<Agent, Outcome> {
    Ok(Agent::of_entry(
        &configuration.registry,
        entry,
        None,
        &here()?,
        false,
    )?)
}

fn inquiry(configuration: &Configuration, entry: &AgentEntry) -> Result<Inquiry, Outcome> {
    let agent = start(configuration, entry)?;
    let timeout = configuration.settings.start_timeout.value;
    Ok(Inquiry::new(agent, here()?, timeout))
}

/// The folder that a session is opened in, to see whether one opens.
fn here() -> Result<std::path::PathBuf, Outcome> {
    std::env::current_dir().map_err(|error| error.into())
}

/// Tells the person in front of the terminal.
fn say(text: &str) {
    crate::show::tell(&clean!("acp: {}", Clean::line(text)));
}
