//! An agent whose client sends nothing more finishes what it accepted.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// The demo agent, and the pipes to it.
struct DemoAgent {
    child: Child,
    input: Option<ChildStdin>,
    output: Option<BufReader<ChildStdout>>,
}

impl DemoAgent {
    fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_acp"))
            .arg("demo-agent")
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start the demo agent");
        Self {
            input: child.stdin.take(),
            output: child.stdout.take().map(BufReader::new),
            child,
        }
    }

    fn send(&mut self, lines: &str) {
        let input = self.input.as_mut().expect("its stdin is open");
        input.write_all(lines.as_bytes()).expect("it reads");
    }

    fn next(&mut self) -> Value {
        let output = self.output.as_mut().expect("its stdout is open");
        let mut line = String::new();
        output.read_line(&mut line).expect("it writes");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Closes stdin; gives all that is written until the agent exits with 0.
    fn finish(mut self) -> Vec<Value> {
        self.input = None;
        let mut rest = String::new();
        let mut output = self.output.take().expect("its stdout is open");
        output.read_to_string(&mut rest).expect("it writes");
        assert_eq!(self.child.wait().expect("it exits").code(), Some(0));
        let lines = rest.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().expect("it writes JSON")
    }
}

fn request(id: i64, method: &str, params: &Value) -> String {
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    format!("{message}\n")
}

fn opening() -> String {
    let folder = std::env::temp_dir();
    request(1, "initialize", &json!({"protocolVersion": 1}))
        + &request(2, "session/new", &json!({"cwd": folder, "mcpServers": []}))
}

fn prompt(id: i64, session: &str, text: &str) -> String {
    let text = json!([{"type": "text", "text": text}]);
    request(
        id,
        "session/prompt",
        &json!({"sessionId": session, "prompt": text}),
    )
}

/// Runs a test with sessions in memory, and with sessions in a file.
fn with_both_stores(test: impl Fn(&[&str])) {
    test(&["--pace", "5"]);
    let folder = tempfile::TempDir::new().expect("make a folder");
    let file = folder.path().join("sessions.db");
    let file = file.to_str().expect("its name is text");
    test(&["--pace", "5", "--store", file]);
}

#[test]
fn every_request_of_a_pipe_is_answered() {
    with_both_stores(|args| {
        for _ in 0..5 {
            let mut agent = DemoAgent::start(args);
            // The last line has no end of its own.
            let all = opening()
                + &request(3, "session/list", &json!({}))
                + prompt(4, "nobody", "hi").trim_end();
            agent.send(&all);
            let answers = agent.finish();
            for id in 1..=4 {
                let answer = answers.iter().find(|answer| answer["id"] == id);
                let answer = answer.unwrap_or_else(|| panic!("no answer to {id}: {answers:?}"));
                assert_eq!(answer["result"].is_object(), id < 4, "{answer}");
            }
        }
    });
}

#[test]
fn a_turn_ends_by_itself() {
    with_both_stores(|args| {
        let mut agent = DemoAgent::start(args);
        agent.send(&opening());
        agent.next();
        let session = agent.next()["result"]["sessionId"].take();
        // It asks for permission on the way, which nobody can give.
        agent.send(&prompt(3, session.as_str().expect("a session"), "hello"));
        let rest = agent.finish();
        let end = rest.last().expect("it writes");
        assert_eq!(end["id"], 3, "{end}");
        assert_eq!(end["result"]["stopReason"], "end_turn", "{end}");
        let texts = rest
            .iter()
            .filter_map(|line| line["params"]["update"]["content"]["text"].as_str());
        let text: String = texts.collect();
        assert!(
            text.contains("Hello! I am the demo agent.") && text.contains("That was all."),
            "{text}"
        );
    });
}

#[test]
fn nobody_works_for_a_client_that_is_gone() {
    let mut agent = DemoAgent::start(&[]);
    agent.send(&opening());
    agent.next();
    let session = agent.next()["result"]["sessionId"].take();
    // A turn that says nothing until it is cancelled.
    agent.send(&prompt(3, session.as_str().expect("a session"), "wait"));
    agent.next();
    let began = Instant::now();
    agent.input = None;
    agent.output = None;
    assert_eq!(agent.child.wait().expect("it exits").code(), Some(0));
    let took = began.elapsed();
    assert!(took < Duration::from_secs(8), "{took:?}");
}

#[test]
fn a_file_is_a_client_that_reads_everything() {
    let folder = tempfile::TempDir::new().expect("make a folder");
    let (asked, answered) = (folder.path().join("in"), folder.path().join("out"));
    std::fs::write(&asked, opening()).expect("write the requests");
    let status = Command::new(env!("CARGO_BIN_EXE_acp"))
        .arg("demo-agent")
        .stdin(File::open(&asked).expect("open the requests"))
        .stdout(File::create(&answered).expect("make the file"))
        .status()
        .expect("start the demo agent");
    assert_eq!(status.code(), Some(0));
    let answers = std::fs::read_to_string(&answered).expect("read the answers");
    assert_eq!(answers.lines().count(), 2, "{answers}");
}
