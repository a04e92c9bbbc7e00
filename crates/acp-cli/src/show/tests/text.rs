//! The agent's text, with rows below it.

use acp_protocol::v1::{ToolCallStatus, ToolKind};
use expect_test::expect;

use super::*;

#[test]
fn rows_go_away_while_text_streams_and_come_back_when_it_pauses() {
    let mut desk = Desk::new(40, 10);
    desk.wait(200);
    expect![[r#"
        |  ⠹ working · 0s
    "#]]
    .assert_eq(&desk.seen());
    desk.update(text("Let me")).wait(100);
    assert_eq!(desk.seen(), "|Let me\n");
    desk.update(text(" see,")).wait(800);
    expect![[r#"
        |Let me see,
        |  ⠙ working · 1s
    "#]]
    .assert_eq(&desk.seen());
    assert_eq!(desk.cursor(), (0, 11), "where the text goes on");
    desk.update(text(" then")).wait(100);
    assert_eq!(desk.seen(), "|Let me see, then\n");
    desk.update(tool("t", ToolKind::Read, "Read", ToolCallStatus::Completed))
        .wait(100);
    expect![[r#"
        |Let me see, then
        |  ✓ Read  read
        |  ⠸ working · 1s
    "#]]
    .assert_eq(&desk.seen());
}

#[test]
fn rows_below_text_at_the_bottom_of_the_window_scroll_it() {
    let mut desk = Desk::new(20, 4);
    desk.update(text("one\ntwo\nthree\nfour and"));
    desk.update(tool(
        "t",
        ToolKind::Read,
        "Read",
        ToolCallStatus::InProgress,
    ));
    desk.wait(1900);
    expect![[r#"
        |three
        |four and
        |  ⠏ Read  read · 1s
        |  ⠏ working · 1s
    "#]]
    .assert_eq(&desk.seen());
    assert_eq!(desk.cursor(), (1, 8));
    desk.wait(900).update(text(" more\nfive\nsix"));
    expect![[r#"
        |four and
        | more
        |five
        |six
    "#]]
    .assert_eq(&desk.seen());
}

#[test]
fn text_that_ends_at_the_edge_is_left_alone() {
    for length in 17..=21 {
        let mut desk = Desk::new(20, 6);
        let line = "x".repeat(length);
        desk.update(text(&line)).wait(1000);
        desk.update(text("yz")).finish();
        let seen = desk.seen().replace(['\n', '|'], "");
        let expected = format!("{line}yz");
        assert!(seen.starts_with(&expected), "{length}: {seen}");
    }
}

#[test]
fn commands_in_text_never_reach_the_terminal() {
    let mut desk = Desk::new(40, 6);
    desk.update(text("a\u{1b}[2J\u{1b}]0;ti"));
    desk.update(text("tle\u{7}b\u{9b}5Ac\u{1b}"));
    desk.update(text("[?25ld\re")).finish();
    assert_eq!(desk.seen(), "|abcd\n|e\n");
    assert!(!desk.tty.0.lock().parser.screen().hide_cursor());
}

#[test]
fn a_window_that_changes_its_size_keeps_the_text() {
    let mut desk = Desk::new(40, 10);
    desk.update(text("Some words"));
    desk.update(tool(
        "t",
        ToolKind::Read,
        "Read a file with a long name",
        ToolCallStatus::InProgress,
    ));
    desk.wait(1000);
    {
        let mut inner = desk.tty.0.lock();
        let screen = inner.parser.screen_mut();
        screen.set_size(10.try_into().unwrap(), 24.try_into().unwrap());
        inner.window.columns = 24;
    }
    desk.wait(200);
    expect![[r#"
        |Some words
        |  ⠹ Read a file wi…  1s
        |  ⠹ working · 1s
    "#]]
    .assert_eq(&desk.seen());
    desk.update(change("t", ToolCallStatus::Completed)).finish();
    expect![[r#"
        |Some words
        |  ✓ Read a file…  1.2s
        |  1.2s · 1 tool
    "#]]
    .assert_eq(&desk.seen());
}

#[test]
fn in_the_background_nothing_is_drawn() {
    let mut desk = Desk::new(40, 10);
    desk.tty.0.lock().window.is_ours = false;
    desk.wait(1000);
    assert_eq!(desk.seen(), "");
    desk.update(tool("t", ToolKind::Read, "Read", ToolCallStatus::Completed))
        .wait(100);
    expect![[r#"
        |  ✓ Read  read
    "#]]
    .assert_eq(&desk.seen());
    desk.tty.0.lock().window.is_ours = true;
    desk.wait(100);
    expect![[r#"
        |  ✓ Read  read
        |  ⠹ working · 1s
    "#]]
    .assert_eq(&desk.seen());
}

#[test]
fn a_failure_takes_the_rows_away_and_wraps() {
    let mut desk = Desk::new(36, 12);
    desk.update(text("I")).wait(1000);
    desk.finish();
    desk.screen
        .fail(&crate::outcome::Failure {
            message: "failed to go on with what was begun here".to_owned(),
            hint: Some("try again, with a longer time to start".to_owned()),
            last_words: Some(
                "boom\n\u{1b}[31mbang\u{1b}[0m in a line that is rather long".to_owned(),
            ),
            noise: None,
        })
        .unwrap();
    expect![[r#"
        |I
        |  1.0s
        |acp: failed to go on with what was
        |    begun here
        |  try again, with a longer time to
        |    start
        |  the agent wrote last:
        |  | boom
        |  | bang in a line that is rather
        |    long
    "#]]
    .assert_eq(&desk.seen());
}
