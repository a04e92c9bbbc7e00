//! What an agent is made of.

use std::sync::Arc;

use acp_host::{
    AuthMethod, PromptContent,
    dynamic::{
        DynAuthenticator, DynConfigCatalog, DynConfigController, DynLogoutHandler,
        DynSessionCatalog, DynSessionDeleter, DynSessionHost, DynSessionLoader, DynSessionResumer,
    },
};
use acp_protocol::{
    rpc::Limits,
    v1::{Implementation, methods::AgentMethod},
};

use crate::{limits::AgentLimits, serve::list::cursor::CursorKey, serve::setup::SetupPolicy};

/// What an agent is made of, shared by its connections.
pub(crate) struct Registration {
    pub(crate) host: Box<dyn DynSessionHost>,
    pub(crate) resumer: Option<Box<dyn DynSessionResumer>>,
    pub(crate) loader: Option<Box<dyn DynSessionLoader>>,
    pub(crate) catalog: Option<Catalog>,
    pub(crate) deleter: Option<Box<dyn DynSessionDeleter>>,
    pub(crate) config: Config,
    pub(crate) login: Option<Login>,
    pub(crate) logout: Option<Box<dyn DynLogoutHandler>>,
    pub(crate) info: Implementation,
    pub(crate) setup: SetupPolicy,
    pub(crate) prompt: PromptContent,
    pub(crate) compact_command: bool,
    pub(crate) limits: Arc<AgentLimits>,
    pub(crate) connection_limits: Limits,
    pub(crate) has_event_ids: bool,
}

/// Who knows the sessions there are, and how its list is cut into pages.
pub(crate) struct Catalog {
    pub(crate) sessions: Box<dyn DynSessionCatalog>,
    pub(crate) key: CursorKey,
}

/// What can be set in sessions.
pub(crate) enum Config {
    Nothing,
    /// It is shown, and the client cannot set it.
    ClientView(Box<dyn DynConfigCatalog>),
    Settable(Box<dyn DynConfigController>),
}

/// How users log in.
pub(crate) struct Login {
    pub(crate) authenticator: Box<dyn DynAuthenticator>,
    pub(crate) methods: Vec<AuthMethod>,
    /// Prompts, lists and deletions wait for it too.
    pub(crate) is_strict: bool,
}

impl Config {
    /// Who knows the options.
    pub(crate) fn catalog(&self) -> Option<&dyn DynConfigCatalog> {
        match self {
            Self::Nothing => None,
            Self::ClientView(catalog) => Some(&**catalog),
            Self::Settable(controller) => Some(&**controller),
        }
    }
}

impl Registration {
    /// The login for which also prompts, lists and deletions wait.
    pub(crate) fn strict_login(&self) -> Option<&Login> {
        self.login.as_ref().filter(|login| login.is_strict)
    }

    /// Whether a method is served: what is not registered does not exist.
    pub(crate) fn serves(&self, method: AgentMethod) -> bool {
        match method {
            AgentMethod::Initialize
            | AgentMethod::SessionNew
            | AgentMethod::SessionPrompt
            | AgentMethod::SessionCancel
            | AgentMethod::SessionClose => true,
            AgentMethod::SessionResume => self.resumer.is_some(),
            AgentMethod::SessionLoad => self.loader.is_some(),
            AgentMethod::SessionList => self.catalog.is_some(),
            AgentMethod::SessionDelete => self.deleter.is_some(),
            AgentMethod::SessionSetMode | AgentMethod::SessionSetConfigOption => {
                matches!(self.config, Config::Settable(_))
            }
            AgentMethod::Authenticate => self.login.is_some(),
            AgentMethod::Logout => self.logout.is_some(),
        }
    }
}
