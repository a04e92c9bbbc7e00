//! What a session works with, whether it is opened, loaded or resumed.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use acp_protocol::rpc::Flow;
use acp_protocol::v1::McpServer;

use super::Sessions;
use super::services::Services;
use crate::error::ClientError;
use crate::folders::SessionFolders;
use crate::options::PermissionsBy;
use crate::permission::AnswerPermissions;

/// Describes what a session works with; a path is enough.
///
/// ```
/// use acp_client::SessionSetup;
///
/// let short: SessionSetup = "/home/ada/project".into();
/// let more = SessionSetup::new("/home/ada/project")
///     .with_additional_directories(["/home/ada/notes"]);
/// # drop((short, more));
/// ```
#[derive(Debug, Clone)]
pub struct SessionSetup {
    cwd: PathBuf,
    mcp_servers: Vec<McpServer>,
    additional_directories: Vec<PathBuf>,
    flow: Option<Flow>,
    permissions: Option<PermissionsBy>,
    limit: Option<Duration>,
}

/// A setup that the agent can take, in the words of the protocol, and what the session is
/// served.
pub(super) struct PreparedSetup {
    pub(super) cwd: String,
    pub(super) mcp_servers: Vec<McpServer>,
    pub(super) additional_directories: Vec<String>,
    /// How long the agent may take to open the session, where that was said.
    pub(super) limit: Option<Duration>,
    pub(super) opening: OpeningParts,
}

/// The parts that a session has from its opening on.
pub(super) struct OpeningParts {
    pub(super) flow: Flow,
    pub(super) services: Services,
    pub(super) folders: Arc<SessionFolders>,
    pub(super) permissions: PermissionsBy,
}

impl SessionSetup {
    /// Describes a session that works in `cwd`, an absolute path.
    #[must_use]
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Self {
            cwd: cwd.into(),
            mcp_servers: Vec::new(),
            additional_directories: Vec::new(),
            flow: None,
            permissions: None,
            limit: None,
        }
    }

    /// Gives the agent MCP servers to connect to.
    #[must_use]
    pub fn with_mcp_servers(mut self, servers: impl IntoIterator<Item = McpServer>) -> Self {
        self.mcp_servers.extend(servers);
        self
    }

    /// Adds folders the session may use besides, absolute paths.
    #[must_use]
    pub fn with_additional_directories<P: Into<PathBuf>>(
        mut self,
        folders: impl IntoIterator<Item = P>,
    ) -> Self {
        self.additional_directories
            .extend(folders.into_iter().map(Into::into));
        self
    }

    /// Chooses what happens to updates that come faster than they are read, for this
    /// session alone; see
    /// [`ClientOptions::with_flow`](crate::ClientOptions::with_flow).
    #[must_use]
    pub fn with_flow(mut self, flow: Flow) -> Self {
        self.flow = Some(flow);
        self
    }

    /// Lets `handler` answer the permission requests of this session, whatever
    /// [`ClientOptions`](crate::ClientOptions) says for the others.
    #[must_use]
    pub fn with_permissions(mut self, handler: impl AnswerPermissions) -> Self {
        self.permissions = Some(PermissionsBy::Handler(Arc::new(handler)));
        self
    }

    /// Puts the permission requests of this session into its stream, as
    /// [`ClientOptions::with_permissions_in_stream`](crate::ClientOptions::with_permissions_in_stream)
    /// does for all.
    #[must_use]
    pub fn with_permissions_in_stream(mut self) -> Self {
        self.permissions = Some(PermissionsBy::Reader);
        self
    }

    /// Bounds how long the agent may take to open, load or resume the session, in place of
    /// [`ClientTimeouts`](crate::ClientTimeouts).
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Bounds it so where it has no bound of its own.
    pub(crate) fn or_timeout(mut self, limit: Option<Duration>) -> Self {
        self.limit = self.limit.or(limit);
        self
    }

    /// Checks it against what the agent offers, before anything is sent, and opens the
    /// files and terminals of the session.
    pub(super) async fn prepare(self, sessions: &Sessions) -> Result<PreparedSetup, ClientError> {
        let offered = sessions.connection.offers()?;
        for server in &self.mcp_servers {
            let missing = match server {
                McpServer::Http(_) if !offered.mcp_capabilities.http => "mcpCapabilities.http",
                McpServer::Sse(_) if !offered.mcp_capabilities.sse => "mcpCapabilities.sse",
                _ => continue,
            };
            return Err(ClientError::Unsupported {
                capability: missing,
            });
        }
        let folders = &offered.session_capabilities.additional_directories;
        if !self.additional_directories.is_empty() && folders.is_none() {
            return Err(ClientError::Unsupported {
                capability: "sessionCapabilities.additionalDirectories",
            });
        }
        let named = SessionFolders::new(&self.cwd).with_additional(&self.additional_directories);
        let additional = self.additional_directories.into_iter().map(path_text);
        Ok(PreparedSetup {
            cwd: path_text(self.cwd)?,
            mcp_servers: self.mcp_servers,
            additional_directories: additional.collect::<Result<_, _>>()?,
            limit: self.limit,
            opening: OpeningParts {
                flow: self.flow.unwrap_or(sessions.options.flow),
                services: Services::open(&sessions.options, &named).await,
                folders: Arc::new(named),
                permissions: self
                    .permissions
                    .unwrap_or_else(|| sessions.options.permissions.clone()),
            },
        })
    }
}

impl<P: Into<PathBuf>> From<P> for SessionSetup {
    fn from(cwd: P) -> Self {
        Self::new(cwd)
    }
}

/// Turns a path into what the protocol takes (R076).
pub(crate) fn path_text(path: PathBuf) -> Result<String, ClientError> {
    if !path.is_absolute() {
        return Err(ClientError::UnusablePath { path });
    }
    path.into_os_string()
        .into_string()
        .map_err(|path| ClientError::UnusablePath { path: path.into() })
}
