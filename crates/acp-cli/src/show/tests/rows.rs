//! The rows that are drawn again and again, and what stays of them.

use acp_client::{Allow, Policy};
use acp_conversation::ToolCallState;
use acp_protocol::v1::{
    Cost, PermissionOption, PermissionOptionKind, PlanEntryStatus, Terminal, ToolCallLocation,
    ToolCallStatus, ToolKind, UsageUpdate,
};
use expect_test::expect;

use super::super::ask::AskText;
use super::super::excerpt::Excerpt;
use super::*;

#[test]
fn a_tool_call_is_one_line_that_changes_in_place() {
    let mut desk = Desk::new(60, 12);
    desk.update(text("I look.\n")).wait(100);
    let places = vec![ToolCallLocation::new("/code/src/main.rs").with_line(7)];
    let call = tool(
        "t",
        ToolKind::Search,
        "Look for turns",
        ToolCallStatus::Pending,
    );
    desk.update(call.with_locations(places)).wait(1100);
    expect![[r#"
        |I look.
        |  ○ Look for turns  search · src/main.rs:7 · 1s
        |  ⠹ working · 1s
    "#]]
    .assert_eq(&desk.seen());
    assert_eq!(desk.cursor(), (1, 0), "before the rows");
    desk.update(change("t", ToolCallStatus::InProgress))
        .wait(1200);
    expect![[r#"
        |I look.
        |  ⠼ Look for turns  search · src/main.rs:7 · 2s
        |  ⠼ working · 2s
    "#]]
    .assert_eq(&desk.seen());
    let found = change("t", ToolCallStatus::Completed).with_content(output("a\nb\nc\nd\ne\nf"));
    desk.update(found).wait(100);
    expect![[r#"
        |I look.
        |  ✓ Look for turns  search · src/main.rs:7 · 2.3s
        |    │ a
        |    │ b
        |    │ c
        |    │ d
        |    … 2 more lines
        |  ⠴ working · 2s
    "#]]
    .assert_eq(&desk.seen());
    desk.update(text("Found.")).finish();
    expect![[r#"
        |I look.
        |  ✓ Look for turns  search · src/main.rs:7 · 2.3s
        |    │ a
        |    │ b
        |    │ c
        |    │ d
        |    … 2 more lines
        |Found.
        |  2.5s · 1 tool
    "#]]
    .assert_eq(&desk.seen());
}

/// A turn with something of everything.
fn busy(columns: u16, rows: u16) -> Desk {
    let mut desk = Desk::new(columns, rows);
    desk.update(plan(&[
        (
            "Read the notes of all gardeners",
            PlanEntryStatus::Completed,
        ),
        ("Water the plants", PlanEntryStatus::InProgress),
        ("Tell what was done", PlanEntryStatus::Pending),
    ]));
    desk.update(UsageUpdate::new(24_000, 200_000).with_cost(Cost::new(0.03, "USD")));
    desk.update(tool(
        "a",
        ToolKind::Execute,
        "cargo test --workspace",
        ToolCallStatus::InProgress,
    ));
    desk.update(tool(
        "b",
        ToolKind::Fetch,
        "Fetch https://example.com/a/long/address",
        ToolCallStatus::InProgress,
    ));
    desk.update(thought(
        "Plants need water.\nAnd I need to know which of them are dry.",
    ));
    desk.wait(65_000);
    desk
}

#[test]
fn rows_fit_windows_of_any_width() {
    expect![[r#"
        |  ⠋ cargo test --workspace  execute · 1m 05s
        |  ⠋ Fetch https://example.com/a/long/address  fetch · 1m 05s
        |  thinking And I need to know which of them are dry.
        |  ✓ Read the notes of all gardeners
        |  ▸ Water the plants
        |  ○ Tell what was done
        |  ⠋ working · 1m 05s · plan 1/3 · 24k of 200k tokens · $0.03
    "#]]
    .assert_eq(&busy(100, 30).seen());
    expect![[r#"
        |  ⠋ cargo test --workspace  execute · 1m 05s
        |  ⠋ Fetch https://example.com/a/long/address  1m 05s
        |  thinking And I need to know which of them are dry.
        |  ✓ Read the notes of all gardeners
        |  ▸ Water the plants
        |  ○ Tell what was done
        |  ⠋ working · 1m 05s · plan 1/3 · 24k of 200k tokens
    "#]]
    .assert_eq(&busy(60, 30).seen());
    expect![[r#"
        |  ⠋ cargo test --workspa…  1m 05s
        |  ⠋ Fetch https://exampl…  1m 05s
        |  thinking …hich of them are dry.
        |  ✓ Read the notes of all garden…
        |  ▸ Water the plants
        |  ○ Tell what was done
        |  ⠋ working · 1m 05s · plan 1/3
    "#]]
    .assert_eq(&busy(34, 30).seen());
    expect![[r#"
        |  ⠋ cargo test --…
        |  ⠋ Fetch https:/…
        |  thinking …e dry.
        |  ✓ Read the note…
        |  ▸ Water the pla…
        |  ○ Tell what was…
        |  ⠋ working · 1m …
    "#]]
    .assert_eq(&busy(19, 30).seen());
}

#[test]
fn rows_leave_half_of_a_low_window() {
    expect![[r#"
        |  ⠋ cargo test --workspace  execute · 1m 05s
        |  ⠋ Fetch https://example.com/a/long/address  1m 05s
        |  ⠋ working · 1m 05s · plan 1/3 · 24k of 200k tokens
    "#]]
    .assert_eq(&busy(60, 6).seen());
    expect![[r#"
        |  ⠋ working · 1m 05s · 2 more tools · plan 1/3
    "#]]
    .assert_eq(&busy(60, 2).seen());
}

#[test]
fn what_stays_of_a_turn_is_written_at_its_end() {
    let mut desk = busy(60, 30);
    desk.finish();
    expect![[r#"
        |  ~ Plants need water. (+1 line)
        |  ○ cargo test --workspace  execute · not finished · 1m 05s
        |  ○ Fetch https://example.com/a/lon…  not finished · 1m 05s
        |  plan 1/3
        |    ✓ Read the notes of all gardeners
        |    ▸ Water the plants
        |    ○ Tell what was done
        |  1m 05s · 2 tools · 24k of 200k tokens · $0.03
    "#]]
    .assert_eq(&desk.seen());
    assert_eq!(desk.cursor(), (8, 0));
    let written = desk.writes();
    desk.wait(1000);
    assert_eq!(desk.writes(), written, "nothing is drawn any more");
}

#[test]
fn changes_are_shown_with_their_lines() {
    let old: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    let new = old
        .replace("line 3\n", "line three\n")
        .replace("line 30\n", "line 30\n\tmore\n");
    let mut desk = Desk::new(60, 30);
    let call = tool("t", ToolKind::Edit, "Edit", ToolCallStatus::Completed);
    let mut content = diff("/code/src/a.txt", &old, &new);
    content.extend(diff("/code/new.txt", "", &"x\n".repeat(20)));
    content.extend(diff("/code/same.txt", "x", "x"));
    desk.update(call.with_content(content)).finish();
    expect![[r#"
        |  ✓ Edit  edit
        |    src/a.txt  +2 -1
        |     1   line 1
        |     2   line 2
        |     3 - line 3
        |     3 + line three
        |     4   line 4
        |     5   line 5
        |     …
        |    29   line 29
        |    30   line 30
        |    31 +     more
        |    32   line 31
        |    33   line 32
        |    new.txt  new, 20 lines
        |     1 + x
        |     2 + x
        |     3 + x
        |     4 + x
        |     5 + x
        |     6 + x
        |     7 + x
        |     8 + x
        |    … 12 more lines
        |    same.txt  unchanged
        |  1 tool
    "#]]
    .assert_eq(&desk.seen());
}

#[test]
fn a_change_of_everything_is_folded() {
    let old: String = (1..=100).map(|n| format!("line {n}\n")).collect();
    let new = old.replace("line", "row");
    let mut desk = Desk::new(60, 40);
    let call = tool("t", ToolKind::Edit, "Edit", ToolCallStatus::Completed);
    desk.update(call.with_content(diff("/code/a.txt", &old, &new)))
        .finish();
    let seen = desk.seen();
    assert!(seen.contains("a.txt  +100 -100\n"), "{seen}");
    assert!(
        seen.contains(" 24 - line 24\n|    … 176 more lines\n"),
        "{seen}"
    );
}

#[test]
fn commands_show_their_end_and_files_their_size() {
    let numbers: String = (1..=220).map(|n| format!("{n}\n")).collect();
    let mut desk = Desk::new(40, 30);
    let call = tool("t", ToolKind::Execute, "seq 220", ToolCallStatus::Completed);
    desk.update(call.with_content(output(&format!("```console\n{numbers}```"))));
    let call = tool("u", ToolKind::Read, "Read a.txt", ToolCallStatus::Completed);
    desk.update(call.with_content(output(&numbers)));
    let call = tool("v", ToolKind::Read, "Read b.txt", ToolCallStatus::Failed);
    desk.update(call.with_content(output("no such file")))
        .finish();
    expect![[r#"
        |  ✓ seq 220  execute
        |    … 214 more lines
        |    │ 215
        |    │ 216
        |    │ 217
        |    │ 218
        |    │ 219
        |    │ 220
        |  ✓ Read a.txt  read · 220 lines
        |  ✗ Read b.txt  read · failed
        |    │ no such file
        |  3 tools
    "#]]
    .assert_eq(&desk.seen());
}

#[test]
fn commands_that_are_served_show_their_end_too() {
    let terminal = || vec![Terminal::new("term-1").into()];
    let mut desk = Desk::new(40, 30);
    let call = tool("t", ToolKind::Execute, "make", ToolCallStatus::InProgress);
    desk.update(call.with_content(terminal()));
    let written: String = (1..=20).map(|n| format!("{n}\n")).collect();
    desk.screen.wrote("term-1", &Excerpt::of(&written));
    desk.update(change("t", ToolCallStatus::Completed));
    let call = tool("u", ToolKind::Execute, "ls", ToolCallStatus::Completed);
    desk.update(call.with_content(vec![Terminal::new("term-2").into()]));
    desk.finish();
    expect![[r#"
        |  ✓ make  execute
        |    … 14 more lines
        |    │ 15
        |    │ 16
        |    │ 17
        |    │ 18
        |    │ 19
        |    │ 20
        |  ✓ ls  execute
        |  2 tools
    "#]]
    .assert_eq(&desk.seen());
}

#[test]
fn a_kind_that_carries_commands_is_cleaned() {
    let kind: ToolKind =
        serde_json::from_str(r#""x\u001b]0;owned\u0007\u001b[2J\u001b[8my""#).unwrap();
    let mut desk = Desk::new(40, 12);
    desk.update(tool("t", kind, "", ToolCallStatus::InProgress));
    desk.wait(100);
    let seen = desk.seen();
    assert!(seen.contains(" xy"), "{seen}");
    assert!(!seen.contains("owned"), "{seen}");
}

#[test]
fn permissions_say_why_and_wrap() {
    let call = tool(
        "t",
        ToolKind::Execute,
        "rm -r /\u{1b}[8m \u{202e}tmp",
        ToolCallStatus::Pending,
    );
    let facts = ToolCallState::from(&ToolCallUpdate::from(call));
    let options = [PermissionOption::new(
        "y",
        "Yes",
        PermissionOptionKind::AllowOnce,
    )];
    let decision = Policy::new(Allow::Reads, "/").decide(&facts, &options);
    let mut desk = Desk::new(40, 12);
    desk.screen.permission(&facts, &decision).unwrap();
    desk.wait(100);
    expect![[r#"
        |  ? execute rm -r /\u{1b}[8m
        |    \u{202e}tmp: refused (execute tools
        |    are not allowed; see --allow)
        |  ⠙ working · 0s
    "#]]
    .assert_eq(&desk.seen());
}

#[test]
fn who_is_asked_sees_what_would_change_and_sees_it_once() {
    let content = || diff("/code/a.txt", "one\n", "two\n");
    let asked = ToolCallUpdate::new("t").with_content(content());
    let mut desk = Desk::new(40, 20);
    let call = tool("t", ToolKind::Edit, "Edit", ToolCallStatus::Pending);
    desk.update(call.with_content(content())).wait(200);
    desk.screen.preview(&asked).unwrap();
    let ask = AskText::new().words(clean!("Is that right? "));
    desk.screen.ask(&ask).unwrap();
    desk.wait(1000);
    expect![[r#"
        |  ○ Edit  edit
        |    a.txt  +1 -1
        |    1 - one
        |    1 + two
        |Is that right?
    "#]]
    .assert_eq(&desk.seen());
    desk.tty.write_all(b"yes\n").unwrap();
    desk.screen.answered();
    desk.update(change("t", ToolCallStatus::Completed).with_content(content()));
    desk.finish();
    expect![[r#"
        |  ○ Edit  edit
        |    a.txt  +1 -1
        |    1 - one
        |    1 + two
        |Is that right? yes
        |  ✓ Edit  edit · 1.2s
        |  1.2s · 1 tool
    "#]]
    .assert_eq(&desk.seen());
}

#[test]
fn wide_characters_and_emoji_stay_inside() {
    let mut desk = Desk::new(30, 12);
    let title = "日本語の長い題名を読むための道具です";
    desk.update(tool("t", ToolKind::Read, title, ToolCallStatus::InProgress));
    desk.update(tool(
        "u",
        ToolKind::Read,
        "👩‍👩‍👧‍👦 family ❤️ e\u{301}te\u{301}",
        ToolCallStatus::InProgress,
    ));
    desk.wait(1200);
    expect![[r#"
        |  ⠹ 日本語の長い題名を読…  1s
        |  ⠹ 👩‍👩‍👧‍👦 family ❤️ é…  1s
        |  ⠹ working · 1s
    "#]]
    .assert_eq(&desk.seen());
    assert_eq!(desk.cursor(), (0, 0));
}

#[test]
fn a_terminal_without_signs_gets_letters() {
    let facts = Facts {
        unicode: false,
        ..TERMINAL
    };
    let mut desk = Desk::with(facts, 40, 12);
    desk.update(plan(&[
        ("One", PlanEntryStatus::Completed),
        ("Two", PlanEntryStatus::InProgress),
    ]));
    desk.update(tool(
        "t",
        ToolKind::Read,
        "Read",
        ToolCallStatus::InProgress,
    ));
    desk.wait(1300);
    let seen = desk.seen();
    assert!(seen.is_ascii(), "{seen}");
    expect![[r#"
        |  / Read  read, 1s
        |  + One
        |  > Two
        |  / working, 1s, plan 1/2
    "#]]
    .assert_eq(&seen);
}

#[test]
fn colours_end_where_their_words_end() {
    let facts = Facts {
        colour: true,
        ..TERMINAL
    };
    let mut desk = Desk::with(facts, 30, 12);
    let call = tool(
        "t",
        ToolKind::Edit,
        "A title that is longer than the window",
        ToolCallStatus::Failed,
    );
    desk.update(call.with_content(diff("/code/a", "1\n", "2\n")))
        .finish();
    let inner = desk.tty.0.lock();
    let screen = inner.parser.screen();
    let tone = |row, column| screen.cell(row, column).unwrap().fgcolor();
    assert_eq!(tone(0, 2), vt100::Color::Idx(1), "the sign");
    assert_eq!(tone(0, 4), vt100::Color::Default, "the title");
    assert_eq!(tone(2, 6), vt100::Color::Idx(1), "what was");
    assert_eq!(tone(3, 6), vt100::Color::Idx(2), "what is");
    assert_eq!(screen.fgcolor(), vt100::Color::Default);
}
