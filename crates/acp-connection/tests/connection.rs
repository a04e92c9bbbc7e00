//! A connection over an in-memory pipe: calls, notifications, cancellation,
//! handlers that call back, and the end.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use acp_connection::{
    BoxFuture, Handler, IncomingNotification, IncomingRequest, NoHandler, Peer, connect,
};
use acp_protocol::{
    Notification, Request,
    method::Side,
    rpc::{AnswerTo, CallError, CloseCause, ErrorCode, Fault, Limits, RequestId, Role},
};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split},
    sync::mpsc,
};

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
struct Echo {
    text: String,
}

impl Request for Echo {
    const METHOD: &'static str = "_test/echo";
    const SERVED_BY: Side = Side::Both;
    type Response = Self;
}

/// Asks the other side to echo before it answers.
#[derive(Debug, Serialize, Deserialize)]
struct Relay {
    text: String,
}

impl Request for Relay {
    const METHOD: &'static str = "_test/relay";
    const SERVED_BY: Side = Side::Agent;
    type Response = Echo;
}

/// Is answered when it is cancelled.
#[derive(Debug, Serialize, Deserialize)]
struct Wait {}

impl Request for Wait {
    const METHOD: &'static str = "_test/wait";
    const SERVED_BY: Side = Side::Agent;
    type Response = Echo;
}

#[derive(Debug, Serialize, Deserialize)]
struct Note {
    number: usize,
}

impl Notification for Note {
    const METHOD: &'static str = "_test/note";
    const SERVED_BY: Side = Side::Both;
}

/// Serves the methods above, and tells what it saw.
struct Serves {
    seen: mpsc::UnboundedSender<String>,
}

impl Handler for Serves {
    fn request(&self, request: IncomingRequest) -> Option<BoxFuture> {
        match request.method() {
            Echo::METHOD => request.serve(|echo: Echo, _| async move { Ok(echo) }),
            Relay::METHOD => request.serve(|relay: Relay, context| async move {
                let echo = Echo { text: relay.text };
                context
                    .peer()
                    .call(&echo)
                    .await
                    .map_err(|error| Fault::internal().with_source(error))
            }),
            Wait::METHOD => {
                let seen = self.seen.clone();
                request.serve(move |_: Wait, context| async move {
                    let _ = seen.send("waiting".into());
                    context.cancelled().await;
                    let _ = seen.send("cancelled".into());
                    Err(Fault::cancelled())
                })
            }
            "_test/panic" => panic!("as the test wants"),
            "_test/panic_later" => Some(Box::pin(async move {
                let _request = request;
                tokio::task::yield_now().await;
                panic!("as the test wants");
            })),
            "_test/drop" => None,
            _ => {
                request.unknown_method();
                None
            }
        }
    }

    fn notification(&self, notification: IncomingNotification<'_>) {
        if let Ok(note) = notification.decode::<Note>() {
            let _ = self.seen.send(format!("note {}", note.number));
        }
    }
}

/// Fails for a reason that is none of the peer's business.
struct Fails;

impl Handler for Fails {
    fn request(&self, request: IncomingRequest) -> Option<BoxFuture> {
        request.serve(|_: Wait, _| async move {
            Err(Fault::internal().with_source("a secret of the host"))
        })
    }
}

struct Ends {
    client: Peer,
    agent: Peer,
    seen: mpsc::UnboundedReceiver<String>,
}

fn ends(capacity: usize) -> Ends {
    let (client, agent) = duplex(capacity);
    let (sender, seen) = mpsc::unbounded_channel();
    let (client_reader, client_writer) = split(client);
    let (agent_reader, agent_writer) = split(agent);
    let serves = Serves {
        seen: sender.clone(),
    };
    let client = connect(
        Role::Client,
        client_reader,
        client_writer,
        serves,
        Limits::default(),
    );
    let agent = connect(
        Role::Agent,
        agent_reader,
        agent_writer,
        Serves { seen: sender },
        Limits::default(),
    );
    Ends {
        client,
        agent,
        seen,
    }
}

/// The agent alone, and the raw end of its pipe.
fn raw_agent() -> (
    BufReader<DuplexStream>,
    Peer,
    mpsc::UnboundedReceiver<String>,
) {
    let (raw, agent) = duplex(64 << 10);
    let (sender, seen) = mpsc::unbounded_channel();
    let (reader, writer) = split(agent);
    let peer = connect(
        Role::Agent,
        reader,
        writer,
        Serves { seen: sender },
        Limits::default(),
    );
    (BufReader::new(raw), peer, seen)
}

async fn line(raw: &mut BufReader<DuplexStream>) -> String {
    let mut line = String::new();
    raw.read_line(&mut line).await.unwrap();
    line.trim_end().to_owned()
}

#[tokio::test]
async fn a_call_is_answered() {
    let ends = ends(64);
    let echo = Echo {
        text: "ä\"\n".into(),
    };
    assert_eq!(ends.client.call(&echo).await.unwrap(), echo);
    assert_eq!(ends.agent.call(&echo).await.unwrap(), echo);
}

#[tokio::test]
async fn facts_come_with_the_answer() {
    let ends = ends(64);
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

#[tokio::test]
async fn a_method_nobody_serves_is_refused() {
    let ends = ends(64);
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

#[tokio::test]
async fn parameters_that_do_not_fit_are_refused() {
    let ends = ends(64);
    let error = ends.client.call_raw(Echo::METHOD, &[1]).await.unwrap_err();
    let CallError::Peer(error) = error else {
        panic!("{error}")
    };
    assert_eq!(
        (error.code, error.message.as_str()),
        (
            ErrorCode::INVALID_PARAMS,
            "the parameters do not fit _test/echo"
        )
    );
}

#[tokio::test]
async fn a_panic_and_a_forgotten_answer_are_internal_errors() {
    let ends = ends(64);
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

#[tokio::test]
async fn a_private_cause_stays_here_and_leaves_a_mark() {
    let (client, agent) = duplex(1000);
    let (reader, writer) = split(agent);
    connect(Role::Agent, reader, writer, Fails, Limits::default());
    let (reader, writer) = split(client);
    let agent = connect(Role::Client, reader, writer, NoHandler, Limits::default());
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

#[tokio::test]
async fn two_thousand_handlers_call_back_through_a_narrow_pipe() {
    let ends = ends(256);
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

#[tokio::test]
async fn notifications_keep_their_order() {
    let mut ends = ends(64);
    for number in 0..1000 {
        ends.client.notify(&Note { number }).await.unwrap();
    }
    for number in 0..1000 {
        assert_eq!(ends.seen.recv().await.unwrap(), format!("note {number}"));
    }
}

#[tokio::test]
async fn dropping_a_call_cancels_it_at_the_peer() {
    let mut ends = ends(64);
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

#[tokio::test]
async fn the_end_of_the_peer_fails_calls_and_cancels_requests() {
    let mut ends = ends(64);
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

#[tokio::test]
async fn bad_lines_lose_nothing_else() {
    let (mut raw, _agent, _seen) = raw_agent();
    let lines = concat!(
        "no json\n",
        "\r\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"_test/echo\",\"params\":{\"text\":\"a\"}}\r\n",
        "{\"id\":2,\"method\":\"_test/echo\"}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"_test/echo\"}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"_test\\/echo\",\"params\":{\"text\":\"b\"},\"later\":true}\n",
    );
    raw.get_mut().write_all(lines.as_bytes()).await.unwrap();
    let expected = [
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error: one JSON object a line is expected"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"text":"a"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"invalid request: WrongVersion"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request: AmbiguousShape"}}"#,
        r#"{"jsonrpc":"2.0","id":"x","result":{"text":"b"}}"#,
    ];
    for expected in expected {
        assert_eq!(line(&mut raw).await, expected);
    }
}

#[tokio::test]
async fn what_was_answered_before_the_end_is_still_written() {
    let (mut raw, agent, _seen) = raw_agent();
    raw.get_mut()
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"_test/echo\",\"params\":{\"text\":\"last\"}}")
        .await
        .unwrap();
    raw.get_mut().shutdown().await.unwrap();
    assert_eq!(
        line(&mut raw).await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"text":"last"}}"#
    );
    assert!(matches!(agent.closed().await, CloseCause::PeerEof));
}

#[tokio::test]
async fn half_a_line_at_the_end_is_told() {
    let (mut raw, agent, _seen) = raw_agent();
    raw.get_mut().write_all(b"{\"jsonrpc\":").await.unwrap();
    raw.get_mut().shutdown().await.unwrap();
    assert!(matches!(
        agent.closed().await,
        CloseCause::Truncated { read: 11 }
    ));
}

#[tokio::test(start_paused = true)]
async fn a_sender_waits_for_a_reader_and_loses_nothing() {
    let (raw, agent) = duplex(1000);
    let (reader, writer) = split(agent);
    let agent = connect(
        Role::Agent,
        reader,
        writer,
        NoHandler,
        Limits::default().with_outgoing_credit(4000),
    );
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
    assert!(before < 120, "{before} were queued past the credit");
    let mut raw = BufReader::new(raw);
    for number in 0..500 {
        let expected = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"_test/note\",\"params\":{{\"number\":{number}}}}}"
        );
        assert_eq!(line(&mut raw).await, expected);
    }
    sender.await.unwrap();
}

#[tokio::test]
async fn whoever_knows_the_id_of_a_call_hears_of_its_end() {
    let (ours, theirs) = duplex(1024);
    let (reader, writer) = split(ours);
    let client = connect(Role::Client, reader, writer, NoHandler, Limits::default());
    let (reader, mut writer) = split(theirs);
    let mut lines = BufReader::new(reader).lines();
    let call = client.start_call(&Wait {}).unwrap();
    let line = lines.next_line().await.unwrap().unwrap();
    let request: serde_json::Value = serde_json::from_str(&line).unwrap();
    let id = RequestId::from(request["id"].as_i64().unwrap());
    assert_eq!(client.open_call(&id), Some(AnswerTo::Caller));
    let ended = client.call_ended(&id);
    let answer = async {
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"text\":\"\"}}}}\n");
        writer.write_all(answer.as_bytes()).await.unwrap();
    };
    tokio::join!(ended, answer);
    assert_eq!(client.open_call(&id), None);
    call.result().await.1.unwrap();
    client.call_ended(&id).await;
}
