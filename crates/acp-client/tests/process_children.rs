//! Agents as real processes: how they start, die, and are never left behind.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use acp_client::{
    Client, ClientEnd, ClientError, ClientOptions, ClientTimeouts, ExitStatus, Launch,
};

/// What every agent here can do: hear one line, whose id is then in `id`, and answer it.
const PRELUDE: &str = r#"
hear() { IFS= read -r line || exit 0; id=${line#*\"id\":}; id=${id%%[!0-9]*}; }
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
start() { hear; answer '{"protocolVersion":1}'; hear; answer '{"sessionId":"s"}'; hear; }
"#;

const SECOND: Duration = Duration::from_secs(1);

fn launch(script: &str) -> Launch {
    Launch::new("/bin/sh")
        .with_args(["-c", &format!("{PRELUDE}{script}")])
        .with_inherited_env()
}

fn client(script: &str) -> Client {
    Client::new(launch(script), ClientOptions::new())
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
    let deadline = Instant::now() + 20 * SECOND;
    while !what() {
        assert!(Instant::now() < deadline, "it did not come true");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Reads the process id that an agent wrote into a file.
async fn pid_in(file: &Path) -> u32 {
    let read = || {
        fs::read_to_string(file)
            .ok()
            .and_then(|text| text.trim().parse().ok())
    };
    wait_until(|| read().is_some()).await;
    read().unwrap()
}

#[tokio::test]
async fn an_agent_that_dies_in_a_turn_is_told_at_once_with_status_and_last_words() {
    let client = client("start; sleep 0.2; echo 'no more memory' >&2; exit 7");
    client.dial().await.unwrap();
    let mut session = client.new_session("/").await.unwrap();
    let turn = session.prompt("x").await.unwrap();
    let error = turn.end().await.unwrap_err();
    let ClientError::Died(death) = &error else {
        panic!("{error}");
    };
    assert_eq!(death.exit().unwrap().status(), ExitStatus::Code(7));
    assert_eq!(error.stderr_tail(), Some("no more memory\n"));
    assert!(
        !death.to_string().contains("memory"),
        "last words may hold secrets"
    );
    assert!(matches!(client.done().await, ClientEnd::Died(_)));
    let exit = client.close().await.unwrap();
    assert_eq!(exit.status(), ExitStatus::Code(7));
}

#[tokio::test]
async fn death_is_noticed_although_somebody_keeps_the_pipe_open() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!(
        "start; setsid sleep 600 & echo $! > {}; sleep 0.1; kill -9 $$",
        file.display()
    );
    let client = client(&script);
    client.dial().await.unwrap();
    let mut session = client.new_session("/").await.unwrap();
    let turn = session.prompt("x").await.unwrap();
    let pid = pid_in(&file).await;
    let since = Instant::now();
    let error = turn.end().await.unwrap_err();
    assert!(since.elapsed() < 2 * SECOND, "{:?}", since.elapsed());
    let ClientError::Died(death) = &error else {
        panic!("{error}");
    };
    let exit = death.exit().unwrap();
    assert_eq!(exit.status(), ExitStatus::Signal(9));
    // It left the group of the agent on purpose, and was ended by its guard.
    assert_eq!((exit.escaped(), exit.survivors()), (1, 0));
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    assert!(rustix::process::test_kill_process(pid).is_err());
}

#[tokio::test]
async fn an_agent_that_cannot_start_says_why() {
    let dial = async |launch: Launch| {
        Client::new(launch, ClientOptions::new())
            .dial()
            .await
            .unwrap_err()
    };
    let missing = dial(Launch::new("/no/such/agent")).await;
    assert!(matches!(missing, ClientError::Spawn(_)), "{missing}");
    assert_eq!(missing.to_string(), "start \"/no/such/agent\"");
    let relative = dial(Launch::new("agent")).await;
    assert!(matches!(relative, ClientError::Spawn(_)), "{relative}");
    let dying = dial(launch("echo 'no such option' >&2; exit 2")).await;
    let ClientError::Died(death) = &dying else {
        panic!("{dying}");
    };
    assert_eq!(death.exit().unwrap().status(), ExitStatus::Code(2));
    assert_eq!(dying.stderr_tail(), Some("no such option\n"));
}

#[tokio::test]
async fn an_attempt_that_failed_can_be_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tried");
    let script = format!(
        "[ -e {0} ] || {{ : > {0}; exit 1; }}; hear; answer '{{\"protocolVersion\":1}}'; hear",
        file.display()
    );
    let client = client(&script);
    // Two at once: the one that waited for the failed attempt makes its own.
    let (first, second) = tokio::join!(client.dial(), client.dial());
    assert!(matches!(first, Err(ClientError::Died(_))), "{first:?}");
    second.unwrap();
    client.dial().await.unwrap();
    client.close().await;
}

#[tokio::test]
async fn a_start_that_moves_on_standard_error_gets_more_time() {
    let slow = "for n in 1 2 3 4 5 6; do echo fetching >&2; sleep 0.2; done; hear; answer '{\"protocolVersion\":1}'; hear";
    // A time that is given is final, whatever the agent writes.
    let given =
        ClientOptions::new().with_timeouts(ClientTimeouts::default().with_initialize(SECOND / 2));
    let error = Client::new(launch(slow), given).dial().await.unwrap_err();
    assert!(matches!(error, ClientError::StartTimeout { .. }), "{error}");
    assert!(error.stderr_tail().unwrap().starts_with("fetching\n"));
    let patient = ClientOptions::new().with_timeouts(ClientTimeouts {
        initialize_in_all: 30 * SECOND,
        ..ClientTimeouts::default().with_initialize(SECOND / 2)
    });
    let client = Client::new(launch(slow), patient);
    client.dial().await.unwrap();
    client.close().await;
    // And one that stands still does not.
    let patient = ClientOptions::new().with_timeouts(ClientTimeouts {
        initialize_in_all: 30 * SECOND,
        ..ClientTimeouts::default().with_initialize(SECOND / 2)
    });
    let since = Instant::now();
    let error = Client::new(launch("echo fetching >&2; hear; hear"), patient)
        .dial()
        .await
        .unwrap_err();
    assert!(matches!(error, ClientError::StartTimeout { .. }), "{error}");
    assert!(since.elapsed() < 5 * SECOND, "{:?}", since.elapsed());
}

#[test]
fn a_program_that_the_system_does_not_start_in_time_is_given_up() {
    // Only one thread starts programs, and it is held until nobody waits any more.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build()
        .unwrap();
    runtime.block_on(async {
        let (release, held) = std::sync::mpsc::channel();
        let holding = tokio::task::spawn_blocking(move || held.recv());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let script = format!("echo $$ > {}; sleep 600", file.display());
        let options = ClientOptions::new().with_timeouts(ClientTimeouts {
            spawn: Duration::ZERO,
            ..ClientTimeouts::default()
        });
        let error = Client::new(launch(&script), options)
            .dial()
            .await
            .unwrap_err();
        assert_eq!(error.to_string(), "start the agent within 0 s");
        release.send(()).unwrap();
        holding.await.unwrap().unwrap();
        // It comes up all the same, and is ended.
        let pid = pid_in(&file).await;
        wait_until(|| !runs(pid)).await;
    });
}

#[tokio::test]
async fn whatever_is_dropped_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!(
        "trap '' INT TERM; echo $$ > {}; (trap '' INT TERM; sleep 600) & start; while :; do sleep 600; done",
        file.display()
    );
    let quick = || {
        let ladder = acp_process::KillLadder::default()
            .with_abort_eof_grace(Duration::ZERO)
            .with_orderly_eof_grace(Duration::ZERO)
            .with_interrupt_grace(Duration::ZERO)
            .with_terminate_grace(Duration::ZERO);
        Client::new(
            launch(&script).with_kill_ladder(ladder),
            ClientOptions::new(),
        )
    };

    // A dial that is given up.
    let client = quick();
    let waiting = tokio::time::timeout(SECOND / 2, async {
        client.dial().await.unwrap();
        client.new_session("/").await.unwrap();
        std::future::pending::<()>().await;
    });
    assert!(waiting.await.is_err());
    let pid = pid_in(&file).await;
    assert!(runs(pid));
    drop(client);
    wait_until(|| !runs(pid)).await;

    // A turn, last of all handles.
    fs::remove_file(&file).unwrap();
    let client = quick();
    client.dial().await.unwrap();
    let pid = pid_in(&file).await;
    let mut session = client.new_session("/").await.unwrap();
    let turn = session.prompt("x").await.unwrap();
    drop(client);
    drop(session);
    assert!(runs(pid), "the turn keeps its agent");
    drop(turn);
    wait_until(|| !runs(pid)).await;

    // A kill waits until everything is gone.
    fs::remove_file(&file).unwrap();
    let client = quick();
    client.dial().await.unwrap();
    let pid = pid_in(&file).await;
    let exit = client.kill().await.unwrap();
    assert_eq!(exit.status(), ExitStatus::Signal(9));
    assert!(!runs(pid));
}

#[tokio::test]
async fn closing_gives_the_agent_the_end_of_its_input() {
    let client = client(
        "hear; answer '{\"protocolVersion\":1}'; while read -r line; do :; done; echo bye >&2; exit 3",
    );
    client.dial().await.unwrap();
    let (first, second) = tokio::join!(client.close(), client.close());
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(first.status(), ExitStatus::Code(3));
    assert_eq!(second.status(), ExitStatus::Code(3));
    assert_eq!(first.stderr_tail(), "bye\n");
    assert!(matches!(client.done().await, ClientEnd::Closed));
    assert!(matches!(client.dial().await, Err(ClientError::Closed)));
}

#[tokio::test]
async fn a_flood_on_standard_error_stops_nothing() {
    let flood = "hear; answer '{\"protocolVersion\":1}'
        n=0; while [ $n -lt 2000 ]; do echo 'a line of noise that nobody asked for, and another one' >&2; n=$((n+1)); done
        hear; answer '{\"sessionId\":\"s\"}'; hear; answer '{\"stopReason\":\"end_turn\"}'; hear";
    let client = client(flood);
    client.dial().await.unwrap();
    let mut session = client.new_session("/").await.unwrap();
    session.prompt("x").await.unwrap().end().await.unwrap();
    client.close().await;
}

#[tokio::test]
async fn an_agent_that_hangs_up_and_runs_on_is_ended_without_its_patience() {
    let client = client("start; exec >&-; while :; do sleep 1000; done");
    client.dial().await.unwrap();
    let mut session = client.new_session("/").await.unwrap();
    let turn = session.prompt("x").await.unwrap();
    let end = turn.end().await;
    assert!(matches!(end, Err(ClientError::Died(_))), "{end:?}");
    let begun = Instant::now();
    client.close().await.unwrap();
    // It does not mind the end of its input, for which an orderly end waits three seconds.
    assert!(begun.elapsed() < 2 * SECOND, "{:?}", begun.elapsed());
}
