//! MCP servers for the session: as commands, as addresses, and out of files.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf, is_separator};

use acp_harness::registry::find_program;
use acp_protocol::v1::{
    EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerSse, McpServerStdio,
};
use serde::Deserialize;

use crate::outcome::Outcome;

/// The largest file of servers that is read: they are written by hand.
const MAX_FILE: u64 = 1 << 20;

/// What went wrong with a server; prints as a clause.
type Refused = String;

/// Understands what the command line says of servers.
pub(super) fn servers(given: &[String], cwd: &Path) -> Result<Vec<McpServer>, Outcome> {
    let search = ServerSearch {
        cwd,
        variable: &|name| env::var(name).ok(),
    };
    let mut all: Vec<McpServer> = Vec::new();
    for text in given {
        let servers = search.servers(text).map_err(|refused| {
            Outcome::usage(
                format!("failed to take the MCP server {text:?}: {refused}"),
                "--mcp takes a command, an http address, or a .json file with mcpServers; \
                 NAME= before the first two gives it a name",
            )
        })?;
        for server in servers {
            if all.iter().any(|other| name_of(other) == name_of(&server)) {
                return Err(Outcome::usage(
                    format!("there are two MCP servers called {:?}", name_of(&server)),
                    "give one of them another name, as in --mcp NAME=COMMAND",
                ));
            }
            all.push(server);
        }
    }
    Ok(all)
}

/// What a server is called.
pub(super) fn name_of(server: &McpServer) -> &str {
    match server {
        McpServer::Http(server) => &server.name,
        McpServer::Sse(server) => &server.name,
        McpServer::Stdio(server) => &server.name,
        _ => "",
    }
}

/// Where programs and variables are looked for.
struct ServerSearch<'a> {
    cwd: &'a Path,
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl ServerSearch<'_> {
    fn servers(&self, text: &str) -> Result<Vec<McpServer>, Refused> {
        let (name, rest) = named(text);
        let path = self.cwd.join(rest);
        let is_file = path.extension().is_some_and(|end| end == "json") && path.is_file();
        if is_file && name.is_none() {
            return self.of_file(&path);
        }
        if rest.starts_with("http://") || rest.starts_with("https://") {
            let name = name.map_or_else(|| host(rest), str::to_owned);
            return Ok(vec![McpServerHttp::new(name, rest, Vec::new()).into()]);
        }
        let words = shell_words::split(rest).map_err(|error| error.to_string())?;
        let [program, args @ ..] = words.as_slice() else {
            return Err("it names no program".to_owned());
        };
        let server = self.command(name, program, args.to_vec(), Vec::new())?;
        Ok(vec![server])
    }

    fn command(
        &self,
        name: Option<&str>,
        program: &str,
        args: Vec<String>,
        env: Vec<EnvVariable>,
    ) -> Result<McpServer, Refused> {
        // A path is taken from the folder of work, a name from the search path alone: not
        // from parts of it that depend on where one stands.
        let found = match program.contains(is_separator) {
            true => which::which_in(program, None::<&str>, self.cwd).ok(),
            false => find_program(program, &env::var_os("PATH").unwrap_or_default()),
        };
        let found =
            found.ok_or_else(|| format!("there is no program {program:?} in the search path"))?;
        let found = found
            .to_str()
            .ok_or("the path of the program is no UTF-8")?;
        let stem = Path::new(program).file_stem().unwrap_or_default();
        let name = name.map_or_else(|| stem.to_string_lossy().into_owned(), str::to_owned);
        Ok(McpServerStdio::new(name, found, args, env).into())
    }

    fn of_file(&self, path: &PathBuf) -> Result<Vec<McpServer>, Refused> {
        let size = fs::metadata(path).map_err(|error| error.to_string())?.len();
        if size > MAX_FILE {
            return Err(format!("it has more than {MAX_FILE} bytes"));
        }
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        let document: Document = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let servers = document.servers.into_iter();
        servers
            .filter(|(_, entry)| !entry.disabled)
            .map(|(name, entry)| {
                self.entry(&name, entry)
                    .map_err(|refused| format!("{name}: {refused}"))
            })
            .collect()
    }

    fn entry(&self, name: &str, entry: Entry) -> Result<McpServer, Refused> {
        let kind = entry.kind.as_deref();
        match (entry.command, entry.url) {
            (Some(_), Some(_)) => Err("it has both a command and a url".to_owned()),
            (None, None) => Err("it has neither a command nor a url".to_owned()),
            (Some(command), None) if matches!(kind, None | Some("stdio")) => {
                let args = entry.args.iter().map(|arg| self.filled_in(arg));
                let args = args.collect::<Result<_, _>>()?;
                let env = self.all_filled_in(&entry.env, EnvVariable::new)?;
                self.command(Some(name), &self.filled_in(&command)?, args, env)
            }
            (None, Some(url)) => {
                let url = self.filled_in(&url)?;
                let headers = self.all_filled_in(&entry.headers, HttpHeader::new)?;
                match kind {
                    None | Some("http" | "streamable-http" | "streamableHttp") => {
                        Ok(McpServerHttp::new(name, url, headers).into())
                    }
                    Some("sse") => Ok(McpServerSse::new(name, url, headers).into()),
                    Some(other) => Err(format!("a {other:?} server has no url")),
                }
            }
            (Some(_), None) => Err(format!("a {:?} server has no command", kind.unwrap_or(""))),
        }
    }

    /// Fills in the values of what has names.
    fn all_filled_in<'a, T>(
        &self,
        all: &'a BTreeMap<String, String>,
        make: impl Fn(&'a str, String) -> T,
    ) -> Result<Vec<T>, Refused> {
        let all = all.iter();
        all.map(|(name, value)| Ok(make(name, self.filled_in(value)?)))
            .collect()
    }

    /// Fills in variables, as `${NAME}` or `${NAME:-default}`: keys belong in no file.
    fn filled_in(&self, text: &str) -> Result<String, Refused> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("${") {
            let (inside, after) = behind
                .split_once('}')
                .ok_or_else(|| "a ${ has no end".to_owned())?;
            let (name, default) = match inside.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (inside, None),
            };
            let value = (self.variable)(name).filter(|value| !value.is_empty());
            filled.push_str(before);
            match (&value, default) {
                (Some(value), _) => filled.push_str(value),
                (None, Some(default)) => filled.push_str(default),
                (None, None) => return Err(format!("the variable {name} is not set")),
            }
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }
}

/// Parts a name from what it names.
fn named(text: &str) -> (Option<&str>, &str) {
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || "_-.".contains(c))
    };
    match text.split_once('=') {
        Some((name, rest)) if is_name(name) => (Some(name), rest),
        _ => (None, text),
    }
}

/// The host of an address, to name a server by.
fn host(url: &str) -> String {
    let behind = url.split_once("://").map_or(url, |(_, behind)| behind);
    let end = behind.find(['/', '?', '#']).unwrap_or(behind.len());
    let host = &behind[..end];
    host.rsplit_once('@')
        .map_or(host, |(_, host)| host)
        .to_owned()
}

/// A file of servers, in the form that most clients read.
#[derive(Deserialize)]
struct Document {
    #[serde(alias = "mcpServers")]
    servers: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Entry {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    args: Vec<String>,
    env: BTreeMap<String, String>,
    url: Option<String>,
    headers: BTreeMap<String, String>,
    disabled: bool,
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(text: &str, cwd: &Path) -> Result<Value, Refused> {
        let search = ServerSearch {
            cwd,
            variable: &|name| (name == "TOKEN").then(|| "secret".to_owned()),
        };
        let servers = search.servers(text)?;
        Ok(serde_json::to_value(servers).unwrap())
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        assert_eq!(read(text, Path::new("/")).unwrap_err(), expected);
    }

    #[test]
    fn commands_are_split_as_a_shell_would() {
        let sh = which::which("sh").unwrap();
        assert_eq!(
            read("sh -c 'echo \"a b\"'", Path::new("/")).unwrap(),
            json!([{"name": "sh", "command": sh, "args": ["-c", "echo \"a b\""], "env": []}])
        );
        let named = read("files=sh", Path::new("/")).unwrap();
        assert_eq!(named[0]["name"], "files");
        refused("", "it names no program");
        refused(
            "no-such-server --x",
            "there is no program \"no-such-server\" in the search path",
        );
        refused("sh 'x", "missing closing quote");
    }

    #[test]
    fn addresses_are_named_by_their_host() {
        assert_eq!(
            read("https://me@mcp.example.com:8443/v1?a=b", Path::new("/")).unwrap(),
            json!([{"type": "http", "name": "mcp.example.com:8443",
                "url": "https://me@mcp.example.com:8443/v1?a=b", "headers": []}])
        );
        let named = read("docs=http://localhost/mcp", Path::new("/")).unwrap();
        assert_eq!(named[0]["name"], "docs");
    }

    #[track_caller]
    fn file(content: &Value) -> Result<Value, Refused> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mcp.json"), content.to_string()).unwrap();
        read("mcp.json", folder.path())
    }

    #[test]
    fn files_hold_several_and_take_keys_from_variables() {
        let sh = which::which("sh").unwrap();
        let content = json!({"mcpServers": {
            "local": {"command": "sh", "args": ["${WHERE:-here}"], "env": {"KEY": "${TOKEN}"}},
            "old": {"command": "sh", "disabled": true},
            "remote": {"type": "streamable-http", "url": "https://a/b",
                "headers": {"Authorization": "Bearer ${TOKEN}"}, "timeout": 5},
            "stream": {"type": "sse", "url": "https://a/c"},
        }});
        assert_eq!(
            file(&content).unwrap(),
            json!([
                {"name": "local", "command": sh, "args": ["here"],
                    "env": [{"name": "KEY", "value": "secret"}]},
                {"type": "http", "name": "remote", "url": "https://a/b",
                    "headers": [{"name": "Authorization", "value": "Bearer secret"}]},
                {"type": "sse", "name": "stream", "url": "https://a/c", "headers": []},
            ])
        );
    }

    #[test]
    fn what_is_wrong_with_a_file_is_told_with_the_name_of_the_server() {
        let check = |entry: Value, expected: &str| {
            let refused = file(&json!({"servers": {"a": entry}})).unwrap_err();
            assert_eq!(refused, expected);
        };
        check(json!({}), "a: it has neither a command nor a url");
        check(
            json!({"command": "sh", "url": "x"}),
            "a: it has both a command and a url",
        );
        check(
            json!({"command": "sh", "type": "http"}),
            "a: a \"http\" server has no command",
        );
        check(
            json!({"command": "sh", "args": ["${NOT_THERE}"]}),
            "a: the variable NOT_THERE is not set",
        );
        check(json!({"url": "${x"}), "a: a ${ has no end");
        let refused = file(&json!({"other": 1})).unwrap_err();
        assert!(refused.starts_with("missing field `servers`"), "{refused}");
    }

    #[test]
    fn no_two_have_one_name() {
        let given = ["a=sh".to_owned(), "a=http://x".to_owned()];
        let refused = servers(&given, Path::new("/")).unwrap_err();
        assert_eq!(
            refused.failure.unwrap().message,
            "there are two MCP servers called \"a\""
        );
    }
}
