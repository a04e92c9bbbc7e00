//! A host whose strings the test pulls.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::Poll,
    time::Duration,
};

use parking_lot::Mutex;

use crate::client::Client;
use acp_agent::{
    Agent, AgentBuilder,
    host::{
        AuthMethod, Authenticator, Block, Cancel, CatalogEntry, CatalogQuery, ClientLink,
        CommandId, ConfigCatalog, ConfigChange, ConfigController, ConfigOption, Delta, EmitError,
        EventBody, Gate, GateResponse, HostError, HostErrorKind, HostEvent, LiveSession,
        LogoutHandler, RestoredSession, SessionCatalog, SessionDeleter, SessionHost, SessionId,
        SessionLoader, SessionResumer, Setup, Submission, ToolCall, TurnOrigin,
    },
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What a host call does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Does {
    #[default]
    Work,
    FailInPublic,
    FailInPrivate,
    Panic,
    Hang,
    /// Takes so many milliseconds.
    Rest(u64),
    /// Runs the turn in place: tells its end when it is polled and there is one.
    RunInPlace,
}

/// The cause of what fails in private: it may be logged, without the key in it.
const PRIVATE: &str = "the key sk-ant-api03-canarycanarycanarycanary was refused";

impl Does {
    async fn act(self) -> Result<(), HostError> {
        match self {
            Self::Work => Ok(()),
            Self::FailInPublic => Err(HostError::public("no room left\nin here")),
            Self::FailInPrivate => Err(HostError::internal(PRIVATE)),
            Self::Panic => panic!("{PRIVATE}"),
            Self::Hang | Self::RunInPlace => std::future::pending().await,
            Self::Rest(millis) => {
                tokio::time::sleep(Duration::from_millis(millis)).await;
                Ok(())
            }
        }
    }
}

/// What the calls of a host do, the next ones first.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) new_session: Mutex<VecDeque<Does>>,
    pub(crate) attach: Mutex<VecDeque<Does>>,
    pub(crate) submit: Mutex<VecDeque<Does>>,
    pub(crate) respond: Mutex<VecDeque<Does>>,
    pub(crate) interrupt: Mutex<VecDeque<Does>>,
    pub(crate) shutdown: Mutex<VecDeque<Does>>,
    pub(crate) resume: Mutex<VecDeque<Does>>,
    pub(crate) load: Mutex<VecDeque<Does>>,
    pub(crate) list: Mutex<VecDeque<Does>>,
    pub(crate) delete: Mutex<VecDeque<Does>>,
    pub(crate) options: Mutex<VecDeque<Does>>,
    pub(crate) set: Mutex<VecDeque<Does>>,
    pub(crate) authenticate: Mutex<VecDeque<Does>>,
    pub(crate) logout: Mutex<VecDeque<Does>>,
    pub(crate) compact: Mutex<VecDeque<Does>>,
    /// What the next session tells while it is attached.
    pub(crate) tells: Mutex<Vec<EventBody>>,
    /// What is replayed.
    pub(crate) journal: Mutex<Vec<HostEvent>>,
    pub(crate) entries: Mutex<Vec<CatalogEntry>>,
    pub(crate) queries: Mutex<Vec<CatalogQuery>>,
    pub(crate) deleted: Mutex<Vec<String>>,
    pub(crate) config: Mutex<Vec<ConfigOption>>,
    pub(crate) changes: Mutex<Vec<ConfigChange>>,
    pub(crate) is_logged_in: AtomicBool,
    /// What asking for that does.
    pub(crate) ask_logged_in: Mutex<VecDeque<Does>>,
    /// Ids for sessions, in place of those that are counted.
    pub(crate) ids: Mutex<VecDeque<String>>,
}

fn next(calls: &Mutex<VecDeque<Does>>) -> Does {
    calls.lock().pop_front().unwrap_or_default()
}

#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) script: Arc<Script>,
    made: UnboundedSender<(Setup, Arc<Session>)>,
    count: Arc<AtomicUsize>,
}

/// The strings.
pub(crate) struct Strings {
    pub(crate) script: Arc<Script>,
    made: UnboundedReceiver<(Setup, Arc<Session>)>,
}

/// A host, and the strings to pull.
pub(crate) fn host() -> (Host, Strings) {
    let (sender, made) = unbounded_channel();
    let script = Arc::new(Script::default());
    let host = Host {
        script: Arc::clone(&script),
        made: sender,
        count: Arc::default(),
    };
    (host, Strings { script, made })
}

/// An agent of a host that does everything, except to ask for a login.
pub(crate) fn full_agent() -> (Agent, Strings) {
    let (host, strings) = host();
    let builder = full_builder(host).compact_command();
    (builder.build().unwrap(), strings)
}

/// Begins an agent of a host that does everything, and asks for a login.
pub(crate) fn login_builder() -> (AgentBuilder, Strings) {
    let (host, strings) = host();
    let builder = full_builder(host.clone())
        .authenticator(host.clone(), auth_methods())
        .logout(host);
    (builder, strings)
}

fn full_builder(host: Host) -> AgentBuilder {
    AgentBuilder::new(host.clone())
        .resumer(host.clone())
        .loader(host.clone())
        .catalog(host.clone())
        .deleter(host.clone())
        .config(host)
}

/// The ways to log in of a host that asks for it.
pub(crate) fn auth_methods() -> Vec<AuthMethod> {
    let in_terminal = ["--login".to_owned()];
    vec![
        AuthMethod::new("key", "With a key").with_description("The key is in a file."),
        AuthMethod::terminal("tty", "In a terminal", in_terminal),
    ]
}

/// An agent of such a host.
pub(crate) fn agent() -> (Agent, Strings) {
    let (host, strings) = host();
    (AgentBuilder::new(host).build().unwrap(), strings)
}

/// An agent, a client that shook hands with it, and a session of theirs.
pub(crate) async fn scene() -> (Strings, Client, String, Arc<Session>) {
    let (agent, mut strings) = agent();
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;
    let session = strings.session().await;
    (strings, client, id, session)
}

impl Strings {
    /// The session that was made next.
    pub(crate) async fn session(&mut self) -> Arc<Session> {
        self.made.recv().await.expect("the host is gone").1
    }

    /// The session that was made next, if there is one.
    pub(crate) fn try_session(&mut self) -> Option<Arc<Session>> {
        self.made.try_recv().ok().map(|(_, session)| session)
    }

    /// The set-up of the session that was made next.
    pub(crate) async fn setup(&mut self) -> Setup {
        self.made.recv().await.expect("the host is gone").0
    }
}

impl SessionHost for Host {
    type Session = Arc<Session>;

    async fn new_session(&self, setup: Setup) -> Result<Arc<Session>, HostError> {
        next(&self.script.new_session).act().await?;
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        Ok(self.make(format!("session-{number}"), setup))
    }
}

impl Host {
    fn make(&self, id: String, setup: Setup) -> Arc<Session> {
        let scripted = self.script.ids.lock().pop_front();
        let id = scripted.unwrap_or(id);
        let (submissions, submitted) = unbounded_channel();
        let (responses, responded) = unbounded_channel();
        let (compactions, compacted) = unbounded_channel();
        let session = Arc::new(Session {
            id: SessionId::new(id).unwrap(),
            script: Arc::clone(&self.script),
            link: OnceLock::new(),
            submissions,
            submitted: tokio::sync::Mutex::new(submitted),
            responses,
            responded: tokio::sync::Mutex::new(responded),
            refused: Mutex::default(),
            end_in_place: Mutex::default(),
            told: Mutex::default(),
            compactions,
            compacted: tokio::sync::Mutex::new(compacted),
            interrupts: AtomicUsize::new(0),
            shutdowns: AtomicUsize::new(0),
        });
        self.made.send((setup, Arc::clone(&session))).ok();
        session
    }
}

impl SessionResumer for Host {
    type Session = Arc<Session>;

    async fn resume_session(&self, id: SessionId, setup: Setup) -> Result<Arc<Session>, HostError> {
        next(&self.script.resume).act().await?;
        Ok(self.make(id.to_string(), setup))
    }
}

impl SessionLoader for Host {
    type Session = Arc<Session>;

    async fn load_session(
        &self,
        id: SessionId,
        setup: Setup,
    ) -> Result<RestoredSession<Arc<Session>>, HostError> {
        next(&self.script.load).act().await?;
        let journal = std::mem::take(&mut *self.script.journal.lock());
        let session = self.make(id.to_string(), setup);
        Ok(RestoredSession::new(session, journal.into_iter()))
    }
}

impl SessionCatalog for Host {
    async fn list(&self, query: CatalogQuery) -> Result<Vec<CatalogEntry>, HostError> {
        self.script.queries.lock().push(query);
        next(&self.script.list).act().await?;
        Ok(self.script.entries.lock().clone())
    }
}

impl SessionDeleter for Host {
    async fn delete(&self, id: &SessionId) -> Result<(), HostError> {
        next(&self.script.delete).act().await?;
        if id.as_str() == "unknown" {
            return Err(HostError::public("unknown").with_kind(HostErrorKind::NotFound));
        }
        self.script.deleted.lock().push(id.to_string());
        Ok(())
    }
}

impl ConfigCatalog for Host {
    async fn options(&self, _session: &SessionId) -> Result<Vec<ConfigOption>, HostError> {
        next(&self.script.options).act().await?;
        Ok(self.script.config.lock().clone())
    }
}

impl ConfigController for Host {
    async fn set(
        &self,
        _session: &SessionId,
        change: ConfigChange,
    ) -> Result<Vec<ConfigOption>, HostError> {
        self.script.changes.lock().push(change.clone());
        next(&self.script.set).act().await?;
        let mut config = self.script.config.lock();
        let option = config.iter_mut().find(|known| known.id == change.option);
        assert!(option.unwrap().set(change.value), "it was validated");
        Ok(config.clone())
    }
}

impl Authenticator for Host {
    async fn authenticate(&self, method: &str) -> Result<(), HostError> {
        assert_eq!(method, "key");
        next(&self.script.authenticate).act().await
    }

    async fn is_logged_in(&self) -> bool {
        let _ = next(&self.script.ask_logged_in).act().await;
        self.script.is_logged_in.load(Ordering::Relaxed)
    }
}

impl LogoutHandler for Host {
    async fn logout(&self) -> Result<(), HostError> {
        next(&self.script.logout).act().await
    }
}

pub(crate) struct Session {
    id: SessionId,
    script: Arc<Script>,
    link: OnceLock<ClientLink>,
    submissions: UnboundedSender<Submission>,
    submitted: tokio::sync::Mutex<UnboundedReceiver<Submission>>,
    responses: UnboundedSender<GateResponse>,
    responded: tokio::sync::Mutex<UnboundedReceiver<GateResponse>>,
    /// Prompts that were not accepted.
    refused: Mutex<Vec<CommandId>>,
    /// How the turn that runs in place ends.
    pub(crate) end_in_place: Mutex<Option<HostEvent>>,
    /// What became of what was told while it was attached.
    pub(crate) told: Mutex<Vec<Result<(), EmitError>>>,
    compactions: UnboundedSender<CommandId>,
    compacted: tokio::sync::Mutex<UnboundedReceiver<CommandId>>,
    interrupts: AtomicUsize,
    shutdowns: AtomicUsize,
}

impl LiveSession for Session {
    fn id(&self) -> &SessionId {
        &self.id
    }

    async fn attach(&self, link: ClientLink) -> Result<(), HostError> {
        self.link.set(link).expect("attached twice");
        let tells = std::mem::take(&mut *self.script.tells.lock());
        for (number, body) in (0..).zip(tells) {
            let event = HostEvent::of_session(number, body);
            let told = self.link().emit(event).await;
            self.told.lock().push(told);
        }
        next(&self.script.attach).act().await
    }

    async fn submit(&self, submission: Submission) -> Result<(), HostError> {
        let does = next(&self.script.submit);
        if matches!(does, Does::FailInPublic | Does::FailInPrivate | Does::Panic) {
            let command = submission.command.clone();
            self.refused.lock().push(command);
        }
        let mut cancelled = Box::pin(submission.cancel.cancelled());
        self.submissions.send(submission).unwrap();
        if does != Does::RunInPlace {
            return does.act().await;
        }
        let mut is_cancelled = false;
        let end = poll_fn(|cx| {
            is_cancelled = is_cancelled || cancelled.as_mut().poll(cx).is_ready();
            let end = self.end_in_place.lock().take();
            end.map_or(Poll::Pending, Poll::Ready)
        })
        .await;
        self.link().emit(end).await.map_err(HostError::internal)
    }

    async fn respond_gate(&self, response: GateResponse) -> Result<(), HostError> {
        self.responses.send(response).unwrap();
        next(&self.script.respond).act().await
    }

    async fn compact(&self, command: CommandId, _cancel: Cancel) -> Result<(), HostError> {
        self.compactions.send(command).unwrap();
        next(&self.script.compact).act().await
    }

    async fn interrupt(&self) -> bool {
        self.interrupts.fetch_add(1, Ordering::Relaxed);
        next(&self.script.interrupt).act().await.is_ok()
    }

    async fn shutdown(&self) {
        self.shutdowns.fetch_add(1, Ordering::Relaxed);
        let _ = next(&self.script.shutdown).act().await;
    }
}

impl Session {
    pub(crate) fn link(&self) -> &ClientLink {
        self.link.get().expect("not attached")
    }

    /// The next prompt.
    pub(crate) async fn submission(&self) -> Submission {
        self.submitted.lock().await.recv().await.unwrap()
    }

    /// The next prompt that was accepted, if there is one.
    pub(crate) async fn try_submission(&self) -> Option<Submission> {
        let mut submitted = self.submitted.lock().await;
        loop {
            let submission = submitted.try_recv().ok()?;
            if !self.refused.lock().contains(&submission.command) {
                return Some(submission);
            }
        }
    }

    /// The next answer to a gate.
    pub(crate) async fn response(&self) -> GateResponse {
        self.responded.lock().await.recv().await.unwrap()
    }

    /// The next command to shorten the conversation.
    pub(crate) async fn compaction(&self) -> CommandId {
        self.compacted.lock().await.recv().await.unwrap()
    }

    /// Tells something that concerns the session as a whole.
    pub(crate) async fn tell(&self, number: u64, body: EventBody) {
        let event = HostEvent::of_session(number, body);
        self.link().emit(event).await.unwrap();
    }

    /// Whether no gate was answered.
    pub(crate) async fn has_no_response(&self) -> bool {
        self.responded.lock().await.try_recv().is_err()
    }

    /// Takes an answer to a gate, if there is one.
    pub(crate) async fn has_response(&self) -> bool {
        !self.has_no_response().await
    }

    pub(crate) fn interrupts(&self) -> usize {
        self.interrupts.load(Ordering::Relaxed)
    }

    pub(crate) fn shutdowns(&self) -> usize {
        self.shutdowns.load(Ordering::Relaxed)
    }

    /// Takes the next prompt and starts a turn for it.
    pub(crate) async fn start(self: &Arc<Self>) -> Turn {
        let submission = self.submission().await;
        let turn = self.turn("main", &format!("turn-of-{}", submission.command));
        turn.start(&submission.command).await;
        turn
    }

    /// A turn that nobody asked for.
    pub(crate) fn turn(self: &Arc<Self>, loop_id: &str, turn: &str) -> Turn {
        let origin = Arc::new(TurnOrigin::new(loop_id, turn));
        Turn {
            session: Arc::clone(self),
            origin,
            next: AtomicU64::new(0),
        }
    }
}

/// A turn whose events the test tells.
pub(crate) struct Turn {
    session: Arc<Session>,
    pub(crate) origin: Arc<TurnOrigin>,
    next: AtomicU64,
}

impl Turn {
    /// A turn of a sub-agent that this turn started.
    pub(crate) fn child(&self, loop_id: &str, turn: &str) -> Turn {
        let origin = TurnOrigin::new(loop_id, turn).with_parent(Arc::clone(&self.origin));
        Turn {
            session: Arc::clone(&self.session),
            origin: Arc::new(origin),
            next: AtomicU64::new(0),
        }
    }

    pub(crate) fn link(&self) -> &ClientLink {
        self.session.link()
    }

    pub(crate) fn event(&self, body: EventBody) -> HostEvent {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        HostEvent::new(Arc::clone(&self.origin), number, body)
    }

    pub(crate) async fn tell(&self, body: EventBody) -> Result<(), EmitError> {
        self.session.link().emit(self.event(body)).await
    }

    pub(crate) async fn start(&self, command: &CommandId) {
        let body = EventBody::TurnStarted {
            command: Some(command.clone()),
            index: 0,
        };
        self.tell(body).await.unwrap();
    }

    pub(crate) async fn text(&self, text: &str) {
        self.tell(EventBody::Delta(Delta::Text(text.into())))
            .await
            .unwrap();
    }

    pub(crate) async fn step(&self, blocks: Vec<Block>) {
        self.tell(EventBody::StepDone(blocks)).await.unwrap();
    }

    pub(crate) async fn open_gate(&self, gate: &str, tool: &str) {
        let tool = ToolCall::new(tool, "edit", "Change notes.md");
        self.tell(EventBody::GateOpened(Box::new(Gate::permission(
            gate, tool,
        ))))
        .await
        .unwrap();
    }

    pub(crate) async fn done(&self) {
        self.tell(EventBody::TurnDone).await.unwrap();
    }

    pub(crate) async fn interrupted(&self) {
        self.tell(EventBody::TurnInterrupted).await.unwrap();
    }
}
