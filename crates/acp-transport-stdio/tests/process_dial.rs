//! A child that serves over its own stdio, and a client that dials it.

use std::env;

use acp_connection::{BoxFuture, Handler, IncomingRequest, NoHandler};
use acp_process::{Environment, Launch};
use acp_protocol::{
    Request,
    rpc::{CallError, CloseCause, Limits},
    v1::{InitializeRequest, InitializeResponse, ProtocolVersion},
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
