//! Refused requests name the member and what was expected; failures have an id by which
//! their cause is found.

use std::sync::Arc;

use acp_agent::{
    AgentBuilder,
    host::{McpServer, PromptContent},
};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::{
    client::Client,
    host::{Does, full_agent, host, login_builder},
    secrets::Log,
};

/// Calls a method, and checks the error that the client reads.
async fn check(client: &mut Client, method: &str, params: Value, path: &str, message: &str) {
    let answer = client.call(method, params.clone()).await;
    let error = &answer["error"];
    assert_eq!(error["code"], -32602, "{method} {params}: {answer}");
    assert_eq!(error["data"]["path"], path, "{method} {params}: {answer}");
    let expected = error["data"]["expected"].as_str();
    assert!(expected.is_some_and(|text| !text.is_empty()), "{answer}");
    assert_eq!(error["message"], message, "{method} {params}");
    assert!(!answer.to_string().contains("canary"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn every_method_names_the_member_that_it_refuses() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let (builder, _strings) = login_builder();
    let agent = builder
        .prompt_content(
            PromptContent::new()
                .with_image()
                .with_audio()
                .with_resource(),
        )
        .build()
        .unwrap();
    let mut client = Client::start(&agent);
    let version = "protocolVersion";
    check(
        &mut client,
        "initialize",
        json!({version: "canary"}),
        version,
        "initialize: protocolVersion: expected a whole number from 0 to 65535, found a string",
    )
    .await;
    client.call("initialize", json!({version: 1})).await;
    client
        .call("authenticate", json!({"methodId": "key"}))
        .await;
    let session = client.new_session().await;
    let server = |server: Value| json!({"cwd": "/a", "sessionId": "s", "mcpServers": [server]});
    let prompt = |block: Value| json!({"sessionId": session, "prompt": [{"type": "text", "text": "hi"}, block]});
    for (method, params, path, message) in [
        (
            "authenticate",
            json!({}),
            "methodId",
            "methodId: expected a string, found nothing",
        ),
        (
            "authenticate",
            json!({"methodId": "canary"}),
            "methodId",
            "methodId: this agent advertised no such method",
        ),
        (
            "logout",
            json!(["canary"]),
            "",
            "expected an object, found a list",
        ),
        (
            "session/new",
            json!({"cwd": ["canary"], "mcpServers": []}),
            "cwd",
            "cwd: expected a string, found a list",
        ),
        (
            "session/new",
            json!({"cwd": "canary"}),
            "cwd",
            "cwd: the path is not absolute",
        ),
        (
            "session/new",
            json!({"cwd": "/canary\u{0}"}),
            "cwd",
            "cwd: the path holds a NUL character",
        ),
        (
            "session/new",
            json!({"cwd": "/a", "additionalDirectories": ["/canary"]}),
            "additionalDirectories",
            "additionalDirectories: this agent takes none",
        ),
        (
            "session/new",
            server(json!({"name": "canary", "command": "/a\u{0}"})),
            "mcpServers[0].command",
            "mcpServers[0].command: it holds a NUL character",
        ),
        (
            "session/new",
            server(json!({"name": "canary", "command": "/a", "args": ["", "\u{0}"]})),
            "mcpServers[0].args[1]",
            "mcpServers[0].args[1]: it holds a NUL character",
        ),
        (
            "session/new",
            server(json!({"type": "canary", "name": "a"})),
            "mcpServers[0].type",
            "mcpServers[0].type: this kind of server is not known",
        ),
        (
            "session/load",
            server(json!({"name": "a", "command": "/a", "env": "canary"})),
            "mcpServers[0].env",
            "mcpServers[0].env: expected a list of {name, value}, found a string",
        ),
        (
            "session/resume",
            server(json!({"name": "a", "command": "/a", "env": [{"name": "canary"}]})),
            "mcpServers[0].env[0].value",
            "mcpServers[0].env[0].value: expected a string, found nothing",
        ),
        (
            "session/load",
            json!({"cwd": "/a", "sessionId": "canary\n"}),
            "sessionId",
            "sessionId: read a session id: it holds a control character",
        ),
        (
            "session/list",
            json!({"cursor": "canary"}),
            "cursor",
            "cursor: it is malformed",
        ),
        (
            "session/list",
            json!({"cwd": {}}),
            "cwd",
            "cwd: expected a string, found an object",
        ),
        (
            "session/delete",
            json!({"sessionId": 7}),
            "sessionId",
            "sessionId: expected a string, found a number",
        ),
        (
            "session/close",
            json!({}),
            "sessionId",
            "sessionId: expected a string, found nothing",
        ),
        (
            "session/set_mode",
            json!({"sessionId": session, "mode": "canary"}),
            "modeId",
            "modeId: expected a string, found nothing",
        ),
        (
            "session/set_config_option",
            json!({"sessionId": session, "configId": "canary", "value": "canary"}),
            "configId",
            "configId: the session has no such option",
        ),
        (
            "session/set_config_option",
            json!({"sessionId": session, "configId": "canary"}),
            "value",
            "value: expected a string, found nothing",
        ),
        (
            "session/prompt",
            json!({"sessionId": session, "prompt": "canary"}),
            "prompt",
            "prompt: expected a list of objects, found a string",
        ),
        (
            "session/prompt",
            json!({"sessionId": session, "prompt": []}),
            "prompt",
            "prompt: the prompt is empty",
        ),
        (
            "session/prompt",
            prompt(json!({"type": "image", "data": "canary!", "mimeType": "image/png"})),
            "prompt[1].data",
            "prompt[1].data: it is not base64",
        ),
        (
            "session/prompt",
            prompt(json!({"type": "audio", "data": "canary!", "mimeType": "audio/wav"})),
            "prompt[1].data",
            "prompt[1].data: it is not base64",
        ),
        (
            "session/prompt",
            prompt(json!({"type": "resource", "resource": {"uri": "a:b", "blob": "canary!"}})),
            "prompt[1].resource.blob",
            "prompt[1].resource.blob: it is not base64",
        ),
        (
            "session/prompt",
            prompt(json!({"type": "canary"})),
            "prompt[1]",
            "prompt[1]: this kind of content is not known",
        ),
    ] {
        let message = format!("{method}: {message}");
        check(&mut client, method, params, path, &message).await;
    }
    assert!(!log.contains("canary"), "a refused value is logged");
}

#[tokio::test(start_paused = true)]
async fn shapes_that_clients_in_use_send_are_read() {
    let (agent, mut strings) = full_agent();
    let mut client = Client::ready(&agent).await;
    for method in ["session/new", "session/load", "session/resume"] {
        let call = |servers: Option<Value>| {
            let mut params = json!({"cwd": "/home/ada"});
            if method != "session/new" {
                params["sessionId"] = format!("{method}-{}", servers.is_some()).into();
            }
            if let Some(servers) = servers {
                params["mcpServers"] = servers;
            }
            params
        };
        let answer = client.told(method, call(None)).await.1;
        assert!(answer["result"].is_object(), "{method}: {answer}");
        assert_eq!(strings.setup().await.mcp_servers, []);

        let servers = json!([
            {"name": "bare", "command": "/bin/bare"},
            {"name": "map", "command": "/bin/map", "args": [], "env": {"B": "2", "A": "1"}},
        ]);
        let answer = client.told(method, call(Some(servers))).await.1;
        assert!(answer["result"].is_object(), "{method}: {answer}");
        let setup = strings.setup().await;
        let [McpServer::Stdio(bare), McpServer::Stdio(map)] = &setup.mcp_servers[..] else {
            panic!("{:?}", setup.mcp_servers)
        };
        assert!(bare.args.is_empty() && bare.env.is_empty());
        let env = map
            .env
            .iter()
            .map(|(name, value)| (&**name, value.expose()));
        let mut env: Vec<_> = env.collect();
        env.sort_unstable();
        assert_eq!(env, [("A", "1"), ("B", "2")]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_live_session_is_to_be_closed_first() {
    let (agent, _strings) = full_agent();
    let mut client = Client::ready(&agent).await;
    let session = client
        .told("session/new", json!({"cwd": "/home/ada"}))
        .await
        .1["result"]["sessionId"]
        .clone();
    let params = json!({"sessionId": session, "cwd": "/home/ada"});
    for method in ["session/load", "session/resume", "session/delete"] {
        let (_, answer) = client.told(method, params.clone()).await;
        let error = &answer["error"];
        assert_eq!(error["code"], -32600, "{answer}");
        assert_eq!(error["data"]["reason"], "already_live", "{answer}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("close it first"), "{message}");
    }
    client.told("session/close", params.clone()).await;
    let (_, answer) = client.told("session/delete", params).await;
    assert!(answer["result"].is_object(), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_found_by_its_id() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let (host, strings) = host();
    let failures = Arc::new(Mutex::new(Vec::new()));
    let hook = Arc::clone(&failures);
    let agent = AgentBuilder::new(host.clone())
        .catalog(host)
        .on_error(move |failure| {
            let cause = failure.cause().map(ToString::to_string);
            let id = failure.correlation_id().to_owned();
            hook.lock().push((failure.method().to_owned(), id, cause));
            panic!("a hook may panic");
        })
        .build()
        .unwrap();
    let mut client = Client::ready(&agent).await;
    for does in [Does::FailInPrivate, Does::Panic, Does::FailInPublic] {
        strings.script.list.lock().push_back(does);
        let answer = client.call("session/list", json!({})).await;
        let id = answer["error"]["data"]["correlationId"].as_str();
        let id = id.unwrap_or_else(|| panic!("no id: {answer}")).to_owned();
        assert!(!answer.to_string().contains("was refused"), "{answer}");
        let (method, noted, cause) = failures.lock().pop().unwrap();
        assert_eq!((&*method, &noted), ("session/list", &id));
        // The hook gets the cause as it is, and the log without the key.
        let is_private = does != Does::FailInPublic;
        let has_key = |text: &String| text.contains("canary") && text.contains("was refused");
        assert_eq!(cause.as_ref().is_some_and(has_key), is_private, "{cause:?}");
        let log = log.record_with(&id);
        assert_eq!(log.contains("was refused"), is_private, "{log}");
        assert!(!log.contains("canary"), "{log}");
    }
    // A refusal is no failure.
    let answer = client.call("session/list", json!({"cursor": "x"})).await;
    assert_eq!(answer["error"]["data"]["correlationId"], Value::Null);
    assert!(failures.lock().is_empty());
}
