//! `session/set_model`: only for agents that show that they know it.

mod support;

use std::time::Duration;

use acp_client::{Client, ClientError, ClientOptions, Session};
use serde_json::{Value, json};
use support::{Agent, SESSION, open, pair};

const SECOND: Duration = Duration::from_secs(1);

/// A client whose agent says this of itself in `_meta`.
async fn dialed(meta: Value) -> (Client, Agent) {
    let (client, mut agent) = pair(ClientOptions::new());
    let serve = async {
        let hello = agent.request("initialize").await;
        let mut answer = json!({"protocolVersion": 1});
        if !meta.is_null() {
            answer["_meta"] = meta;
        }
        agent.answer(&hello, answer).await;
    };
    let (dialed, ()) = tokio::join!(client.dial(), serve);
    dialed.unwrap();
    (client, agent)
}

async fn opened(meta: Value) -> (Client, Session, Agent) {
    let (client, mut agent) = dialed(meta).await;
    let session = open(&client, &mut agent, json!({})).await;
    (client, session, agent)
}

fn unsupported<T: std::fmt::Debug>(result: Result<T, ClientError>) {
    assert!(
        matches!(result, Err(ClientError::SetModelUnsupported)),
        "{result:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn without_a_proof_nothing_is_sent() {
    for meta in [
        json!(null),
        json!({}),
        json!({"model": null}),
        json!({"Model": {}}),
        json!({"other": {"model": {}}}),
        json!("model"),
    ] {
        let (client, _session, mut agent) = opened(meta).await;
        unsupported(client.set_model_proof("model"));
        agent.hears_nothing_for(SECOND).await;
    }
    let (client, _agent) = pair(ClientOptions::new());
    let result = client.set_model_proof("model");
    assert!(matches!(result, Err(ClientError::NotDialed)), "{result:?}");
    client.close().await;
    let result = client.set_model_proof("model");
    assert!(matches!(result, Err(ClientError::Closed)), "{result:?}");
}

#[tokio::test(start_paused = true)]
async fn with_a_proof_the_model_is_set() {
    for shown in [json!({}), json!(true), json!(false), json!(0), json!("")] {
        let (client, session, mut agent) = opened(json!({ "model": shown })).await;
        let proof = client.set_model_proof("model").unwrap();
        let control = session.control();
        // Whatever stands in the answer is as good as nothing.
        for answer in [json!({}), json!(null), json!({"models": []}), json!([1])] {
            let serve = async {
                let request = agent.request("session/set_model").await;
                assert_eq!(
                    request["params"],
                    json!({"sessionId": SESSION, "modelId": "big"})
                );
                agent.answer(&request, answer).await;
            };
            let (set, ()) = tokio::join!(control.set_model(&proof, "big"), serve);
            set.unwrap();
        }
        let serve = async {
            let request = agent.request("session/set_model").await;
            agent.refuse(&request, -32602).await;
        };
        let (set, ()) = tokio::join!(control.set_model(&proof, "big"), serve);
        let error = set.unwrap_err();
        assert_eq!(
            error.to_string(),
            "set the model: the agent answered no (-32602)"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_proof_holds_for_its_own_connection_alone() {
    let (client, session, mut agent) = opened(json!({"model": 1})).await;
    let (other, _other_agent) = dialed(json!({"model": 1})).await;
    let strange = other.set_model_proof("model").unwrap();
    unsupported(session.control().set_model(&strange, "big").await);
    drop(other);
    unsupported(session.control().set_model(&strange, "big").await);
    agent.hears_nothing_for(SECOND).await;
    let proof = client.set_model_proof("model").unwrap();
    let control = session.control();
    client.close().await;
    let result = control.set_model(&proof, "big").await;
    assert!(
        matches!(
            result,
            Err(ClientError::SessionClosed | ClientError::Closed)
        ),
        "{result:?}"
    );
}

fn older(current: &str) -> Value {
    json!({"currentModelId": current, "availableModels": [
        {"modelId": "small", "name": "Small", "description": "Fast."}, {"modelId": "large"}]})
}

#[tokio::test(start_paused = true)]
async fn the_models_of_an_older_agent_are_an_option() {
    let (client, mut agent) = dialed(json!(null)).await;
    let session = open(&client, &mut agent, json!({"models": older("small")})).await;
    let options = serde_json::to_value(session.config_options()).unwrap();
    assert_eq!(
        options,
        json!([{"id": "model", "name": "Model", "category": "model", "type": "select",
            "currentValue": "small", "options": [
                {"value": "small", "name": "Small", "description": "Fast."},
                {"value": "large", "name": "large"}]}])
    );
    let control = session.control();
    let serve = async {
        let request = agent.request("session/set_model").await;
        assert_eq!(
            request["params"],
            json!({"sessionId": SESSION, "modelId": "large"})
        );
        agent.answer(&request, json!({})).await;
    };
    let (set, ()) = tokio::join!(control.set_config_option("model", "large"), serve);
    set.unwrap();
    let current = |session: &Session| {
        serde_json::to_value(session.config_options()).unwrap()[0]["currentValue"].clone()
    };
    assert_eq!(current(&session), "large");
    // A refusal changes nothing.
    let serve = async {
        let request = agent.request("session/set_model").await;
        agent.refuse(&request, -32602).await;
    };
    let (set, ()) = tokio::join!(control.set_config_option("model", "none"), serve);
    assert!(set.is_err());
    assert_eq!(current(&session), "large");
}

#[tokio::test(start_paused = true)]
async fn an_option_for_the_model_goes_before_the_older_models() {
    let (client, mut agent) = dialed(json!(null)).await;
    let option = json!([{"id": "llm", "name": "Model", "category": "model", "type": "select",
        "currentValue": "new", "options": [{"value": "new", "name": "New"}]}]);
    let both = json!({"models": older("small"), "configOptions": option});
    let session = open(&client, &mut agent, both).await;
    assert_eq!(
        serde_json::to_value(session.config_options()).unwrap(),
        option
    );
}

#[tokio::test(start_paused = true)]
async fn models_that_make_no_sense_are_left_out() {
    for models in [json!(null), json!([]), json!({"availableModels": 3})] {
        let (client, mut agent) = dialed(json!(null)).await;
        let session = open(&client, &mut agent, json!({ "models": models })).await;
        assert!(session.config_options().is_none(), "{models}");
    }
}
