//! The host and its policies, as they were registered with the builder.

use std::sync::Arc;

use acp_host::{
    AuthMethod, CatalogOrder, PromptContent,
    dynamic::{
        DynAuthenticator, DynConfigCatalog, DynConfigController, DynLogoutHandler,
        DynSessionCatalog, DynSessionDeleter, DynSessionHost, DynSessionLoader, DynSessionResumer,
    },
};
use acp_protocol::{
    rpc::Limits,
    v1::{Implementation, methods::AgentMethod},
};

use super::{failure::ErrorHook, list::cursor::CursorKey, setup::SetupPolicy};
use crate::limits::AgentLimits;

/// An agent, shared by its connections.
pub(super) struct Registration {
    pub(super) host: Box<dyn DynSessionHost>,
    pub(super) resumer: Option<Box<dyn DynSessionResumer>>,
    pub(super) loader: Option<Box<dyn DynSessionLoader>>,
    pub(super) catalog: Option<Box<dyn DynSessionCatalog>>,
    pub(super) catalog_order: CatalogOrder,
    /// Signs the cursors of the lists.
    pub(super) cursor_key: CursorKey,
    pub(super) deleter: Option<Box<dyn DynSessionDeleter>>,
    pub(super) config: ConfigAccess,
    pub(super) login: Option<LoginMethods>,
    /// Prompts, lists, deletions and options wait for a login, too: there is one, and
    /// nobody asked for less.
    pub(super) strict_login: bool,
    pub(super) logout: Option<Box<dyn DynLogoutHandler>>,
    pub(super) info: Implementation,
    pub(super) setup: SetupPolicy,
    pub(super) prompt: PromptContent,
    pub(super) compact_command: bool,
    pub(super) limits: Arc<AgentLimits>,
    pub(super) connection_limits: Limits,
    /// Updates carry the ids of their events.
    pub(super) has_event_ids: bool,
    pub(super) on_error: Option<ErrorHook>,
}

/// Options of sessions, and whether clients may set them.
pub(super) enum ConfigAccess {
    None,
    ReadOnly(Box<dyn DynConfigCatalog>),
    Settable(Box<dyn DynConfigController>),
}

/// The ways to log in.
pub(super) struct LoginMethods {
    pub(super) authenticator: Box<dyn DynAuthenticator>,
    pub(super) methods: Vec<AuthMethod>,
}

impl ConfigAccess {
    pub(super) fn catalog(&self) -> Option<&dyn DynConfigCatalog> {
        match self {
            Self::None => None,
            Self::ReadOnly(catalog) => Some(&**catalog),
            Self::Settable(controller) => Some(&**controller),
        }
    }
}

impl Registration {
    /// Whether a method is served: a method that is not registered does not exist.
    pub(super) fn serves(&self, method: AgentMethod) -> bool {
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
                matches!(self.config, ConfigAccess::Settable(_))
            }
            AgentMethod::Authenticate => self.login.is_some(),
            AgentMethod::Logout => self.logout.is_some(),
        }
    }
}
