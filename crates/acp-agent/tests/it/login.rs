//! Logging in and out.

use std::sync::atomic::Ordering;

use acp_agent::{
    AgentBuilder, BuildError,
    host::{AuthMethod, SecretText},
};
use serde_json::{Value, json};

use crate::{
    client::{Client, prompt},
    host::{Does, Strings, auth_methods, host},
};

async fn scene(capabilities: Value) -> (Strings, Client) {
    let (host, strings) = host();
    let agent = AgentBuilder::new(host.clone())
        .resumer(host.clone())
        .loader(host.clone())
        .authenticator(host.clone(), auth_methods())
        .logout(host)
        .build()
        .unwrap();
    (strings, Client::ready_with(&agent, capabilities).await)
}

fn params() -> Value {
    json!({"sessionId": "s", "cwd": "/home/ada", "mcpServers": []})
}

#[tokio::test(start_paused = true)]
async fn sessions_wait_for_a_login() {
    let (_strings, mut client) = scene(json!({})).await;
    for method in ["session/new", "session/load", "session/resume"] {
        // The gate comes before the parameters.
        for params in [params(), json!({})] {
            let answer = client.call(method, params).await;
            assert_eq!(answer["error"]["code"], -32000, "{method}: {answer}");
        }
    }
    for id in ["nothing", "", "tty"] {
        let answer = client.call("authenticate", json!({"methodId": id})).await;
        assert_eq!(answer["error"]["code"], -32602, "{id:?}: {answer}");
    }
    let answer = client.call("authenticate", json!({})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let answer = client.call("session/new", params()).await;
    assert_eq!(answer["error"]["code"], -32000, "{answer}");

    let answer = client
        .call("authenticate", json!({"methodId": "key"}))
        .await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    let id = client.new_session().await;
    let answer = client.call("session/load", params()).await;
    assert!(answer["result"].is_object(), "{answer}");

    // After a logout none begins, and those that live go on.
    let answer = client.call("logout", json!({})).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    let answer = client.call("session/new", params()).await;
    assert_eq!(answer["error"]["code"], -32000, "{answer}");
    let answer = client.call("session/close", json!({"sessionId": id})).await;
    assert!(answer["result"].is_object(), "{answer}");
    client
        .send(json!({"jsonrpc": "2.0", "id": "bare", "method": "logout"}))
        .await;
    assert_eq!(client.next().await["result"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn who_is_logged_in_already_need_not_log_in() {
    let (strings, mut client) = scene(json!({})).await;
    strings.script.is_logged_in.store(true, Ordering::Relaxed);
    client.new_session().await;
    strings.script.is_logged_in.store(false, Ordering::Relaxed);
    let answer = client.call("session/new", params()).await;
    assert_eq!(answer["error"]["code"], -32000, "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_login_that_fails_opens_nothing() {
    let (strings, mut client) = scene(json!({})).await;
    for (does, message) in [
        (Does::FailInPublic, "authenticate: no room left in here"),
        (Does::FailInPrivate, "authenticate: the agent failed"),
        (Does::Panic, "authenticate: the agent failed"),
    ] {
        strings.script.authenticate.lock().push_back(does);
        let answer = client
            .call("authenticate", json!({"methodId": "key"}))
            .await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert_eq!(answer["error"]["message"], message);
        let answer = client.call("session/new", params()).await;
        assert_eq!(answer["error"]["code"], -32000, "{answer}");
    }
    client
        .call("authenticate", json!({"methodId": "key"}))
        .await;
    strings.script.logout.lock().push_back(Does::FailInPrivate);
    let answer = client.call("logout", json!({})).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    client.new_session().await;
}

#[tokio::test(start_paused = true)]
async fn logins_in_a_terminal_are_for_clients_that_have_one() {
    async fn methods(capabilities: Value) -> Value {
        let (host, _strings) = host();
        let mut methods = auth_methods();
        methods[1] = methods[1]
            .clone()
            .with_env("TOKEN_FILE", SecretText::new("/tmp/t"));
        let agent = AgentBuilder::new(host.clone())
            .authenticator(host, methods)
            .build()
            .unwrap();
        let mut client = Client::start(&agent);
        let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        let mut answer = client.call("initialize", params).await;
        answer["result"]["authMethods"].take()
    }
    let key = json!({"id": "key", "name": "With a key", "description": "The key is in a file."});
    let tty = json!({"type": "terminal", "id": "tty", "name": "In a terminal",
        "args": ["--login"], "env": {"TOKEN_FILE": "/tmp/t"}});
    let strip = |mut methods: Value| {
        if methods[0]["type"] == "agent" {
            methods[0].as_object_mut().unwrap().remove("type");
        }
        methods
    };
    assert_eq!(strip(methods(json!({})).await), json!([key]));
    let both = methods(json!({"auth": {"terminal": true}})).await;
    assert_eq!(strip(both), json!([key, tty]));
}

#[test]
fn ways_to_log_in_make_sense() {
    let build = |methods: Vec<AuthMethod>| {
        let host = host().0;
        AgentBuilder::new(host.clone())
            .authenticator(host, methods)
            .build()
    };
    assert!(matches!(build(vec![]), Err(BuildError::NoAuthMethods)));
    let lenient = AgentBuilder::new(host().0).lenient_login().build();
    assert!(matches!(lenient, Err(BuildError::NoAuthenticator)));
    let one = || AuthMethod::new("a", "A");
    assert!(build(vec![one()]).is_ok());
    for twice in [vec![one(), one()], vec![AuthMethod::new("", "A")]] {
        assert!(matches!(build(twice), Err(BuildError::AuthMethodIds)));
    }
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_login_can_be_cancelled() {
    let (strings, mut client) = scene(json!({})).await;
    strings
        .script
        .authenticate
        .lock()
        .push_back(Does::Rest(1000));
    let login = json!({"methodId": "key"});
    let first = client.start_call("authenticate", login).await;
    let second = client.start_call("logout", json!({})).await;
    let third = client.start_call("logout", json!({})).await;
    client
        .notify("$/cancel_request", json!({"requestId": third}))
        .await;
    let answer = client.answer(third).await;
    assert_eq!(answer["error"]["code"], -32800, "{answer}");
    // The logout that came later is done later.
    client.answer(first).await;
    client.answer(second).await;
    let answer = client.call("session/new", params()).await;
    assert_eq!(answer["error"]["code"], -32000, "{answer}");
}

/// A client of an agent that is strict, and a session of theirs.
async fn strict_scene() -> (Strings, Client, String) {
    let (host, strings) = host();
    let agent = AgentBuilder::new(host.clone())
        .catalog(host.clone())
        .deleter(host.clone())
        .config(host.clone())
        .authenticator(host.clone(), auth_methods())
        .logout(host)
        .build()
        .unwrap();
    let mut client = Client::ready(&agent).await;
    client
        .call("authenticate", json!({"methodId": "key"}))
        .await;
    let id = client.new_session().await;
    (strings, client, id)
}

#[tokio::test(start_paused = true)]
async fn strict_agents_do_nothing_before_a_login() {
    let (mut strings, mut client, id) = strict_scene().await;
    let session = strings.session().await;
    client.call("logout", json!({})).await;
    let methods = [
        "session/prompt",
        "session/list",
        "session/delete",
        "session/set_mode",
        "session/set_config_option",
    ];
    for method in methods {
        // Who is not logged in learns nothing, neither what exists nor what is
        // wrong with the parameters.
        for params in [prompt(&id, "hi"), prompt("nobody", "hi"), json!([7])] {
            let answer = client.call(method, params).await;
            assert_eq!(answer["error"]["code"], -32000, "{method}: {answer}");
        }
    }
    assert!(session.try_submission().await.is_none());
    assert!(strings.script.queries.lock().is_empty());
    assert!(strings.script.deleted.lock().is_empty());

    // It is the host that knows who is logged in.
    strings.script.is_logged_in.store(true, Ordering::Relaxed);
    for (method, params, code) in [
        ("session/prompt", prompt("nobody", "hi"), -32002),
        ("session/prompt", json!([7]), -32602),
        ("session/list", json!({"cwd": "."}), -32602),
        ("session/delete", json!({"sessionId": id}), -32600),
    ] {
        let answer = client.call(method, params).await;
        assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
    }
    let request = client.prompt(&id, "hi").await;
    session.start().await.done().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
    let answer = client.call("session/list", json!({})).await;
    assert!(answer["result"].is_object(), "{answer}");

    // What was begun can be ended.
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    strings.script.is_logged_in.store(false, Ordering::Relaxed);
    client.cancel(&id).await;
    client.pause().await;
    turn.interrupted().await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
    let answer = client.call("session/close", json!({"sessionId": id})).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn who_waits_to_be_admitted_can_be_cancelled() {
    let (mut strings, mut client, id) = strict_scene().await;
    let session = strings.session().await;
    client.call("logout", json!({})).await;
    let hang = || {
        let calls = &strings.script.ask_logged_in;
        calls.lock().push_back(Does::Hang);
    };
    hang();
    let request = client.prompt(&id, "hi").await;
    client.cancel(&id).await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
    for (method, params) in [
        ("session/prompt", prompt(&id, "hi")),
        ("session/prompt", prompt("nobody", "hi")),
        ("session/list", json!({})),
        ("session/delete", json!({"sessionId": "s"})),
    ] {
        hang();
        let request = client.start_call(method, params).await;
        client.assert_quiet().await;
        client
            .notify("$/cancel_request", json!({"requestId": request}))
            .await;
        let answer = client.answer(request).await;
        assert_eq!(answer["error"]["code"], -32800, "{method}: {answer}");
    }
    hang();
    let request = client.prompt(&id, "hi").await;
    let close = client
        .start_call("session/close", json!({"sessionId": id}))
        .await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
    client.answer(close).await;
    assert!(session.try_submission().await.is_none());
}
