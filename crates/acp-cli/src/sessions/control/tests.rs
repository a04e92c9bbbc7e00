//! Both sides over pipes in memory, and sockets for real.

use std::sync::Arc;
use std::time::Duration;

use acp_client::{Client, ClientOptions, Session};
use acp_harness::turn::{SteerOutcome, StopHandle};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};
use tokio::task::JoinHandle;

use super::caller::read_line;
use super::server::serve_caller;
use super::{Answer, Ask, Caller, Control, Ended, Live, NoAnswer};
use crate::sessions::key::SessionKey;
use crate::sessions::limits::{CALL_TIMEOUT, MAX_LINE};
use crate::sessions::record::Record;
use crate::sessions::store::{Hold, Store};
use crate::sessions::wishes::Change;

const SOON: Duration = Duration::from_secs(20);

/// A session that is held, and its turn.
struct Turn {
    _dir: tempfile::TempDir,
    store: Store,
    key: SessionKey,
    hold: Arc<Hold>,
    live: Arc<Live>,
    stop: StopHandle,
}

fn turn() -> Turn {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::in_folder(dir.path().join("sessions"));
    let key = SessionKey::of_demo("one");
    let hold = Arc::new(store.try_claim(&key).unwrap().unwrap());
    let mut record = Record::new(&key, "/");
    record.begin_turn("ask");
    hold.save(record).unwrap();
    let stop = StopHandle::new();
    let live = Arc::new(Live::new(&key, Arc::downgrade(&hold), &stop));
    Turn {
        _dir: dir,
        store,
        key,
        hold,
        live,
        stop,
    }
}

/// Calls the turn over a pipe.
fn call(
    live: &Arc<Live>,
) -> (
    Caller<tokio::io::DuplexStream>,
    JoinHandle<std::io::Result<()>>,
) {
    let (ours, theirs) = duplex(4096);
    let live = Arc::clone(live);
    let server = tokio::spawn(async move { serve_caller(theirs, &live).await });
    (Caller::over(ours), server)
}

fn ended() -> Ended {
    Ended {
        stop_reason: Some("cancelled".to_owned()),
        exit_code: 130,
    }
}

/// A session with an agent that has a mode and an option, keeps its word about the mode
/// alone, and answers steering by this.
async fn session(steered: Value) -> Session {
    let (ours, theirs) = duplex(1 << 16);
    let option = json!([{"id": "web", "name": "Web", "type": "boolean", "currentValue": false}]);
    tokio::spawn(async move {
        let (reader, mut writer) = split(theirs);
        let mut lines = BufReader::new(reader).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let asked: Value = serde_json::from_str(&line).unwrap();
            let mut answer = json!({"jsonrpc": "2.0", "id": asked["id"]});
            answer["result"] = match asked["method"].as_str().unwrap_or_default() {
                "initialize" => json!({"protocolVersion": 1}),
                "session/new" => json!({"sessionId": "s", "configOptions": option, "modes":
                    {"currentModeId": "ask", "availableModes":
                        [{"id": "ask", "name": "Ask"}, {"id": "act", "name": "Act"}]}}),
                "session/set_config_option" => json!({"configOptions": option}),
                "_session/steering" => {
                    assert_eq!(asked["params"]["_meta"]["idleBehavior"], "promptRequired");
                    steered.clone()
                }
                "session/set_mode" => json!({}),
                _ => continue,
            };
            let line = format!("{answer}\n");
            writer.write_all(line.as_bytes()).await.unwrap();
        }
    });
    let (reader, writer) = split(ours);
    let options = ClientOptions::new().with_boolean_options();
    let client = Client::over(reader, writer, options);
    client.dial().await.unwrap();
    client.new_session("/").await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn who_looks_is_told_who_runs_it() {
    let turn = turn();
    let (mut caller, server) = call(&turn.live);
    let Answer::Running(running) = caller.ask(&Ask::Look, SOON).await.unwrap() else {
        panic!("another answer");
    };
    assert_eq!(running.name.as_str(), "one");
    assert_eq!((&*running.agent, running.pid), ("demo", std::process::id()));
    server.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_cancels_hears_the_end() {
    let turn = turn();
    let (mut caller, server) = call(&turn.live);
    let (mut second, _) = call(&turn.live);
    for caller in [&mut caller, &mut second] {
        let answer = caller.ask(&Ask::Cancel, SOON).await.unwrap();
        assert_eq!(answer, Answer::Cancelling);
    }
    assert!(turn.stop.is_stopped());
    assert!(matches!(caller.answer(SOON).await, Err(NoAnswer::TimedOut)));
    turn.live.end(ended());
    for caller in [&mut caller, &mut second] {
        let answer = caller.answer(SOON).await.unwrap();
        assert_eq!(answer, Answer::Ended(ended()));
    }
    server.await.unwrap().unwrap();
    // A process that dies says no more.
    let (mut caller, server) = call(&Arc::new(Live::new(
        &turn.key,
        Arc::downgrade(&turn.hold),
        &turn.stop,
    )));
    caller.ask(&Ask::Cancel, SOON).await.unwrap();
    server.abort();
    assert!(matches!(caller.answer(SOON).await, Err(NoAnswer::Gone)));
}

#[tokio::test(start_paused = true)]
async fn what_it_is_told_waits_for_the_agent_and_is_recorded() {
    let turn = turn();
    let (mut caller, _) = call(&turn.live);
    let ask = Ask::Steer {
        text: "and more".to_owned(),
    };
    let asked = tokio::spawn(async move { caller.ask(&ask, SOON).await });
    let session = session(json!({"outcome": "injected"})).await;
    turn.live.begin(session.control(), true);
    let outcome = SteerOutcome::Injected;
    assert_eq!(asked.await.unwrap().unwrap(), Answer::Steered { outcome });
    let record = turn.hold.record().unwrap();
    assert_eq!(record.turns[0].added[0].text, "and more");
}

#[tokio::test(start_paused = true)]
async fn what_the_agent_does_not_take_is_said_and_not_recorded() {
    for (steers, answer, expected) in [
        (
            false,
            json!({"outcome": "injected"}),
            SteerOutcome::Unsupported,
        ),
        (
            true,
            json!({"outcome": "promptRequired"}),
            SteerOutcome::FallbackRequired,
        ),
    ] {
        let turn = turn();
        let session = session(answer).await;
        turn.live.begin(session.control(), steers);
        let (mut caller, _) = call(&turn.live);
        let text = "and more".to_owned();
        let answer = caller.ask(&Ask::Steer { text }, SOON).await.unwrap();
        assert_eq!(answer, Answer::Steered { outcome: expected });
        assert_eq!(turn.hold.record().unwrap().turns[0].added, []);
    }
    // Nor when it is over.
    let turn = turn();
    turn.live.end(ended());
    let (mut caller, _) = call(&turn.live);
    let text = "and more".to_owned();
    let answer = caller.ask(&Ask::Steer { text }, SOON).await.unwrap();
    assert_eq!(answer, Answer::Ended(ended()));
}

#[tokio::test(start_paused = true)]
async fn what_is_set_is_proven_and_remembered() {
    let turn = turn();
    let session = session(Value::Null).await;
    turn.live.begin(session.control(), false);
    let set = async |change: Change| {
        let (mut caller, _) = call(&turn.live);
        caller.ask(&Ask::Set { change }, SOON).await.unwrap()
    };
    let mode = |id: &str| Change::Mode { id: id.to_owned() };
    assert_eq!(set(mode("act")).await, Answer::Set);
    assert_eq!(session.modes().unwrap().current_mode_id, *"act");
    let failed = |message: &str| Answer::Failed {
        message: message.to_owned(),
    };
    assert_eq!(
        set(mode("fly")).await,
        failed("failed to set the mode to \"fly\": the agent offers ask, act")
    );
    let web = Change::Option {
        id: "web".to_owned(),
        value: "true".to_owned(),
    };
    assert_eq!(
        set(web.clone()).await,
        failed(
            "failed to set the option web to true: the agent took it, and still has another one"
        )
    );
    let record = turn.hold.record().unwrap();
    assert_eq!(record.wishes.changes().collect::<Vec<_>>(), [mode("act")]);
    // What it offered is known from then on, also without the agent.
    assert!(record.offers.check(&web).is_ok());
    assert!(record.offers.check(&mode("fly")).is_err());
}

#[tokio::test(start_paused = true)]
async fn who_makes_no_sense_is_told_and_who_says_nothing_is_not_waited_for() {
    let turn = turn();
    for line in [
        "what?\n",
        "{\"version\":2,\"ask\":\"look\"}\n",
        "{\"version\":1,\"ask\":\"fly\"}\n",
    ] {
        let (mut ours, theirs) = duplex(4096);
        ours.write_all(line.as_bytes()).await.unwrap();
        serve_caller(theirs, &turn.live).await.unwrap();
        let answer = read_line(&mut BufReader::new(ours)).await.unwrap().unwrap();
        let answer: Answer = serde_json::from_slice(&answer).unwrap();
        assert!(
            matches!(answer, Answer::Failed { .. }),
            "{line}: {answer:?}"
        );
    }
    let (_silent, theirs) = duplex(4096);
    let begun = tokio::time::Instant::now();
    assert!(serve_caller(theirs, &turn.live).await.is_err());
    assert_eq!(begun.elapsed(), CALL_TIMEOUT);
    let long = vec![b'x'; MAX_LINE + 10];
    let read = read_line(&mut &long[..]).await;
    assert_eq!(read.unwrap_err().kind(), std::io::ErrorKind::InvalidData);
    let mut cut: &[u8] = b"{\"ask\"";
    assert_eq!(read_line(&mut cut).await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn what_was_taken_is_recorded_before_the_session_is_free() {
    let turn = turn();
    let session = session(json!({"outcome": "injected"})).await;
    turn.live.begin(session.control(), true);
    let live = Arc::clone(&turn.live);
    let text = "and more".to_owned();
    let mut served = Box::pin(async move { live.serve(Ask::Steer { text }).await });
    // It is under way, and the turn ends.
    let first = std::future::poll_fn(|cx| std::task::Poll::Ready(served.as_mut().poll(cx)));
    assert!(first.await.is_pending());
    let live = Arc::clone(&turn.live);
    let settled = tokio::spawn(async move { live.settle(ended()).await });
    tokio::task::yield_now().await;
    assert!(!settled.is_finished());
    served.await;
    settled.await.unwrap();
    assert_eq!(turn.hold.record().unwrap().turns[0].added.len(), 1);
    // Nothing more is taken, and who waits for the agent waits no longer.
    let text = "too late".to_owned();
    let answer = turn.live.serve(Ask::Steer { text }).await;
    assert_eq!(answer, Answer::Ended(ended()));
}

#[cfg(unix)]
#[tokio::test]
async fn a_socket_is_there_for_as_long_as_the_turn() {
    use std::os::unix::fs::PermissionsExt;

    let turn = turn();
    let path = turn.store.socket(&turn.key);
    assert!(Caller::call(&path).await.unwrap().is_none());
    // Left by who died.
    std::fs::write(&path, "").unwrap();
    let control = Control::listen(&path, Arc::clone(&turn.live)).unwrap();
    let mode = path.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut caller = Caller::call(&path).await.unwrap().unwrap();
    assert_eq!(
        caller.ask(&Ask::Cancel, SOON).await.unwrap(),
        Answer::Cancelling
    );
    control.shut(&ended()).await;
    assert!(!path.exists());
    let waits = tokio::spawn(async move { caller.answer(SOON).await });
    control.end(ended()).await;
    assert_eq!(waits.await.unwrap().unwrap(), Answer::Ended(ended()));
    assert!(Caller::call(&path).await.unwrap().is_none());
}
