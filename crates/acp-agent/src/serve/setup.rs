//! What a session is set up with: checked before the host sees it.

use std::{collections::HashSet, path::PathBuf};

use acp_host::{
    ClientFeatures, DirectoryError, McpAcceptance, McpRemote, McpServer, McpStdio, SecretText,
    Setup, check_directory,
};
use acp_protocol::{json_length, rpc::Fault, v1};

use crate::{
    fault,
    limits::{MAX_SETUP, MAX_SETUP_ENTRIES},
};

/// What the agent accepts in a set-up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SetupPolicy {
    pub(super) mcp: McpAcceptance,
    pub(super) additional_directories: bool,
}

impl SetupPolicy {
    /// Checks what a client asks for (R072, R073, R076).
    ///
    /// # Errors
    ///
    /// -32602 that names the rule; nothing is cleaned or left out in silence.
    pub(super) fn check(
        &self,
        method: &str,
        cwd: &str,
        directories: &[String],
        servers: Vec<v1::McpServer>,
        client: ClientFeatures,
    ) -> Result<Setup, Fault> {
        let refuse = |text: String| fault::invalid_params(method, &text);
        let bytes = length(cwd, directories, &servers);
        let cwd = check_directory(cwd).map_err(|error| refuse(format!("cwd: {error}")))?;
        if bytes > MAX_SETUP {
            let text = format!("the set-up has {bytes} bytes; at most {MAX_SETUP} are taken");
            return Err(refuse(text));
        }
        let directories = self.directories(directories).map_err(refuse)?;
        let servers = self.servers(servers).map_err(refuse)?;
        Ok(Setup::new(cwd)
            .with_additional_directories(directories)
            .with_mcp_servers(servers)
            .with_client(client))
    }

    fn directories(&self, directories: &[String]) -> Result<Vec<PathBuf>, String> {
        if !directories.is_empty() && !self.additional_directories {
            return Err("additionalDirectories: this agent takes none".into());
        }
        check_count("additionalDirectories", directories.len())?;
        let mut checked = Vec::with_capacity(directories.len());
        for (at, text) in directories.iter().enumerate() {
            let path = check_directory(text)
                .map_err(|error: DirectoryError| format!("additionalDirectories[{at}]: {error}"))?;
            if !checked.contains(&path) {
                checked.push(path);
            }
        }
        Ok(checked)
    }

    fn servers(&self, servers: Vec<v1::McpServer>) -> Result<Vec<McpServer>, String> {
        if servers.is_empty() {
            return Ok(Vec::new());
        }
        check_count("mcpServers", servers.len())?;
        let mut names = HashSet::new();
        let mut checked = Vec::with_capacity(servers.len());
        for (at, server) in servers.into_iter().enumerate() {
            let server = self
                .server(server)
                .map_err(|text| format!("mcpServers[{at}]: {text}"))?;
            if !names.insert(server.name().to_owned()) {
                return Err(format!("mcpServers[{at}]: another server has this name"));
            }
            checked.push(server);
        }
        Ok(checked)
    }

    fn server(&self, server: v1::McpServer) -> Result<McpServer, &'static str> {
        let server = match server {
            v1::McpServer::Stdio(server) => stdio(server)?,
            v1::McpServer::Http(server) => {
                McpServer::Http(remote(server.name, server.url, server.headers))
            }
            v1::McpServer::Sse(server) => {
                McpServer::Sse(remote(server.name, server.url, server.headers))
            }
            _ => return Err("this kind of server is not known"),
        };
        if server.name().is_empty() {
            return Err("the server has no name");
        }
        if self.mcp.accepts(&server) {
            return Ok(server);
        }
        Err(match server {
            McpServer::Http(_) => "this agent connects to no servers over http",
            McpServer::Sse(_) => "this agent connects to no servers over sse",
            _ => "this agent starts no servers",
        })
    }
}

/// The bytes of a set-up, as it came.
pub(super) fn length(cwd: &str, directories: &[String], servers: &[v1::McpServer]) -> usize {
    let directories = directories.iter().map(String::len).sum::<usize>();
    let servers = match servers.is_empty() {
        true => 0,
        false => json_length(servers),
    };
    cwd.len() + directories + servers
}

fn check_count(member: &str, count: usize) -> Result<(), String> {
    match count <= MAX_SETUP_ENTRIES {
        true => Ok(()),
        false => Err(format!(
            "{member} has {count} entries; at most {MAX_SETUP_ENTRIES} are taken"
        )),
    }
}

fn stdio(server: v1::McpServerStdio) -> Result<McpServer, &'static str> {
    let command = PathBuf::from(server.command);
    if !command.is_absolute() {
        return Err("the command is no absolute path");
    }
    let env = server
        .env
        .into_iter()
        .map(|pair| (pair.name, SecretText::new(pair.value)));
    Ok(McpServer::Stdio(
        McpStdio::new(server.name, command)
            .with_args(server.args)
            .with_env(env.collect()),
    ))
}

fn remote(name: String, url: String, headers: Vec<v1::HttpHeader>) -> McpRemote {
    let headers = headers
        .into_iter()
        .map(|header| (header.name, SecretText::new(header.value)));
    McpRemote::new(name, url).with_headers(headers.collect())
}
