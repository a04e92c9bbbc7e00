//! A child that serves over its own stdio, and a client that dials it.

use std::{env, io::Write as _};

use acp_connection::{BoxFuture, Handler, IncomingRequest, Item, NoHandler};
use acp_process::{Environment, Launch};
use acp_protocol::{
    Request,
    rpc::{CallError, CloseCause, Limits},
    v1::{InitializeRequest, InitializeResponse, PromptRequest, ProtocolVersion},
};
use acp_transport_stdio::{DialError, acp_connection, acp_process, dial, serve_stdio};

const VARIABLE: &str = "ACP_TEST_AGENT";

struct Agent;

#[expect(clippy::print_stdout, reason = "it must not reach the client")]
impl Handler for Agent {
    fn request(&self, request: IncomingRequest) -> Option<BoxFuture> {
        match request.method() {
            InitializeRequest::METHOD => {
                request.serve(|request: InitializeRequest, _| async move {
                    println!("a stray print");
                    Ok(InitializeResponse::new(request.protocol_version))
                })
            }
            "_test/exit" => std::process::exit(3),
            _ => {
                request.unknown_method();
                None
            }
        }
    }
}

/// The agent: this test, run by name as a process of its own. The lines that the harness
/// prints before it are no messages, and a client gets over them.
#[tokio::test]
#[ignore = "runs as the child of the others"]
async fn agent() {
    if env::var_os(VARIABLE).is_some() {
        let cause = serve_stdio(Agent, Limits::default()).await.unwrap();
        assert!(matches!(cause, CloseCause::PeerEof), "{cause}");
    }
}

fn launch() -> Launch {
    let mut environment = Environment::inherited(["PATH", "LLVM_PROFILE_FILE"]);
    environment.set(VARIABLE, "1").unwrap();
    Launch::new(env::current_exe().unwrap())
        .with_args(["--exact", "agent", "--ignored", "--nocapture"])
        .with_environment(environment)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_is_dialled_called_and_ends_with_its_connection() {
    let (agent, child) = dial(launch(), NoHandler, Limits::default()).await.unwrap();
    let request = InitializeRequest::new(ProtocolVersion::V1);
    let answer = agent.call(&request).await.unwrap();
    assert_eq!(answer.protocol_version, ProtocolVersion::V1);
    agent.close();
    assert!(matches!(agent.closed().await, CloseCause::Local));
    let exit = child.wait().await;
    assert!(exit.success(), "{exit:?}");
    assert!(child.stderr_tail().contains("a stray print"));
}

/// Bytes of updates that the child writes before it answers and exits.
const BYTES: &str = "ACP_TEST_BYTES";

/// An agent that answers its first prompt and exits: this test, as [`agent`] is.
#[test]
#[ignore = "runs as the child of the others"]
#[expect(
    clippy::disallowed_methods,
    reason = "the child writes the protocol itself"
)]
fn agent_that_answers_and_exits() {
    let Ok(bytes) = env::var(BYTES) else {
        return;
    };
    let bytes: usize = bytes.parse().unwrap();
    let mut prompt = String::new();
    std::io::stdin().read_line(&mut prompt).unwrap();
    let mut out = std::io::stdout().lock();
    let (mut written, mut number) = (0, 0);
    while written < bytes {
        let padding = "x".repeat(number * 37 % 4000);
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s\",\"update\":{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"type\":\"text\",\"text\":\"{number} {padding}\"}}}}}}}}\n"
        );
        out.write_all(line.as_bytes()).unwrap();
        written += line.len();
        number += 1;
    }
    // The first call of a client.
    let id = 1_u64 << 32;
    let end = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"stopReason\":\"end_turn\",\"_meta\":{{\"updates\":{number}}}}}}}\n"
    );
    out.write_all(end.as_bytes()).unwrap();
    out.flush().unwrap();
    std::process::exit(0);
}

/// Whatever is left in the pipe when the child exits, and however late its consumer is:
/// all of it arrives.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_answers_and_exits_is_heard_out() {
    let soft = 8 << 10;
    // From a mailbox that is not full to a pipe of 64 KiB that nearly is.
    for bytes in (0..12).map(|step| soft / 2 + step * (5 << 10)) {
        let mut environment = Environment::inherited(["PATH", "LLVM_PROFILE_FILE"]);
        environment.set(BYTES, bytes.to_string()).unwrap();
        let launch = Launch::new(env::current_exe().unwrap())
            .with_args([
                "--exact",
                "agent_that_answers_and_exits",
                "--ignored",
                "--nocapture",
            ])
            .with_environment(environment);
        // Nobody's patience ends the pause.
        let limits = Limits::default()
            .with_mailbox_soft(soft)
            .with_patience(None);
        let (agent, child) = dial(launch, NoHandler, limits).await.unwrap();
        let mut mailbox = agent.open_mailbox(&"s".into()).unwrap();
        let prompt = PromptRequest::new("s", Vec::new());
        mailbox.start_streamed(&prompt).unwrap();
        // The consumer does nothing until all is over.
        assert!(child.wait().await.success());
        assert!(matches!(agent.closed().await, CloseCause::PeerEof));
        let mut updates = 0;
        let end = loop {
            match mailbox.next().await {
                Some(Item::Update(update)) => {
                    let number = format!("\"{updates} ");
                    assert!(
                        update.line.as_str().contains(&number),
                        "lost or out of order"
                    );
                    updates += 1;
                }
                Some(Item::End(end)) => break end,
                other => panic!("{bytes} bytes, {updates} updates: {other:?}"),
            }
        };
        let answer = end.result::<PromptRequest>().unwrap();
        assert_eq!(answer.meta.unwrap()["updates"], updates);
        assert!(mailbox.next().await.is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_child_ends_the_connection() {
    let (agent, child) = dial(launch(), NoHandler, Limits::default()).await.unwrap();
    let error = agent.call_raw("_test/exit", &()).await.unwrap_err();
    assert!(matches!(error, CallError::Closed(_)), "{error}");
    child.wait().await;
}

#[tokio::test]
async fn a_program_that_is_missing_is_an_error() {
    let launch = Launch::new("/nowhere/agent").with_environment(Environment::empty());
    let error = dial(launch, NoHandler, Limits::default()).await;
    assert!(matches!(error, Err(DialError::Spawn(_))));
}
