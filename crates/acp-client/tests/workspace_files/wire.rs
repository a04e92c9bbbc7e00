//! What an agent is told.

use acp_client::{ClientOptions, MissingFiles, WorkspaceFiles};
use serde_json::{Value, json};

use crate::agent::{Agent, SESSION, dialed};
use crate::support::Tree;

async fn opened(options: ClientOptions, tree: &Tree) -> (acp_client::Session, Agent) {
    let (client, mut agent) = dialed(options, json!({})).await;
    let serve = async {
        let request = agent.request("session/new").await;
        agent.answer(&request, json!({"sessionId": SESSION})).await;
    };
    let (session, ()) = tokio::join!(client.new_session(tree.at("ws/app")), serve);
    (session.unwrap(), agent)
}

async fn told(agent: &mut Agent, method: &str, params: Value) -> Value {
    agent.ask(7, method, params).await;
    let mut answer = agent.next().await;
    answer["error"]["data"].take();
    match answer.get("result") {
        Some(result) => result.clone(),
        None => answer["error"].clone(),
    }
}

#[tokio::test]
async fn an_agent_is_told_what_it_can_do_something_about() {
    let tree = Tree::new();
    tree.link("ws/app/out", tree.at("out/x"));
    tree.link("ws/app/nowhere", "gone");
    tree.put("ws/app/data", b"\xff");
    tree.put("ws/app/long", "123456789");
    let files = WorkspaceFiles::new().with_max_read(8).with_max_write(8);
    let options = ClientOptions::new().with_files(files);
    let (_session, mut agent) = opened(options, &tree).await;
    let read = |name: &str| json!({"sessionId": SESSION, "path": tree.at(name).to_str().unwrap()});
    let cases = [
        ("ws/app/src/main.rs", json!({"content": "inside"})),
        (
            "ws/app/none",
            json!({"code": -32002, "message": "no such file or folder"}),
        ),
        (
            "ws/app/out",
            json!({"code": -32602, "message": "the path lies outside the folders of this session"}),
        ),
        (
            "ws/app-evil/x",
            json!({"code": -32602, "message": "the path lies outside the folders of this session"}),
        ),
        (
            "ws/app/nowhere",
            json!({"code": -32602, "message": "the path leads through a link to nowhere"}),
        ),
        (
            "ws/app/src/main.rs/",
            json!({"code": -32602, "message": "path: the path of a file must not end in a slash"}),
        ),
        (
            "ws/app/src",
            json!({"code": -32602, "message": "the path is no regular file"}),
        ),
        (
            "ws/app/data",
            json!({"code": -32602, "message": "the file is no UTF-8 text"}),
        ),
        (
            "ws/app/long",
            json!({"code": -32602, "message": "more than 8 bytes at once"}),
        ),
    ];
    for (name, mut wanted) in cases {
        if wanted.get("code").is_some() {
            wanted["data"] = Value::Null;
        }
        assert_eq!(
            told(&mut agent, "fs/read_text_file", read(name)).await,
            wanted,
            "{name}"
        );
    }
    let write = |text: &str| {
        let mut params = read("ws/app/new");
        params["content"] = text.into();
        params
    };
    let written = told(&mut agent, "fs/write_text_file", write("text")).await;
    assert_eq!(written, json!({}));
    assert_eq!(tree.text("ws/app/new"), "text");
    let refused = told(&mut agent, "fs/write_text_file", write("123456789")).await;
    assert_eq!(refused["message"], "more than 8 bytes at once");
}

#[tokio::test]
async fn an_agent_that_reads_before_it_writes_can_make_a_file() {
    let tree = Tree::new();
    let files = WorkspaceFiles::new().with_missing_files(MissingFiles::Empty);
    let options = ClientOptions::new().with_files(files);
    let (_session, mut agent) = opened(options, &tree).await;
    let mut params = json!({"sessionId": SESSION, "path": tree.at("ws/app/new").to_str().unwrap()});
    let read = told(&mut agent, "fs/read_text_file", params.clone()).await;
    assert_eq!(read, json!({"content": ""}));
    params["content"] = "made".into();
    let written = told(&mut agent, "fs/write_text_file", params).await;
    assert_eq!(written, json!({}));
    assert_eq!(tree.text("ws/app/new"), "made");
}

#[tokio::test]
async fn read_only_files_are_advertised_and_served_as_such() {
    let options = ClientOptions::new().with_read_only_files(WorkspaceFiles::new());
    let fs = options.capabilities().fs;
    assert!(fs.read_text_file && !fs.write_text_file);
    let tree = Tree::new();
    let (_session, mut agent) = opened(options, &tree).await;
    let mut params =
        json!({"sessionId": SESSION, "path": tree.at("ws/app/src/main.rs").to_str().unwrap()});
    let read = told(&mut agent, "fs/read_text_file", params.clone()).await;
    assert_eq!(read, json!({"content": "inside"}));
    params["content"] = "x".into();
    let refused = told(&mut agent, "fs/write_text_file", params).await;
    assert_eq!(refused["code"], -32601);
}
