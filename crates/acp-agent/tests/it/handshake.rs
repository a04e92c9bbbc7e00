//! `initialize`, and what comes before it.

use acp_agent::{
    AgentBuilder,
    host::{McpAcceptance, PromptContent},
};
use serde_json::{Value, json};

use crate::{
    client::Client,
    host::{agent, host},
};

#[tokio::test(start_paused = true)]
async fn whatever_version_is_asked_for_the_answer_is_one() {
    let (agent, _strings) = agent();
    for version in [0, 1, 2, 65535] {
        let mut client = Client::start(&agent);
        let answer = client
            .call("initialize", json!({"protocolVersion": version}))
            .await;
        assert_eq!(
            answer["result"]["protocolVersion"], 1,
            "asked for {version}: {answer}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_none_is_refused_and_may_be_corrected() {
    let (agent, _strings) = agent();
    let mut client = Client::start(&agent);
    for version in [
        json!("1"),
        json!("2024-11-05"),
        json!(true),
        json!(1.5),
        json!(70000),
    ] {
        let answer = client
            .call("initialize", json!({"protocolVersion": version}))
            .await;
        assert_eq!(answer["error"]["code"], -32602, "{version}: {answer}");
        let hint = answer["error"]["message"].as_str().unwrap();
        assert!(
            hint.contains("protocolVersion: expected a whole number"),
            "{answer}"
        );
    }
    let answer = client.call("initialize", json!({})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let answer = client
        .call("initialize", json!({"protocolVersion": 1}))
        .await;
    assert_eq!(answer["result"]["protocolVersion"], 1, "{answer}");
}

#[tokio::test(start_paused = true)]
async fn parameters_may_be_left_out() {
    let (agent, _strings) = agent();
    let without = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"});
    let null = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": null});
    for message in [without, null] {
        let mut client = Client::start(&agent);
        client.send(message).await;
        let answer = client.answer(1).await;
        assert_eq!(answer["result"]["protocolVersion"], 1, "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn only_what_is_registered_is_advertised() {
    async fn capabilities(builder: AgentBuilder) -> Value {
        let mut client = Client::start(&builder.build().unwrap());
        let mut answer = client
            .call("initialize", json!({"protocolVersion": 1}))
            .await;
        answer["result"].take()
    }
    let plain = capabilities(AgentBuilder::new(host().0).info("librarian", "2.1")).await;
    assert_eq!(plain["agentInfo"]["name"], "librarian");
    assert_eq!(plain["agentInfo"]["version"], "2.1");
    let capabilities_of = |answer: &Value, path: &str| -> Value {
        answer
            .pointer(&format!("/agentCapabilities/{path}"))
            .cloned()
            .unwrap_or_default()
    };
    for path in [
        "loadSession",
        "promptCapabilities/image",
        "promptCapabilities/audio",
        "promptCapabilities/embeddedContext",
        "mcpCapabilities/http",
        "mcpCapabilities/sse",
    ] {
        let value = capabilities_of(&plain, path);
        assert!(
            value == Value::Bool(false) || value.is_null(),
            "{path}: {value}"
        );
    }
    for session in ["list", "resume", "delete", "additionalDirectories"] {
        let value = capabilities_of(&plain, &format!("sessionCapabilities/{session}"));
        assert!(value.is_null(), "{session}: {value}");
    }
    assert_eq!(
        capabilities_of(&plain, "sessionCapabilities/close"),
        json!({})
    );
    let full = AgentBuilder::new(host().0)
        .prompt_content(
            PromptContent::new()
                .with_image()
                .with_audio()
                .with_resource(),
        )
        .mcp(McpAcceptance::default().with_http().with_sse())
        .additional_directories();
    let full = capabilities(full).await;
    for path in [
        "promptCapabilities/image",
        "promptCapabilities/audio",
        "promptCapabilities/embeddedContext",
        "mcpCapabilities/http",
        "mcpCapabilities/sse",
    ] {
        assert_eq!(capabilities_of(&full, path), true, "{path}");
    }
    assert_eq!(
        capabilities_of(&full, "sessionCapabilities/additionalDirectories"),
        json!({})
    );
}

#[tokio::test(start_paused = true)]
async fn initialize_comes_first_and_once() {
    let (agent, _strings) = agent();
    let mut client = Client::start(&agent);
    let new = json!({"cwd": "/home/ada", "mcpServers": []});
    let answer = client.call("session/new", new.clone()).await;
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    let answer = client
        .call("session/prompt", crate::client::prompt("s", "hi"))
        .await;
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    client
        .call("initialize", json!({"protocolVersion": 1}))
        .await;
    let answer = client
        .call("initialize", json!({"protocolVersion": 1}))
        .await;
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    let answer = client.call("session/new", new).await;
    assert!(answer["result"]["sessionId"].is_string(), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn what_comes_in_one_write_is_served_in_order() {
    let (agent, _strings) = agent();
    let mut client = Client::start(&agent);
    let (first, initialize) = client.request("initialize", json!({"protocolVersion": 1}));
    let new = json!({"cwd": "/home/ada", "mcpServers": []});
    let (second, new) = client.request("session/new", new);
    client.send_all(&[initialize, new]).await;
    client.answer(first).await;
    let answer = client.answer(second).await;
    assert!(answer["result"]["sessionId"].is_string(), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn what_is_not_served_is_not_found() {
    let (agent, _strings) = agent();
    let mut client = Client::ready(&agent).await;
    for method in [
        "session/load",
        "session/resume",
        "session/list",
        "session/delete",
        "session/set_mode",
        "session/set_config_option",
        "authenticate",
        "logout",
        "fs/read_text_file",
        "session/update",
        "_example.com/ping",
        "ping",
    ] {
        let answer = client.call(method, json!({})).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    // Notifications are never answered.
    client.notify("_example.com/hello", json!({})).await;
    client
        .notify("session/cancel", json!({"sessionId": "nobody"}))
        .await;
    client
        .notify("session/cancel", json!({"sessionId": 7}))
        .await;
    client.assert_quiet().await;
}
