//! What is given up, cancelled or cut off at every possible moment: nothing hangs, the
//! agent never has two turns of one session, and the session goes on.

mod support;

use std::collections::{HashMap, HashSet};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use acp_client::{Client, ClientError, ClientOptions, TurnEvent};
use acp_protocol::v1::StopReason;
use serde_json::{Value, json};
use support::{Agent, all, brief, chunk, dialed, end_turn, open, opened, pair};
use tokio::time::{Instant, timeout};

const SECOND: Duration = Duration::from_secs(1);
/// More polls than anything here takes.
const MOMENTS: usize = 40;

/// Polls a future so many times, and then drops it.
async fn up_to<F: Future>(moment: usize, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut polls = 0;
    poll_fn(|cx| {
        if polls == moment {
            return Poll::Ready(None);
        }
        polls += 1;
        let polled = future.as_mut().poll(cx).map(Some);
        if polled.is_pending() {
            // At each moment something else has come: look again soon.
            cx.waker().wake_by_ref();
        }
        polled
    })
    .await
}

/// An agent that keeps the rules, and checks that the client does.
#[derive(Default)]
struct Strict {
    running: HashMap<String, (Value, i64)>,
    open: HashSet<String>,
    made: usize,
    asked: i64,
}

impl Strict {
    async fn serve(mut self, mut agent: Agent) {
        while let Some(message) = agent.try_next().await {
            let params = &message["params"];
            let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
            match message["method"].as_str() {
                Some("initialize") => {
                    let can = json!({"loadSession": true, "sessionCapabilities": {"resume": {}, "close": {}}});
                    let answer = json!({"protocolVersion": 1, "agentCapabilities": can});
                    agent.answer(&message, answer).await;
                }
                Some("session/new") => {
                    self.made += 1;
                    let name = format!("new-{}", self.made);
                    self.open.insert(name.clone());
                    agent.answer(&message, json!({"sessionId": name})).await;
                }
                Some("session/load" | "session/resume") => {
                    self.open.insert(session.clone());
                    agent.update(&session, chunk("old")).await;
                    agent.answer(&message, json!({})).await;
                }
                Some("session/close") => {
                    self.open.remove(&session);
                    self.end(&mut agent, &session, "cancelled").await;
                    agent.answer(&message, json!({})).await;
                }
                Some("session/prompt") => {
                    assert!(
                        !self.running.contains_key(&session),
                        "two turns of one session"
                    );
                    agent.update(&session, chunk("a")).await;
                    let options = json!([{"optionId": "no", "name": "No", "kind": "reject_once"}]);
                    let ask = json!({"sessionId": session, "toolCall": {"toolCallId": "t"}, "options": options});
                    agent
                        .ask(self.asked, "session/request_permission", ask)
                        .await;
                    self.running.insert(session, (message, self.asked));
                    self.asked += 1;
                }
                Some("session/cancel") => self.end(&mut agent, &session, "cancelled").await,
                Some("$/cancel_request") => {}
                Some(other) => panic!("{other}"),
                None => {
                    let asked = message["id"].as_i64().unwrap();
                    let mut turns = self.running.iter();
                    let turn = turns.find(|(_, (_, open))| *open == asked);
                    if let Some((session, _)) = turn {
                        let session = session.clone();
                        agent.update(&session, chunk("b")).await;
                        self.end(&mut agent, &session, "end_turn").await;
                    }
                }
            }
        }
    }

    async fn end(&mut self, agent: &mut Agent, session: &str, reason: &str) {
        if let Some((prompt, _)) = self.running.remove(session) {
            agent.answer(&prompt, json!({"stopReason": reason})).await;
        }
    }
}

async fn strict(options: ClientOptions) -> Client {
    let (client, agent) = pair(options);
    tokio::spawn(Strict::default().serve(agent));
    client.dial().await.unwrap();
    client
}

#[tokio::test(start_paused = true)]
async fn a_turn_can_be_given_up_at_every_moment() {
    let client = strict(ClientOptions::new()).await;
    let mut session = client.new_session("/code").await.unwrap();
    let mut ended = 0;
    for moment in 0..MOMENTS {
        let turn = async { session.prompt_when_idle("x").await?.end().await };
        if let Some(end) = up_to(moment, turn).await {
            assert_eq!(end.unwrap().stop_reason, StopReason::EndTurn);
            ended += 1;
        }
        let start = Instant::now();
        let again = async { session.prompt_when_idle("again").await?.end().await };
        let end = timeout(60 * SECOND, again)
            .await
            .expect("it hangs")
            .unwrap();
        assert_eq!(end.stop_reason, StopReason::EndTurn, "at {moment}");
        assert!(start.elapsed() < SECOND, "at {moment}");
    }
    assert!(ended > 0 && ended < MOMENTS, "{ended} of {MOMENTS}");
}

#[tokio::test(start_paused = true)]
async fn a_turn_can_be_cancelled_at_every_moment() {
    let client = strict(ClientOptions::new().with_permissions_in_stream()).await;
    let mut session = client.new_session("/code").await.unwrap();
    let mut reasons = HashSet::new();
    for moment in 0..MOMENTS {
        let mut turn = session.prompt_when_idle("x").await.unwrap();
        let mut open = Vec::new();
        let reading = async {
            while let Some(event) = turn.next().await {
                if let TurnEvent::Permission(pending) = event {
                    // Nobody answers it but the cancel, half of the time.
                    if moment % 2 == 0 {
                        pending.reject();
                    } else {
                        open.push(pending);
                    }
                }
            }
        };
        up_to(moment, reading).await;
        turn.cancel();
        turn.cancel();
        let end = timeout(60 * SECOND, turn.end()).await.expect("it hangs");
        let reason = end.unwrap().stop_reason;
        assert!(open.iter().all(|pending| !pending.is_open()));
        reasons.insert(reason.as_str().to_owned());
    }
    // Too late it ends as it would have, and before it is cancelled.
    let expected = ["cancelled", "end_turn"].map(str::to_owned);
    assert_eq!(reasons, HashSet::from(expected));
}

#[tokio::test(start_paused = true)]
async fn opening_and_closing_can_be_given_up_at_every_moment() {
    let client = strict(ClientOptions::new()).await;
    for moment in 0..MOMENTS {
        up_to(moment, client.new_session("/code")).await;
        let name = format!("old-{moment}");
        let load = async {
            client
                .load_session(name.clone(), "/code")
                .await?
                .end()
                .await
        };
        drop(up_to(moment, load).await);
        let load = async {
            client
                .load_session(name.clone(), "/code")
                .await?
                .end()
                .await
        };
        let session = timeout(60 * SECOND, load).await.expect("it hangs").unwrap();
        up_to(moment, session.close()).await;
        drop(up_to(moment, client.resume_session(name.clone(), "/code")).await);
        let resume = client.resume_session(name, "/code");
        let mut session = timeout(60 * SECOND, resume)
            .await
            .expect("it hangs")
            .unwrap();
        let turn = session.prompt("x").await.unwrap();
        let control = turn.control();
        // Closing under a running turn ends that.
        let (end, _) = tokio::join!(turn.end(), up_to(moment, session.close()));
        match end {
            Ok(_) | Err(ClientError::SessionClosed) => {}
            Err(error) => panic!("at {moment}: {error}"),
        }
        assert!(control.set_mode("x").await.is_err());
    }
    // Whatever was left over, the client closes in time.
    let start = Instant::now();
    client.close().await;
    assert!(start.elapsed() <= 2 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_before_the_prompt_is_not_for_its_turn() {
    let options = ClientOptions::new().with_permissions_in_stream();
    let (_client, mut session, mut agent) = opened(options).await;
    session.control().cancel();
    let mut turn = session.prompt("x").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.ask_permission(0, json!({"toolCallId": "t"})).await;
    let Some(TurnEvent::Permission(pending)) = turn.next().await else {
        panic!("it asks");
    };
    assert!(pending.is_open());
    pending.reject();
    assert_eq!(agent.result(0).await, support::selected("no"));
    agent.answer(&prompt, end_turn()).await;
    assert_eq!(turn.end().await.unwrap().stop_reason, StopReason::EndTurn);
    // And nothing is said again.
    agent.hears_nothing_for(60 * SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn a_cancel_right_behind_the_prompt_comes_right_behind_it() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let turn = session.prompt("x").await.unwrap();
    turn.cancel();
    let prompt = agent.request("session/prompt").await;
    agent.notification("session/cancel").await;
    // This agent lost it, and hears the next one.
    agent.notification("session/cancel").await;
    agent
        .answer(&prompt, json!({"stopReason": "cancelled"}))
        .await;
    assert_eq!(turn.end().await.unwrap().stop_reason, StopReason::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_behind_the_answer_is_not_sent() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    for dropped in [false, true] {
        let mut turn = session.prompt("x").await.unwrap();
        let prompt = agent.request("session/prompt").await;
        agent.text("unread").await;
        agent.answer(&prompt, end_turn()).await;
        agent.ask(7, "unknown/method", json!({})).await;
        agent.refusal(7).await;
        if dropped {
            drop(turn);
        } else {
            turn.cancel();
            assert_eq!(all(&mut turn).await, ["unread"]);
            turn.end().await.unwrap();
        }
        agent.hears_nothing_for(60 * SECOND).await;
    }
    // The place is free.
    drop(session.prompt("y").await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_turn_cut_off_keeps_nobody_waiting_for_its_place() {
    // The reader is dropped in the middle of an update and the agent never answers:
    // closing the session is the way on.
    let close = json!({"sessionCapabilities": {"close": {}}});
    let (client, mut agent) = dialed(ClientOptions::new(), close).await;
    let mut session = open(&client, &mut agent, json!({})).await;
    let mut turn = session.prompt("x").await.unwrap();
    agent.request("session/prompt").await;
    agent.text("a").await;
    assert_eq!(brief(&turn.next().await.unwrap()), "a");
    drop(turn);
    agent.notification("session/cancel").await;
    let stuck = session.prompt_when_idle("y").await.unwrap_err();
    assert!(matches!(stuck, ClientError::TurnStillRunning { .. }));
    let serve = async {
        loop {
            let heard = agent.next().await;
            if heard["method"] == "session/close" {
                break agent.answer(&heard, json!({})).await;
            }
        }
    };
    let (closed, ()) = tokio::join!(session.close(), serve);
    closed.unwrap();
    let mut session = open(&client, &mut agent, json!({})).await;
    let mut turn = session.prompt("z").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.text("new").await;
    agent.answer(&prompt, end_turn()).await;
    assert_eq!(all(&mut turn).await, ["new"]);
}

#[tokio::test(start_paused = true)]
async fn the_death_of_the_agent_ends_every_call_within_a_second() {
    let can = json!({
        "loadSession": true,
        "auth": {"logout": {}},
        "sessionCapabilities": {"resume": {}, "close": {}, "list": {}, "delete": {}},
    });
    let (client, mut agent) = dialed(ClientOptions::new(), can).await;
    let mut session = open(&client, &mut agent, json!({})).await;
    let control = session.control();
    let turn = session.prompt("x").await.unwrap();
    let mut list = client.list_sessions();
    let calls = async {
        tokio::join!(
            async { turn.end().await.err() },
            async { control.set_config_option("a", "b").await.err() },
            async { client.new_session("/code").await.err() },
            async {
                let loading = client.load_session("old", "/code").await.unwrap();
                loading.end().await.err()
            },
            async { client.resume_session("older", "/code").await.err() },
            async { client.close_session("other").await.err() },
            async { client.delete_session("other").await.err() },
            async { list.next().await.err() },
            async { client.logout().await.err() },
            async { control.wait_updates().await.err() },
        )
    };
    let dies = async {
        for _ in 0..8 {
            agent.next().await;
        }
        agent.text("unread").await;
        tokio::time::sleep(SECOND).await;
        agent.hang_up();
        Instant::now()
    };
    let (errors, died) = tokio::join!(calls, dies);
    assert!(died.elapsed() <= SECOND, "{:?}", died.elapsed());
    let (a, b, c, d, e, f, g, h, i, _) = errors;
    for error in [a, b, c, d, e, f, g, h, i] {
        assert!(matches!(error, Some(ClientError::Died(_))), "{error:?}");
    }
}
