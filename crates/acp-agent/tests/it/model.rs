//! Random things happen to several sessions, under a clock that stands still
//! until everybody waits. Whatever happens: every request is answered once, no
//! two turns of one session overlap, nothing is told or asked behind an answer,
//! and every session that was made is shut down once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use acp_agent::host::{
    Delta, EventBody, InputCancelReason, Submission, TurnFailure, TurnRejectReason,
};
use proptest::{collection::vec, prelude::*, test_runner::Config};
use serde_json::{Value, json};

use crate::{
    client::{Client, prompt},
    host::{Does, Session, Strings, Turn, full_agent},
};

/// Sessions are of a few names, so that requests meet.
const IDS: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Copy, Debug)]
enum Op {
    Load(usize),
    Resume(usize),
    Close(usize),
    Delete(usize),
    Prompt(usize),
    PromptAndCancel(usize),
    Compact(usize),
    Cancel(usize),
    /// Cancels the request that was sent so many ago.
    CancelRequest(u8),
    /// Answers the oldest question: approves, denies, nonsense, an error.
    Answer(u8),
    Reply(usize, Reply),
    Text(usize),
    Gate(usize, u8),
    End(usize, u8),
    Script(u8, Scripted),
    Wait(u16),
}

/// What the host replies to a submission.
#[derive(Clone, Copy, Debug)]
enum Reply {
    Start,
    Queue,
    Reject,
    Withdraw,
}

#[derive(Clone, Copy, Debug)]
enum Scripted {
    Fail,
    Panic,
    Hang,
    Rest,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let id = 0..IDS.len();
    let reply = prop_oneof![
        6 => Just(Reply::Start),
        1 => Just(Reply::Queue),
        1 => Just(Reply::Reject),
        1 => Just(Reply::Withdraw),
    ];
    let scripted = prop_oneof![
        Just(Scripted::Fail),
        Just(Scripted::Panic),
        Just(Scripted::Hang),
        Just(Scripted::Rest)
    ];
    let op = prop_oneof![
        4 => id.clone().prop_map(Op::Load),
        3 => id.clone().prop_map(Op::Resume),
        2 => id.clone().prop_map(Op::Close),
        1 => id.clone().prop_map(Op::Delete),
        6 => id.clone().prop_map(Op::Prompt),
        2 => id.clone().prop_map(Op::PromptAndCancel),
        1 => id.clone().prop_map(Op::Compact),
        3 => id.clone().prop_map(Op::Cancel),
        1 => any::<u8>().prop_map(Op::CancelRequest),
        3 => (0u8..4).prop_map(Op::Answer),
        8 => (id.clone(), reply).prop_map(|(id, reply)| Op::Reply(id, reply)),
        4 => id.clone().prop_map(Op::Text),
        4 => (id.clone(), 0u8..4).prop_map(|(id, gate)| Op::Gate(id, gate)),
        5 => (id, 0u8..3).prop_map(|(id, how)| Op::End(id, how)),
        2 => (0u8..6, scripted).prop_map(|(call, what)| Op::Script(call, what)),
        2 => (0u16..40_000).prop_map(Op::Wait),
    ];
    vec(op, 1..60)
}

/// A session of the host, and where it is.
struct Desk {
    session: Arc<Session>,
    waiting: Option<Submission>,
    turn: Option<Turn>,
}

struct World {
    client: Client,
    strings: Strings,
    /// Requests without an answer, and whether they are prompts of a session.
    open: BTreeMap<i64, Option<String>>,
    sent: Vec<i64>,
    /// Requests of the agent without an answer.
    questions: Vec<Value>,
    withdrawn: BTreeSet<String>,
    /// All sessions that were ever made; the last of an id is the live one.
    desks: Vec<Desk>,
}

impl World {
    async fn new() -> Self {
        let (agent, strings) = full_agent();
        Self {
            client: Client::ready(&agent).await,
            strings,
            open: BTreeMap::new(),
            sent: Vec::new(),
            questions: Vec::new(),
            withdrawn: BTreeSet::new(),
            desks: Vec::new(),
        }
    }

    async fn request(&mut self, method: &str, params: Value) {
        let session = params["sessionId"].as_str().unwrap().to_owned();
        let id = self.client.start_call(method, params).await;
        self.open
            .insert(id, (method == "session/prompt").then_some(session));
        self.sent.push(id);
    }

    /// Takes all that happens until everybody waits.
    async fn settle(&mut self) {
        while let Some(message) = self.client.try_next().await {
            match message["method"].as_str() {
                None => {
                    let id = message["id"].as_i64().unwrap();
                    let known = self.open.remove(&id);
                    assert!(known.is_some(), "answered twice or never asked: {message}");
                    let is_one = message["result"].is_null() != message["error"].is_null();
                    assert!(is_one, "{message}");
                    let is_refused = message["error"]["code"] == -32600;
                    if let Some(Some(session)) = known.filter(|_| !is_refused) {
                        self.check_withdrawn(&session);
                    }
                }
                Some("session/update") => {}
                Some("$/cancel_request") => {
                    self.withdrawn
                        .insert(message["params"]["requestId"].to_string());
                }
                Some("session/request_permission") => self.questions.push(message),
                Some(_) => panic!("{message}"),
            }
        }
        while let Some(session) = self.strings.try_session() {
            self.desks.push(Desk {
                session,
                waiting: None,
                turn: None,
            });
        }
        for desk in &mut self.desks {
            while let Some(submission) = desk.session.try_submission().await {
                assert!(desk.turn.is_none(), "two turns of one session overlap");
                desk.waiting = Some(submission);
            }
        }
    }

    /// The prompt of a session is answered: by then its questions are withdrawn.
    fn check_withdrawn(&self, session: &str) {
        for asked in &self.questions {
            let is_withdrawn = self.withdrawn.contains(&asked["id"].to_string());
            let is_others = asked["params"]["sessionId"] != session;
            assert!(is_others || is_withdrawn, "still asked: {asked}");
        }
    }

    fn desk(&mut self, id: usize) -> Option<&mut Desk> {
        use acp_agent::host::LiveSession as _;
        let named = |desk: &&mut Desk| desk.session.id().as_str() == IDS[id];
        self.desks.iter_mut().rev().find(named)
    }

    async fn act(&mut self, op: Op) {
        let params =
            |id: usize| json!({"sessionId": IDS[id], "cwd": "/home/ada", "mcpServers": []});
        match op {
            Op::Load(id) => self.request("session/load", params(id)).await,
            Op::Resume(id) => self.request("session/resume", params(id)).await,
            Op::Close(id) => self.request("session/close", params(id)).await,
            Op::Delete(id) => self.request("session/delete", params(id)).await,
            Op::Prompt(id) => self.request("session/prompt", prompt(IDS[id], "hi")).await,
            Op::PromptAndCancel(id) => {
                self.request("session/prompt", prompt(IDS[id], "hi")).await;
                self.client.cancel(IDS[id]).await;
            }
            Op::Compact(id) => {
                self.request("session/prompt", prompt(IDS[id], "/compact"))
                    .await
            }
            Op::Cancel(id) => self.client.cancel(IDS[id]).await,
            Op::CancelRequest(ago) => {
                let at = self.sent.len().checked_sub(usize::from(ago) + 1);
                if let Some(at) = at {
                    let params = json!({"requestId": self.sent[at]});
                    self.client.notify("$/cancel_request", params).await;
                }
            }
            Op::Answer(how) => self.answer(how).await,
            Op::Reply(id, reply) => self.reply(id, reply).await,
            Op::Text(id) => {
                let text = EventBody::Delta(Delta::Text("hi".into()));
                self.tell(id, text).await;
            }
            Op::Gate(id, gate) => {
                if let Some(turn) = self.desk(id).and_then(|desk| desk.turn.as_ref()) {
                    // It may come too late.
                    let tool = acp_agent::host::ToolCall::new(format!("t{gate}"), "edit", "Edit");
                    let gate = acp_agent::host::Gate::permission(format!("g{gate}"), tool);
                    let _ = turn.tell(EventBody::GateOpened(Box::new(gate))).await;
                }
            }
            Op::End(id, how) => {
                let end = match how {
                    0 => EventBody::TurnDone,
                    1 => EventBody::TurnInterrupted,
                    _ => EventBody::TurnFailed(TurnFailure::EmptyResponse),
                };
                self.tell(id, end).await;
                if let Some(desk) = self.desk(id) {
                    desk.turn = None;
                }
            }
            Op::Script(call, what) => {
                let script = &self.strings.script;
                let calls = [
                    &script.submit,
                    &script.interrupt,
                    &script.shutdown,
                    &script.respond,
                    &script.load,
                    &script.delete,
                ];
                // Only calls that are bounded may hang for ever; resting ends.
                let may_hang = call < 4 && call > 0;
                let does = match what {
                    Scripted::Fail => Does::FailInPrivate,
                    Scripted::Panic => Does::Panic,
                    Scripted::Hang if may_hang => Does::Hang,
                    Scripted::Hang | Scripted::Rest => Does::Rest(700),
                };
                let queue = calls[usize::from(call)];
                queue.lock().push_back(does);
            }
            Op::Wait(millis) => tokio::time::sleep(Duration::from_millis(millis.into())).await,
        }
    }

    async fn tell(&mut self, id: usize, body: EventBody) {
        if let Some(turn) = self.desk(id).and_then(|desk| desk.turn.as_ref()) {
            // It may come too late, and then the host is told so.
            let _ = turn.tell(body).await;
        }
    }

    async fn reply(&mut self, id: usize, reply: Reply) {
        let Some(desk) = self.desk(id) else { return };
        let Some(submission) = desk.waiting.take() else {
            return;
        };
        let command = submission.command.clone();
        let turn = desk.session.turn("main", &format!("turn-of-{command}"));
        let body = match reply {
            Reply::Start => EventBody::TurnStarted {
                command: Some(command),
                index: 0,
            },
            Reply::Queue => EventBody::InputQueued { command },
            Reply::Reject => EventBody::TurnRejected {
                command,
                reason: TurnRejectReason::QueueFull,
            },
            Reply::Withdraw => EventBody::InputCancelled {
                command,
                reason: InputCancelReason::Retracted,
            },
        };
        let told = turn.tell(body).await;
        match reply {
            // A reply that comes too late begins no turn.
            Reply::Start if told.is_ok() => desk.turn = Some(turn),
            Reply::Queue => desk.waiting = Some(submission),
            _ => {}
        }
    }

    async fn answer(&mut self, how: u8) {
        if self.questions.is_empty() {
            return;
        }
        let asked = self.questions.remove(0);
        let id = &asked["id"];
        let selected =
            |option: &str| json!({"outcome": {"outcome": "selected", "optionId": option}});
        match how {
            0 => self.client.reply(id, selected("approve")).await,
            1 => self.client.reply(id, selected("deny")).await,
            2 => self.client.reply(id, json!({"outcome": 7})).await,
            _ => self.client.reply_error(id, -32603).await,
        }
    }

    /// Whatever is open ends when everything is cancelled and closed, in bounded
    /// time, and whoever hangs is left behind.
    async fn end(mut self) {
        for id in 0..IDS.len() {
            self.act(Op::Cancel(id)).await;
            self.act(Op::Close(id)).await;
        }
        self.settle().await;
        tokio::time::sleep(Duration::from_secs(120)).await;
        self.settle().await;
        assert!(self.open.is_empty(), "never answered: {:?}", self.open);
        let Self { client, desks, .. } = self;
        client.hang_up().await;
        // Sessions that could not be used are shut down by nobody who waits.
        tokio::time::sleep(Duration::from_secs(10)).await;
        for desk in &desks {
            assert_eq!(
                desk.session.shutdowns(),
                1,
                "a session was not shut down once"
            );
        }
    }
}

fn run(ops: &[Op]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut world = World::new().await;
        for op in ops {
            world.act(*op).await;
            world.settle().await;
        }
        world.end().await;
    });
}

proptest! {
    #![proptest_config(Config { cases: 96, ..Config::default() })]

    #[test]
    fn whatever_happens_every_request_is_answered_once(ops in ops()) {
        run(&ops);
    }
}
