//! The adapter by which `acp check --role client` judges a client on the Rust SDK.
//!
//! `docs/check.md` lists the tasks. Files are served and forms are filled in; terminals would
//! be ours alone, so they are not offered.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AuthenticateRequest, DeleteSessionRequest, ElicitationContentValue, LogoutRequest,
    PermissionOptionKind, ResumeSessionRequest, SessionConfigId, SessionConfigOption,
    SessionConfigOptionCategory, SessionConfigValueId, SessionId, SetSessionConfigOptionRequest,
    SetSessionModeRequest,
};
use agent_client_protocol::{Error, Stdio};
use serde_json::Value;
use tokio::process::Command;
use tokio::time::timeout;

use crate::heard::Heard;
use crate::peer::{END, Peer, start, talk};

/// The exit code that says: this client cannot do the task.
const CANNOT: u8 = 75;

type Failure = Box<dyn std::error::Error>;

/// The session that tasks are about.
#[derive(Default)]
struct Current {
    id: Option<SessionId>,
    /// The option that is its mode.
    mode: Option<SessionConfigId>,
}

/// Does what the environment says.
pub(crate) async fn run() -> Result<ExitCode, Failure> {
    let tasks: Vec<Vec<Value>> = serde_json::from_str(&env::var("ACP_CHECK_TASK")?)?;
    let cwd = PathBuf::from(env::var_os("ACP_CHECK_CWD").ok_or("ACP_CHECK_CWD is not set")?);
    let heard = Heard::default();
    heard.state().stays = true;
    let mut can = true;
    let work = async |peer: Peer| {
        can = all(&peer, &tasks).await?;
        Ok(())
    };
    match env::var("ACP_CHECK_AGENT") {
        Ok(command) => {
            let words: Vec<String> = serde_json::from_str(&command)?;
            let [program, arguments @ ..] = words.as_slice() else {
                return Err("ACP_CHECK_AGENT names no program".into());
            };
            let (mut child, transport) = start(Command::new(program).args(arguments))?;
            talk(transport, heard, cwd, work).await?;
            timeout(END, child.wait()).await??;
        }
        Err(_) => talk(Stdio::new(), heard, cwd, work).await?,
    }
    Ok(if can {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(CANNOT)
    })
}

/// Does one task after the other; `false` when there is one that cannot be done.
async fn all(peer: &Peer, tasks: &[Vec<Value>]) -> Result<bool, Error> {
    if peer.initialize(false).await?.protocol_version != ProtocolVersion::V1 {
        return Ok(true);
    }
    let mut session = Current::default();
    for task in tasks {
        let words: Vec<&str> = task.iter().filter_map(Value::as_str).collect();
        match act(peer, &mut session, &words, task.get(2)).await {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            // What the agent refuses is an answer too.
            Err(error) => eprintln!("client: {words:?}: {error}"),
        }
    }
    Ok(true)
}

async fn act(
    peer: &Peer,
    session: &mut Current,
    words: &[&str],
    value: Option<&Value>,
) -> Result<bool, Error> {
    match *words {
        ["new"] => {
            let opened = peer.opened().await?;
            let options = opened.config_options.into_iter().flatten();
            let is_mode = |option: &SessionConfigOption| {
                option.category == Some(SessionConfigOptionCategory::Mode)
            };
            session.mode = { options }.find(is_mode).map(|option| option.id);
            session.id = Some(opened.session_id);
        }
        ["load", id] => peer.load(session.id.insert(SessionId::new(id))).await?,
        ["resume", id] => {
            let request =
                ResumeSessionRequest::new(session.id.insert(SessionId::new(id)).clone(), &peer.cwd);
            peer.agent.send_request(request).block_task().await?;
        }
        ["list"] => {
            peer.listed(&SessionId::new("")).await?;
        }
        ["delete", id] => {
            let request = DeleteSessionRequest::new(SessionId::new(id));
            peer.agent.send_request(request).block_task().await?;
        }
        ["authenticate", id] => {
            let request = AuthenticateRequest::new(id.to_owned());
            peer.agent.send_request(request).block_task().await?;
        }
        ["logout"] => {
            let request = LogoutRequest::new();
            peer.agent.send_request(request).block_task().await?;
        }
        ["permission", how] => peer.heard.choose(match how {
            "allow" => Some(PermissionOptionKind::AllowOnce),
            "reject" => Some(PermissionOptionKind::RejectOnce),
            _ => None,
        }),
        ["form", how] => {
            let mut state = peer.heard.state();
            state.gives_up = how == "cancel";
            state.content = (how == "accept").then(|| content(value));
        }
        _ => {
            let id = session.id.clone().ok_or_else(Error::invalid_request)?;
            let mode = session.mode.as_ref().map(|option| option.0.to_string());
            return match (words, mode) {
                (["mode", value], Some(option)) => {
                    of_session(peer, id, &["option", &option, value], None).await
                }
                _ => of_session(peer, id, words, value).await,
            };
        }
    }
    Ok(true)
}

async fn of_session(
    peer: &Peer,
    session: SessionId,
    words: &[&str],
    value: Option<&Value>,
) -> Result<bool, Error> {
    match *words {
        ["prompt", text] => drop(peer.prompt(&session, text).await?),
        ["prompt+cancel", text] => {
            let mut news = peer.heard.news.subscribe();
            let cancel = async {
                let _ = news.changed().await;
                peer.cancel(&session)
            };
            let (end, cancelled) = tokio::join!(peer.prompt(&session, text), cancel);
            end?;
            cancelled?;
        }
        ["close"] => peer.close(&session).await?,
        ["mode", id] => {
            let request = SetSessionModeRequest::new(session, id.to_owned());
            peer.agent.send_request(request).block_task().await?;
        }
        ["option", id, chosen] => {
            let request = SetSessionConfigOptionRequest::new(
                session,
                id.to_owned(),
                SessionConfigValueId::new(chosen),
            );
            peer.agent.send_request(request).block_task().await?;
        }
        ["option", id] => {
            let Some(switch) = value.and_then(Value::as_bool) else {
                return Ok(false);
            };
            let request = SetSessionConfigOptionRequest::new(session, id.to_owned(), switch);
            peer.agent.send_request(request).block_task().await?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Returns what a form is filled in with; what is no value of a form is left out.
fn content(value: Option<&Value>) -> BTreeMap<String, ElicitationContentValue> {
    let members = value.and_then(Value::as_object).into_iter().flatten();
    let filled = |(name, value): (&String, &Value)| {
        let value = serde_json::from_value(value.clone()).ok()?;
        Some((name.clone(), value))
    };
    members.filter_map(filled).collect()
}
