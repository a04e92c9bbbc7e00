//! MCP servers that sessions are given.

use std::collections::BTreeMap;
use std::ffi::OsString;

use acp_harness::registry::find_program;
use acp_protocol::v1::{
    EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerSse, McpServerStdio,
};
use toml::Spanned;

use super::error::ConfigError;
use super::file::{Mcp, McpEntry, Source};
use super::limits::MAX_MCP;
use super::settings::{Origin, Setting};

/// The MCP servers of the files, by their names.
#[derive(Default)]
pub(super) struct McpServers(BTreeMap<String, Setting<McpEntry>>);

impl McpServers {
    /// Takes in what a file says, in place of what a weaker one says of the same name.
    pub(super) fn take(&mut self, mcp: Spanned<Mcp>, source: &Source) -> Result<(), ConfigError> {
        let span = mcp.span();
        for (name, entry) in mcp.into_inner().0 {
            check(&name, &entry).map_err(|what| source.refuse(&span, what))?;
            let origin = source.origin(&span);
            let value = entry;
            self.0.insert(name, Setting { value, origin });
        }
        if self.0.len() > MAX_MCP {
            return Err(source.refuse(&span, format!("there are more than {MAX_MCP} MCP servers")));
        }
        Ok(())
    }

    /// Walks over their names and where each was said.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, &Origin)> {
        let all = self.0.iter();
        all.map(|(name, setting)| (name.as_str(), &setting.origin))
    }

    /// Makes of them what a session is told: programs found in the search path, variables
    /// filled in.
    pub(super) fn servers(
        &self,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Vec<McpServer>, ConfigError> {
        let all = self.0.iter();
        all.map(|(name, setting)| server(name, setting, variable))
            .collect()
    }
}

/// Checks what can be checked without looking at the machine.
fn check(name: &str, entry: &McpEntry) -> Result<(), String> {
    let McpEntry {
        command,
        args,
        env,
        env_from,
        url,
        sse,
        headers,
        headers_from,
    } = entry;
    let runs = !args.is_empty() || !env.is_empty() || !env_from.is_empty();
    let reaches = *sse || !headers.is_empty() || !headers_from.is_empty();
    match (command, url) {
        _ if name.trim().is_empty() => Err("an MCP server has a name".to_owned()),
        (Some(command), None) if !command.trim().is_empty() && !reaches => Ok(()),
        (None, Some(url)) if is_address(url) && !runs => Ok(()),
        (None, Some(url)) if !is_address(url) => Err(format!(
            "the `url` of the MCP server `{name}` begins with http:// or https://"
        )),
        _ => Err(format!(
            "the MCP server `{name}` has either a `command` (with `args`, `env`, `env_from`) or \
             a `url` (with `headers`, `headers_from`, `sse`)"
        )),
    }
}

fn is_address(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

fn server(
    name: &str,
    setting: &Setting<McpEntry>,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Result<McpServer, ConfigError> {
    let entry = &setting.value;
    let fail = |what: String| {
        let what = format!(
            "prepare the MCP server `{name}` of {}: {what}",
            setting.origin
        );
        ConfigError::new(what, "correct the file, or take the server out of it")
    };
    let filled = |plain: &BTreeMap<String, String>, from: &BTreeMap<String, String>| {
        let mut all = plain.clone();
        for (key, other) in from {
            let value = variable(other).and_then(|value| value.into_string().ok());
            let missing = || fail(format!("the variable {other} is not set, or is no text"));
            all.insert(key.clone(), value.ok_or_else(missing)?);
        }
        Ok::<_, ConfigError>(all)
    };
    if let Some(url) = &entry.url {
        let headers: Vec<_> = filled(&entry.headers, &entry.headers_from)?
            .into_iter()
            .map(|(name, value)| HttpHeader::new(name, value))
            .collect();
        return Ok(match entry.sse {
            true => McpServerSse::new(name, url, headers).into(),
            false => McpServerHttp::new(name, url, headers).into(),
        });
    }
    let command = entry.command.as_deref().unwrap_or_default();
    let path = variable("PATH").unwrap_or_default();
    let program = find_program(command, &path)
        .and_then(|program| program.into_os_string().into_string().ok())
        .ok_or_else(|| {
            fail(format!(
                "there is no program {command:?}; a name in the search path or an absolute path \
                 is wanted"
            ))
        })?;
    let env: Vec<_> = filled(&entry.env, &entry.env_from)?
        .into_iter()
        .map(|(name, value)| EnvVariable::new(name, value))
        .collect();
    Ok(McpServerStdio::new(name, program, entry.args.clone(), env).into())
}
