//! What is asked of an agent, and how it may be done.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use acp_client::limits::CANCEL_GRACE;
use acp_client::{AnswerPermissions, ClientOptions};
use acp_protocol::v1::{ContentBlock, McpServer};
use derive_setters::Setters;

use super::{ProgressSender, SteerAsks, StopHandle};
use crate::Secret;
use crate::launch::{AgentHome, EnvPolicy};
use crate::limits::IDLE_TIMEOUT;
use crate::login::AuthPolicy;
use crate::model::SessionSettings;
use crate::record::SessionRecords;
use crate::transcript::Transcript;

/// Asks one thing of one agent.
///
/// Only agent, prompt and folder are needed. What is not said is careful: the agent is
/// offered nothing of this machine, and is allowed tools that read, search, fetch and
/// think. (Agents run most of their tools themselves; what they do without asking is
/// theirs, see [`Quirks::unasked_tools`](crate::registry::Quirks::unasked_tools).)
#[derive(Setters)]
#[must_use = "a request does nothing until it is run"]
#[setters(generate = false, prefix = "with_")]
pub struct TurnRequest {
    pub(super) agent: String,
    pub(super) prompt: String,
    pub(super) cwd: PathBuf,
    pub(super) attachments: Vec<ContentBlock>,
    pub(super) folders: Vec<PathBuf>,
    pub(super) mcp_servers: Vec<McpServer>,
    pub(super) conversation: Option<Conversation>,
    /// Puts instructions at the head of the first prompt of a session.
    #[setters(generate, into)]
    pub(super) instructions: String,
    /// Hands on what was said before, should the session be new.
    #[setters(generate)]
    pub(super) history: Transcript,
    /// Chooses model, effort and mode.
    #[setters(generate)]
    pub(super) settings: SessionSettings,
    /// Leaves an agent in the mode in which it starts, also where it does not ask in it. If
    /// not, it is put into the mode in which it asks, unless another one is chosen.
    #[setters(generate, bool, rename = "keeping_mode")]
    pub(super) keeps_mode: bool,
    /// Says what may be tried to log in.
    #[setters(generate)]
    pub(super) auth: AuthPolicy,
    /// Gives the agent a stored key, in the variable it takes it from.
    #[setters(generate, strip_option, into)]
    pub(super) key: Option<Secret>,
    /// Says which variables the agent gets; what its entry says is added. If not said: the
    /// usual few, those of the network, and its own keys.
    #[setters(generate, strip_option)]
    pub(super) env: Option<EnvPolicy>,
    /// Puts the agent into a home of its own. It then gets no keys but those that are given
    /// to it here.
    #[setters(generate, strip_option, rename = "in_home")]
    pub(super) home: Option<AgentHome>,
    /// Says what the agent is offered of this machine.
    #[setters(generate)]
    pub(super) profile: AccessProfile,
    pub(super) options: Vec<ChangeOptions>,
    /// Tells somebody what happens.
    #[setters(generate, strip_option)]
    pub(super) progress: Option<ProgressSender>,
    pub(super) stop: StopHandle,
    /// Tells the agent more while it works, where it takes that
    /// ([`can_steer`](super::can_steer)).
    #[setters(generate, strip_option)]
    pub(super) steering: Option<SteerAsks>,
    /// Bounds how long the agent may say nothing while nothing is owed to it; 10 minutes if
    /// not said. `None` waits for ever.
    #[setters(generate, into, rename = "with_idle_timeout")]
    pub(super) idle: Option<Duration>,
    /// Bounds how long the whole turn may take, the start of the agent included. If not
    /// said, it may take as long as the agent moves.
    #[setters(generate, into, rename = "with_total_timeout")]
    pub(super) total: Option<Duration>,
    /// Says how long an agent that was asked to stop may take, before its process is ended;
    /// 10 s if not said.
    #[setters(generate, rename = "with_stop_grace")]
    pub(super) grace: Duration,
}

/// Changes what the client offers the agent.
pub(super) type ChangeOptions = Box<dyn FnOnce(ClientOptions) -> ClientOptions + Send + Sync>;

/// What an agent is offered of this machine. What it can do by itself is another matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessProfile {
    /// Nothing.
    #[default]
    Isolated,
    /// The files of its session's folders.
    Workspace,
    /// The files of its session's folders, and commands that run with the rights of this
    /// process.
    Full,
}

/// A conversation that goes on over several turns.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) key: String,
    pub(super) records: SessionRecords,
    /// How long another turn of it is waited for.
    pub(super) patience: Duration,
}

impl TurnRequest {
    /// Asks an agent to do something in a folder, given by its absolute path.
    pub fn new(
        agent: impl Into<String>,
        prompt: impl Into<String>,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        Self {
            agent: agent.into(),
            prompt: prompt.into(),
            // Without what makes two spellings of one folder: a slash at the end, a `.`.
            cwd: cwd.into().components().collect(),
            attachments: Vec::new(),
            folders: Vec::new(),
            mcp_servers: Vec::new(),
            conversation: None,
            instructions: String::new(),
            history: Transcript::new(),
            settings: SessionSettings::new(),
            keeps_mode: false,
            auth: AuthPolicy::new(),
            key: None,
            env: None,
            home: None,
            profile: AccessProfile::default(),
            options: Vec::new(),
            progress: None,
            stop: StopHandle::new(),
            steering: None,
            idle: Some(IDLE_TIMEOUT),
            total: None,
            grace: CANCEL_GRACE,
        }
    }

    /// Makes it a turn of a conversation, whose session is recorded: the next turn goes on
    /// in it, in this process or another.
    pub fn in_conversation(mut self, records: SessionRecords, key: impl Into<String>) -> Self {
        self.conversation = Some(Conversation {
            key: key.into(),
            records,
            patience: Duration::ZERO,
        });
        self
    }

    /// Waits this long for another turn of the same conversation to end, instead of failing
    /// at once.
    pub fn waiting_for_conversation(mut self, patience: Duration) -> Self {
        if let Some(conversation) = &mut self.conversation {
            conversation.patience = patience;
        }
        self
    }

    /// Adds content behind the prompt's text, of kinds that the agent takes.
    pub fn with_attachments(mut self, content: impl IntoIterator<Item = ContentBlock>) -> Self {
        self.attachments.extend(content);
        self
    }

    /// Adds folders the session may use besides, by absolute paths.
    pub fn with_folders<P: Into<PathBuf>>(mut self, folders: impl IntoIterator<Item = P>) -> Self {
        self.folders.extend(folders.into_iter().map(Into::into));
        self
    }

    /// Gives the agent MCP servers to connect to.
    pub fn with_mcp_servers(mut self, servers: impl IntoIterator<Item = McpServer>) -> Self {
        self.mcp_servers.extend(servers);
        self
    }

    /// Says who answers when the agent asks for permission: a
    /// [`Policy`](acp_client::Policy), an [`AskUser`](acp_client::AskUser), a closure.
    pub fn with_permissions(self, handler: impl AnswerPermissions) -> Self {
        self.with_client_options(|options| options.with_permissions(handler))
    }

    /// Changes anything else about the client, after the profile.
    pub fn with_client_options(
        mut self,
        change: impl FnOnce(ClientOptions) -> ClientOptions + Send + Sync + 'static,
    ) -> Self {
        self.options.push(Box::new(change));
        self
    }

    /// Lets this handle stop the turn.
    pub fn with_stop(mut self, stop: &StopHandle) -> Self {
        self.stop = stop.clone();
        self
    }
}

impl fmt::Debug for TurnRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnRequest")
            .field("agent", &self.agent)
            .field("cwd", &self.cwd)
            .field("profile", &self.profile)
            .finish_non_exhaustive()
    }
}
