//! `session/new`.

use acp_agent::{
    AgentBuilder, AgentLimits,
    host::{McpAcceptance, McpServer},
};
use serde_json::{Value, json};

use crate::{
    client::Client,
    host::{Does, agent, host},
};

fn new(cwd: &str) -> Value {
    json!({"cwd": cwd, "mcpServers": []})
}

fn with_servers(servers: Value) -> Value {
    json!({"cwd": "/home/ada", "mcpServers": servers})
}

#[tokio::test(start_paused = true)]
async fn folders() {
    let (agent, _strings) = agent();
    let mut client = Client::ready(&agent).await;
    for cwd in ["/", "/home/ada", "/home/Ädä/two words"] {
        let answer = client.call("session/new", new(cwd)).await;
        assert!(answer["result"]["sessionId"].is_string(), "{cwd}: {answer}");
    }
    for cwd in [
        "",
        "home",
        "./home",
        "/home/..",
        "/home/../etc",
        "/home//ada",
        "/home/ada/",
    ] {
        let answer = client.call("session/new", new(cwd)).await;
        assert_eq!(answer["error"]["code"], -32602, "{cwd}: {answer}");
        assert!(
            answer["error"]["message"].as_str().unwrap().contains("cwd"),
            "{answer}"
        );
    }
    for params in [
        json!({}),
        json!({"cwd": 7, "mcpServers": []}),
        json!({"cwd": "/home", "mcpServers": "none"}),
    ] {
        let answer = client.call("session/new", params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn tool_servers() {
    let (host, mut strings) = host();
    let agent = AgentBuilder::new(host)
        .mcp(McpAcceptance::default().with_http())
        .build()
        .unwrap();
    let mut client = Client::ready(&agent).await;
    let stdio = json!({"name": "notes", "command": "/usr/bin/notes", "args": ["-v"],
        "env": [{"name": "TOKEN", "value": "canary"}]});
    let http = json!({"type": "http", "name": "web", "url": "http://127.0.0.1/",
        "headers": [{"name": "Authorization", "value": "canary"}]});
    let answer = client
        .call("session/new", with_servers(json!([stdio, http])))
        .await;
    assert!(answer["result"]["sessionId"].is_string(), "{answer}");
    let setup = strings.setup().await;
    assert!(!format!("{setup:?}").contains("canary"));
    let [McpServer::Stdio(notes), McpServer::Http(web)] = &setup.mcp_servers[..] else {
        panic!("{:?}", setup.mcp_servers)
    };
    assert_eq!(
        (&notes.args[..], notes.env[0].1.expose()),
        (&["-v".to_owned()][..], "canary")
    );
    assert_eq!(web.headers[0].1.expose(), "canary");

    let sse = json!({"type": "sse", "name": "web", "url": "http://127.0.0.1/", "headers": []});
    let relative = json!({"name": "notes", "command": "notes", "args": [], "env": []});
    let nameless = json!({"name": "", "command": "/bin/a", "args": [], "env": []});
    let incomplete = json!({"name": "notes", "args": [], "env": []});
    for (servers, at) in [
        (json!([stdio, sse]), "mcpServers[1]"),
        (json!([relative]), "mcpServers[0]"),
        (json!([nameless]), "mcpServers[0]"),
        (json!([stdio, http, stdio]), "mcpServers[2]"),
        (json!([incomplete]), "mcpServers[0].command"),
    ] {
        let answer = client.call("session/new", with_servers(servers)).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(
            answer["error"]["message"].as_str().unwrap().contains(at),
            "{answer}"
        );
        assert!(!answer.to_string().contains("canary"), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn further_folders() {
    let params = |directories: Value| json!({"cwd": "/home/ada", "mcpServers": [], "additionalDirectories": directories});
    let (plain, _strings) = agent();
    let mut client = Client::ready(&plain).await;
    let answer = client.call("session/new", params(json!(["/srv"]))).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let answer = client.call("session/new", params(json!([]))).await;
    assert!(answer["result"].is_object(), "{answer}");

    let (host, mut strings) = host();
    let agent = AgentBuilder::new(host)
        .additional_directories()
        .build()
        .unwrap();
    let mut client = Client::ready(&agent).await;
    let answer = client
        .call("session/new", params(json!(["/srv", "/opt", "/srv"])))
        .await;
    assert!(answer["result"].is_object(), "{answer}");
    let directories = strings.setup().await.additional_directories;
    assert_eq!(directories, ["/srv", "/opt"].map(std::path::PathBuf::from));
    let answer = client
        .call("session/new", params(json!(["/srv", "opt"])))
        .await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test(start_paused = true)]
async fn the_host_learns_what_the_client_can_do() {
    let (agent, mut strings) = agent();
    let capabilities = json!({
        "fs": {"readTextFile": true},
        "terminal": true,
        "auth": {"terminal": true},
        "elicitation": {"form": {}, "url": null},
        "session": {"notices": {}, "configOptions": {"boolean": {}}},
    });
    let mut client = Client::ready_with(&agent, capabilities).await;
    client.new_session().await;
    let features = strings.setup().await.client;
    assert!(features.read_text_file && !features.write_text_file && features.terminal);
    assert!(features.terminal_login && features.forms && !features.urls);
    assert!(features.notices && features.boolean_options && !features.compaction);
}

#[tokio::test(start_paused = true)]
async fn no_more_sessions_than_there_is_room_for() {
    let (host, _strings) = host();
    let mut limits = AgentLimits::default();
    limits.live_sessions = 2;
    let agent = AgentBuilder::new(host).limits(limits).build().unwrap();
    let mut client = Client::ready(&agent).await;
    client.new_session().await;
    client.new_session().await;
    let answer = client.call("session/new", new("/home/ada")).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert_eq!(
        answer["error"]["data"],
        json!({"reason": "too_many_live_sessions", "max": 2})
    );
    // Another connection has room of its own.
    Client::ready(&agent).await.new_session().await;
}

#[tokio::test(start_paused = true)]
async fn who_loses_the_race_for_the_last_place_is_shut_down() {
    let (host, mut strings) = host();
    let mut limits = AgentLimits::default();
    limits.live_sessions = 1;
    let agent = AgentBuilder::new(host).limits(limits).build().unwrap();
    let mut client = Client::ready(&agent).await;
    // Both are made before either is registered.
    strings
        .script
        .new_session
        .lock()
        .extend([Does::Rest(10), Does::Rest(20)]);
    let first = client.start_call("session/new", new("/home/ada")).await;
    let second = client.start_call("session/new", new("/home/ada")).await;
    assert_eq!(
        client.answer(first).await["result"]["sessionId"],
        "session-0"
    );
    let answer = client.answer(second).await;
    assert_eq!(
        answer["error"]["data"]["reason"], "too_many_live_sessions",
        "{answer}"
    );
    client.assert_quiet().await;
    let shutdowns = [
        strings.session().await.shutdowns(),
        strings.session().await.shutdowns(),
    ];
    assert_eq!(shutdowns, [0, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_live_session_is_never_replaced() {
    let (agent, mut strings) = agent();
    let mut client = Client::ready(&agent).await;
    strings
        .script
        .ids
        .lock()
        .extend(["same".to_owned(), "same".to_owned()]);
    client.new_session().await;
    let answer = client.call("session/new", new("/home/ada")).await;
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert_eq!(answer["error"]["data"]["reason"], "already_live");
    let (first, second) = (strings.session().await, strings.session().await);
    client.assert_quiet().await;
    assert_eq!((first.shutdowns(), second.shutdowns()), (0, 1));
    // The first still works.
    let id = client.prompt("same", "hi").await;
    first.start().await.done().await;
    assert_eq!(client.stop_reason(id).await, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn hosts_that_fail_are_answered_for() {
    let (agent, mut strings) = agent();
    let mut client = Client::ready(&agent).await;
    for (does, words) in [
        (Does::FailInPublic, "session/new: no room left in here"),
        (Does::FailInPrivate, "session/new: the agent failed"),
        (Does::Panic, "session/new: the agent failed"),
    ] {
        strings.script.new_session.lock().push_back(does);
        let answer = client.call("session/new", new("/home/ada")).await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert_eq!(answer["error"]["message"], words);
        assert!(!answer.to_string().contains("canary"), "{answer}");

        strings.script.attach.lock().push_back(does);
        let answer = client.call("session/new", new("/home/ada")).await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        let orphan = strings.session().await;
        client.assert_quiet().await;
        assert_eq!(orphan.shutdowns(), 1, "{does:?}");
    }
    client.new_session().await;
}

#[tokio::test(start_paused = true)]
async fn a_host_that_hangs_delays_nobody_else() {
    let (agent, mut strings) = agent();
    let mut client = Client::ready(&agent).await;
    strings.script.new_session.lock().push_back(Does::Hang);
    let hung = client.start_call("session/new", new("/home/ada")).await;
    client.new_session().await;
    client
        .notify("$/cancel_request", json!({"requestId": hung}))
        .await;
    assert_eq!(client.answer(hung).await["error"]["code"], -32800);

    // One that hangs a little later has a session to shut down.
    strings.session().await;
    strings.script.attach.lock().push_back(Does::Hang);
    let hung = client.start_call("session/new", new("/home/ada")).await;
    let session = strings.session().await;
    client
        .notify("$/cancel_request", json!({"requestId": hung}))
        .await;
    assert_eq!(client.answer(hung).await["error"]["code"], -32800);
    client.assert_quiet().await;
    assert_eq!(session.shutdowns(), 1);
}
