//! Turns on agents that are real processes: how they start, die, and are never left behind.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use acp_client::ExitStatus;
use acp_harness::launch::Isolation;
use acp_harness::model::{Demand, SessionSettings};
use acp_harness::record::SessionRecords;
use acp_harness::turn::{Harness, HarnessError, Opened, StopHandle, TurnEnding, TurnRequest};
use acp_harness::{AgentEntry, Registry};
use acp_process::Environment;
use tempfile::TempDir;

/// What every agent here can do: hear one line, whose id is then in `id`, and answer it.
const PRELUDE: &str = r#"
hear() { IFS= read -r line || exit 0; id=${line#*\"id\":}; id=${id%%[!0-9]*}; }
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
say() { printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}\n' "$1"; }
start() { hear; answer '{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"resume":{}}}}'; hear; answer '{"sessionId":"s"}'; hear; }
finish() { answer '{"stopReason":"end_turn"}'; }
"#;

const SECOND: Duration = Duration::from_secs(1);

/// An agent in a folder of its own, in which it works too.
struct Agent {
    dir: TempDir,
    entry: AgentEntry,
}

impl Agent {
    fn new(script: &str) -> Self {
        let mut entry = AgentEntry::new("ada", "sh");
        entry.args = vec!["-c".to_owned(), format!("{PRELUDE}{script}")];
        entry.login.keys = vec!["ADA_KEY".to_owned()];
        let dir = tempfile::tempdir().unwrap();
        Self { dir, entry }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    fn harness(&self) -> Harness {
        let mut registry = Registry::empty();
        registry.insert(self.entry.clone()).unwrap();
        Harness::with_registry(registry).with_ambient(Environment::inherited(["PATH", "HOME"]))
    }

    fn ask(&self, prompt: &str) -> TurnRequest {
        TurnRequest::new("ada", prompt, self.path(""))
    }
}

/// Whether a process runs; one that has ended and waits for its parent does not.
fn runs(pid: u32) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat
            .rsplit(") ")
            .next()
            .unwrap_or_default()
            .starts_with('Z'),
        Err(_) => false,
    }
}

async fn wait_until(what: impl Fn() -> bool) {
    let deadline = Instant::now() + 30 * SECOND;
    while !what() {
        assert!(Instant::now() < deadline, "it did not come true");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Reads the ids of processes that an agent wrote into a file, one a line.
async fn pids_in(file: &Path, count: usize) -> Vec<u32> {
    let read = || -> Vec<u32> {
        let text = fs::read_to_string(file).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    };
    wait_until(|| read().len() == count).await;
    read()
}

#[tokio::test]
async fn a_turn_leaves_its_report_and_no_process() {
    let agent = Agent::new(
        "echo $$ > pids; sleep 1000 & echo $! >> pids; start; say 'Done.'; finish; hear",
    );
    let outcome = agent.harness().run(agent.ask("x")).await.unwrap();
    assert_eq!(
        (&*outcome.report, outcome.stop_reason()),
        ("Done.", "end_turn")
    );
    assert_eq!(
        outcome.exit,
        Some(ExitStatus::Code(0)),
        "it heard the end of its input"
    );
    for pid in pids_in(&agent.path("pids"), 2).await {
        // It got the signal that nobody survives; the system takes a moment to end it.
        wait_until(|| !runs(pid)).await;
    }
}

#[tokio::test]
async fn a_conversation_goes_on_in_another_process() {
    let agent = Agent::new("start; say \"$line\"; finish; hear");
    let records = SessionRecords::in_folder(agent.path("sessions"));
    let ask = |prompt| {
        agent
            .ask(prompt)
            .in_conversation(records.clone(), "ticket 17")
    };
    let first = agent.harness().run(ask("One")).await.unwrap();
    assert_eq!(first.opened, Some(Opened::New));
    // Another harness stands for another process of ours: all they share is the folder.
    let second = agent.harness().run(ask("Two")).await.unwrap();
    assert_eq!(second.opened, Some(Opened::Resumed));
    assert_eq!(second.session_id.unwrap(), "s");
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_named_with_status_and_redacted_last_words() {
    let agent = Agent::new("start; say Half; hear() { :; }; echo \"lost $ADA_KEY\" >&2; exit 7");
    let request = agent.ask("x").with_key("hunter2-swordfish");
    let outcome = agent.harness().run(request).await.unwrap();
    assert_eq!((&*outcome.report, outcome.stop_reason()), ("Half", "error"));
    let TurnEnding::Failed(error @ HarnessError::StreamTruncated { exit, .. }) = &outcome.end
    else {
        panic!("{:?}", outcome.end);
    };
    assert_eq!(*exit, Some(ExitStatus::Code(7)));
    assert_eq!(error.stderr_tail(), Some("lost [redacted]\n"));
    assert!(!error.to_string().contains("lost"), "{error}");
}

#[tokio::test]
async fn an_agent_that_ignores_everything_is_killed_after_the_grace() {
    let script = "trap '' INT TERM; start; say Half; echo $$ > pids; while :; do sleep 1; done";
    let agent = Agent::new(script);
    let stop = StopHandle::new();
    let request = agent.ask("x").with_stop(&stop).with_stop_grace(SECOND / 10);
    let harness = agent.harness();
    let stopping = async {
        let pids = pids_in(&agent.path("pids"), 1).await;
        stop.stop();
        pids[0]
    };
    let (outcome, pid) = tokio::join!(harness.run(request), stopping);
    let end = outcome.unwrap().end;
    assert!(matches!(end, TurnEnding::Abandoned), "{end:?}");
    assert!(!runs(pid), "{pid} is left");
}

#[tokio::test]
async fn a_timeout_bounds_what_comes_behind_it_too() {
    // It minds neither a cancel nor the end of its input, and asks for patience otherwise.
    let agent = Agent::new("trap '' INT TERM; start; say Half; while :; do sleep 1; done");
    let request = agent.ask("x").with_total_timeout(SECOND);
    let begun = Instant::now();
    let end = agent.harness().run(request).await.unwrap().end;
    let TurnEnding::TimedOut { abandoned, .. } = end else {
        panic!("{end:?}");
    };
    assert!(abandoned);
    // The limit, as long again for the cancel, and a moment for the kill.
    assert!(begun.elapsed() < 4 * SECOND, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_turn_that_is_dropped_leaves_no_process() {
    let agent = Agent::new(
        "trap '' INT TERM; echo $$ > pids; sleep 1000 & echo $! >> pids; start; while :; do sleep 1; done",
    );
    let harness = agent.harness();
    let pids = {
        let turn = harness.run(agent.ask("x"));
        tokio::pin!(turn);
        let file = agent.path("pids");
        tokio::select! {
            pids = pids_in(&file, 2) => pids,
            outcome = &mut turn => panic!("it ended: {outcome:?}"),
        }
    };
    wait_until(|| !pids.iter().any(|pid| runs(*pid))).await;
}

#[test]
fn a_call_gives_every_chunk_in_order_and_the_report() {
    let script = "start; say One; say Two; printf '%s\\n' \
        '{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t\",\"title\":\"read\"}}}'; \
        say Three; finish; hear";
    let agent = Agent::new(script);
    let mut heard = String::new();
    let called = agent
        .harness()
        .call_blocking(agent.ask("x"), |chunk| heard.push_str(chunk));
    let called = called.unwrap();
    assert_eq!(heard, "OneTwoThree");
    assert_eq!(
        (&*called.report, &*called.stop_reason),
        ("Three", "end_turn")
    );
}

#[tokio::test]
async fn a_call_blocks_inside_of_a_runtime_too_and_its_future_may_move() {
    fn may_move<F: Future + Send>(future: F) -> F {
        future
    }
    let unknown = may_move(acp_harness::call("no-such-agent", "x", "/", |_| ())).await;
    let unknown = unknown.unwrap_err().to_string();
    assert!(unknown.contains("codex"), "{unknown}");
    let agent = Agent::new("start; say Half; exit 1");
    let called = agent
        .harness()
        .call_blocking(agent.ask("x"), |_| ())
        .unwrap();
    assert_eq!((&*called.report, &*called.stop_reason), ("Half", "error"));
    let agent = Agent::new("exit 1");
    agent
        .harness()
        .call_blocking(agent.ask("x"), |_| ())
        .unwrap_err();
}

/// A minimal executor, which is not tokio.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = std::sync::Arc::new(Unpark(std::thread::current())).into();
    let mut future = std::pin::pin!(future);
    loop {
        let mut context = std::task::Context::from_waker(&waker);
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(output) => return output,
            std::task::Poll::Pending => std::thread::park(),
        }
    }
}

#[test]
fn a_call_needs_no_runtime() {
    let script =
        "start; n=0; while [ $n -lt 200 ]; do say \"$n.\"; n=$((n + 1)); done; finish; hear";
    let agent = Agent::new(script);
    let (harness, mut heard) = (agent.harness(), String::new());
    let call = harness.call(agent.ask("x"), |chunk| heard.push_str(chunk));
    let called = block_on(call).unwrap();
    let expected: String = (0..200).map(|n| format!("{n}.")).collect();
    assert_eq!((&*called.report, &*heard), (&*expected, &*expected));
    let unknown = block_on(acp_harness::call("no-such-agent", "x", "/", |_| ()));
    assert!(matches!(unknown, Err(HarnessError::UnknownAgent(_))));
}

#[test]
fn a_call_without_a_runtime_that_is_dropped_leaves_no_process() {
    let agent =
        Agent::new("trap '' INT TERM; start; say Half; echo $$ > pids; while :; do sleep 1; done");
    let harness = agent.harness();
    {
        let mut call = std::pin::pin!(harness.call(agent.ask("x"), |_| ()));
        let deadline = Instant::now() + 30 * SECOND;
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        while !agent.path("pids").exists() {
            assert!(call.as_mut().poll(&mut context).is_pending());
            assert!(Instant::now() < deadline, "it did not start");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let pid = pids_in(&agent.path("pids"), 1).await[0];
        wait_until(|| !runs(pid)).await;
    });
}

#[tokio::test]
async fn an_agent_gets_its_own_environment_and_home() {
    let script = "start; say \"$HOME|$ADA_KEY|$XAI_API_KEY\"; finish; hear";
    let agent = Agent::new(script);
    let home = Isolation::new(agent.path("homes"))
        .home("ada@example.com", "ada")
        .unwrap();
    let ambient = [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/root"),
        ("ADA_KEY", "of the host"),
    ];
    let ambient = Environment::exactly(ambient).unwrap();
    let harness = agent.harness().with_ambient(ambient);
    let alone = harness
        .run(agent.ask("x").in_home(home.clone()))
        .await
        .unwrap();
    assert_eq!(alone.report, format!("{}||", home.path().display()));
    let request = agent.ask("x").in_home(home.clone()).with_key("of the user");
    let with_key = harness.run(request).await.unwrap();
    assert_eq!(
        with_key.report,
        format!("{}|of the user|", home.path().display())
    );
    let local = harness.run(agent.ask("x")).await.unwrap();
    assert_eq!(local.report, "/root|of the host|");
}

#[tokio::test]
async fn an_agent_that_takes_its_model_from_a_variable_gets_it_there() {
    let mut agent = Agent::new("start; say \"$ADA_MODEL\"; finish; hear");
    agent.entry.model_env = Some("ADA_MODEL".to_owned());
    let wants = SessionSettings::new().with_model("large", Demand::Require);
    let request = agent.ask("x").with_settings(wants.clone());
    assert_eq!(agent.harness().run(request).await.unwrap().report, "large");
    // One that offers no choice and reads no variable cannot be made to have it.
    agent.entry.model_env = None;
    let request = agent.ask("x").with_settings(wants);
    let error = agent.harness().run(request).await.unwrap_err();
    assert!(matches!(error, HarnessError::Setting(_)), "{error}");
}

#[tokio::test]
async fn a_version_is_asked_for_before_the_agent_starts() {
    let mut agent = Agent::new("touch started; start; finish");
    agent.entry.probe = vec!["-c".to_owned(), "echo ada 1.1.9".to_owned()];
    agent.entry.min_version = Some("1.2.0".parse().unwrap());
    let error = agent.harness().run(agent.ask("x")).await.unwrap_err();
    assert!(matches!(error, HarnessError::Version(_)), "{error}");
    assert!(!agent.path("started").exists());
}

#[tokio::test]
async fn what_keeps_an_agent_from_working_is_told_before_it_starts() {
    let mut agent = Agent::new("touch started; start; finish");
    agent.entry.conflicts = vec!["ADA_NESTED".to_owned()];
    let ambient = [("PATH", "/usr/bin:/bin"), ("ADA_NESTED", "1")];
    let harness = agent
        .harness()
        .with_ambient(Environment::exactly(ambient).unwrap());
    let all = acp_harness::launch::EnvPolicy::inheriting_all();
    let error = harness.run(agent.ask("x").with_env(all)).await.unwrap_err();
    assert!(matches!(error, HarnessError::Env(_)), "{error}");

    agent.entry.command = "no-such-program".to_owned();
    agent.entry.install = "get ada".to_owned();
    let error = agent.harness().run(agent.ask("x")).await.unwrap_err();
    assert!(matches!(error, HarnessError::NotInstalled(_)), "{error}");
    assert!(
        error.to_string().ends_with("to install it: get ada"),
        "{error}"
    );
    assert!(!agent.path("started").exists());
}
