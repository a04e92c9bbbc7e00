//! Reading a turn, against the same rules said otherwise.

mod reference;
mod updates;

use acp_conversation::limits::MAX_MESSAGE;
use acp_conversation::{Conversation, ConversationLimits, ConversationTurn, TokenUsage};
use acp_harness::reader::{self, ReaderEvent};
use acp_protocol::RawJson;
use acp_protocol::v1::{
    PromptResponse, SessionUpdate, StopReason, ToolCall, ToolCallContent, ToolCallStatus,
    ToolCallUpdate,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use reference::{expected, expected_messages, expected_report};
use updates::any_update;

/// What events say, a line for each.
fn lines(events: &[ReaderEvent]) -> Vec<String> {
    let line = |event: &ReaderEvent| match event {
        ReaderEvent::Text(text) => format!("text {text:?}"),
        ReaderEvent::Reasoning(text) => format!("thought {text:?}"),
        ReaderEvent::Call(call) => {
            let args = call.args.as_ref().map_or("", RawJson::as_str);
            let how = if call.synthesised { "made up" } else { "call" };
            format!("{how} {} {}({args})", call.id.as_str(), call.name)
        }
        ReaderEvent::Result(result) => {
            let how = if result.failed { "failed" } else { "done" };
            format!("{how} {} {:?}", result.id.as_str(), result.text)
        }
        other => format!("{other:?}"),
    };
    events.iter().map(line).collect()
}

fn read(updates: &[SessionUpdate]) -> Vec<String> {
    let mut conversation = Conversation::new();
    let events: Vec<_> = updates
        .iter()
        .flat_map(|update| reader::read(&mut conversation, update))
        .collect();
    lines(&events)
}

fn parsed(updates: &[Value]) -> Vec<SessionUpdate> {
    updates
        .iter()
        .map(|update| serde_json::from_value(update.clone()).unwrap())
        .collect()
}

#[track_caller]
fn check(updates: &[Value], expected: &[&str]) {
    assert_eq!(read(&parsed(updates)), expected);
}

fn update(id: &str, rest: Value) -> Value {
    let mut update = rest;
    update["sessionUpdate"] = "tool_call_update".into();
    update["toolCallId"] = id.into();
    update
}

fn call(id: &str, rest: Value) -> Value {
    let mut call = rest;
    call["sessionUpdate"] = "tool_call".into();
    call["toolCallId"] = id.into();
    call
}

fn text(text: &str) -> Value {
    json!({"type": "content", "content": {"type": "text", "text": text}})
}

#[test]
fn the_usual_way() {
    check(
        &[
            json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}}),
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Let me "}}),
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": ""}}),
            call(
                "t",
                json!({"title": "Read a.md", "kind": "read", "status": "pending", "rawInput": {"path": "a.md"}}),
            ),
            update(
                "t",
                json!({"status": "in_progress", "content": [text("so far")]}),
            ),
            update(
                "t",
                json!({"status": "completed", "content": [text("all"), text("of it")]}),
            ),
        ],
        &[
            "thought \"hm\"",
            "text \"Let me \"",
            "call t read({\"path\":\"a.md\"})",
            "done t \"all\\nof it\"",
        ],
    );
}

#[test]
fn every_way_of_announcing() {
    // Announced when it was over already.
    check(
        &[call(
            "t",
            json!({"title": "bash", "status": "failed", "rawOutput": "no"}),
        )],
        &["call t bash()", "failed t \"no\""],
    );
    // Never announced, and told of by its end; what was told before is not lost.
    check(
        &[
            update(
                "t",
                json!({"title": "Search", "kind": "search", "status": "in_progress"}),
            ),
            update("t", json!({"rawInput": {"q": 1}})),
            update("t", json!({"status": "completed"})),
        ],
        &["made up t Search({\"q\":1})", "done t \"\""],
    );
    // Announced after its first update, and ended twice.
    check(
        &[
            update(
                "t",
                json!({"title": "run: ls", "kind": "execute", "status": "pending"}),
            ),
            call(
                "t",
                json!({"title": "run: ls", "status": "pending", "rawInput": ["ls"]}),
            ),
            update(
                "t",
                json!({"status": "completed", "rawOutput": [{"result": "x"}]}),
            ),
            update(
                "t",
                json!({"status": "completed", "content": [text("again")]}),
            ),
            call("t", json!({"title": "run: ls", "status": "failed"})),
        ],
        &[
            "call t execute([\"ls\"])",
            "done t \"[{\\\"result\\\":\\\"x\\\"}]\"",
        ],
    );
}

#[test]
fn results_are_content_or_else_output() {
    let end = |rest: Value| {
        let mut end = rest;
        end["status"] = "completed".into();
        [call("t", json!({"title": "t"})), update("t", end)]
    };
    check(
        &end(json!({"content": [], "rawOutput": "out"})),
        &["call t t()", "done t \"out\""],
    );
    check(
        &end(json!({"content": [text("")], "rawOutput": "out"})),
        &["call t t()", "done t \"out\""],
    );
    check(
        &end(json!({"content": [{"type": "terminal", "terminalId": "x"}], "rawOutput": "out"})),
        &["call t t()", "done t \"out\""],
    );
    check(
        &end(json!({"content": [
            {"type": "diff", "path": "/p/a", "oldText": "1", "newText": "1\n2"}, text("ok")],
            "rawOutput": "out"})),
        &["call t t()", "done t \"patch /p/a: 1 to 2 lines\\nok\""],
    );
}

#[test]
fn everything_else_is_nothing() {
    check(
        &[
            json!({"sessionUpdate": "plan", "entries": []}),
            json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "me"}}),
            json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
            json!({"sessionUpdate": "available_commands_update", "availableCommands": []}),
            json!({"sessionUpdate": "current_mode_update", "currentModeId": "m"}),
            json!({"sessionUpdate": "_weather", "sky": "clear"}),
            json!({"sessionUpdate": "state_update", "state": "idle"}),
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": "AA", "mimeType": "image/png"}}),
        ],
        &[],
    );
}

#[test]
fn facts_are_the_newest() {
    let updates = parsed(&[
        json!({"sessionUpdate": "plan", "entries": [{"content": "a", "priority": "high", "status": "pending"}]}),
        json!({"sessionUpdate": "plan", "entries": [{"content": "b", "priority": "low", "status": "completed", "_meta": {"x": 1}}]}),
        json!({"sessionUpdate": "usage_update", "used": 1, "size": 9, "cost": {"amount": 0.5, "currency": "USD"}}),
        json!({"sessionUpdate": "usage_update", "used": 2, "size": 9, "_meta": {"x": 1}}),
        json!({"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "help", "description": "d"}]}),
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "ask"}),
        json!({"sessionUpdate": "session_info_update", "title": "T"}),
        json!({"sessionUpdate": "notice", "severity": "warning", "title": "careful"}),
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": ""},
            "_meta": {"usage": {"inputTokens": 100, "outputTokens": 20}}}),
        json!({"sessionUpdate": "_weather"}),
        call(
            "t",
            json!({"title": "edit", "content": [{"type": "diff", "path": "/p", "newText": "1\n2"}]}),
        ),
        call("u", json!({"title": "x", "status": "failed"})),
    ]);
    let mut conversation = Conversation::new();
    for update in &updates {
        reader::read(&mut conversation, update);
    }
    conversation.end(&PromptResponse::new(StopReason::EndTurn));
    let plan = conversation.plan.as_ref().unwrap();
    assert_eq!((plan.entries.len(), &*plan.entries[0].content), (1, "b"));
    let usage = conversation.usage.as_ref().unwrap();
    assert_eq!((usage.used, usage.size, usage.meta.is_none()), (2, 9, true));
    assert_eq!(conversation.commands, ["help"]);
    assert_eq!(conversation.mode.as_ref().unwrap(), &"ask");
    assert_eq!(conversation.title.as_deref(), Some("T"));
    assert_eq!(conversation.notices.iter().next().unwrap().title, "careful");
    let turn = &conversation.turn;
    let tokens = turn.tokens.unwrap();
    assert_eq!(
        (tokens.input, tokens.output, tokens.total),
        (Some(100), Some(20), None)
    );
    assert_eq!(turn.stop_reason.as_ref(), Some(&StopReason::EndTurn));
    let counts = turn.counts;
    assert_eq!((counts.updates, counts.unrecognized), (12, 1));
    assert_eq!((counts.tool_calls, counts.failed_tool_calls), (2, 1));
    assert!(turn.has_output(), "tools ran");
    let calls = &conversation.tool_calls;
    let [edit, failed] = &calls.iter().collect::<Vec<_>>()[..] else {
        panic!("{calls:?}");
    };
    assert_eq!(calls.open().collect::<Vec<_>>(), [*edit]);
    assert!(failed.has_failed() && failed.ended.is_some());
    let [diff] = &edit.changes().collect::<Vec<_>>()[..] else {
        panic!("{edit:?}");
    };
    assert_eq!(
        (&*diff.path, diff.old_lines, diff.new_lines),
        ("/p", None, 2)
    );
    assert_eq!(diff.texts.as_ref().unwrap().new_text, "1\n2");
}

#[test]
fn an_empty_turn_is_flagged() {
    let ended = |updates: &[SessionUpdate]| {
        let mut conversation = Conversation::new();
        for update in updates {
            reader::read(&mut conversation, update);
        }
        conversation.end(&PromptResponse::new(StopReason::EndTurn));
        !conversation.turn.has_output()
    };
    assert!(ended(&[]));
    assert!(ended(&[SessionUpdate::agent_text(" \n")]));
    assert!(ended(&[SessionUpdate::agent_thought("hm")]));
    assert!(!ended(&[SessionUpdate::agent_text("a")]));
    assert!(!ended(&[ToolCall::new("t", "x").into()]));
}

#[test]
fn tokens_are_read_as_far_as_they_are_told() {
    let mut conversation = Conversation::new();
    let mut response = PromptResponse::new(StopReason::EndTurn);
    let meta =
        json!({"usage": {"totalTokens": 7, "thoughtTokens": "many", "cachedReadTokens": -1}});
    response.meta = Some(Box::new(meta.as_object().unwrap().clone()));
    conversation.end(&response);
    let tokens = conversation.turn.tokens.unwrap();
    assert_eq!(
        (tokens.total, tokens.thought, tokens.cached_read),
        (Some(7), None, None)
    );
    for nothing in [
        json!(null),
        json!({}),
        json!([]),
        json!({"totalTokens": null}),
    ] {
        assert_eq!(TokenUsage::read(&nothing), None);
    }
}

#[test]
fn a_whole_output_again_and_again_is_kept_once() {
    let mut conversation = Conversation::new();
    let mut output = String::new();
    reader::read(&mut conversation, &ToolCall::new("t", "build").into());
    for n in 0..1000 {
        output.push_str(&format!("line {n}\n").repeat(40));
        let content = vec![ToolCallContent::text(&*output)];
        let update = ToolCallUpdate::new("t").with_content(content);
        assert_eq!(reader::read(&mut conversation, &update.into()), []);
    }
    let calls = &conversation.tool_calls;
    let kept: usize = calls.iter().map(|call| call.text(usize::MAX).0.len()).sum();
    assert_eq!(kept, 256 << 10);
    let end = ToolCallUpdate::status("t", ToolCallStatus::Completed);
    let [ReaderEvent::Result(result)] = &reader::read(&mut conversation, &end.into())[..] else {
        panic!("one result");
    };
    assert!(result.cut && output.starts_with(&result.text));
}

#[test]
fn bounds_can_be_told() {
    let limits = ConversationLimits {
        tool_calls: 2,
        tool_text: 3,
        tool_bytes: 1 << 20,
        ..ConversationLimits::default()
    };
    let mut conversation = Conversation::within(limits);
    for id in ["a", "b", "c"] {
        let mut call = ToolCall::new(id, "t").with_status(ToolCallStatus::Completed);
        call.content = vec![ToolCallContent::text("12345")];
        let [_, ReaderEvent::Result(result)] = &reader::read(&mut conversation, &call.into())[..]
        else {
            panic!("a call and its result");
        };
        assert_eq!((&*result.text, result.cut), ("123", true));
    }
    let calls = &conversation.tool_calls;
    let kept: Vec<_> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(kept, ["b", "c"]);
    assert_eq!(conversation.turn.counts.tool_calls, 3);
}

fn turn_of(limits: ConversationLimits, updates: &[SessionUpdate]) -> ConversationTurn {
    let mut conversation = Conversation::within(limits);
    for update in updates {
        reader::read(&mut conversation, update);
    }
    conversation.turn.clone()
}

fn report(turn: &ConversationTurn) -> &str {
    turn.report().map_or("", |report| &report.text)
}

proptest! {
    #[test]
    fn a_turn_is_read_as_by_the_whole_past(updates in prop::collection::vec(any_update(), 0..24)) {
        prop_assert_eq!(read(&updates), expected(&updates));
    }

    #[test]
    fn a_call_comes_before_its_one_result(updates in prop::collection::vec(any_update(), 0..40)) {
        let lines = read(&updates);
        for id in ["a", "b", "c"] {
            let of: Vec<_> = lines.iter().filter_map(|line| {
                let mut words = line.trim_start_matches("made ").split(' ');
                let what = words.next()?;
                (words.next() == Some(id)).then_some(what)
            }).collect();
            prop_assert!(
                matches!(of[..], [] | ["call" | "up"] | ["call" | "up", "done" | "failed"]),
                "{:?}", of
            );
        }
    }

    #[test]
    fn facts_count_what_was_read(updates in prop::collection::vec(any_update(), 0..40)) {
        let mut conversation = Conversation::new();
        for update in &updates {
            reader::read(&mut conversation, update);
        }
        let lines = read(&updates);
        let count = |beginning: &str| lines.iter().filter(|line| line.starts_with(beginning)).count() as u64;
            let counts = conversation.turn.counts;
        prop_assert_eq!(counts.tool_calls, count("call") + count("made up"));
        prop_assert_eq!(counts.failed_tool_calls, count("failed"));
        prop_assert_eq!(counts.updates, updates.len() as u64);
        prop_assert_eq!(
            conversation.tool_calls.open().count() as u64,
            counts.tool_calls - count("done") - count("failed")
        );
    }

    #[test]
    fn the_report_is_the_last_message(updates in prop::collection::vec(any_update(), 0..24)) {
        let turn = turn_of(ConversationLimits::default(), &updates);
        prop_assert_eq!(report(&turn), expected_report(&updates));
        prop_assert_eq!(turn.said(MAX_MESSAGE), expected_messages(&updates).join("\n\n"));
    }

    /// What is kept of a message is its beginning, and nothing behind a gap.
    #[test]
    fn a_report_is_bounded(chunks in prop::collection::vec("[a日]{0,6}", 0..12), max in 3_usize..20) {
        let updates: Vec<_> = chunks.iter().map(SessionUpdate::agent_text).collect();
        let turn = turn_of(ConversationLimits { message: max, ..ConversationLimits::default() }, &updates);
        let whole = chunks.concat();
        let report = report(&turn);
        prop_assert!(report.len() <= max && whole.starts_with(report));
        let is_whole = turn.report().is_none_or(|report| report.is_whole());
        prop_assert_eq!(is_whole, report.len() == whole.len());
        prop_assert!(report.len() + 3 > max.min(whole.len()));
        prop_assert_eq!(turn.said(MAX_MESSAGE), report);
    }
}

#[test]
fn what_was_lost_is_not_passed_over() {
    let mut conversation = Conversation::new();
    let state = |conversation: &Conversation| {
        let report = conversation.turn.report().unwrap().clone();
        (report.text.clone(), report.is_whole())
    };
    reader::read(&mut conversation, &SessionUpdate::agent_text("a"));
    assert_eq!(state(&conversation), ("a".into(), true));
    conversation.lose(1);
    reader::read(&mut conversation, &SessionUpdate::agent_text("c"));
    assert_eq!(state(&conversation), ("ac".into(), false));
    // The next message is whole again, and so is the report once it is that one.
    reader::read(&mut conversation, &ToolCall::new("t", "x").into());
    assert_eq!(state(&conversation), ("ac".into(), false));
    reader::read(&mut conversation, &SessionUpdate::agent_text("d"));
    assert_eq!(state(&conversation), ("d".into(), true));
    conversation.lose(u64::MAX);
    assert_eq!(conversation.turn.counts.lost, u64::MAX);
}

#[test]
fn reports_of_note() {
    let text = SessionUpdate::agent_text;
    let tool = |id: &str| SessionUpdate::from(ToolCall::new(id, "t"));
    let told =
        |id: &str| SessionUpdate::from(ToolCallUpdate::status(id, ToolCallStatus::Completed));
    let of = |updates: &[SessionUpdate]| {
        report(&turn_of(ConversationLimits::default(), updates)).to_owned()
    };
    assert_eq!(of(&[]), "");
    assert_eq!(of(&[text("a"), text("b")]), "ab");
    assert_eq!(of(&[text("a"), tool("t"), told("t"), text("b")]), "b");
    // Nothing was said in the end, or blanks alone.
    assert_eq!(of(&[text("a"), tool("t")]), "a");
    assert_eq!(of(&[text("a"), tool("t"), text(" \n")]), "a");
    assert_eq!(
        of(&[text("a"), tool("t"), text(" "), tool("u"), text("")]),
        "a"
    );
    assert_eq!(of(&[text(" "), tool("t"), text(" ")]), "");
    // News of a tool that is known, and thoughts, end no message.
    assert_eq!(of(&[tool("t"), text("a"), told("t"), text("b")]), "ab");
    let thought = SessionUpdate::agent_thought("hm");
    assert_eq!(of(&[text("a"), thought, text("b")]), "ab");
    // A tool that was never announced ends one when it is first heard of.
    assert_eq!(of(&[text("a"), told("t"), text("b")]), "b");
    // What is said keeps the blanks that it has.
    assert_eq!(of(&[text(" a\n")]), " a\n");
}
