//! One running agent, and the connection to it.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, ClientCapabilities, CloseSessionRequest, ContentBlock,
    CreateElicitationRequest, CreateElicitationResponse, CreateTerminalRequest,
    CreateTerminalResponse, ElicitationCapabilities, ElicitationFormCapabilities,
    FileSystemCapabilities, Implementation, InitializeRequest, InitializeResponse,
    ListSessionsRequest, LoadSessionRequest, NewSessionRequest, NewSessionResponse, PromptRequest,
    ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest, ReleaseTerminalResponse,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse, SessionId,
    SessionInfo, SessionNotification, StopReason, TerminalOutputRequest, TerminalOutputResponse,
    TextContent, WaitForTerminalExitRequest, WaitForTerminalExitResponse, WriteTextFileRequest,
    WriteTextFileResponse,
};
use agent_client_protocol::{Agent, ByteStreams, Client, ConnectTo, Error};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use crate::heard::Heard;
use crate::outcome::{Outcome, expect};

/// How long the agent may take to end when we hung up.
pub(crate) const END: Duration = Duration::from_secs(5);

/// One running agent, and the connection to it.
#[derive(Clone)]
pub(crate) struct Peer {
    pub(crate) agent: ConnectionTo<Agent>,
    pub(crate) heard: Heard,
    pub(crate) cwd: PathBuf,
}

impl Peer {
    /// Begins the conversation, with all that this client can do, or without terminals.
    pub(crate) async fn initialize(&self, terminal: bool) -> Result<InitializeResponse, Error> {
        let form = ElicitationCapabilities::new().form(ElicitationFormCapabilities::new());
        let files = FileSystemCapabilities::new()
            .read_text_file(true)
            .write_text_file(true);
        let capabilities = ClientCapabilities::new()
            .elicitation(form)
            .fs(files)
            .terminal(terminal);
        let request = InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(capabilities)
            .client_info(Implementation::new("interop-rust", "0.0.0"));
        self.agent.send_request(request).block_task().await
    }

    pub(crate) async fn open(&self) -> Result<SessionId, Error> {
        Ok(self.opened().await?.session_id)
    }

    /// Opens a session, and returns all that is told of it.
    pub(crate) async fn opened(&self) -> Result<NewSessionResponse, Error> {
        let request = NewSessionRequest::new(&self.cwd);
        self.agent.send_request(request).block_task().await
    }

    pub(crate) async fn prompt(
        &self,
        session: &SessionId,
        text: &str,
    ) -> Result<StopReason, Error> {
        let prompt = vec![ContentBlock::Text(TextContent::new(text))];
        let request = PromptRequest::new(session.clone(), prompt);
        Ok(self
            .agent
            .send_request(request)
            .block_task()
            .await?
            .stop_reason)
    }

    pub(crate) fn cancel(&self, session: &SessionId) -> Result<(), Error> {
        self.agent
            .send_notification(CancelNotification::new(session.clone()))
    }

    pub(crate) async fn close(&self, session: &SessionId) -> Result<(), Error> {
        let request = CloseSessionRequest::new(session.clone());
        self.agent
            .send_request(request)
            .block_task()
            .await
            .map(drop)
    }

    pub(crate) async fn load(&self, session: &SessionId) -> Result<(), Error> {
        let request = LoadSessionRequest::new(session.clone(), &self.cwd);
        self.agent
            .send_request(request)
            .block_task()
            .await
            .map(drop)
    }

    pub(crate) async fn listed(&self, session: &SessionId) -> Result<Option<SessionInfo>, Error> {
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
    pub(crate) async fn replay(&self, session: &SessionId, prompts: &str, told: &str) -> Outcome {
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

/// Starts the agent of the command line, does the work with it, hangs up, and returns how it
/// ended.
pub(crate) async fn with_agent<F>(
    heard: Heard,
    work: impl FnOnce(Peer) -> F + Send,
) -> Result<ExitStatus, Box<dyn std::error::Error>>
where
    F: Future<Output = Result<(), Error>> + Send,
{
    let mut command = std::env::args_os().skip(1);
    let program = command.next().ok_or("no agent was named")?;
    let mut agent = Command::new(program);
    let (mut child, transport) = start(agent.args(command))?;
    talk(transport, heard, std::env::current_dir()?, work).await?;
    Ok(timeout(END, child.wait()).await??)
}

type Pipes = ByteStreams<Compat<ChildStdin>, Compat<ChildStdout>>;

/// Starts an agent.
pub(crate) fn start(command: &mut Command) -> Result<(Child, Pipes), Box<dyn std::error::Error>> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdin = child.stdin.take().ok_or("no stdin")?.compat_write();
    let stdout = child.stdout.take().ok_or("no stdout")?.compat();
    Ok((child, ByteStreams::new(stdin, stdout)))
}

/// Does the work with the agent at the other end, and hangs up.
pub(crate) async fn talk<F>(
    transport: impl ConnectTo<Client> + 'static,
    heard: Heard,
    cwd: PathBuf,
    work: impl FnOnce(Peer) -> F + Send,
) -> Result<(), Error>
where
    F: Future<Output = Result<(), Error>> + Send,
{
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
                let leaves = !permissions.state().stays;
                if leaves && matches!(outcome, RequestPermissionOutcome::Cancelled) {
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
            async move |request: ReadTextFileRequest, responder, _| match read(&request) {
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
        .connect_with(transport, |agent| work(Peer { agent, heard, cwd }))
        .await
}

/// Returns the part of a file that was asked for; lines count from 1.
fn read(request: &ReadTextFileRequest) -> std::io::Result<String> {
    let text = std::fs::read_to_string(&request.path)?;
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let first = request.line.map_or(0, |line| count(line).saturating_sub(1));
    let limit = request.limit.map_or(usize::MAX, count);
    Ok(text.split_inclusive('\n').skip(first).take(limit).collect())
}
