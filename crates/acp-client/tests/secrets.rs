//! What is asked of a user and what they answer stands in no log.

mod support;

use std::fmt::{self, Write as _};
use std::sync::Arc;

use acp_client::{
    ClientOptions, ElicitationAnswer, ElicitationModes, Headless, Question, TurnEvent,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use support::{SESSION, end_turn, opened};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps everything that is logged at any level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for &Log {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        writeln!(self.0.lock(), "{field}={value:?}").unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut &*self);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut &*self);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut &*self);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn question(more: Value) -> Value {
    let mut question = json!({"sessionId": SESSION, "message": "canary of the message"});
    let members = question.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    question
}

#[tokio::test(start_paused = true)]
async fn no_word_of_a_question_or_an_answer_is_logged() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let form = question(json!({"mode": "form", "requestedSchema": {
        "type": "object",
        "properties": {"canary of a field": {"type": "string", "default": "canary of a default"}},
    }}));
    let link = question(json!({
        "mode": "url", "elicitationId": "e", "url": "https://example.com/canary-of-the-path",
    }));
    let handled = ClientOptions::new().with_elicitation(
        ElicitationModes::BOTH,
        async |question: Question| {
            tracing::info!(?question, "asked");
            match question.form() {
                Some(_) => ElicitationAnswer::accept()
                    .with("canary of a surplus field", "canary of a value"),
                None => ElicitationAnswer::accept(),
            }
        },
    );
    let (_client, _session, mut agent) = opened(handled).await;
    for (id, question) in [(1, &form), (2, &link)] {
        agent.ask(id, "elicitation/create", question.clone()).await;
        agent.result(id).await;
    }
    agent
        .say(json!({"jsonrpc": "2.0", "method": "elicitation/complete", "params": {"elicitationId": "f"}}))
        .await;

    let in_stream = ClientOptions::new()
        .with_elicitation_in_stream(ElicitationModes::BOTH, Headless::default());
    let (_client, mut session, mut agent) = opened(in_stream).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    for (id, question) in [(1, &form), (2, &link)] {
        agent.ask(id, "elicitation/create", question.clone()).await;
        let event = turn.next().await;
        tracing::info!(?event, "asked");
        let Some(TurnEvent::Question(pending)) = event else {
            panic!("a question");
        };
        let answer = match pending.request().form() {
            Some(_) => ElicitationAnswer::accept().with("canary of a field", "canary of a value"),
            None => ElicitationAnswer::accept(),
        };
        let shown = ElicitationAnswer::accept().with("name", "canary of a value");
        tracing::info!(?shown, asking = ?pending.request().kind(), "answering");
        pending.answer(answer).unwrap();
        assert_eq!(agent.result(id).await["action"], "accept");
    }
    let steering = turn.control().steer("canary of a prompt");
    let request = agent.request("_session/steering").await;
    agent
        .answer(
            &request,
            json!({"outcome": "injected", "reason": "canary of a reason"}),
        )
        .await;
    steering.result().await.unwrap();
    agent.answer(&prompt, end_turn()).await;
    turn.end().await.unwrap();

    let log = log.0.lock();
    assert!(log.contains("an answer does not fit its question"), "{log}");
    assert!(
        log.contains("the end of a link that nobody waits for"),
        "{log}"
    );
    assert!(!log.contains("canary"), "{log}");
}

/// What makes no sense is refused by its member, and what an agent refuses is an error of the
/// caller: neither is quoted on the wire or in the log.
#[tokio::test(start_paused = true)]
async fn what_is_refused_is_not_quoted() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let options = ClientOptions::new()
        .with_elicitation_in_stream(ElicitationModes::BOTH, Headless::default());
    let (client, mut session, mut agent) = opened(options).await;
    let wrong = [
        (
            "session/request_permission",
            json!({"sessionId": SESSION, "toolCall": "canary", "options": []}),
            "toolCall",
        ),
        (
            "session/request_permission",
            json!({"sessionId": SESSION, "toolCall": {"toolCallId": "canary"},
                "options": [{"optionId": "canary", "name": ["canary"]}]}),
            "options[0].name",
        ),
        (
            "elicitation/create",
            question(json!({"mode": "form", "requestedSchema": "canary"})),
            "requestedSchema",
        ),
        (
            "elicitation/create",
            question(json!({"mode": "url", "url": "canary"})),
            "elicitationId",
        ),
    ];
    for (id, (method, params, path)) in (1..).zip(wrong) {
        agent.ask(id, method, params).await;
        let answer = agent.next().await;
        assert_eq!(answer["id"], id, "{answer}");
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert_eq!(answer["error"]["data"]["path"], path, "{answer}");
        assert!(!answer.to_string().contains("canary"), "{answer}");
    }

    let turn = session.prompt("canary").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.update(SESSION, json!({"canary": "canary"})).await;
    let error = json!({"code": -32603, "message": "canary", "data": "canary"});
    agent
        .say(json!({"jsonrpc": "2.0", "id": prompt["id"], "error": error}))
        .await;
    let error = turn.end().await.unwrap_err();
    assert!(error.to_string().contains("canary"), "the caller reads it");
    let serve = async {
        let request = agent.request("session/new").await;
        agent
            .answer(&request, json!({"sessionId": ["canary"]}))
            .await;
    };
    let (opened, ()) = tokio::join!(client.new_session("/code"), serve);
    let error = opened.map(drop).unwrap_err();
    let mut chain = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        chain = format!("{chain}: {error}");
        cause = error.source();
    }
    assert!(
        chain.ends_with("sessionId: expected a string, found a list"),
        "{chain}"
    );

    let log = log.0.lock();
    assert!(!log.is_empty(), "nothing was logged");
    assert!(!log.contains("canary"), "{log}");
}
