//! Peers that send too much: everything that is kept has a limit in bytes.

use acp_conversation::limits::{MAX_MESSAGE_BYTES, MAX_TOOL_BYTES, MAX_TOOL_PATHS};
use acp_conversation::{Conversation, ConversationLimits, MessageRole, ToolCallState};
use acp_protocol::v1::{
    ContentBlock, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus, SessionUpdate, ToolCall,
    ToolCallContent, ToolCallLocation, ToolCallUpdate,
};
use proptest::prelude::*;

const MIB: usize = 1 << 20;

fn tool_calls(conversation: &Conversation) -> impl Iterator<Item = &ToolCallState> {
    conversation.tool_calls.iter()
}

#[test]
fn titles_of_many_mebibytes() {
    let title = "x".repeat(20 * MIB);
    let mut conversation = Conversation::new();
    for n in 0..160 {
        let call = ToolCall::new(n.to_string(), title.as_str()).with_kind(title.as_str());
        conversation.update(&call.into());
    }
    assert_eq!(conversation.tool_calls.iter().len(), 160);
    assert!(conversation.tool_calls.bytes() < 2 * MIB);
    assert!(
        tool_calls(&conversation).all(|call| call.kind.as_ref().unwrap().as_str().len() <= 128)
    );
}

#[test]
fn ids_and_paths_of_many_mebibytes() {
    let long = "x".repeat(MIB);
    let mut conversation = Conversation::new();
    for n in 0..64 {
        conversation.update(&ToolCall::new(format!("{long}{n}"), "t").into());
        let content = vec![ToolCallContent::diff(format!("/{n}{long}"), "")];
        conversation.update(&ToolCallUpdate::new("t").with_content(content).into());
    }
    assert_eq!(conversation.tool_calls.dropped, 64);
    let [call] = &tool_calls(&conversation).collect::<Vec<_>>()[..] else {
        panic!("one of them has an id that can be kept");
    };
    assert!(call.has_more_paths && call.paths.is_empty());
    assert!(conversation.tool_calls.bytes() < MIB);
}

#[test]
fn more_paths_than_anybody_reads() {
    let path = |n: usize| ToolCallLocation::new(format!("/{n:0>4000}"));
    let mut conversation = Conversation::new();
    for n in 0..20 {
        let locations: Vec<_> = (0..1000).map(path).collect();
        let update = ToolCallUpdate::new(n.to_string()).with_locations(locations);
        conversation.update(&update.into());
        assert!(conversation.tool_calls.bytes() <= MAX_TOOL_BYTES);
    }
    let newest = tool_calls(&conversation).last().unwrap();
    assert!(newest.has_more_paths && newest.paths.len() == MAX_TOOL_PATHS);
    assert!(conversation.tool_calls.stripped > 0);
}

#[test]
fn contents_of_many_mebibytes() {
    let text = "é\n".repeat(200 << 10);
    let mut conversation = Conversation::new();
    for n in 0..40 {
        let mut content = vec![
            ToolCallContent::text(text.as_str()),
            ToolCallContent::diff("/a", text.as_str()),
        ];
        content.extend(vec![ToolCallContent::diff("/b", "y".repeat(200 << 10)); 3]);
        content.extend(vec![ToolCallContent::terminal(text.as_str()); 300]);
        conversation.update(
            &ToolCall::new(n.to_string(), "t")
                .with_content(content)
                .into(),
        );
        assert!(conversation.tool_calls.bytes() <= MAX_TOOL_BYTES);
    }
    let newest = tool_calls(&conversation).last().unwrap();
    let kept: Vec<_> = newest
        .changes()
        .map(|change| change.texts.is_some())
        .collect();
    assert_eq!(kept, [false, true, false, false]);
    assert_eq!((newest.content.len(), newest.more_parts), (256, 49));
    assert!(newest.text(usize::MAX).1);
}

#[test]
fn messages_of_many_mebibytes() {
    let long = "x".repeat(MIB + 1);
    let mut conversation = Conversation::new();
    let kept = |conversation: &Conversation| {
        let turns = conversation.past.iter().chain([&conversation.turn]);
        let entries = turns.flat_map(|turn| {
            turn.messages(MessageRole::Thought)
                .chain(turn.messages(MessageRole::Agent))
        });
        entries.map(|message| message.text.len()).sum::<usize>()
    };
    conversation.update(&SessionUpdate::agent_text("The report."));
    for n in 0..40 {
        conversation.update(&ToolCall::new(n.to_string(), "t").into());
        conversation.update(&SessionUpdate::agent_thought(&*long));
        assert!(kept(&conversation) <= MAX_MESSAGE_BYTES);
    }
    let turn = &conversation.turn;
    assert_eq!(
        turn.report().unwrap().text,
        "The report.",
        "whatever else goes"
    );
    assert!(turn.counts.dropped > 0);
    for n in 0..20 {
        conversation.prompt(&[ContentBlock::text("Go on.")]);
        conversation.update(&SessionUpdate::agent_text(&*long));
        conversation.update(&ToolCall::new(format!("u{n}"), "t").into());
        conversation.update(&SessionUpdate::agent_text("y"));
        assert!(kept(&conversation) <= MAX_MESSAGE_BYTES);
    }
    assert!(conversation.dropped_turns > 10);
}

#[test]
fn plans_of_many_entries() {
    let entry = |_| {
        let text = "x".repeat(100 << 10);
        PlanEntry::new(
            text.as_str(),
            PlanEntryPriority::from(text.as_str()),
            PlanEntryStatus::Pending,
        )
    };
    let mut conversation = Conversation::new();
    conversation.update(&SessionUpdate::Plan(Plan::new((0..300).map(entry))));
    let plan = conversation.plan.as_ref().unwrap();
    assert_eq!(
        (plan.entries.len(), conversation.more_plan_entries),
        (256, 44)
    );
    let lengths = plan
        .entries
        .iter()
        .map(|entry| entry.content.len() + entry.priority.as_str().len());
    assert!(lengths.sum::<usize>() <= 256 * (4096 + 128));
}

fn any_update() -> impl Strategy<Value = SessionUpdate> {
    let id = (0..4_u8).prop_map(|id| id.to_string());
    let text = (0..9_usize, "[a\u{e9}\n]{1,3}").prop_map(|(n, text)| text.repeat(1 << n));
    prop_oneof![
        (id.clone(), text.clone()).prop_map(|(id, text)| ToolCall::new(id, text).into()),
        (id, text.clone(), 0..4_usize).prop_map(|(id, text, parts)| {
            let content = vec![ToolCallContent::text(text); parts];
            ToolCallUpdate::new(id).with_content(content).into()
        }),
        text.clone().prop_map(SessionUpdate::agent_text),
        text.prop_map(SessionUpdate::agent_thought),
    ]
}

proptest! {
    /// Of what is within the limits nothing is lost; of what is not, something of it is
    /// counted.
    #[test]
    fn limits_hold_and_losses_are_counted(updates in prop::collection::vec(any_update(), 0..40)) {
        let limits = ConversationLimits {
            tool_calls: 4,
            tool_text: 300,
            tool_bytes: 6000,
            message: 200,
            message_bytes: 2000,
        };
        let mut small = Conversation::within(limits);
        let mut large = Conversation::new();
        for update in &updates {
            small.update(update);
            large.update(update);
            prop_assert!(small.tool_calls.iter().len() <= 4);
        }
        // A call that was dropped and comes again counts as another one.
        prop_assume!(small.tool_calls.dropped == 0);
        let (turn, whole) = (&small.turn, &large.turn);
        prop_assert_eq!(whole.counts.dropped, 0);
        let mut counts = turn.counts;
        counts.dropped = 0;
        prop_assert_eq!(counts, whole.counts);
        let report = |turn: &acp_conversation::ConversationTurn| {
            turn.report().map(|message| message.text.clone())
        };
        // What is kept of a message that is cut may be blank, and is no report then.
        if !turn.messages(MessageRole::Agent).any(|message| message.is_cut) {
            prop_assert_eq!(report(turn), report(whole));
        }
        for call in large.tool_calls.iter() {
            let kept = small.tool_calls.get(&call.id).unwrap();
            prop_assert_eq!(&kept.title, &call.title);
            let (text, is_cut) = kept.text(300);
            if !is_cut {
                prop_assert_eq!(text, call.text(usize::MAX).0);
            }
        }
    }
}
