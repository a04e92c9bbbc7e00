//! What is told of a turn while it happens.

mod support;

use acp_harness::limits::{MAX_PROGRESS_EVENTS, MAX_PROGRESS_TEXT};
use acp_harness::turn::{ProgressReceiver, TurnProgress, progress};
use acp_protocol::v1::Plan;
use serde_json::json;
use support::{Do, Fake, ask, harness, permission, text, tool};

/// Everything that is there, in short.
fn all(events: &mut ProgressReceiver) -> Vec<String> {
    std::iter::from_fn(|| events.try_next())
        .map(|event| brief(&event))
        .collect()
}

fn brief(event: &TurnProgress) -> String {
    match event {
        TurnProgress::Connected { .. } => "connected".to_owned(),
        TurnProgress::Session { id, opened } => format!("session {id} {opened:?}"),
        TurnProgress::Message(text) => format!("says {text}"),
        TurnProgress::Thought(text) => format!("thinks {text}"),
        TurnProgress::ToolCall(call) => format!("calls {}", call.title),
        TurnProgress::ToolUpdate { id, status, .. } => format!("update {id} {status:?}"),
        TurnProgress::ToolResult(result) => format!("result {}", result.text),
        TurnProgress::Plan(plan) => format!("plan of {}", plan.entries.len()),
        TurnProgress::Mode(mode) => format!("mode {mode}"),
        TurnProgress::Usage(usage) => format!("usage {}", usage.used),
        TurnProgress::Permission(decided) => format!("permission {:?}", decided.kind),
        TurnProgress::Missed { text, events } => format!("missed {text} and {events}"),
        other => format!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn events_come_as_they_happen() {
    let update = |update| Do::Update(update);
    let fake = Fake::new(json!({})).on(
        "session/prompt",
        [
            update(json!({"sessionUpdate": "agent_thought_chunk",
                "content": {"type": "text", "text": "Hm."}})),
            update(json!({"sessionUpdate": "plan", "entries": [
                {"content": "look", "priority": "high", "status": "pending"}]})),
            tool("t-1", "read_file"),
            update(
                json!({"sessionUpdate": "tool_call_update", "toolCallId": "t-1",
                "title": "Reading"}),
            ),
            update(
                json!({"sessionUpdate": "tool_call_update", "toolCallId": "t-1",
                "status": "completed", "content": [
                    {"type": "content", "content": {"type": "text", "text": "text"}}]}),
            ),
            update(json!({"sessionUpdate": "current_mode_update", "currentModeId": "ask"})),
            update(json!({"sessionUpdate": "usage_update", "used": 7, "size": 100})),
            text("Done."),
            Do::End("end_turn"),
        ],
    );
    let (sender, mut events) = progress();
    let (outcome, _) = fake.run(&harness(), ask("x").with_progress(sender)).await;
    outcome.unwrap();
    let expected = [
        "connected",
        "session s-1 New",
        "thinks Hm.",
        "plan of 1",
        "calls read_file",
        "update t-1 None",
        "result text",
        "mode ask",
        "usage 7",
        "says Done.",
    ];
    assert_eq!(all(&mut events), expected);
    assert!(events.next().await.is_none(), "the turn is over");
}

#[tokio::test(start_paused = true)]
async fn decisions_are_told() {
    let steps = [
        permission("edit"),
        Do::Wait(support::SECOND),
        Do::End("end_turn"),
    ];
    let fake = Fake::new(json!({})).on("session/prompt", steps);
    let (sender, mut events) = progress();
    let (outcome, _) = fake.run(&harness(), ask("x").with_progress(sender)).await;
    outcome.unwrap();
    let told = all(&mut events);
    assert!(
        told.contains(&"permission Some(Edit)".to_owned()),
        "{told:?}"
    );
}

#[test]
fn adjacent_texts_are_joined() {
    let (sender, mut events) = progress();
    let say = |text: &str| sender.send(TurnProgress::Message(text.to_owned()));
    say("a");
    say("b");
    sender.send(TurnProgress::Thought("c".to_owned()));
    sender.send(TurnProgress::Thought("d".to_owned()));
    sender.send(TurnProgress::Mode("ask".into()));
    say("e");
    assert_eq!(
        all(&mut events),
        ["says ab", "thinks cd", "mode ask", "says e"]
    );
}

#[test]
fn of_a_slow_reader_the_oldest_texts_are_kept_back_and_nothing_else() {
    let (sender, mut events) = progress();
    let piece = "x".repeat(MAX_PROGRESS_TEXT / 4);
    for n in 0..8 {
        sender.send(TurnProgress::Message(piece.clone()));
        sender.send(TurnProgress::Mode(n.to_string().into()));
    }
    let told = all(&mut events);
    let modes: Vec<_> = told
        .iter()
        .filter(|told| told.starts_with("mode"))
        .collect();
    assert_eq!(modes.len(), 8);
    let said: usize = told
        .iter()
        .filter(|told| told.starts_with("says"))
        .map(|told| told.len() - 5)
        .sum();
    assert!(
        (MAX_PROGRESS_TEXT / 2..=MAX_PROGRESS_TEXT).contains(&said),
        "{said}"
    );
    assert_eq!(told[0], format!("missed {} and 0", 8 * piece.len() - said));
}

#[test]
fn one_endless_text_is_bounded_too_and_so_are_many_short_ones() {
    let (sender, mut events) = progress();
    let piece = "ä".repeat(1000);
    for _ in 0..MAX_PROGRESS_TEXT / 500 {
        sender.send(TurnProgress::Message(piece.clone()));
    }
    sender.send(TurnProgress::Message("end".to_owned()));
    let told = all(&mut events);
    assert_eq!(told.len(), 2, "what is missing, and the rest");
    assert!(told[1].len() <= MAX_PROGRESS_TEXT + 5 && told[1].ends_with("ääend"));

    for _ in 0..MAX_PROGRESS_TEXT {
        sender.send(TurnProgress::Message("x".to_owned()));
        sender.send(TurnProgress::Thought("y".to_owned()));
    }
    let told = all(&mut events);
    assert!(
        told.len() * size_of::<TurnProgress>() <= MAX_PROGRESS_TEXT + 2 * size_of::<TurnProgress>()
    );
}

#[test]
fn other_events_are_bounded_by_their_number() {
    let (sender, mut events) = progress();
    for _ in 0..MAX_PROGRESS_EVENTS + 3 {
        sender.send(TurnProgress::Plan(Plan::new(Vec::new())));
    }
    let told = all(&mut events);
    assert_eq!(told.len(), MAX_PROGRESS_EVENTS + 1);
    assert_eq!(told[0], "missed 0 and 3");
}

#[tokio::test]
async fn who_waits_is_woken_by_an_event_and_by_the_end() {
    let (sender, mut events) = progress();
    let waiting = tokio::spawn(async move {
        let mut told = Vec::new();
        while let Some(event) = events.next().await {
            told.push(brief(&event));
        }
        told
    });
    tokio::task::yield_now().await;
    sender.send(TurnProgress::Message("one".to_owned()));
    tokio::task::yield_now().await;
    drop(sender);
    assert_eq!(waiting.await.unwrap(), ["says one"]);
}
