//! A demo agent that runs, and what a client does with it.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder of its own for a store.
pub(crate) struct Store {
    pub(crate) folder: TempDir,
    pub(crate) file: PathBuf,
}

impl Store {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sessions.db");
        Self { folder, file }
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }
}

/// A demo agent, and the client's end of its streams.
pub(crate) struct Agent {
    child: Child,
    /// None once it was hung up.
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next_id: u64,
}

impl Agent {
    /// The program, not started yet.
    pub(crate) fn command(store: &Store) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_acp"));
        command.args(["demo-agent", "--pace", "0", "--store"]);
        command.arg(&store.file).stdin(Stdio::null());
        command
    }

    /// Starts it, and says hello.
    pub(crate) fn start(store: &Store) -> Self {
        let mut command = Self::command(store);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        let stdout = BufReader::new(stdout);
        let mut agent = Self {
            child,
            stdin,
            stdout,
            next_id: 1,
        };
        let (_, answer) = agent.call("initialize", json!({ "protocolVersion": 1 }));
        assert_eq!(
            answer["result"]["agentCapabilities"]["loadSession"], true,
            "{answer}"
        );
        agent
    }

    /// Sends a request, and gives its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a prompt, and gives the id of the request.
    pub(crate) fn send_prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.send(
            "session/prompt",
            json!({ "sessionId": session, "prompt": prompt }),
        )
    }

    /// The next message. None at the end of the stream, where half a line may stand.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let mut line = Vec::new();
        self.stdout.read_until(b'\n', &mut line).unwrap();
        if line.pop() != Some(b'\n') {
            return None;
        }
        Some(serde_json::from_slice(&line).unwrap())
    }

    /// Allows what a message asks for, if it asks.
    pub(crate) fn allow(&mut self, message: &Value) {
        if message["method"] != "session/request_permission" {
            return;
        }
        let options = message["params"]["options"].as_array().unwrap();
        let allow = options.iter().find(|option| option["kind"] == "allow_once");
        let option = &allow.unwrap()["optionId"];
        let outcome = json!({ "outcome": { "outcome": "selected", "optionId": option } });
        self.write(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": outcome }));
    }

    /// Sends a request, allows whatever is asked for, and gives the updates and the
    /// answer.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> (Vec<Value>, Value) {
        let id = self.send(method, params);
        self.finish(id)
    }

    /// Reads on to the answer of a request.
    pub(crate) fn finish(&mut self, id: u64) -> (Vec<Value>, Value) {
        let mut told = Vec::new();
        loop {
            let mut message = self.next().expect("the agent goes on");
            if message["id"] == id && message["method"].is_null() {
                return (told, message);
            }
            self.allow(&message);
            told.push(message["params"]["update"].take());
        }
    }

    pub(crate) fn new_session(&mut self) -> String {
        let (_, answer) = self.call("session/new", new_params(None));
        answer["result"]["sessionId"]
            .as_str()
            .expect("a session")
            .to_owned()
    }

    /// Runs a turn to its good end, and gives its updates.
    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> Vec<Value> {
        let id = self.send_prompt(session, text);
        let (told, answer) = self.finish(id);
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
        told
    }

    /// The ids of all sessions, page by page.
    pub(crate) fn list(&mut self) -> Vec<String> {
        let (mut ids, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let (_, answer) = self.call("session/list", json!({ "cursor": cursor }));
            let sessions = answer["result"]["sessions"].as_array().expect("sessions");
            let listed = sessions
                .iter()
                .map(|session| session["sessionId"].as_str().unwrap());
            ids.extend(listed.map(str::to_owned));
            cursor = answer["result"]["nextCursor"].clone();
            if cursor.is_null() {
                // The newest come first; ids sort by their age.
                ids.sort();
                return ids;
            }
        }
    }

    /// `kill -9`. Gives what it had written by then and nobody has read yet.
    pub(crate) fn kill(mut self) -> Vec<Value> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.next()).collect()
    }

    /// Hangs up, and waits for its good end.
    pub(crate) fn end(mut self) {
        self.stdin = None;
        assert!(self.child.wait().unwrap().success());
    }

    fn write(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        // It may be gone; then its output ends.
        let _ = writeln!(stdin, "{message}");
    }
}

impl Drop for Agent {
    /// Leaves no process behind a test that failed.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The parameters with which a session begins, or begins again.
pub(crate) fn new_params(session: Option<&str>) -> Value {
    let mut params = json!({ "cwd": "/home/ada", "mcpServers": [] });
    if let Some(id) = session {
        params["sessionId"] = id.into();
    }
    params
}
