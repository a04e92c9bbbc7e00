//! A connection over an in-memory pipe, of bytes and of messages: calls, notifications,
//! cancellation, handlers that call back, and the end.

mod form;
mod methods;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use acp_connection::NoHandler;
use acp_protocol::{
    Request,
    rpc::{AnswerTo, CallError, CloseCause, ConnectionRole, ErrorCode, Limits, RequestId},
};
use tokio::{io::duplex, sync::mpsc};

use crate::{
    form::Form,
    methods::{Echo, Fails, Note, Relay, Serves, Wait},
};

/// Each of these is a test of both forms.
macro_rules! over_both_forms {
    ($($test:ident,)*) => {
        over_both_forms!(@ bytes Bytes $($test)*);
        over_both_forms!(@ messages Messages $($test)*);
    };
    (@ $module:ident $form:ident $($test:ident)*) => {
        mod $module {
            use super::form::Form;

            $(#[tokio::test]
            async fn $test() {
                super::$test(Form::$form).await;
            })*
        }
    };
}

over_both_forms! {
    a_call_is_answered,
    facts_come_with_the_answer,
    a_method_nobody_serves_is_refused,
    parameters_that_do_not_fit_are_refused,
    a_panic_and_a_forgotten_answer_are_internal_errors,
    a_private_cause_stays_here_and_leaves_a_mark,
    two_thousand_handlers_call_back_through_a_narrow_pipe,
    notifications_keep_their_order,
    dropping_a_call_cancels_it_at_the_peer,
    the_end_of_the_peer_fails_calls_and_cancels_requests,
    bad_lines_lose_nothing_else,
    what_was_answered_before_the_end_is_still_written,
    whoever_knows_the_id_of_a_call_hears_of_its_end,
    a_call_that_is_cancelled_keeps_its_answer_and_its_facts,
    a_sender_waits_for_a_reader_and_loses_nothing,
    a_message_over_the_limit_is_refused_and_the_next_is_read,
}

async fn a_call_is_answered(form: Form) {
    let ends = form.ends(64);
    let echo = Echo {
        text: "ä\"\n".into(),
    };
    assert_eq!(ends.client.call(&echo).await.unwrap(), echo);
    assert_eq!(ends.agent.call(&echo).await.unwrap(), echo);
}

async fn facts_come_with_the_answer(form: Form) {
    let ends = form.ends(64);
    let (facts, result) = ends
        .client
        .call_with_facts(&Echo {
            text: String::new(),
        })
        .await;
    result.unwrap();
    assert!(facts.write_admitted);
    assert_eq!(facts.response_seq.get(), 1);
}

async fn a_method_nobody_serves_is_refused(form: Form) {
    let ends = form.ends(64);
    let error = ends
        .client
        .call_raw("_test/nothing", &())
        .await
        .unwrap_err();
    let CallError::Peer(error) = error else {
        panic!("{error}")
    };
    assert_eq!(error.code, ErrorCode::METHOD_NOT_FOUND);
}

async fn parameters_that_do_not_fit_are_refused(form: Form) {
    let ends = form.ends(64);
    let error = ends.client.call_raw(Echo::METHOD, &[1]).await.unwrap_err();
    let CallError::Peer(error) = error else {
        panic!("{error}")
    };
    assert_eq!(
        (error.code, error.message.as_str()),
        (
            ErrorCode::INVALID_PARAMS,
            "the parameters do not fit _test/echo, at byte 2"
        )
    );
}

async fn a_panic_and_a_forgotten_answer_are_internal_errors(form: Form) {
    let ends = form.ends(64);
    for method in ["_test/panic", "_test/panic_later", "_test/drop"] {
        let error = ends.client.call_raw(method, &()).await.unwrap_err();
        let CallError::Peer(error) = error else {
            panic!("{error}")
        };
        assert_eq!(error.code, ErrorCode::INTERNAL, "{method}");
    }
    assert_eq!(ends.agent.stats().handler_panics, 2);
    ends.client
        .call(&Echo {
            text: "alive".into(),
        })
        .await
        .unwrap();
}

async fn a_private_cause_stays_here_and_leaves_a_mark(form: Form) {
    let (client, agent) = duplex(1000);
    form.connect(ConnectionRole::Agent, agent, Fails, Limits::default());
    let agent = form.connect(ConnectionRole::Client, client, NoHandler, Limits::default());
    let mut marks = Vec::new();
    for _ in 0..2 {
        let error = agent.call(&Wait {}).await.unwrap_err();
        let CallError::Peer(error) = error else {
            panic!("{error}")
        };
        assert_eq!(error.message, "internal error");
        marks.push(error.data.unwrap().to_string());
        assert!(marks[0].contains("correlationId") && !marks[0].contains("secret"));
    }
    assert_ne!(marks[0], marks[1]);
}

async fn two_thousand_handlers_call_back_through_a_narrow_pipe(form: Form) {
    let ends = form.ends(256);
    let done = Arc::new(AtomicUsize::new(0));
    let calls: Vec<_> = (0..2000)
        .map(|number| {
            let (client, done) = (ends.client.clone(), Arc::clone(&done));
            tokio::spawn(async move {
                let text = number.to_string();
                let echo = client.call(&Relay { text: text.clone() }).await.unwrap();
                assert_eq!(echo.text, text);
                done.fetch_add(1, Ordering::Relaxed);
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(done.load(Ordering::Relaxed), 2000);
}

async fn notifications_keep_their_order(form: Form) {
    let mut ends = form.ends(64);
    for number in 0..1000 {
        ends.client.notify(&Note { number }).await.unwrap();
    }
    for number in 0..1000 {
        assert_eq!(ends.seen.recv().await.unwrap(), format!("note {number}"));
    }
}

async fn dropping_a_call_cancels_it_at_the_peer(form: Form) {
    let mut ends = form.ends(64);
    let call = tokio::spawn({
        let client = ends.client.clone();
        async move { client.call(&Wait {}).await }
    });
    assert_eq!(ends.seen.recv().await.unwrap(), "waiting");
    call.abort();
    assert_eq!(ends.seen.recv().await.unwrap(), "cancelled");
    // The late answer is recognised.
    ends.client
        .call(&Echo {
            text: String::new(),
        })
        .await
        .unwrap();
    let stats = ends.client.stats();
    assert_eq!((stats.responses_late, stats.responses_unmatched), (1, 0));
}

async fn the_end_of_the_peer_fails_calls_and_cancels_requests(form: Form) {
    let mut ends = form.ends(64);
    let call = tokio::spawn({
        let client = ends.client.clone();
        async move { client.call(&Wait {}).await }
    });
    assert_eq!(ends.seen.recv().await.unwrap(), "waiting");
    ends.agent.close();
    assert_eq!(ends.seen.recv().await.unwrap(), "cancelled");
    let error = call.await.unwrap().unwrap_err();
    assert!(
        matches!(error, CallError::Closed(CloseCause::PeerEof)),
        "{error:?}"
    );
    assert!(matches!(ends.client.closed().await, CloseCause::PeerEof));
    let error = ends.client.call(&Wait {}).await.unwrap_err();
    assert!(
        matches!(error, CallError::Closed(CloseCause::PeerEof)),
        "{error:?}"
    );
}

async fn bad_lines_lose_nothing_else(form: Form) {
    let (mut raw, _agent) = form.raw_agent();
    let messages = [
        "no json",
        "\r",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"_test/echo\",\"params\":{\"text\":\"a\"}}\r",
        "{\"id\":2,\"method\":\"_test/echo\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"_test/echo\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"_test\\/echo\",\"params\":{\"text\":\"b\"},\"later\":true}",
    ];
    for message in messages {
        raw.send(message).await;
    }
    let expected = [
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error: one JSON object a line is expected"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"text":"a"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"invalid request: WrongVersion"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request: AmbiguousShape"}}"#,
        r#"{"jsonrpc":"2.0","id":"x","result":{"text":"b"}}"#,
    ];
    for expected in expected {
        assert_eq!(raw.message().await, expected);
    }
}

async fn what_was_answered_before_the_end_is_still_written(form: Form) {
    let (mut raw, agent) = form.raw_agent();
    let last = r#"{"jsonrpc":"2.0","id":1,"method":"_test/echo","params":{"text":"last"}}"#;
    match form {
        // Its end is the end of the stream.
        Form::Bytes => raw.write(last.as_bytes()).await,
        Form::Messages => raw.send(last).await,
    }
    raw.shutdown().await;
    assert_eq!(
        raw.message().await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"text":"last"}}"#
    );
    assert!(matches!(agent.closed().await, CloseCause::PeerEof));
}

#[tokio::test]
async fn half_a_line_at_the_end_is_told() {
    let (mut raw, agent) = Form::Bytes.raw_agent();
    raw.write(b"{\"jsonrpc\":").await;
    raw.shutdown().await;
    assert!(matches!(
        agent.closed().await,
        CloseCause::Truncated { read: 11 }
    ));
}

async fn a_sender_waits_for_a_reader_and_loses_nothing(form: Form) {
    tokio::time::pause();
    let limits = Limits::default().with_outgoing_credit(4000);
    let (mut raw, agent) = form.raw(ConnectionRole::Agent, 1000, NoHandler, limits);
    let sent = Arc::new(AtomicUsize::new(0));
    let sender = tokio::spawn({
        let (agent, sent) = (agent.clone(), Arc::clone(&sent));
        async move {
            for number in 0..500 {
                agent.notify(&Note { number }).await.unwrap();
                sent.store(number + 1, Ordering::Relaxed);
            }
        }
    });
    // With the clock stopped, this returns when nothing else can move.
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let before = sent.load(Ordering::Relaxed);
    assert!(before < 220, "{before} were queued past the credit");
    for number in 0..500 {
        let expected = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"_test/note\",\"params\":{{\"number\":{number}}}}}"
        );
        assert_eq!(raw.message().await, expected);
    }
    sender.await.unwrap();
}

async fn whoever_knows_the_id_of_a_call_hears_of_its_end(form: Form) {
    let (mut raw, client) = form.raw(ConnectionRole::Client, 1024, NoHandler, Limits::default());
    let call = client.start_call(&Wait {}).unwrap();
    let request: serde_json::Value = serde_json::from_str(&raw.message().await).unwrap();
    let id = RequestId::from(request["id"].as_i64().unwrap());
    assert_eq!(client.open_call(&id), Some(AnswerTo::Caller));
    let ended = client.call_ended(&id);
    let answer = async {
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"text\":\"\"}}}}");
        raw.send(&answer).await;
    };
    tokio::join!(ended, answer);
    assert_eq!(client.open_call(&id), None);
    call.result().await.1.unwrap();
    client.call_ended(&id).await;
}

async fn a_call_that_is_cancelled_keeps_its_answer_and_its_facts(form: Form) {
    let (mut raw, client) = form.raw(ConnectionRole::Client, 1024, NoHandler, Limits::default());
    let cancelled = r#"{"code":-32800,"message":"request cancelled"}"#;
    for (answer, succeeds) in [
        (r#""result":{"text":"in time"}"#.to_owned(), true),
        (format!(r#""error":{cancelled}"#), false),
    ] {
        let call = client.start_call(&Wait {}).unwrap();
        let request: serde_json::Value = serde_json::from_str(&raw.message().await).unwrap();
        let id = request["id"].as_i64().unwrap();
        call.cancel();
        let told: serde_json::Value = serde_json::from_str(&raw.message().await).unwrap();
        assert_eq!(told["method"], "$/cancel_request");
        assert_eq!(told["params"]["requestId"], id);
        raw.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#))
            .await;
        client.call_ended(&RequestId::from(id)).await;
        // It is answered: there is nothing to cancel.
        call.cancel();
        let (facts, result) = call.result().await;
        assert!(facts.write_admitted && facts.response_seq == client.received());
        assert_eq!(result.is_ok(), succeeds, "{result:?}");
    }
    client.notify_raw("_test/end", &()).await.unwrap();
    assert!(raw.message().await.contains("_test/end"));
}

/// Line feeds are blanks between tokens, and no end of a message.
#[tokio::test]
async fn a_message_of_many_lines_is_one() {
    let (mut raw, _agent) = Form::Messages.raw_agent();
    let echo = "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"method\": \"_test/echo\",\n  \"params\": {\"text\": \"a\"}\n}\n";
    raw.send(echo).await;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"text":"a"}}"#;
    assert_eq!(raw.message().await, answer);
}

async fn a_message_over_the_limit_is_refused_and_the_next_is_read(form: Form) {
    let limits = Limits::default().with_max_message(100);
    let (seen, _) = mpsc::unbounded_channel();
    let (mut raw, _agent) = form.raw(ConnectionRole::Agent, 64 << 10, Serves { seen }, limits);
    let padding = "x".repeat(200);
    raw.send(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"_test/echo","params":{{"text":"{padding}"}}}}"#
    ))
    .await;
    raw.send(r#"{"jsonrpc":"2.0","id":2,"method":"_test/echo","params":{"text":"a"}}"#)
        .await;
    for answer in [
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"invalid request: message too large"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"result":{"text":"a"}}"#,
    ] {
        assert_eq!(raw.message().await, answer);
    }
}
