//! Options and modes.

use acp_agent::AgentBuilder;
use acp_agent::host::{
    ConfigCategory, ConfigChange, ConfigChoice, ConfigOption, ConfigValue, EventBody, HostEvent,
    Offer,
};
use serde_json::{Value, json};

use crate::{
    client::Client,
    host::{Does, Strings, full_agent, host},
};

fn options() -> Vec<ConfigOption> {
    let modes = vec![
        ConfigChoice::new("ask", "Ask").with_description("Asks first."),
        ConfigChoice::new("act", "Act"),
    ];
    let models = vec![
        ConfigChoice::new("m1", "M 1"),
        ConfigChoice::new("m2", "M 2"),
    ];
    vec![
        ConfigOption::mode("ask", modes),
        ConfigOption::select("model", "Model", "m1", models).with_category(ConfigCategory::Model),
        ConfigOption::switch("web", "Web search", false),
    ]
}

async fn scene(capabilities: Value) -> (Strings, Client, Value) {
    let (agent, strings) = full_agent();
    *strings.script.config.lock() = options();
    let mut client = Client::ready_with(&agent, capabilities).await;
    let params = json!({"cwd": "/home/ada", "mcpServers": []});
    let mut answer = client.call("session/new", params).await;
    client.update().await;
    (strings, client, answer["result"].take())
}

fn booleans() -> Value {
    json!({"session": {"configOptions": {"boolean": {}}}})
}

fn set(option: &str, value: Value) -> Value {
    let mut params = json!({"sessionId": "session-0", "configId": option, "value": value});
    if value.is_boolean() {
        params["type"] = "boolean".into();
    }
    params
}

#[tokio::test(start_paused = true)]
async fn a_session_begins_with_its_options() {
    let (_strings, _client, opened) = scene(booleans()).await;
    assert_eq!(
        opened["modes"],
        json!({"currentModeId": "ask", "availableModes": [
            {"id": "ask", "name": "Ask", "description": "Asks first."},
            {"id": "act", "name": "Act"}]})
    );
    let options = opened["configOptions"].as_array().unwrap();
    assert_eq!(options.len(), 3);
    assert_eq!(options[0]["category"], "mode");
    assert_eq!(options[1]["currentValue"], "m1");
    assert_eq!(options[2]["type"], "boolean");

    // Without the client's word, a switch has two choices.
    let (_strings, _client, opened) = scene(json!({})).await;
    assert_eq!(opened["configOptions"][2]["type"], "select");
    assert_eq!(opened["configOptions"][2]["currentValue"], "off");
}

#[tokio::test(start_paused = true)]
async fn what_is_set_is_told_and_then_answered() {
    let (strings, mut client, _) = scene(booleans()).await;
    let request = client
        .start_call("session/set_config_option", set("model", json!("m2")))
        .await;
    let update = client.update().await;
    assert_eq!(update["sessionUpdate"], "config_option_update");
    assert_eq!(update["configOptions"][1]["currentValue"], "m2");
    let answer = client.answer(request).await;
    assert_eq!(answer["result"]["configOptions"], update["configOptions"]);

    // The same again: no call of the host, no word to the client.
    let answer = client
        .call("session/set_config_option", set("model", json!("m2")))
        .await;
    assert_eq!(answer["result"]["configOptions"], update["configOptions"]);
    let change = ConfigChange::new("model", ConfigValue::Choice("m2".into()));
    assert_eq!(*strings.script.changes.lock(), [change]);

    let request = client
        .start_call("session/set_config_option", set("web", json!(true)))
        .await;
    client.update().await;
    let answer = client.answer(request).await;
    assert_eq!(answer["result"]["configOptions"][2]["currentValue"], true);
}

#[tokio::test(start_paused = true)]
async fn a_mode_can_be_set_in_two_ways() {
    let (strings, mut client, _) = scene(json!({})).await;
    let mode = |id: &str| json!({"sessionId": "session-0", "modeId": id});
    for (method, params, want) in [
        ("session/set_mode", mode("act"), "act"),
        (
            "session/set_config_option",
            set("mode", json!("ask")),
            "ask",
        ),
    ] {
        let request = client.start_call(method, params.clone()).await;
        let update = client.update().await;
        assert_eq!(update["configOptions"][0]["currentValue"], want);
        let update = client.update().await;
        assert_eq!(update["sessionUpdate"], "current_mode_update");
        assert_eq!(update["currentModeId"], want);
        client.answer(request).await;
        let answer = client.call(method, params).await;
        assert!(answer["result"].is_object(), "{answer}");
    }
    let answer = client.call("session/set_mode", mode("ask")).await;
    assert_eq!(answer["result"], json!({}));
    let answer = client.call("session/set_mode", mode("none")).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    // A session without modes: the host advertised what it does not have.
    strings.script.config.lock().remove(0);
    let answer = client.call("session/set_mode", mode("ask")).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert_eq!(strings.script.changes.lock().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_is_refused() {
    let (strings, mut client, _) = scene(json!({})).await;
    let mut check = async |params: Value, code: i32| {
        let answer = client
            .call("session/set_config_option", params.clone())
            .await;
        assert_eq!(answer["error"]["code"], code, "{params}: {answer}");
    };
    check(set("none", json!("m1")), -32602).await;
    check(set("model", json!("m3")), -32602).await;
    check(set("model", json!(true)), -32602).await;
    check(set("model", json!(7)), -32602).await;
    check(set("web", json!("maybe")), -32602).await;
    check(
        json!({"sessionId": "session-0", "configId": "model"}),
        -32602,
    )
    .await;
    check(
        json!({"sessionId": "s", "configId": "model", "value": "m1"}),
        -32002,
    )
    .await;
    strings.script.set.lock().push_back(Does::FailInPublic);
    check(set("model", json!("m2")), -32603).await;
    strings.script.options.lock().push_back(Does::Panic);
    check(set("model", json!("m2")), -32603).await;
    client.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn changes_of_one_session_follow_one_another() {
    let (strings, mut client, _) = scene(json!({})).await;
    strings.script.set.lock().push_back(Does::Rest(1000));
    let first = client
        .start_call("session/set_config_option", set("model", json!("m2")))
        .await;
    let second = client
        .start_call("session/set_config_option", set("model", json!("m1")))
        .await;
    let values = [client.update().await, client.next().await];
    assert_eq!(values[0]["configOptions"][1]["currentValue"], "m2");
    assert_eq!(values[1]["id"], first);
    let update = client.update().await;
    assert_eq!(update["configOptions"][1]["currentValue"], "m1");
    client.answer(second).await;
}

#[tokio::test(start_paused = true)]
async fn the_agent_may_set_options_itself() {
    let (mut strings, mut client, _) = scene(json!({})).await;
    let session = strings.session().await;
    session.tell(1, EventBody::ConfigChanged(options())).await;
    assert_eq!(
        client.update().await["sessionUpdate"],
        "config_option_update"
    );
    assert_eq!(client.update().await["currentModeId"], "ask");
}

#[tokio::test(start_paused = true)]
async fn options_that_are_only_shown_cannot_be_set() {
    let (host, strings) = host();
    *strings.script.config.lock() = options();
    let agent = AgentBuilder::new(host.clone())
        .shown_config(host)
        .build()
        .unwrap();
    let mut client = Client::ready(&agent).await;
    let params = json!({"cwd": "/home/ada", "mcpServers": []});
    let opened = client.call("session/new", params).await;
    assert_eq!(opened["result"]["modes"]["currentModeId"], "ask");
    for method in ["session/set_mode", "session/set_config_option"] {
        let answer = client.call(method, set("model", json!("m2"))).await;
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_options_that_arrive_last_are_the_newest() {
    let (agent, mut strings) = full_agent();
    *strings.script.config.lock() = options();
    let mut client = Client::with_pipe(&agent, 64);
    client
        .call("initialize", json!({"protocolVersion": 1}))
        .await;
    client.new_session().await;
    client.update().await;
    let session = strings.session().await;
    // Nobody reads, so what the host reports waits: one for room, one behind it.
    let mut waiting = Vec::new();
    for number in 0.. {
        let event = HostEvent::of_session(number, EventBody::ConfigChanged(options()));
        if let Offer::Wait(rest) = session.link().offer(event) {
            waiting.push(tokio::spawn(rest));
        }
        client.pause().await;
        waiting.retain(|rest| !rest.is_finished());
        if waiting.len() > 1 {
            break;
        }
        assert!(number < 10_000, "the host never has to wait");
    }
    let request = client
        .start_call("session/set_config_option", set("model", json!("m2")))
        .await;
    client.pause().await;
    let mut last = Value::Null;
    loop {
        let message = client.next().await;
        if message["id"] == request {
            break;
        }
        let update = &message["params"]["update"];
        if update["sessionUpdate"] == "config_option_update" {
            last = update["configOptions"][1]["currentValue"].clone();
        }
    }
    client.assert_quiet().await;
    assert_eq!(last, "m2");
}
