//! A client on the official Rust SDK: `client AGENT [ARGUMENT…]`.
//!
//! Holds every conversation of `xtask/src/interop/check.rs` with the demo agent and tells
//! how each went, one JSON object a line.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, ClientCapabilities, CloseSessionRequest, ContentBlock,
    CreateElicitationRequest, CreateElicitationResponse, CreateTerminalRequest,
    CreateTerminalResponse, DeleteSessionRequest, ElicitationAcceptAction, ElicitationAction,
    ElicitationCapabilities, ElicitationContentValue, ElicitationFormCapabilities,
    FileSystemCapabilities, InitializeRequest, InitializeResponse, ListSessionsRequest,
    LoadSessionRequest, NewSessionRequest, PermissionOptionKind, PromptRequest,
    ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest, ReleaseTerminalResponse,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    ResumeSessionRequest, SelectedPermissionOutcome, SessionConfigKind, SessionConfigValueId,
    SessionId, SessionInfo, SessionNotification, SessionUpdate, SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse, SetSessionModeRequest, StopReason, TerminalExitStatus,
    TerminalOutputRequest, TerminalOutputResponse, TextContent, ToolCallStatus,
    WaitForTerminalExitRequest, WaitForTerminalExitResponse, WriteTextFileRequest,
    WriteTextFileResponse,
};
use agent_client_protocol::{Agent, ByteStreams, Client, Error};
use serde_json::json;
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

/// How long one conversation may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long the agent may take to end when we hung up.
const END: Duration = Duration::from_secs(5);

/// Why a conversation did not come to its end.
enum Trouble {
    Failed(String),
    /// The agent does not offer what is needed.
    Absent(&'static str),
}

type Outcome = Result<(), Trouble>;

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Failed(error.to_string())
    }
}

fn expect(truth: bool, what: impl Into<String>) -> Outcome {
    truth
        .then_some(())
        .ok_or_else(|| Trouble::Failed(what.into()))
}

fn offered(truth: bool, what: &'static str) -> Outcome {
    truth.then_some(()).ok_or(Trouble::Absent(what))
}

fn refused<T>(answer: Result<T, Error>, what: &str) -> Outcome {
    expect(answer.is_err(), format!("{what} was accepted"))
}

fn ended(reason: StopReason, expected: StopReason) -> Outcome {
    expect(reason == expected, format!("stop reason {reason:?}"))
}

async fn check(name: &str, work: impl Future<Output = Outcome>) {
    let started = Instant::now();
    let outcome = timeout(PATIENCE, work).await;
    let ms = started.elapsed().as_millis();
    let line = match outcome {
        Ok(Ok(())) => json!({"check": name, "ms": ms}),
        Ok(Err(Trouble::Failed(why))) => json!({"check": name, "failed": why}),
        Ok(Err(Trouble::Absent(what))) => {
            json!({"check": name, "absent": format!("{what} is not advertised")})
        }
        Err(_) => json!({"check": name, "failed": format!("it took more than {PATIENCE:?}")}),
    };
    println!("{line}");
}

/// What the agent told, and how its questions are answered.
#[derive(Clone, Default)]
struct Heard {
    state: Arc<Mutex<State>>,
    news: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    updates: Vec<SessionNotification>,
    asked: usize,
    /// What was asked in forms, and what is answered; `None` declines.
    forms: Vec<CreateElicitationRequest>,
    content: Option<BTreeMap<String, ElicitationContentValue>>,
    /// What commands wrote and how they ended, and how many were released.
    terminals: Vec<Output>,
    released: usize,
    /// The kind of option to choose; `None` cancels the turn.
    choice: Option<PermissionOptionKind>,
}

impl Heard {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, update: SessionNotification) {
        self.state().updates.push(update);
        self.news.send_replace(());
    }

    fn choose(&self, kind: Option<PermissionOptionKind>) {
        let mut state = self.state();
        (state.choice, state.asked) = (kind, 0);
    }

    fn outcome(&self, request: &RequestPermissionRequest) -> RequestPermissionOutcome {
        let mut state = self.state();
        state.asked += 1;
        let option = state
            .choice
            .as_ref()
            .and_then(|kind| request.options.iter().find(|option| option.kind == *kind));
        match option {
            Some(option) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(
                option.option_id.clone(),
            )),
            None => RequestPermissionOutcome::Cancelled,
        }
    }

    /// Fills in every form from now on, or declines it.
    fn fill(&self, content: Option<&[(&str, ElicitationContentValue)]>) {
        let owned =
            |(name, value): &(&str, _)| ((*name).to_owned(), ElicitationContentValue::clone(value));
        let content = content.map(|content| content.iter().map(owned).collect());
        let mut state = self.state();
        (state.content, state.forms) = (content, Vec::new());
    }

    fn answer(&self, form: CreateElicitationRequest) -> ElicitationAction {
        let mut state = self.state();
        state.forms.push(form);
        match state.content.clone() {
            Some(content) => {
                ElicitationAction::Accept(ElicitationAcceptAction::new().content(content))
            }
            None => ElicitationAction::Decline,
        }
    }

    fn exit(&self, terminal: &str) -> TerminalExitStatus {
        let state = self.state();
        let output = terminal
            .parse()
            .ok()
            .and_then(|index: usize| state.terminals.get(index));
        let code = output.and_then(|output| output.status.code());
        TerminalExitStatus::new().exit_code(code.and_then(|code| u32::try_from(code).ok()))
    }

    fn output(&self, terminal: &str) -> String {
        let state = self.state();
        let output = terminal
            .parse()
            .ok()
            .and_then(|index: usize| state.terminals.get(index));
        let bytes = output
            .map(|output| output.stdout.as_slice())
            .unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    }

    fn count(&self, session: &SessionId, is: impl Fn(&SessionUpdate) -> bool) -> usize {
        let state = self.state();
        let mine = state
            .updates
            .iter()
            .filter(|told| told.session_id == *session);
        mine.filter(|told| is(&told.update)).count()
    }

    fn text(&self, session: &SessionId) -> String {
        self.joined(session, |update| match update {
            SessionUpdate::AgentMessageChunk(chunk) => Some(chunk.content.clone()),
            _ => None,
        })
    }

    fn prompts(&self, session: &SessionId) -> String {
        self.joined(session, |update| match update {
            SessionUpdate::UserMessageChunk(chunk) => Some(chunk.content.clone()),
            _ => None,
        })
    }

    fn joined(
        &self,
        session: &SessionId,
        content: impl Fn(&SessionUpdate) -> Option<ContentBlock>,
    ) -> String {
        let state = self.state();
        let mine = state
            .updates
            .iter()
            .filter(|told| told.session_id == *session);
        mine.filter_map(|told| content(&told.update))
            .filter_map(|block| match block {
                ContentBlock::Text(text) => Some(text.text),
                _ => None,
            })
            .collect()
    }

    fn last_tool_status(&self, session: &SessionId) -> Option<ToolCallStatus> {
        let state = self.state();
        let mine = state
            .updates
            .iter()
            .filter(|told| told.session_id == *session);
        mine.rev().find_map(|told| match &told.update {
            SessionUpdate::ToolCallUpdate(update) => update.fields.status,
            _ => None,
        })
    }

    async fn waits_for_text(&self, session: &SessionId) {
        let mut news = self.news.subscribe();
        while self.text(session).is_empty() && news.changed().await.is_ok() {}
    }
}

/// One running agent, and the connection to it.
#[derive(Clone)]
struct Peer {
    agent: ConnectionTo<Agent>,
    heard: Heard,
    cwd: PathBuf,
}

impl Peer {
    async fn initialize(&self) -> Result<InitializeResponse, Error> {
        let form = ElicitationCapabilities::new().form(ElicitationFormCapabilities::new());
        let files = FileSystemCapabilities::new()
            .read_text_file(true)
            .write_text_file(true);
        let capabilities = ClientCapabilities::new()
            .elicitation(form)
            .fs(files)
            .terminal(true);
        let request = InitializeRequest::new(ProtocolVersion::V1).client_capabilities(capabilities);
        self.agent.send_request(request).block_task().await
    }

    async fn open(&self) -> Result<SessionId, Error> {
        let request = NewSessionRequest::new(&self.cwd);
        Ok(self
            .agent
            .send_request(request)
            .block_task()
            .await?
            .session_id)
    }

    async fn prompt(&self, session: &SessionId, text: &str) -> Result<StopReason, Error> {
        let prompt = vec![ContentBlock::Text(TextContent::new(text))];
        let request = PromptRequest::new(session.clone(), prompt);
        Ok(self
            .agent
            .send_request(request)
            .block_task()
            .await?
            .stop_reason)
    }

    fn cancel(&self, session: &SessionId) -> Result<(), Error> {
        self.agent
            .send_notification(CancelNotification::new(session.clone()))
    }

    async fn close(&self, session: &SessionId) -> Result<(), Error> {
        let request = CloseSessionRequest::new(session.clone());
        self.agent
            .send_request(request)
            .block_task()
            .await
            .map(drop)
    }

    async fn load(&self, session: &SessionId) -> Result<(), Error> {
        let request = LoadSessionRequest::new(session.clone(), &self.cwd);
        self.agent
            .send_request(request)
            .block_task()
            .await
            .map(drop)
    }

    async fn listed(&self, session: &SessionId) -> Result<Option<SessionInfo>, Error> {
        let mut cursor = None;
        loop {
            let request = ListSessionsRequest::new()
                .cwd(self.cwd.clone())
                .cursor(cursor);
            let page = self.agent.send_request(request).block_task().await?;
            let found = page
                .sessions
                .into_iter()
                .find(|info| info.session_id == *session);
            cursor = page.next_cursor;
            if found.is_some() || cursor.is_none() {
                return Ok(found);
            }
        }
    }

    /// Loads a session, and compares what is replayed with what was told first.
    async fn replay(&self, session: &SessionId, prompts: &str, told: &str) -> Outcome {
        self.heard.state().updates.clear();
        self.load(session).await?;
        expect(
            self.heard.prompts(session) == prompts,
            "the prompts are not replayed",
        )?;
        expect(
            self.heard.text(session) == told,
            "the answer is not replayed as it was told",
        )
    }
}

/// Starts the agent, does the work with it, hangs up, and returns how it ended.
async fn with_agent<F>(
    heard: Heard,
    work: impl FnOnce(Peer) -> F + Send,
) -> Result<ExitStatus, Box<dyn std::error::Error>>
where
    F: Future<Output = Result<(), Error>> + Send,
{
    let mut command = std::env::args_os().skip(1);
    let program = command.next().ok_or("no agent was named")?;
    let mut child: Child = Command::new(program)
        .args(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdin = child.stdin.take().ok_or("no stdin")?.compat_write();
    let stdout = child.stdout.take().ok_or("no stdout")?.compat();
    let cwd = std::env::current_dir()?;
    let [updates, permissions, forms] = [(); 3].map(|()| heard.clone());
    let [started, exits, outputs, released] = [(); 4].map(|()| heard.clone());
    Client
        .v1()
        .name("interop")
        .on_receive_notification(
            async move |update: SessionNotification, _| {
                updates.add(update);
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest,
                        responder,
                        agent: ConnectionTo<Agent>| {
                let outcome = permissions.outcome(&request);
                if matches!(outcome, RequestPermissionOutcome::Cancelled) {
                    agent.send_notification(CancelNotification::new(request.session_id))?;
                }
                responder.respond(RequestPermissionResponse::new(outcome))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |form: CreateElicitationRequest, responder, _| {
                responder.respond(CreateElicitationResponse::new(forms.answer(form)))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ReadTextFileRequest, responder, _| match std::fs::read_to_string(
                request.path,
            ) {
                Ok(content) => responder.respond(ReadTextFileResponse::new(content)),
                Err(_) => responder.respond_with_error(Error::internal_error()),
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WriteTextFileRequest, responder, _| match std::fs::write(
                request.path,
                request.content,
            ) {
                Ok(()) => responder.respond(WriteTextFileResponse::new()),
                Err(_) => responder.respond_with_error(Error::internal_error()),
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            // What it is given ends soon, so the whole run of it happens here.
            async move |request: CreateTerminalRequest, responder, _| {
                let mut command = std::process::Command::new(request.command);
                command.args(request.args).stdin(Stdio::null());
                match command.output() {
                    Ok(output) => {
                        let mut state = started.state();
                        state.terminals.push(output);
                        let id = (state.terminals.len() - 1).to_string();
                        responder.respond(CreateTerminalResponse::new(id))
                    }
                    Err(_) => responder.respond_with_error(Error::internal_error()),
                }
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WaitForTerminalExitRequest, responder, _| {
                let exit = exits.exit(&request.terminal_id.0);
                responder.respond(WaitForTerminalExitResponse::new(exit))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: TerminalOutputRequest, responder, _| {
                let output = outputs.output(&request.terminal_id.0);
                responder.respond(TerminalOutputResponse::new(output, false))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |_: ReleaseTerminalRequest, responder, _| {
                released.state().released += 1;
                responder.respond(ReleaseTerminalResponse::new())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(ByteStreams::new(stdin, stdout), |agent| {
            work(Peer { agent, heard, cwd })
        })
        .await?;
    Ok(timeout(END, child.wait()).await??)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let heard = Heard::default();
    let (tell, mut told) = watch::channel(None);
    let status = with_agent(heard.clone(), async |peer| {
        let left = converse(&peer).await?;
        tell.send_replace(Some(left));
        Ok(())
    })
    .await;
    check("eof", async {
        let status = status.map_err(|error| Trouble::Failed(error.to_string()))?;
        expect(status.success(), format!("it ended with {status}"))
    })
    .await;

    let left = told.borrow_and_update().clone();
    let (session, can) = left.ok_or("the conversations came to no end")?;
    check("reload", async {
        offered(can.load_session, "session/load")?;
        let told = heard.text(&session);
        let resumed = can.session_capabilities.resume.is_some();
        let prompts = if resumed { "helloplan" } else { "hello" };
        let mut outcome = Ok(());
        with_agent(Heard::default(), async |peer| {
            peer.initialize().await?;
            outcome = peer.replay(&session, prompts, &told).await;
            if outcome.is_ok() && can.session_capabilities.list.is_some() {
                let listed = peer.listed(&session).await?.is_some();
                outcome = expect(listed, "the session is not in the list");
            }
            Ok(())
        })
        .await
        .map_err(|error| Trouble::Failed(error.to_string()))?;
        outcome
    })
    .await;
    println!("{}", json!({"end": true}));
    Ok(())
}

/// Holds the conversations that need one agent; returns what the last one needs.
async fn converse(peer: &Peer) -> Result<(SessionId, AgentCapabilities), Error> {
    let heard = &peer.heard;
    let mut can = AgentCapabilities::new();
    check("initialize", async {
        let agent = peer.initialize().await?;
        let version = agent.protocol_version;
        expect(version == ProtocolVersion::V1, format!("version {version}"))?;
        let name = agent.agent_info.map(|info| info.name);
        expect(
            name.as_deref() == Some("acp-demo-agent"),
            format!("agent {name:?}"),
        )?;
        can = agent.agent_capabilities;
        Ok(())
    })
    .await;

    let session = peer.open().await?;
    check("new", async {
        expect(session != peer.open().await?, "two sessions have one id")
    })
    .await;

    check("prompt", async {
        heard.choose(Some(PermissionOptionKind::AllowOnce));
        ended(peer.prompt(&session, "hello").await?, StopReason::EndTurn)?;
        let named = heard.text(&session).contains("demo agent");
        expect(named, "the agent did not say who it is")?;
        let plans = heard.count(&session, |told| matches!(told, SessionUpdate::Plan(_)));
        expect(plans > 0, "no plan was made")?;
        let thoughts = heard.count(&session, |told| {
            matches!(told, SessionUpdate::AgentThoughtChunk(_))
        });
        expect(thoughts > 0, "no thought was thought")
    })
    .await;

    let ask = async |kind, status| {
        let session = peer.open().await?;
        heard.choose(Some(kind));
        ended(peer.prompt(&session, "ask").await?, StopReason::EndTurn)?;
        let asked = heard.state().asked;
        expect(asked == 1, format!("asked {asked} times"))?;
        let calls = heard.count(&session, |told| matches!(told, SessionUpdate::ToolCall(_)));
        expect(calls == 1, "no tool was called")?;
        let last = heard.last_tool_status(&session);
        expect(last == Some(status), format!("the tool ended as {last:?}"))
    };
    check(
        "allow",
        ask(PermissionOptionKind::AllowOnce, ToolCallStatus::Completed),
    )
    .await;
    check(
        "reject",
        ask(PermissionOptionKind::RejectOnce, ToolCallStatus::Failed),
    )
    .await;

    check("cancel", async {
        let session = peer.open().await?;
        let (reason, cancelled) = tokio::join!(peer.prompt(&session, "slow"), async {
            heard.waits_for_text(&session).await;
            peer.cancel(&session)
        });
        cancelled?;
        ended(reason?, StopReason::Cancelled)
    })
    .await;

    check("cancel-at-once", async {
        let session = peer.open().await?;
        // The branches are polled in order: the prompt is sent, and the cancel right behind.
        let (reason, cancelled) =
            tokio::join!(biased; peer.prompt(&session, "slow"), async { peer.cancel(&session) });
        cancelled?;
        ended(reason?, StopReason::Cancelled)
    })
    .await;

    check("cancel-asking", async {
        let session = peer.open().await?;
        heard.choose(None);
        ended(peer.prompt(&session, "ask").await?, StopReason::Cancelled)
    })
    .await;

    check("two-sessions", async {
        let (one, other) = (peer.open().await?, peer.open().await?);
        let (slow, rest) = tokio::join!(peer.prompt(&one, "slow"), async {
            heard.waits_for_text(&one).await;
            ended(peer.prompt(&other, "plan").await?, StopReason::EndTurn)?;
            let strays = heard.count(&one, |told| matches!(told, SessionUpdate::Plan(_)));
            peer.cancel(&one)?;
            expect(strays == 0, "the plan went to the other session")
        });
        rest?;
        ended(slow?, StopReason::Cancelled)
    })
    .await;

    check("unknown-session", async {
        let nowhere = SessionId::new("no-such-session");
        refused(
            peer.prompt(&nowhere, "hello").await,
            "a prompt to no session",
        )
    })
    .await;

    served(peer).await;
    settings(peer).await;
    sessions(peer, &session, &can).await;
    Ok((session, can))
}

/// What the agent asks of its client.
async fn served(peer: &Peer) {
    let heard = &peer.heard;
    let says = |session: &SessionId, what: &str| {
        let text = heard.text(session);
        expect(text.contains(what), format!("it said {text:?}"))
    };
    let value = |text: &str| ElicitationContentValue::String(text.to_owned());
    check("question", async {
        let session = peer.open().await?;
        heard.fill(Some([("answer", value("ivy"))].as_slice()));
        peer.prompt(&session, "question").await?;
        let forms = heard.state().forms.len();
        expect(forms == 1, format!("asked {forms} times"))?;
        says(&session, "I water the Ivy")?;
        heard.fill(None);
        peer.prompt(&session, "question").await?;
        says(&session, "You do not want to say")
    })
    .await;

    check("form", async {
        let session = peer.open().await?;
        let gifts = vec!["ivy".to_owned(), "cactus".to_owned()];
        let content = [
            ("name", value("Ada")),
            ("plant", value("fern")),
            ("gifts", ElicitationContentValue::StringArray(gifts)),
            ("pots", ElicitationContentValue::Integer(3)),
            ("litres", ElicitationContentValue::Number(1.5)),
            ("express", ElicitationContentValue::Boolean(true)),
        ];
        heard.fill(Some(content.as_slice()));
        peer.prompt(&session, "form").await?;
        says(
            &session,
            "For Ada (nobody): Fern, 2 gifts, 3 pots, 1.5 litres, express true.",
        )
    })
    .await;

    check("files", async {
        let session = peer.open().await?;
        heard.choose(Some(PermissionOptionKind::AllowOnce));
        let note = peer.cwd.join("interop.md");
        peer.prompt(&session, "write interop.md").await?;
        let written = std::fs::read_to_string(&note).unwrap_or_default();
        expect(
            written.starts_with("# Notes"),
            format!("it wrote {written:?}"),
        )?;
        let wrote = std::fs::write(&note, "one\ntwo\nthree\n");
        expect(wrote.is_ok(), "the note cannot be written")?;
        peer.prompt(&session, "read interop.md").await?;
        says(&session, "The file has 3 lines")
    })
    .await;

    check("terminal", async {
        let session = peer.open().await?;
        heard.choose(Some(PermissionOptionKind::AllowOnce));
        peer.prompt(&session, "terminal echo interop").await?;
        says(&session, "It ended with 0 and wrote 8 bytes")?;
        let released = heard.state().released;
        expect(released == 1, format!("{released} terminals were released"))
    })
    .await;
}

/// Modes and options, good and bad.
async fn settings(peer: &Peer) {
    let heard = &peer.heard;
    check("mode", async {
        let session = peer.open().await?;
        let set = async |mode: &str| {
            let request = SetSessionModeRequest::new(session.clone(), mode.to_owned());
            peer.agent.send_request(request).block_task().await
        };
        set("act").await?;
        heard.choose(Some(PermissionOptionKind::RejectOnce));
        peer.prompt(&session, "ask").await?;
        let asked = heard.state().asked;
        expect(asked == 0, "it asked, though it need not")?;
        refused(set("no-such-mode").await, "a mode that is not there")
    })
    .await;

    check("option", async {
        let session = peer.open().await?;
        let set = async |option: &str, value: &str| {
            let (option, value) = (option.to_owned(), value.to_owned());
            let request = SetSessionConfigOptionRequest::new(
                session.clone(),
                option,
                SessionConfigValueId::new(value),
            );
            peer.agent.send_request(request).block_task().await
        };
        let answer: SetSessionConfigOptionResponse = set("model", "large").await?;
        let mut options = answer.config_options.into_iter();
        let now = options.find_map(|option| match option.kind {
            SessionConfigKind::Select(select) if &*option.id.0 == "model" => Some(select),
            _ => None,
        });
        let now = now.map(|select| select.current_value.0);
        expect(
            now.as_deref() == Some("large"),
            format!("its value is {now:?} now"),
        )?;
        refused(
            set("model", "no-such-model").await,
            "a value that is not there",
        )?;
        refused(
            set("no-such-option", "large").await,
            "an option that is not there",
        )
    })
    .await;
}

/// The life of a session beyond its turns.
async fn sessions(peer: &Peer, session: &SessionId, can: &AgentCapabilities) {
    let heard = &peer.heard;
    let sessions = &can.session_capabilities;
    check("list", async {
        offered(sessions.list.is_some(), "session/list")?;
        let found = peer.listed(session).await?;
        let cwd = found.map(|info| info.cwd);
        expect(
            cwd.as_ref() == Some(&peer.cwd),
            format!("its folder is {cwd:?}"),
        )
    })
    .await;

    let told = heard.text(session);
    check("load", async {
        offered(can.load_session, "session/load")?;
        peer.close(session).await?;
        peer.replay(session, "hello", &told).await?;
        let nowhere = SessionId::new("no-such-session");
        refused(peer.load(&nowhere).await, "a load of no session")
    })
    .await;

    check("resume", async {
        offered(sessions.resume.is_some(), "session/resume")?;
        peer.close(session).await?;
        let before = heard.text(session);
        let request = ResumeSessionRequest::new(session.clone(), &peer.cwd);
        peer.agent.send_request(request).block_task().await?;
        expect(
            heard.text(session) == before,
            "a resumed session was replayed",
        )?;
        ended(peer.prompt(session, "plan").await?, StopReason::EndTurn)
    })
    .await;

    check("close", async {
        offered(sessions.close.is_some(), "session/close")?;
        let session = peer.open().await?;
        peer.close(&session).await?;
        refused(
            peer.prompt(&session, "hello").await,
            "a prompt to a closed session",
        )
    })
    .await;

    check("delete", async {
        offered(sessions.delete.is_some(), "session/delete")?;
        let session = peer.open().await?;
        ended(peer.prompt(&session, "plan").await?, StopReason::EndTurn)?;
        peer.close(&session).await?;
        let request = DeleteSessionRequest::new(session.clone());
        peer.agent.send_request(request).block_task().await?;
        expect(
            peer.listed(&session).await?.is_none(),
            "the session is still in the list",
        )
    })
    .await;
}
