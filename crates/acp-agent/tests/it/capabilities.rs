//! Registering advertises: all combinations of what can be registered.

use acp_agent::AgentBuilder;
use acp_protocol::v1::methods::AgentMethod;
use serde_json::{Value, json};

use crate::{
    client::Client,
    host::{auth_methods, host},
};

/// What can be registered, in the order of the bits of a combination.
const PARTS: [&str; 8] = [
    "resumer",
    "loader",
    "catalog",
    "deleter",
    "config",
    "shown config",
    "authenticator",
    "logout",
];

fn build(combination: usize) -> AgentBuilder {
    let host = host().0;
    let builder = AgentBuilder::new(host.clone());
    (0..PARTS.len())
        .filter(|bit| combination & (1 << bit) != 0)
        .fold(builder, |builder, bit| match PARTS[bit] {
            "resumer" => builder.resumer(host.clone()),
            "loader" => builder.loader(host.clone()),
            "catalog" => builder.catalog(host.clone()),
            "deleter" => builder.deleter(host.clone()),
            "config" => builder.config(host.clone()),
            "shown config" => builder.shown_config(host.clone()),
            "authenticator" => builder.authenticator(host.clone(), auth_methods()),
            _ => builder.logout(host.clone()),
        })
}

#[tokio::test(start_paused = true)]
async fn what_is_registered_is_advertised_and_served_and_nothing_else_is() {
    for combination in 0..1 << PARTS.len() {
        let has = |part: &str| {
            let bit = PARTS.iter().position(|known| *known == part).unwrap();
            combination & (1 << bit) != 0
        };
        let agent = build(combination).build().unwrap();
        let mut client = Client::start(&agent);
        let answer = client
            .call("initialize", json!({"protocolVersion": 1}))
            .await;
        let advertised = |pointer: &str| {
            let value = answer.pointer(&format!("/result/{pointer}"));
            !matches!(value, None | Some(Value::Null | Value::Bool(false)))
        };
        // The last of the two that show options wins.
        let settable = has("config") && !has("shown config");
        let rows = [
            (
                "session/close",
                Some("agentCapabilities/sessionCapabilities/close"),
                true,
            ),
            (
                "session/resume",
                Some("agentCapabilities/sessionCapabilities/resume"),
                has("resumer"),
            ),
            (
                "session/load",
                Some("agentCapabilities/loadSession"),
                has("loader"),
            ),
            (
                "session/list",
                Some("agentCapabilities/sessionCapabilities/list"),
                has("catalog"),
            ),
            (
                "session/delete",
                Some("agentCapabilities/sessionCapabilities/delete"),
                has("deleter"),
            ),
            ("authenticate", Some("authMethods/0"), has("authenticator")),
            (
                "logout",
                Some("agentCapabilities/auth/logout"),
                has("logout"),
            ),
            ("session/set_mode", None, settable),
            ("session/set_config_option", None, settable),
            ("session/new", None, true),
            ("session/prompt", None, true),
        ];
        for (method, capability, want) in rows {
            if let Some(capability) = capability {
                assert_eq!(
                    advertised(capability),
                    want,
                    "{combination:b} {capability}: {answer}"
                );
            }
            // Parameters that make no sense: a method that is served says so.
            let answer = client.call(method, json!([])).await;
            let is_served = answer["error"]["code"] != -32601;
            assert_eq!(is_served, want, "{combination:b} {method}: {answer}");
        }
    }
}

/// A method that the schema adds is not served, and this test says so. What is
/// called is in the tests of what a turn asks its client.
#[tokio::test(start_paused = true)]
async fn every_method_of_an_agent_is_served() {
    let agent = build(0b1101_1111).build().unwrap();
    let mut client = Client::ready(&agent).await;
    for method in AgentMethod::ALL {
        let answer = client.call(method.name(), json!([])).await;
        // A cancel is a notification; as a request it does not exist.
        let is_served = *method != AgentMethod::SessionCancel;
        let is_found = answer["error"]["code"] != -32601;
        assert_eq!(is_found, is_served, "{}: {answer}", method.name());
    }
}
