//! What a conversation amounts to.

use acp_conversation::{
    Conversation, ConversationChange, ConversationLimits, MessageRole, ToolCallPart, ToolCallState,
    TurnEntry,
};
use acp_protocol::v1::{
    ContentBlock, PromptResponse, SessionUpdate, StopReason, ToolCall, ToolCallContent,
    ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolKind,
};
use serde_json::{Value, json};

fn parsed(update: Value) -> SessionUpdate {
    serde_json::from_value(update).unwrap()
}

fn folded(updates: impl IntoIterator<Item = SessionUpdate>) -> Conversation {
    let mut conversation = Conversation::new();
    for update in updates {
        conversation.update(&update);
    }
    conversation
}

fn call<'a>(conversation: &'a Conversation, id: &str) -> &'a ToolCallState {
    conversation.tool_calls.get(&id.into()).unwrap()
}

/// What an update changes, in words.
fn change(conversation: &mut Conversation, update: impl Into<SessionUpdate>) -> String {
    match conversation.update(&update.into()) {
        ConversationChange::Message(change) => {
            let how = [(change.begins, "begins "), (change.resumes, "resumes ")];
            let how = how.iter().filter(|(is, _)| *is).map(|(_, how)| *how);
            format!("{}{:?}", how.collect::<String>(), change.message.text)
        }
        ConversationChange::ToolCall(change) => {
            let how = [
                (change.is_new, "new"),
                (change.begins, "begins"),
                (change.is_called, "called"),
                (change.ends, "ends"),
            ];
            let how = how.iter().filter(|(is, _)| *is).map(|(_, how)| *how);
            how.collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    }
}

fn end(id: &str, status: &str) -> ToolCallUpdate {
    ToolCallUpdate::status(id, ToolCallStatus::from(status))
}

#[test]
fn a_call_begins_and_ends() {
    let mut conversation = Conversation::new();
    let mut check = |update: SessionUpdate, expected: &str| {
        assert_eq!(change(&mut conversation, update), expected);
    };
    let announced = || ToolCall::new("t", "Read").with_status(ToolCallStatus::Pending);
    check(announced().into(), "new begins called");
    check(end("t", "in_progress").into(), "");
    check(announced().into(), "");
    check(end("t", "completed").into(), "ends");
    check(end("t", "completed").into(), "");
    check(end("t", "failed").into(), "ends");
    check(ToolCallUpdate::new("t").into(), "");
    // Some agents use an id again.
    check(announced().into(), "begins");
    check(end("t", "failed").into(), "ends");
    check(end("u", "in_progress").into(), "new begins");
    check(end("u", "completed").into(), "called ends");
    check(end("v", "completed").into(), "new begins called ends");
    let counts = conversation.turn.counts;
    assert_eq!((counts.tool_calls, counts.failed_tool_calls), (3, 0));
    assert_eq!(conversation.tool_calls.open().count(), 0);
}

#[test]
fn left_out_is_unchanged_and_given_replaces() {
    let announced = ToolCall::new("t", "Change a")
        .with_kind(ToolKind::Edit)
        .with_locations(vec![ToolCallLocation::at_line("/a", 7)])
        .with_content(vec![ToolCallContent::diff("/a", "one\ntwo\n")]);
    let mut conversation = folded([announced.into()]);
    conversation.update(&end("t", "in_progress").into());
    let known = call(&conversation, "t");
    assert_eq!(
        (known.title.as_deref(), known.kind.as_ref()),
        (Some("Change a"), Some(&ToolKind::Edit))
    );
    assert_eq!(known.text(99).0, "patch /a: new, 2 lines");
    // An agent that announces it again takes nothing back.
    conversation.update(&ToolCall::new("t", "Change b").into());
    let known = call(&conversation, "t");
    assert_eq!(
        (known.title.as_deref(), known.locations.len()),
        (Some("Change b"), 1)
    );
    assert_eq!(known.changes().count(), 1);
    let replaced = ToolCallUpdate::new("t")
        .with_content(vec![
            ToolCallContent::text("done"),
            ToolCallContent::terminal("x"),
        ])
        .with_locations(vec![ToolCallLocation::new("/b")]);
    let before = known.revision;
    conversation.update(&replaced.into());
    let known = call(&conversation, "t");
    assert_eq!(
        (known.text(99), known.revision),
        (("done".to_owned(), false), before + 1)
    );
    assert_eq!(known.locations[0].path, "/b");
    // What it ever named, a policy looks at.
    let paths: Vec<_> = known.paths.iter().map(String::as_str).collect();
    assert_eq!(
        (paths, known.has_diff, known.has_terminal),
        (vec!["/a", "/b"], true, true)
    );
}

#[test]
fn a_question_is_laid_over_its_call() {
    let announced = ToolCall::new("t", "Look").with_kind(ToolKind::Read);
    let mut conversation = folded([announced.into()]);
    let subject = end("t", "completed")
        .with_kind(ToolKind::Edit)
        .with_locations(vec![ToolCallLocation::new("/a")]);
    let asked = conversation.tool_calls.overlaid(&subject);
    assert_eq!(
        (asked.kind.as_ref(), asked.title.as_deref()),
        (Some(&ToolKind::Edit), Some("Look"))
    );
    assert_eq!(asked.paths.len(), 1);
    assert_eq!(
        call(&conversation, "t").kind.as_ref(),
        Some(&ToolKind::Read)
    );
    let change = conversation.ask(&subject).unwrap();
    assert!(!change.is_new && !change.ends && change.call.ended.is_none());
    assert_eq!(
        call(&conversation, "t").kind.as_ref(),
        Some(&ToolKind::Edit)
    );
    let unknown = ToolCallUpdate::new("u").with_title("Ask");
    assert_eq!(
        conversation.tool_calls.overlaid(&unknown),
        (&unknown).into()
    );
    assert!(conversation.ask(&unknown).unwrap().begins);
}

#[test]
fn messages_end_with_a_tool_call_or_another_id() {
    let said = |id: Option<&str>, text: &str| {
        let mut chunk = acp_protocol::v1::ContentChunk::text(text);
        chunk.message_id = id.map(Into::into);
        SessionUpdate::AgentMessageChunk(chunk)
    };
    let mut conversation = Conversation::new();
    let mut check = |update: SessionUpdate, expected: &str| {
        assert_eq!(change(&mut conversation, update), expected);
    };
    check(said(None, ""), "");
    check(said(Some("a"), "one"), "begins \"one\"");
    check(SessionUpdate::agent_thought("hm"), "begins \"hm\"");
    check(SessionUpdate::agent_thought("m"), "\"hmm\"");
    check(said(None, " two"), "\"one two\"");
    check(ToolCall::new("t", "t").into(), "new begins called");
    check(said(Some("a"), "three"), "begins resumes \"three\"");
    check(ToolCallUpdate::new("t").into(), "");
    check(said(Some("b"), ""), "");
    check(said(None, "four"), "begins \"four\"");
    let turn = &conversation.turn;
    assert_eq!(turn.said(99), "one two\n\nthree\n\nfour");
    assert_eq!(turn.said(9), "one two\n\n");
    assert_eq!(turn.report().unwrap().text, "four");
    let order = turn.entries.iter().map(|entry| match entry {
        TurnEntry::Message(message) => message.text.as_str(),
        _ => "()",
    });
    assert_eq!(
        order.collect::<Vec<_>>(),
        ["one two", "hmm", "()", "three", "four"]
    );
}

#[test]
fn turns_follow_each_other() {
    let mut conversation = Conversation::new();
    for answer in ["one", "two"] {
        conversation.prompt(&[ContentBlock::text("Ask?")]);
        conversation.update(&SessionUpdate::agent_text(answer));
        conversation.lose(2);
        conversation.end(&PromptResponse::new(StopReason::EndTurn));
    }
    let turns = conversation.past.iter().chain([&conversation.turn]);
    let reports = turns.map(|turn| &*turn.report().unwrap().text);
    assert_eq!(reports.collect::<Vec<_>>(), ["one", "two"]);
    let turn = &conversation.turn;
    assert_eq!(turn.messages(MessageRole::User).count(), 1);
    assert_eq!(turn.stop_reason.as_ref(), Some(&StopReason::EndTurn));
    assert_eq!(
        (turn.counts.lost, turn.report().unwrap().is_whole()),
        (2, false)
    );
    assert!(turn.has_output());
}

#[test]
fn a_report_is_whole_where_nothing_of_it_or_behind_it_was_lost() {
    let text = || Step::Update(SessionUpdate::agent_text("Done."));
    let tool = || Step::Update(ToolCall::new("t", "tool").into());
    enum Step {
        Update(SessionUpdate),
        Lost,
    }
    for (steps, is_whole) in [
        (vec![], true),
        (vec![Step::Lost], false),
        (vec![text()], true),
        (vec![text(), Step::Lost], false),
        (vec![Step::Lost, text()], false),
        (vec![Step::Lost, tool(), text()], true),
        (vec![text(), tool()], true),
        // Perhaps it said something more in the end.
        (vec![text(), tool(), Step::Lost], false),
        (vec![text(), Step::Lost, tool(), text()], true),
    ] {
        let mut conversation = Conversation::new();
        let told: Vec<_> = steps
            .iter()
            .map(|step| matches!(step, Step::Lost))
            .collect();
        for step in steps {
            match step {
                Step::Update(update) => drop(conversation.update(&update)),
                Step::Lost => conversation.lose(1),
            }
        }
        assert_eq!(conversation.turn.report_is_whole(), is_whole, "{told:?}");
    }
}

#[test]
fn the_end_of_a_long_text_is_kept_too() {
    let text: String = (0..100_000).map(|n| format!("{n}\n")).collect();
    let output = ToolCallUpdate::new("t").with_content(vec![ToolCallContent::text(&*text)]);
    let conversation = folded([output.into()]);
    let [ToolCallPart::Text(kept)] = &call(&conversation, "t").content[..] else {
        panic!("a text");
    };
    assert!(kept.is_cut && kept.beginning.starts_with("0\n1\n"));
    assert!(kept.end.ends_with("\n99998\n99999\n"));
    assert_eq!(kept.lines, 100_000);
}

#[test]
fn with_no_room_for_texts_paths_are_kept_alone() {
    let limits = ConversationLimits {
        tool_text: 0,
        ..ConversationLimits::default()
    };
    let mut conversation = Conversation::within(limits);
    let content = vec![ToolCallContent::diff("/a", "text")];
    conversation.update(&ToolCall::new("t", "t").with_content(content).into());
    let known = call(&conversation, "t");
    assert!(known.content.is_empty() && known.has_diff);
    assert_eq!(known.paths.len(), 1);
}

#[test]
fn other_updates_replace_each_other() {
    let conversation = folded([
        parsed(
            json!({"sessionUpdate": "plan", "entries": [{"content": "a", "priority": "high", "status": "pending"}]}),
        ),
        parsed(
            json!({"sessionUpdate": "plan", "entries": [{"content": "b", "priority": "low", "status": "completed", "_meta": {"x": 1}}]}),
        ),
        parsed(json!({"sessionUpdate": "usage_update", "used": 2, "size": 9, "_meta": {"x": 1}})),
        parsed(
            json!({"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "help", "description": "d"}]}),
        ),
        parsed(json!({"sessionUpdate": "current_mode_update", "currentModeId": "ask"})),
        parsed(json!({"sessionUpdate": "session_info_update", "title": "T"})),
        parsed(json!({"sessionUpdate": "notice", "severity": "warning", "title": "careful"})),
        parsed(json!({"sessionUpdate": "_weather"})),
    ]);
    let plan = &conversation.plan.as_ref().unwrap().entries;
    assert_eq!(
        (plan.len(), &*plan[0].content, &plan[0].meta),
        (1, "b", &None)
    );
    assert_eq!(conversation.usage.as_ref().unwrap().used, 2);
    assert_eq!(conversation.commands, ["help"]);
    assert_eq!(conversation.mode.as_ref().unwrap(), &"ask");
    assert_eq!(conversation.title.as_deref(), Some("T"));
    assert_eq!(conversation.notices.iter().next().unwrap().title, "careful");
    assert_eq!(conversation.turn.counts.unrecognized, 1);
}
