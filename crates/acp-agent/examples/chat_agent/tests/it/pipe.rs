//! The program at the end of a pipe.

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};

use crate::model::{Model, says};

/// Sends lines to the program and closes its stdin; gives what it answers.
async fn pipe(child: &mut tokio::process::Child, lines: &[Value]) -> Vec<Value> {
    let mut input = child.stdin.take().expect("its stdin is open");
    for line in lines {
        let line = format!("{line}\n");
        input.write_all(line.as_bytes()).await.unwrap();
    }
    drop(input);
    let mut output = String::new();
    let mut stdout = child.stdout.take().expect("its stdout is open");
    stdout.read_to_string(&mut output).await.unwrap();
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
    let lines = output.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn a_pipe_gets_every_answer() {
    let folder = TempDir::new().unwrap();
    let model = Model::start(vec![says("Hello.")]).await;
    let start = || {
        tokio::process::Command::new(env!("CARGO_BIN_EXE_chat-agent"))
            .env("OPENAI_BASE_URL", &model.url)
            .env("OPENAI_MODEL", "small")
            .env("CHAT_AGENT_STORE", folder.path().join("sessions.db"))
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    };
    let request = |id: i64, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let initialize = || request(1, "initialize", json!({"protocolVersion": 1}));
    let params = json!({"cwd": folder.path(), "mcpServers": []});
    let first = [
        initialize(),
        request(2, "session/new", params.clone()),
        request(3, "session/list", json!({})),
    ];
    let answers = pipe(&mut start(), &first).await;
    assert_eq!(answers.len(), 3, "{answers:?}");
    let opened = answers.iter().find(|answer| answer["id"] == 2).unwrap();
    let session = &opened["result"]["sessionId"];
    assert!(session.is_string(), "{opened}");

    // The session was stored, and a turn ends by itself behind the end of input.
    let mut child = start();
    let mut input = child.stdin.take().unwrap();
    let mut resume = params;
    resume["sessionId"] = session.clone();
    for line in [initialize(), request(2, "session/resume", resume)] {
        let line = format!("{line}\n");
        input.write_all(line.as_bytes()).await.unwrap();
    }
    let mut output = tokio::io::BufReader::new(child.stdout.as_mut().unwrap());
    for _ in 0..2 {
        let mut line = String::new();
        output.read_line(&mut line).await.unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert!(answer["result"].is_object(), "{answer}");
    }
    child.stdin = Some(input);
    let text = json!([{"type": "text", "text": "Hi"}]);
    let prompt = json!({"sessionId": session, "prompt": text});
    let rest = pipe(&mut child, &[request(3, "session/prompt", prompt)]).await;
    let end = rest.last().unwrap();
    assert_eq!(end["result"]["stopReason"], "end_turn", "{end}");
    let said = |line: &&Value| line["params"]["update"]["content"]["text"] == "Hello.";
    assert!(rest.iter().any(|line| said(&line)), "{rest:?}");
}
