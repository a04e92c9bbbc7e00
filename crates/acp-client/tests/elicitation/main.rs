//! Questions: who is asked, what is sent, and when nobody waits any more.

mod ends;
mod handler;
mod links;
mod stream;
#[path = "../support/mod.rs"]
mod support;

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use acp_client::elicitation::FieldError;
use acp_client::{
    AnswerQuestions, ClientOptions, ElicitationAnswer, ElicitationModes, Headless, PendingQuestion,
    Question, TurnEvent,
};
use acp_protocol::v1::{ElicitationId, PermissionOptionId};
use parking_lot::Mutex;
use serde_json::{Value, json};
use support::{Agent, SESSION, all, brief, dialed, end_turn, opened, selected};

const SECOND: Duration = Duration::from_secs(1);

/// A form with one field that must be filled in, and two that need not.
fn form() -> Value {
    json!({
        "mode": "form", "sessionId": SESSION, "toolCallId": "t", "message": "Which database?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 2, "default": "postgres"},
                "replicas": {"type": "integer", "maximum": 5},
                "regions": {"type": "array", "items": {"type": "string", "enum": ["eu", "us"]}},
            },
            "required": ["name"],
        },
    })
}

fn link(id: &str) -> Value {
    json!({
        "mode": "url", "sessionId": SESSION, "message": "Log in", "elicitationId": id,
        "url": "https://example.com/login",
    })
}

fn bound_to(mut question: Value, request: &Value) -> Value {
    let members = question.as_object_mut().unwrap();
    members.remove("sessionId");
    members.remove("toolCallId");
    members.insert("requestId".to_owned(), request["id"].clone());
    question
}

fn cancel() -> Value {
    json!({"action": "cancel"})
}

fn decline() -> Value {
    json!({"action": "decline"})
}

impl Agent {
    async fn question(&mut self, id: i64, question: Value) {
        self.ask(id, "elicitation/create", question).await;
    }

    async fn complete(&mut self, link: &str) {
        let params = json!({"elicitationId": link});
        self.say(json!({"jsonrpc": "2.0", "method": "elicitation/complete", "params": params}))
            .await;
    }

    async fn take_back(&mut self, id: i64) {
        let params = json!({"requestId": id});
        self.say(json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params}))
            .await;
    }
}

/// A handler that never answers, and counts who gave up waiting for it.
#[derive(Clone, Default)]
struct Silent {
    asked: Arc<AtomicUsize>,
    dropped: Arc<AtomicUsize>,
}

impl AnswerQuestions for Silent {
    async fn answer(&self, _: Question) -> ElicitationAnswer {
        struct Count(Arc<AtomicUsize>);
        impl Drop for Count {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        let _count = Count(Arc::clone(&self.dropped));
        pending().await
    }
}

/// Agrees to everything and keeps what it is told of links.
#[derive(Clone, Default)]
struct Agreeing(Arc<Mutex<Vec<String>>>);

impl AnswerQuestions for Agreeing {
    async fn answer(&self, _: Question) -> ElicitationAnswer {
        ElicitationAnswer::accept()
    }

    fn completed(&self, link: &ElicitationId) {
        self.0.lock().push(link.to_string());
    }
}

/// Options for who answers from the stream.
fn in_stream(modes: ElicitationModes) -> ClientOptions {
    ClientOptions::new().with_elicitation_in_stream(modes, Headless::default())
}

/// Takes the next event, which must be a question.
async fn next_question(turn: &mut acp_client::Turn) -> PendingQuestion {
    match turn.next().await {
        Some(TurnEvent::Question(pending)) => pending,
        other => panic!("{other:?}"),
    }
}
