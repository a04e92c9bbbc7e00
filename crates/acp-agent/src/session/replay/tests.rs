//! A journal makes the same transcript as the turns did live.

use std::collections::BTreeMap;

use acp_host::{
    Block, Cancel, CommandId, Delta, Gate, GateId, PlanEntry, ToolCall, ToolContent, ToolEnd,
    ToolProgress,
};
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::turn::{active_prompt::EventAction, session_turns::SessionTurns};

/// What a client has after all updates: messages by their ids, tools by theirs,
/// each where it first appeared.
#[derive(Debug, Default, PartialEq)]
struct Transcript {
    order: Vec<String>,
    texts: BTreeMap<String, String>,
    tools: BTreeMap<String, Value>,
    plan: Value,
}

impl Transcript {
    fn fold(&mut self, updates: Vec<SessionUpdate>) {
        for update in updates {
            let update = serde_json::to_value(&update).unwrap();
            let kind = update["sessionUpdate"].as_str().unwrap().to_owned();
            match kind.as_str() {
                "tool_call" | "tool_call_update" => {
                    let id = update["toolCallId"].as_str().unwrap().to_owned();
                    let known = self.tools.entry(id.clone()).or_insert_with(|| {
                        assert_eq!(kind, "tool_call", "{id} is not known");
                        self.order.push(id);
                        Value::Object(Default::default())
                    });
                    let known = known.as_object_mut().unwrap();
                    let mut news = update.as_object().unwrap().clone();
                    news.remove("sessionUpdate");
                    known.extend(news);
                }
                "plan" => self.plan = update["entries"].clone(),
                _ => {
                    let id = format!("{kind} {}", update["messageId"].as_str().unwrap());
                    let text = self.texts.entry(id.clone()).or_insert_with(|| {
                        self.order.push(id);
                        String::new()
                    });
                    text.push_str(update["content"]["text"].as_str().unwrap_or("(medium)"));
                }
            }
        }
    }
}

/// What a turn does.
#[derive(Clone, Debug)]
enum Act {
    /// A step: pieces of thought and text, and whether they are streamed, each
    /// up to its end.
    Step(Vec<(bool, String)>, usize),
    Request(u8),
    Start(u8),
    Progress(u8),
    End(u8, bool),
    Gate(u8),
    Plan(u8),
    Child(u8),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let tool = 0u8..4;
    let piece = (any::<bool>(), "[a-zü ]{1,6}");
    let act = prop_oneof![
        3 => (prop::collection::vec(piece, 1..4), 0usize..20).prop_map(|(p, n)| Act::Step(p, n)),
        1 => tool.clone().prop_map(Act::Request),
        2 => tool.clone().prop_map(Act::Start),
        1 => tool.clone().prop_map(Act::Progress),
        2 => (tool.clone(), any::<bool>()).prop_map(|(tool, ok)| Act::End(tool, ok)),
        1 => tool.clone().prop_map(Act::Gate),
        1 => tool.clone().prop_map(Act::Plan),
        1 => tool.prop_map(Act::Child),
    ];
    prop::collection::vec(act, 0..20)
}

fn tool(number: u8) -> ToolCall {
    ToolCall::new(format!("tool-{number}"), "edit", format!("Change {number}"))
}

/// The pieces of a step as its blocks: thought before text, as models answer.
fn blocks(pieces: &[(bool, String)]) -> (String, String) {
    let of = |thought: bool| {
        let own = pieces
            .iter()
            .filter(|(is_thought, _)| *is_thought == thought);
        own.map(|(_, text)| text.as_str()).collect::<String>()
    };
    (of(true), of(false))
}

/// The events of an act: what is live only, and what a journal keeps as well.
fn events(act: &Act, child: &mut bool) -> Vec<(bool, EventBody)> {
    *child = matches!(act, Act::Child(_));
    let kept = |body| vec![(true, body)];
    match act {
        Act::Step(pieces, streamed) => {
            let (thought, text) = blocks(pieces);
            // The beginning of the step is streamed, character by character.
            let characters = thought
                .chars()
                .map(|c| Delta::Thinking(c.into()))
                .chain(text.chars().map(|c| Delta::Text(c.into())));
            let mut events: Vec<_> = characters
                .take(*streamed)
                .map(|delta| (false, EventBody::Delta(delta)))
                .collect();
            let mut said = Vec::new();
            if !thought.is_empty() {
                said.push(Block::Thinking(thought));
            }
            if !text.is_empty() {
                said.push(Block::Text(text));
            }
            events.push((true, EventBody::StepDone(said)));
            events
        }
        Act::Request(number) => kept(EventBody::ToolRequested(Box::new(tool(*number)))),
        Act::Start(number) => kept(EventBody::ToolStarted(Box::new(tool(*number)))),
        Act::Progress(number) => {
            let news = ToolProgress::new(format!("tool-{number}")).with_title("Further");
            kept(EventBody::ToolProgressed(Box::new(news)))
        }
        Act::End(number, ok) => {
            let id = format!("tool-{number}");
            let end = if *ok {
                ToolEnd::completed(id)
            } else {
                ToolEnd::failed(id)
            };
            let end = end.with_content(ToolContent::text("over"));
            kept(EventBody::ToolCompleted(Box::new(end)))
        }
        Act::Gate(number) => {
            let gate = Gate::permission(format!("gate-{number}"), tool(*number));
            let resolved = EventBody::GateResolved(GateId::from(format!("gate-{number}")));
            vec![
                (true, EventBody::GateOpened(Box::new(gate))),
                (true, resolved),
            ]
        }
        Act::Plan(number) => kept(EventBody::PlanChanged(vec![PlanEntry::new(format!(
            "step {number}"
        ))])),
        Act::Child(number) => kept(EventBody::ToolStarted(Box::new(tool(*number)))),
    }
}

/// An event that can be sent twice.
fn again(body: &Act, nth: usize) -> EventBody {
    let mut child = false;
    events(body, &mut child).swap_remove(nth).1
}

/// Sends all of an event.
fn send_all(
    turns: &mut SessionTurns,
    origin: &TurnOrigin,
    mut event: PendingEvent,
) -> Vec<SessionUpdate> {
    let mut updates = Vec::new();
    while let Some(draft) = turns.next_update(Some(origin), &mut event) {
        updates.push(draft.update);
        turns.update_sent(Some(origin), draft.then);
    }
    updates
}

fn ends(closed: Vec<ClosedTool>) -> Vec<SessionUpdate> {
    closed.into_iter().map(|closed| closed.update).collect()
}

#[test]
fn tools_end_with_their_turn() {
    let mut replayer = Replayer::new("s");
    let mut view = ClientView::default();
    let (first, second) = (
        Arc::new(TurnOrigin::new("main", "t1")),
        Arc::new(TurnOrigin::new("main", "t2")),
    );
    let started = || EventBody::TurnStarted {
        command: None,
        index: 0,
    };
    let tool = |number| EventBody::ToolStarted(Box::new(tool(number)));
    let mut closed = Vec::new();
    // The end of the first is missing.
    for (origin, body) in [
        (&first, started()),
        (&first, tool(1)),
        (&first, tool(0)),
        (&second, started()),
        (&second, tool(2)),
        (&second, EventBody::TurnDone),
    ] {
        let event = HostEvent::new(Arc::clone(origin), 0, body);
        let ids = replayer.close_tools(Some(&event)).into_iter();
        closed.push(ids.map(|closed| closed.id.to_string()).collect::<Vec<_>>());
        replayer.event(event, &mut view);
    }
    assert_eq!(closed[3], ["tool-0", "tool-1"]);
    assert_eq!(closed[5], ["tool-2"]);
    assert_eq!(closed.concat().len(), 3);
    let event = HostEvent::new(Arc::clone(&second), 0, tool(3));
    replayer.event(event, &mut view);
    assert_eq!(replayer.close_tools(None).len(), 1);
}

proptest! {
    #[test]
    fn a_replay_makes_the_same_transcript(all_acts in prop::collection::vec(acts(), 1..3)) {
        let mut turns = SessionTurns::default();
        let (mut live, mut replayed) = (Transcript::default(), Transcript::default());
        let (mut replayer, mut view) = (Replayer::new("s"), ClientView::default());
        for (index, acts) in all_acts.iter().enumerate() {
            let origin = Arc::new(TurnOrigin::new("main", format!("t{index}")));
            let child_origin =
                Arc::new(TurnOrigin::new("child", format!("c{index}")).with_parent(Arc::clone(&origin)));
            let command = CommandId::from(format!("command-{index}"));
            prop_assert_eq!(turns.begin(command.clone(), Cancel::new()), Ok(()));
            let mut number = 0;
            let mut send = |body: EventBody, twin: Option<EventBody>, is_child: bool| {
                let origin = if is_child { &child_origin } else { &origin };
                match turns.event(origin, Visibility::Public, body) {
                    EventAction::Send(event) | EventAction::Ask { announce: event, .. } => {
                        live.fold(send_all(&mut turns, origin, event));
                    }
                    _ => {}
                }
                let mut effects = turns.take_effects().unwrap_or_default();
                live.fold(ends(effects.take_closed_tools()));
                if let Some(twin) = twin {
                    let event = HostEvent::new(Arc::clone(origin), number, twin);
                    replayed.fold(ends(replayer.close_tools(Some(&event))));
                    replayed.fold(replayer.event(event, &mut view));
                }
                number += 1;
            };
            let started = || EventBody::TurnStarted { command: Some(command.clone()), index: 0 };
            send(started(), Some(started()), false);
            for act in acts {
                let mut is_child = false;
                for (nth, (is_kept, body)) in events(act, &mut is_child).into_iter().enumerate() {
                    send(body, is_kept.then(|| again(act, nth)), is_child);
                }
            }
            send(EventBody::TurnDone, Some(EventBody::TurnDone), false);
            let answer = turns.poll_answer(&command, std::task::Waker::noop());
            prop_assert!(answer.is_ok());
        }
        prop_assert_eq!(live, replayed);
    }
}

#[test]
fn events_of_other_turns_are_not_sent() {
    let mut replayer = Replayer::new("s");
    let mut view = ClientView::default();
    let main = Arc::new(TurnOrigin::new("main", "t1"));
    let other = Arc::new(TurnOrigin::new("other", "t2"));
    let mut send = |origin: &Arc<TurnOrigin>, body: EventBody| {
        let updates = replayer.event(HostEvent::new(Arc::clone(origin), 0, body), &mut view);
        updates.len()
    };
    let said = || EventBody::StepDone(vec![Block::text("hi")]);
    let started = || EventBody::TurnStarted {
        command: None,
        index: 0,
    };
    assert_eq!(send(&main, said()), 0, "before the first turn");
    assert_eq!(send(&main, started()), 0);
    assert_eq!(send(&main, said()), 1);
    assert_eq!(send(&other, started()), 0);
    assert_eq!(send(&other, said()), 0, "of another loop");
    assert_eq!(send(&main, said()), 1);
    let earlier = Arc::new(TurnOrigin::new("main", "t0"));
    assert_eq!(send(&earlier, said()), 0, "of another turn");
}
