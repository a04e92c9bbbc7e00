//! The agent between a client and a model, both of ours.

mod client;
mod model;
mod pipe;

use std::{fs, io::Read, path::Path};

use acp_agent::host::SecretText;
use chat_agent::{ChatAgent, Config};
use serde_json::{Value, json};
use tempfile::TempDir;

use client::Client;
use model::{Model, Reply, calls, finish, says, text};

fn config(model: &Model) -> Config {
    Config {
        base_url: model.url.clone(),
        key: Some(SecretText::new("canary-key")),
        models: vec!["small".to_owned(), "large".to_owned()],
        context: 1000,
        store: None,
    }
}

struct Scene {
    model: Model,
    client: Client,
    session: String,
    folder: TempDir,
}

async fn scene_with(capabilities: Value, replies: Vec<Reply>) -> Scene {
    let model = Model::start(replies).await;
    let agent = ChatAgent::new(config(&model))
        .unwrap()
        .into_agent()
        .unwrap();
    let mut client = Client::start(agent, capabilities).await;
    let folder = TempDir::new().unwrap();
    let session = client.new_session(folder.path()).await;
    Scene {
        model,
        client,
        session,
        folder,
    }
}

async fn scene(replies: Vec<Reply>) -> Scene {
    scene_with(json!({}), replies).await
}

#[tokio::test]
async fn an_answer_streams() {
    let reply = Reply::Stream(vec![
        json!({"choices": [{"delta": {"role": "assistant", "reasoning_content": "Hm."}}]}),
        text("Hel"),
        text("lo."),
        finish("stop"),
        json!({"choices": [], "usage": {"total_tokens": 42}}),
    ]);
    let mut scene = scene(vec![reply]).await;
    let turn = scene.client.prompt(&scene.session, "Hi\nyou", "").await;
    assert_eq!(turn.stop_reason(), "end_turn");
    assert_eq!(turn.text(), "Hello.");
    assert_eq!(turn.texts("agent_thought_chunk"), "Hm.");
    assert_eq!(turn.of_kind("session_info_update")[0]["title"], "Hi");
    let usage = turn.of_kind("usage_update")[0];
    assert_eq!((&usage["used"], &usage["size"]), (&json!(42), &json!(1000)));

    let asked = &scene.model.take_asked()[0];
    assert_eq!(asked.key.as_deref(), Some("canary-key"));
    assert_eq!(asked.body["model"], "small");
    assert_eq!(asked.body["stream"], true);
    assert_eq!(asked.body["tools"].as_array().unwrap().len(), 3);
    assert_eq!(asked.body["messages"][0]["role"], "system");
    assert_eq!(
        asked.body["messages"][1],
        json!({"role": "user", "content": "Hi\nyou"})
    );
}

#[tokio::test]
async fn the_user_chooses_the_model() {
    let mut scene = scene(vec![says("Hello.")]).await;
    let params = json!({"sessionId": scene.session, "configId": "model", "value": "large"});
    scene.client.call("session/set_config_option", params).await;
    scene.client.prompt(&scene.session, "Hi", "").await;
    assert_eq!(scene.model.take_asked()[0].body["model"], "large");
}

#[tokio::test]
async fn a_tool_runs_if_it_may() {
    let write = json!({"path": "notes/a.md", "content": "hello\n"});
    let replies = || vec![calls("c1", "write_file", write.clone()), says("Done.")];
    let mut denied = scene(replies()).await;
    let turn = denied.client.prompt(&denied.session, "write", "deny").await;
    assert_eq!(turn.text(), "Done.");
    let told = &denied.model.take_asked()[1].body["messages"];
    assert_eq!(told[3]["content"], "the user did not allow it");
    assert!(!denied.folder.path().join("notes").exists());

    let mut allowed = scene(replies()).await;
    let turn = allowed
        .client
        .prompt(&allowed.session, "write", "approve")
        .await;
    assert_eq!(turn.stop_reason(), "end_turn");
    let file = allowed.folder.path().join("notes/a.md");
    assert_eq!(fs::read_to_string(&file).unwrap(), "hello\n");
    let tool = turn.of_kind("tool_call")[0];
    assert_eq!(
        (&tool["kind"], &tool["status"]),
        (&json!("edit"), &json!("pending"))
    );
    assert_eq!(tool["rawInput"], write);
    let end = turn.of_kind("tool_call_update");
    let end = end.last().unwrap();
    assert_eq!(end["status"], "completed");
    assert_eq!(end["content"][0]["newText"], "hello\n");
    let asked = allowed.model.take_asked();
    let told = &asked[1].body["messages"];
    assert_eq!(told[2]["tool_calls"][0]["id"], "c1");
    assert_eq!(told[3]["tool_call_id"], "c1");
    assert_eq!(told[3]["content"], "notes/a.md is written");
}

#[tokio::test]
async fn in_the_mode_to_act_nobody_is_asked() {
    let read = calls(
        "c1",
        "read_file",
        json!({"path": "/etc/hostname-that-is-not"}),
    );
    let mut scene = scene(vec![read, says("Nothing there.")]).await;
    let params = json!({"sessionId": scene.session, "modeId": "act"});
    scene.client.call("session/set_mode", params).await;
    let session = scene.session.clone();
    let never = |message: &Value| panic!("{message}");
    let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": "read"}]});
    let request = scene.client.send_request("session/prompt", params).await;
    let turn = scene.client.hear(request, never).await;
    assert_eq!(turn.text(), "Nothing there.");
    let end = turn.of_kind("tool_call_update");
    assert_eq!(end.last().unwrap()["status"], "failed");
}

#[tokio::test]
async fn files_in_the_folder_are_read_without_asking() {
    let inside = calls("c1", "read_file", json!({"path": "a.md"}));
    let outside = calls("c2", "read_file", json!({"path": "../a.md"}));
    let link = calls("c3", "read_file", json!({"path": "link"}));
    let mut scene = scene(vec![inside, outside, link, says("Done.")]).await;
    fs::write(scene.folder.path().join("a.md"), "inside").unwrap();
    let secret = TempDir::new().unwrap();
    fs::write(secret.path().join("secret"), "outside").unwrap();
    let target = secret.path().join("secret");
    std::os::unix::fs::symlink(target, scene.folder.path().join("link")).unwrap();
    scene.client.prompt(&scene.session, "read", "deny").await;
    let asked = scene.model.take_asked();
    let told = &asked[3].body["messages"];
    let contents = [3, 5, 7].map(|at| told[at]["content"].as_str().unwrap());
    let denied = "the user did not allow it";
    assert_eq!(contents, ["inside", denied, denied]);
}

#[tokio::test]
async fn the_client_serves_what_it_offers() {
    let capabilities = json!({"fs": {"readTextFile": true, "writeTextFile": true},
        "terminal": true});
    let replies = vec![
        calls("c1", "read_file", json!({"path": "a.md"})),
        calls(
            "c2",
            "write_file",
            json!({"path": "a.md", "content": "new"}),
        ),
        calls("c3", "shell", json!({"command": "make test"})),
        says("Done."),
    ];
    let mut scene = scene_with(capabilities, replies).await;
    let answer = |message: &Value| match message["method"].as_str().unwrap() {
        "fs/read_text_file" => json!({"content": "old"}),
        "terminal/create" => {
            assert_eq!(message["params"]["args"], json!(["-c", "make test"]));
            json!({"terminalId": "t1"})
        }
        "terminal/wait_for_exit" => json!({"exitCode": 2}),
        "terminal/output" => json!({"output": "no rule", "truncated": false}),
        _ => json!({}),
    };
    let session = scene.session.clone();
    let prompting = scene
        .client
        .prompt_and_answer(&session, "work", "approve", answer);
    let turn = prompting.await;
    assert_eq!(turn.text(), "Done.");
    let updates = turn.of_kind("tool_call_update");
    let terminal = json!([{"type": "terminal", "terminalId": "t1"}]);
    assert!(updates.iter().any(|update| update["content"] == terminal));
    let told = &scene.model.take_asked()[3].body["messages"];
    assert_eq!(told[3]["content"], "old");
    assert_eq!(told[7]["content"], "exit code 2\nno rule");
    assert!(!scene.folder.path().join("a.md").exists());
}

#[tokio::test]
async fn commands_run_here_if_the_client_runs_none() {
    let line = "echo out; echo err >&2; pwd; sleep 1000 & exit 3";
    let run = calls("c1", "shell", json!({ "command": line }));
    let mut scene = scene(vec![run, says("Done.")]).await;
    // What the command leaves behind does not keep it.
    let turn = scene.client.prompt(&scene.session, "run", "approve").await;
    assert_eq!(turn.text(), "Done.");
    let asked = scene.model.take_asked();
    let told = asked[1].body["messages"][3]["content"].as_str().unwrap();
    let folder = scene.folder.path().canonicalize().unwrap();
    assert_eq!(
        told,
        format!("exit code 3\nout\n{}\nerr\n", folder.display())
    );
}

#[tokio::test]
async fn a_cancelled_turn_ends_its_command() {
    let line = "(echo running; sleep 1000) > pipe";
    let run = calls("c1", "shell", json!({ "command": line }));
    let mut scene = scene(vec![run]).await;
    let pipe = scene.folder.path().join("pipe");
    make_fifo(&pipe);
    let session = scene.session.clone();
    let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": "run"}]});
    let request = scene.client.send_request("session/prompt", params).await;
    let allow = json!({"outcome": {"outcome": "selected", "optionId": "approve"}});
    let hearing = scene.client.hear(request, |_| allow.clone());
    // Who writes to a pipe keeps it open; its end is the end of all of them.
    let opened = tokio::task::spawn_blocking(move || {
        let mut reader = fs::File::open(pipe).unwrap();
        let mut said = [0; 8];
        reader.read_exact(&mut said).unwrap();
        assert_eq!(said, *b"running\n");
        reader
    });
    let mut hearing = Box::pin(hearing);
    let reader = tokio::select! {
        reader = opened => reader.unwrap(),
        _ = &mut hearing => panic!("the command ended"),
    };
    drop(hearing);
    scene.client.cancel(&session).await;
    let turn = scene.client.hear(request, |_| Value::Null).await;
    assert_eq!(turn.stop_reason(), "cancelled");
    let read = tokio::task::spawn_blocking(move || std::io::read_to_string(reader));
    assert_eq!(read.await.unwrap().unwrap(), "");
}

fn make_fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

#[tokio::test]
async fn a_cancelled_turn_hangs_up_on_the_model() {
    let mut scene = scene(vec![Reply::Hang(vec![text("Well, ")])]).await;
    let session = scene.session.clone();
    let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": "Hi"}]});
    let request = scene.client.send_request("session/prompt", params).await;
    while scene.client.next().await["params"]["update"]["content"]["text"] != "Well, " {}
    scene.client.cancel(&session).await;
    let turn = scene.client.hear(request, |_| Value::Null).await;
    assert_eq!(turn.stop_reason(), "cancelled");
    scene.model.hung_up().await;
}

#[tokio::test]
async fn the_user_reads_what_went_wrong() {
    let error = |status, headers, message: &str| {
        Reply::Error(status, headers, json!({"error": {"message": message}}))
    };
    let unreadable = Reply::Stream(vec![json!({"choices": "what?"})]);
    let long = json!({"error": {"message": "too long", "code": "context_length_exceeded"}});
    for (reply, want) in [
        (
            error(401, "", "no key canary-key"),
            "another OPENAI_API_KEY: no key ***",
        ),
        (
            error(500, "", "overloaded"),
            "the model does not answer: overloaded",
        ),
        (error(429, "retry-after: 7\r\n", "slow down"), ""),
        (Reply::Error(400, "", long), ""),
        (Reply::Error(502, "", json!("<html>")), "502 Bad Gateway"),
        (Reply::Cut(vec![text("Hel")]), "broke off"),
        (unreadable, "cannot be understood"),
        (
            Reply::Stream(vec![finish("stop")]),
            "the model said nothing",
        ),
    ] {
        let mut scene = scene(vec![reply]).await;
        let turn = scene.client.prompt(&scene.session, "Hi", "").await;
        assert!(turn.error().contains(want), "{want}: {}", turn.end);
        assert!(!turn.end.to_string().contains("canary-key"));
    }
    for (reason, want) in [("length", "max_tokens"), ("content_filter", "refusal")] {
        let mut scene = scene(vec![Reply::Stream(vec![text("Hm"), finish(reason)])]).await;
        let turn = scene.client.prompt(&scene.session, "Hi", "").await;
        assert_eq!(turn.stop_reason(), want);
    }
}

#[tokio::test]
async fn a_model_that_is_not_there() {
    let mut nowhere = config(&Model::start([]).await);
    // The port of a listener that was closed.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    nowhere.base_url = format!("http://{}/v1", closed.local_addr().unwrap());
    drop(closed);
    let agent = ChatAgent::new(nowhere).unwrap().into_agent().unwrap();
    let mut client = Client::start(agent, json!({})).await;
    let session = client.new_session(Path::new("/")).await;
    let turn = client.prompt(&session, "Hi", "").await;
    assert!(turn.error().contains("OPENAI_BASE_URL"), "{}", turn.end);
}

#[tokio::test]
async fn a_model_that_runs_in_circles_is_stopped() {
    let circles = (0..60).map(|at| calls(&format!("c{at}"), "sing", json!({})));
    let mut scene = scene(circles.collect()).await;
    let turn = scene.client.prompt(&scene.session, "Hi", "").await;
    assert_eq!(turn.stop_reason(), "max_turn_requests");
    let asked = scene.model.take_asked();
    assert_eq!(asked.len(), 50);
    assert_eq!(
        asked[1].body["messages"][3]["content"],
        "there is no such tool"
    );
}

#[tokio::test]
async fn a_conversation_goes_on_after_a_restart() {
    let replies = vec![
        calls("c1", "read_file", json!({"path": "a.md"})),
        says("It says hello."),
        says("You asked for a file."),
    ];
    let model = Model::start(replies).await;
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.md"), "hello").unwrap();
    let stored = || Config {
        store: Some(folder.path().join("sessions.db")),
        ..config(&model)
    };
    let agent = ChatAgent::new(stored()).unwrap().into_agent().unwrap();
    let mut client = Client::start(agent, json!({})).await;
    let session = client.new_session(folder.path()).await;
    client.prompt(&session, "read a.md", "").await;
    drop(client);
    model.take_asked();

    let agent = ChatAgent::new(stored()).unwrap().into_agent().unwrap();
    let mut client = Client::start(agent, json!({})).await;
    let params = json!({"sessionId": session, "cwd": folder.path(), "mcpServers": []});
    let loaded = client.call("session/load", params).await;
    assert_eq!(loaded.text(), "It says hello.");
    client.prompt(&session, "what did I ask?", "").await;
    let asked = model.take_asked();
    let told = asked[0].body["messages"].as_array().unwrap();
    let roles: Vec<_> = told.iter().map(|message| &message["role"]).collect();
    assert_eq!(
        roles,
        ["system", "user", "assistant", "tool", "assistant", "user"]
    );
    assert_eq!(told[3]["content"], "hello");
    assert_eq!(told[2]["tool_calls"][0]["id"], told[3]["tool_call_id"]);
}
