//! What a session is set up with: checked before the host sees it.

use std::{collections::HashSet, path::PathBuf};

use acp_host::{
    ClientFeatures, DirectoryError, McpAcceptance, McpRemote, McpServer, McpStdio, SecretText,
    Setup, check_directory,
};
use acp_protocol::{json_length, v1};

use crate::{
    limits::{MAX_SETUP, MAX_SETUP_ENTRIES},
    refused::RefusedMember,
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
    /// Names the member that breaks a rule; nothing is cleaned or left out in silence.
    pub(super) fn check(
        &self,
        cwd: &str,
        directories: &[String],
        servers: Vec<v1::McpServer>,
        client: ClientFeatures,
    ) -> Result<Setup, RefusedMember> {
        let bytes = length(cwd, directories, &servers);
        let cwd = directory("cwd", cwd)?;
        if bytes > MAX_SETUP {
            return Err(RefusedMember::new(
                "mcpServers",
                format!("the set-up has {bytes} bytes; at most {MAX_SETUP} are taken"),
                format!("a set-up of at most {MAX_SETUP} bytes"),
            ));
        }
        let directories = self.directories(directories)?;
        let servers = self.servers(servers)?;
        Ok(Setup::new(cwd)
            .with_additional_directories(directories)
            .with_mcp_servers(servers)
            .with_client(client))
    }

    fn directories(&self, directories: &[String]) -> Result<Vec<PathBuf>, RefusedMember> {
        let member = "additionalDirectories";
        if !directories.is_empty() && !self.additional_directories {
            return Err(RefusedMember::new(
                member,
                "this agent takes none",
                "an empty list",
            ));
        }
        check_count(member, directories.len())?;
        let mut checked = Vec::with_capacity(directories.len());
        for (at, text) in directories.iter().enumerate() {
            let path = directory(&format!("{member}[{at}]"), text)?;
            if !checked.contains(&path) {
                checked.push(path);
            }
        }
        Ok(checked)
    }

    fn servers(&self, servers: Vec<v1::McpServer>) -> Result<Vec<McpServer>, RefusedMember> {
        if servers.is_empty() {
            return Ok(Vec::new());
        }
        check_count("mcpServers", servers.len())?;
        let mut names = HashSet::new();
        let mut checked = Vec::with_capacity(servers.len());
        for (at, server) in servers.into_iter().enumerate() {
            let at_server = |refused: RefusedMember| refused.within(&format!("mcpServers[{at}]"));
            let server = self.server(server).map_err(at_server)?;
            if !names.insert(server.name().to_owned()) {
                let problem = "another server has this name";
                let refused = RefusedMember::new("name", problem, "a name of its own");
                return Err(at_server(refused));
            }
            checked.push(server);
        }
        Ok(checked)
    }

    fn server(&self, server: v1::McpServer) -> Result<McpServer, RefusedMember> {
        let server = match server {
            v1::McpServer::Stdio(server) => stdio(server)?,
            v1::McpServer::Http(server) => {
                McpServer::Http(remote(server.name, server.url, server.headers))
            }
            v1::McpServer::Sse(server) => {
                McpServer::Sse(remote(server.name, server.url, server.headers))
            }
            _ => return Err(self.refused_kind("this kind of server is not known")),
        };
        if server.name().is_empty() {
            return Err(RefusedMember::new(
                "name",
                "the server has no name",
                "a name that is not empty",
            ));
        }
        if self.mcp.accepts(&server) {
            return Ok(server);
        }
        Err(self.refused_kind(match server {
            McpServer::Http(_) => "this agent connects to no servers over http",
            McpServer::Sse(_) => "this agent connects to no servers over sse",
            McpServer::Stdio(_) => "this agent starts no servers",
        }))
    }

    fn refused_kind(&self, problem: &'static str) -> RefusedMember {
        let kinds = [
            (self.mcp.stdio, "stdio"),
            (self.mcp.http, "http"),
            (self.mcp.sse, "sse"),
        ];
        let taken = kinds.iter().filter(|(is_taken, _)| *is_taken);
        let taken: Vec<_> = taken.map(|(_, kind)| *kind).collect();
        let expected = match taken.is_empty() {
            true => "no server".to_owned(),
            false => format!("a server over {}", taken.join(" or ")),
        };
        RefusedMember::new("type", problem, expected)
    }
}

/// A folder that a client names by this member.
pub(super) fn directory(member: &str, text: &str) -> Result<PathBuf, RefusedMember> {
    check_directory(text).map_err(|error: DirectoryError| {
        RefusedMember::new(
            member,
            error.to_string(),
            "an absolute path in its plain form",
        )
    })
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

fn check_count(member: &str, count: usize) -> Result<(), RefusedMember> {
    match count <= MAX_SETUP_ENTRIES {
        true => Ok(()),
        false => Err(RefusedMember::new(
            member,
            format!("there are {count} entries; at most {MAX_SETUP_ENTRIES} are taken"),
            format!("at most {MAX_SETUP_ENTRIES} entries"),
        )),
    }
}

fn stdio(server: v1::McpServerStdio) -> Result<McpServer, RefusedMember> {
    without_nul("command", &server.command)?;
    let command = PathBuf::from(server.command);
    if !command.is_absolute() {
        let problem = "the command is no absolute path";
        return Err(RefusedMember::new("command", problem, "an absolute path"));
    }
    // The system cuts arguments and variables at a NUL, or refuses them.
    for (at, arg) in server.args.iter().enumerate() {
        without_nul(&format!("args[{at}]"), arg)?;
    }
    for (at, pair) in server.env.iter().enumerate() {
        without_nul(&format!("env[{at}].name"), &pair.name)?;
        without_nul(&format!("env[{at}].value"), &pair.value)?;
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

fn without_nul(member: &str, text: &str) -> Result<(), RefusedMember> {
    match text.contains('\0') {
        false => Ok(()),
        true => Err(RefusedMember::new(
            member,
            "it holds a NUL character",
            "a string without NUL characters",
        )),
    }
}

fn remote(name: String, url: String, headers: Vec<v1::HttpHeader>) -> McpRemote {
    let headers = headers
        .into_iter()
        .map(|header| (header.name, SecretText::new(header.value)));
    McpRemote::new(name, url).with_headers(headers.collect())
}
