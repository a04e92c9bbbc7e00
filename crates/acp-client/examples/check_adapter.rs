//! The adapter by which `acp check --role client` judges this client.
//!
//! ```sh
//! cargo build -p acp-cli
//! cargo build -p acp-client --example check_adapter
//! target/debug/acp check --role client -- target/debug/examples/check_adapter
//! target/debug/acp check --role client --spawn -- target/debug/examples/check_adapter
//! ```
//!
//! What it is told stands in `ACP_CHECK_TASK`; `docs/check.md` lists the tasks.

#![expect(clippy::print_stderr, reason = "people read there what went wrong")]

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use acp_client::{
    Client, ClientOptions, ElicitationAnswer, ElicitationModes, Launch, LocalTerminals,
    PermissionRequest, Question, Session, WorkspaceFiles,
};
use acp_process::stdio::protocol_stdio;
use acp_protocol::v1::{
    ElicitationContentValue, Implementation, PermissionOptionKind, RequestPermissionOutcome,
    SelectedPermissionOutcome,
};
use parking_lot::Mutex;
use serde_json::Value;

type Failure = Box<dyn Error + Send + Sync>;

/// The exit code that says: this client cannot do the task.
const CANNOT: u8 = 75;

#[tokio::main]
async fn main() -> ExitCode {
    run().await
}

/// Does what the environment says.
pub(crate) async fn run() -> ExitCode {
    // On a worker, where the connection is: round trips then need no other thread.
    match tokio::spawn(tasks()).await {
        Ok(Ok(true)) => ExitCode::SUCCESS,
        Ok(Ok(false)) => ExitCode::from(CANNOT),
        Ok(Err(failure)) => {
            eprintln!("check_adapter: {failure}");
            ExitCode::FAILURE
        }
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}

/// How questions are answered; tasks change it.
#[derive(Clone, Default)]
struct Answers {
    permission: Arc<Mutex<String>>,
    form: Arc<Mutex<(String, BTreeMap<String, Value>)>>,
}

/// Does one task after the other; `false` when there is one that cannot be done.
async fn tasks() -> Result<bool, Failure> {
    let tasks: Vec<Vec<Value>> = serde_json::from_str(&env::var("ACP_CHECK_TASK")?)?;
    let cwd = PathBuf::from(env::var_os("ACP_CHECK_CWD").ok_or("ACP_CHECK_CWD is not set")?);
    let answers = Answers::default();
    let options = options(&answers);
    let client = match env::var("ACP_CHECK_AGENT") {
        Ok(command) => Client::new(launch(&command)?, options),
        Err(_) => {
            let (stdin, stdout) = protocol_stdio()?;
            Client::over(stdin, stdout, options)
        }
    };
    client.dial().await?;
    let mut session = None;
    for task in &tasks {
        let words: Vec<&str> = task.iter().filter_map(Value::as_str).collect();
        match words[..] {
            ["permission", how] => {
                how.clone_into(&mut answers.permission.lock());
            }
            ["form", how] => {
                let content = task.get(2).and_then(Value::as_object);
                let content = content.into_iter().flatten();
                let content = content.map(|(name, value)| (name.clone(), value.clone()));
                let mut form = answers.form.lock();
                *form = (how.to_owned(), content.collect());
            }
            _ => match act(&client, &cwd, &mut session, &words, task).await {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                // What the agent refuses is an answer too.
                Err(error) => eprintln!("check_adapter: {words:?}: {error}"),
            },
        }
    }
    drop(session);
    client.close().await;
    Ok(true)
}

async fn act(
    client: &Client,
    cwd: &Path,
    session: &mut Option<Session>,
    words: &[&str],
    task: &[Value],
) -> Result<bool, Failure> {
    match *words {
        ["new"] => *session = Some(client.new_session(cwd).await?),
        ["load", id] => *session = Some(client.load_session(id, cwd).await?.end().await?),
        ["resume", id] => *session = Some(client.resume_session(id, cwd).await?),
        ["list"] => {
            client.list_sessions().all().await?;
        }
        ["delete", id] => client.delete_session(id).await?,
        ["authenticate", id] => client.authenticate(id).await?,
        ["logout"] => client.logout().await?,
        _ => {
            let Some(open) = session.as_mut() else {
                return Err("no session is open".into());
            };
            match *words {
                ["prompt", text] => prompt(open, text, false).await?,
                ["prompt+cancel", text] => prompt(open, text, true).await?,
                ["mode", id] => open.control().set_mode(id).await?,
                ["option", id, value] => open.control().set_config_option(id, value).await?,
                ["option", id] => {
                    let value = task.get(2).and_then(Value::as_bool);
                    let value = value.ok_or("the value of an option is a text, true or false")?;
                    open.control().set_config_option(id, value).await?;
                }
                ["close"] => match session.take() {
                    Some(open) => open.close().await?,
                    None => return Ok(true),
                },
                _ => return Ok(false),
            }
        }
    }
    Ok(true)
}

async fn prompt(session: &mut Session, text: &str, cancel: bool) -> Result<(), Failure> {
    let mut turn = session.prompt(text).await?;
    let mut cancelled = false;
    while turn.next().await.is_some() {
        if cancel && !std::mem::replace(&mut cancelled, true) {
            turn.cancel();
        }
    }
    turn.end().await?;
    Ok(())
}

/// Offers everything this client can do.
fn options(answers: &Answers) -> ClientOptions {
    let permission = answers.permission.clone();
    let form = answers.form.clone();
    ClientOptions::new()
        .with_info(Implementation::new("acp-client", env!("CARGO_PKG_VERSION")))
        .with_files(WorkspaceFiles::new())
        .with_terminals(LocalTerminals::new())
        .with_notices()
        .with_compaction()
        .with_boolean_options()
        .with_terminal_logins()
        .with_permissions(move |ask: PermissionRequest| {
            let how = permission.lock().clone();
            async move { permit(&ask, &how) }
        })
        .with_elicitation(ElicitationModes::BOTH, move |_: Question| {
            let (how, content) = form.lock().clone();
            async move { fill_in(&how, &content) }
        })
}

fn permit(ask: &PermissionRequest, how: &str) -> RequestPermissionOutcome {
    let allowed = ask.options().iter().find(|option| match option.kind {
        PermissionOptionKind::AllowOnce => how == "allow",
        PermissionOptionKind::RejectOnce => how == "reject",
        _ => false,
    });
    match allowed {
        Some(option) => SelectedPermissionOutcome::new(option.option_id.clone()).into(),
        None => RequestPermissionOutcome::Cancelled,
    }
}

fn fill_in(how: &str, content: &BTreeMap<String, Value>) -> ElicitationAnswer {
    match how {
        "accept" => {
            content.iter().fold(
                ElicitationAnswer::accept(),
                |answer, (name, value)| match value_of(value) {
                    Some(value) => answer.with(name, value),
                    None => answer,
                },
            )
        }
        "decline" => ElicitationAnswer::decline(),
        _ => ElicitationAnswer::cancel(),
    }
}

fn value_of(value: &Value) -> Option<ElicitationContentValue> {
    Some(match value {
        Value::String(text) => text.as_str().into(),
        Value::Bool(truth) => (*truth).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Value::Array(all) => {
            let texts = all.iter().map(|one| one.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<String>>>()?.into()
        }
        _ => return None,
    })
}

fn launch(command: &str) -> Result<Launch, Failure> {
    let mut words: Vec<String> = serde_json::from_str(command)?;
    if words.is_empty() {
        return Err("ACP_CHECK_AGENT names no program".into());
    }
    let program = words.remove(0);
    Ok(Launch::new(program).with_args(words).with_inherited_env())
}
