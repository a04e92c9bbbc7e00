//! What a session works with, whether it is opened, loaded or resumed.

use std::path::PathBuf;

use acp_protocol::rpc::Flow;
use acp_protocol::v1::McpServer;

use super::Sessions;
use super::services::Services;
use crate::error::ClientError;
use crate::folders::SessionFolders;

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
}

/// A setup that the agent can take, in the words of the protocol, and what the session is
/// served.
pub(super) struct PreparedSetup {
    pub(super) cwd: String,
    pub(super) mcp_servers: Vec<McpServer>,
    pub(super) additional_directories: Vec<String>,
    pub(super) flow: Flow,
    pub(super) services: Services,
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
            flow: self.flow.unwrap_or(sessions.options.flow),
            services: Services::open(&sessions.options, &named).await,
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
