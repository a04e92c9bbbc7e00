//! A client holds after a turn the same as it gets by replay, whatever became of the
//! updates on the way.

use std::{sync::Arc, time::Duration};

use acp_agent::{
    Agent, AgentBuilder,
    host::{
        Block, ConfigChoice, ConfigOption, ContextUse, Cost, Delta, EmitError, EventBody,
        HostEvent, PlanEntry, SessionInfo, SlashCommand, ToolCall, ToolContent, ToolEnd,
        ToolProgress, TurnOrigin,
    },
};
use acp_conversation::{Conversation, TurnEntry};
use acp_protocol::{rpc::Limits, v1::SessionUpdate};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    client::Client,
    host::{Turn, host},
};

/// A report of a host, and its fate.
#[derive(Clone, Debug)]
enum Act {
    Report(Report, Patience),
    /// The client reads so many messages.
    Read(usize),
    /// The client cancels the turn.
    Cancel,
}

#[derive(Clone, Debug)]
enum Report {
    Text(String),
    Thought(String),
    Step(String),
    Requested(u8),
    Started(u8),
    Shown(u8, String),
    Ended(u8, bool, String),
    Plan(u8),
    Used(u8),
    Title(String),
    Commands(String),
    Options(bool, String),
}

/// How long a host waits until an event is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    /// Until it is; the client reads meanwhile.
    Endless,
    /// It gives up soon.
    Short,
    /// It gives up at once.
    None,
}

impl Report {
    fn body(&self) -> EventBody {
        let tool = |number: &u8| Box::new(ToolCall::new(format!("t{number}"), "edit", "Edit"));
        let content = |text: &String| vec![ToolContent::text(text.as_str())];
        match self {
            Self::Text(text) => EventBody::Delta(Delta::Text(text.clone())),
            Self::Thought(text) => EventBody::Delta(Delta::Thinking(text.clone())),
            Self::Step(text) => EventBody::StepDone(vec![Block::text(text.as_str())]),
            Self::Requested(number) => EventBody::ToolRequested(tool(number)),
            Self::Started(number) => EventBody::ToolStarted(tool(number)),
            Self::Shown(number, text) => {
                let progress = ToolProgress::new(format!("t{number}"));
                EventBody::ToolProgressed(Box::new(progress.with_content(content(text))))
            }
            Self::Ended(number, is_error, text) => {
                let mut end = ToolEnd::completed(format!("t{number}"));
                end.is_error = *is_error;
                end.content = content(text);
                EventBody::ToolCompleted(Box::new(end))
            }
            Self::Plan(number) => {
                EventBody::PlanChanged(vec![PlanEntry::new(format!("step {number}"))])
            }
            Self::Used(number) => {
                let used = ContextUse::new(u64::from(*number), 100);
                let cost = Cost::new(f64::from(*number), "EUR");
                EventBody::ContextMeasured(used.with_cost(cost))
            }
            Self::Title(text) => {
                EventBody::InfoChanged(SessionInfo::new().with_title(text.as_str()))
            }
            Self::Commands(text) => {
                EventBody::CommandsChanged(vec![SlashCommand::new("do", text.as_str())])
            }
            Self::Options(acts, text) => {
                let modes = vec![
                    ConfigChoice::new("ask", "Ask").with_description(text.as_str()),
                    ConfigChoice::new("act", "Act"),
                ];
                let mode = if *acts { "act" } else { "ask" };
                EventBody::ConfigChanged(vec![ConfigOption::mode(mode, modes)])
            }
        }
    }

    fn is_of_turn(&self) -> bool {
        !matches!(self, Self::Title(_) | Self::Commands(_) | Self::Options(..))
    }
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    // Now and then longer than a message may be.
    let text = prop_oneof![4 => 0usize..20, 2 => 200usize..600, 1 => 3000usize..3001]
        .prop_map(|length| "x".repeat(length));
    let tool = 0u8..3;
    let report = prop_oneof![
        2 => text.clone().prop_map(Report::Text),
        1 => text.clone().prop_map(Report::Thought),
        1 => text.clone().prop_map(Report::Step),
        1 => tool.clone().prop_map(Report::Requested),
        2 => tool.clone().prop_map(Report::Started),
        2 => (tool.clone(), text.clone()).prop_map(|(tool, text)| Report::Shown(tool, text)),
        2 => (tool, any::<bool>(), text.clone())
            .prop_map(|(tool, failed, text)| Report::Ended(tool, failed, text)),
        1 => any::<u8>().prop_map(Report::Plan),
        1 => any::<u8>().prop_map(Report::Used),
        1 => text.clone().prop_map(Report::Title),
        1 => text.clone().prop_map(Report::Commands),
        1 => (any::<bool>(), text).prop_map(|(acts, text)| Report::Options(acts, text)),
    ];
    let patience = prop_oneof![
        1 => Just(Patience::Endless),
        3 => Just(Patience::Short),
        1 => Just(Patience::None),
    ];
    let act = prop_oneof![
        12 => (report, patience).prop_map(|(report, patience)| Act::Report(report, patience)),
        3 => (1usize..6).prop_map(Act::Read),
        1 => Just(Act::Cancel),
    ];
    prop::collection::vec(act, 1..40)
}

/// A client, and what it holds.
struct Holder {
    client: Client,
    updates: Vec<Value>,
    answers: Vec<Value>,
}

impl Holder {
    /// Reads a message, if one comes.
    async fn read(&mut self) -> bool {
        let Some(mut message) = self.client.try_next().await else {
            return false;
        };
        match message["method"].as_str() {
            Some(_) => self.updates.push(message["params"]["update"].take()),
            None => self.answers.push(message),
        }
        true
    }

    async fn read_up_to_answer(&mut self, id: i64) {
        let is_it = |answer: &Value| answer["id"] == id;
        for _ in 0..1000 {
            if self.answers.iter().any(is_it) {
                break;
            }
            self.read().await;
        }
        assert!(self.answers.iter().any(is_it), "no answer to {id}");
        while self.read().await {}
    }

    /// Its effect.
    fn holds(&self) -> Value {
        let mut conversation = Conversation::new();
        let mut options = Value::Null;
        for update in &self.updates {
            if update["sessionUpdate"] == "config_option_update" {
                options = update["configOptions"].clone();
            }
            let update: SessionUpdate = serde_json::from_value(update.clone()).unwrap();
            conversation.update(&update);
        }
        let messages = conversation.turn.entries.iter();
        let messages = messages.filter_map(|entry| match entry {
            TurnEntry::Message(message) => Some(format!(
                "{:?} {:?} {}",
                message.role, message.id, message.text
            )),
            _ => None,
        });
        let tools = conversation.tool_calls.iter();
        let tools = tools.map(|call| {
            format!(
                "{} {:?} {:?} {:?} {:?} {:?}",
                call.id, call.title, call.status, call.ended, call.content, call.raw_output
            )
        });
        json!({
            "messages": messages.collect::<Vec<_>>(),
            "tools": tools.collect::<Vec<_>>(),
            "plan": format!("{:?}", conversation.plan),
            "usage": format!("{:?}", conversation.usage),
            "mode": conversation.mode,
            "title": conversation.title,
            "commands": conversation.commands,
            "options": options,
        })
    }
}

fn agent(host: &crate::host::Host) -> Agent {
    let limits = Limits::default()
        .with_max_message(2 << 10)
        .with_outgoing_credit(1 << 10)
        .with_outgoing_yield(512);
    AgentBuilder::new(host.clone())
        .loader(host.clone())
        .connection_limits(limits)
        .build()
        .unwrap()
}

async fn holder(agent: &Agent) -> Holder {
    let mut client = Client::with_pipe(agent, 64);
    let version = json!({"protocolVersion": 1});
    client.call("initialize", version).await;
    Holder {
        client,
        updates: Vec::new(),
        answers: Vec::new(),
    }
}

/// Reports something, and says whether it was sent.
async fn report(
    turn: &Turn,
    holder: &mut Holder,
    event: HostEvent,
    patience: Patience,
) -> Result<(), EmitError> {
    let link = turn.link().clone();
    let mut emit = std::pin::pin!(link.emit(event));
    match patience {
        Patience::Endless => loop {
            tokio::select! {
                biased;
                sent = &mut emit => return sent,
                _ = holder.read() => {}
            }
        },
        Patience::Short => timeout(Duration::from_millis(2), emit)
            .await
            .unwrap_or(Err(EmitError::Cancelled)),
        Patience::None => {
            let once = tokio::select! {
                biased;
                sent = &mut emit => Some(sent),
                () = std::future::ready(()) => None,
            };
            once.unwrap_or(Err(EmitError::Cancelled))
        }
    }
}

async fn play(acts: &[Act]) -> (Value, Value) {
    let (host, mut strings) = host();
    let agent = agent(&host);
    let mut live = holder(&agent).await;
    let id = live.client.new_session().await;
    let session = strings.session().await;
    let prompt = live.client.prompt(&id, "hi").await;
    let turn = session.start().await;
    let mut journal = Vec::new();
    let mut keep = |origin: Option<&Arc<TurnOrigin>>, number, body| {
        journal.push(match origin {
            Some(origin) => HostEvent::new(Arc::clone(origin), number, body),
            None => HostEvent::of_session(number, body),
        });
    };
    let begins = EventBody::TurnStarted {
        command: None,
        index: 0,
    };
    keep(Some(&turn.origin), 0, begins);
    for (number, act) in (0..).zip(acts) {
        match act {
            Act::Read(count) => {
                for _ in 0..*count {
                    live.read().await;
                }
            }
            Act::Cancel => live.client.cancel(&id).await,
            Act::Report(what, patience) => {
                let event = match what.is_of_turn() {
                    true => turn.event(what.body()),
                    false => HostEvent::of_session(number, what.body()),
                };
                let (origin, number) = (event.origin.clone(), event.number);
                if report(&turn, &mut live, event, *patience).await.is_ok() {
                    keep(origin.as_ref(), number, what.body());
                }
            }
        }
    }
    turn.done().await;
    keep(Some(&turn.origin), 10_000, EventBody::TurnDone);
    live.read_up_to_answer(prompt).await;

    *strings.script.journal.lock() = journal;
    let mut loaded = holder(&agent).await;
    let params = json!({"sessionId": id, "cwd": "/home", "mcpServers": []});
    let load = loaded.client.start_call("session/load", params).await;
    loaded.read_up_to_answer(load).await;
    (live.holds(), loaded.holds())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_client_holds_what_a_replay_gives(acts in acts()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let (live, replayed) = runtime.block_on(play(&acts));
        prop_assert_eq!(live, replayed);
    }
}

#[test]
fn a_tool_whose_end_is_lost_has_ended() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let long = "x".repeat(3000);
    let acts = [
        Act::Report(Report::Started(0), Patience::Endless),
        Act::Report(Report::Shown(0, "so far".to_owned()), Patience::Endless),
        Act::Report(Report::Shown(0, long.clone()), Patience::Endless),
        Act::Report(Report::Ended(0, false, long), Patience::Endless),
    ];
    let (live, replayed) = runtime.block_on(play(&acts));
    assert_eq!(live, replayed);
    let tool = live["tools"][0].as_str().unwrap();
    assert!(tool.contains("so far") && tool.contains("Failed"), "{tool}");
}
