//! The real program on a real terminal.
#![cfg(target_os = "linux")]

mod support;

use std::fs::{self, File};

use support::acp;

/// Begins a tool call, and ends it when it is told to go on.
const TOOL: &str = r#"start; text 'I look.'; update '{"sessionUpdate":"tool_call","toolCallId":"t","title":"Look around","kind":"search","status":"in_progress"}'
    while ! [ -e go ]; do sleep 0.01; done
    update '{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"}'; text 'Done.'; end end_turn; hear"#;

/// The same, for an agent that only waits to be cancelled.
const WAITS: &str = r#"start; prompt=$id; update '{"sessionUpdate":"tool_call","toolCallId":"t","title":"Look around","kind":"search","status":"in_progress"}'
    hear; id=$prompt; end cancelled; hear"#;

/// No mode of the terminal is left changed, and the cursor was never hidden.
#[track_caller]
fn is_restored(bytes: &str) {
    let count = |text: &str| bytes.matches(text).count();
    assert_eq!(count("\u{1b}[?7l"), count("\u{1b}[?7h"));
    assert_eq!(count("\u{1b}[?25l"), 0);
    let last_colour = bytes.rsplit("\u{1b}[").find(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';');
        end.is_some_and(|end| rest[end..].starts_with('m'))
    });
    assert!(last_colour.is_none_or(|rest| rest.starts_with("0m")));
}

#[test]
fn a_call_changes_in_place_and_the_rows_go() {
    let folder = tempfile::tempdir().unwrap();
    let run = acp(&["x"], TOOL).in_folder(folder.path());
    let run = run.on_terminal(60, 12);
    let screen = run.wait_until(|screen| screen.contains("search · 1s"));
    let rows: Vec<&str> = screen.lines().collect();
    assert_eq!(rows[0], "I look.");
    assert!(rows[1].ends_with(" Look around  search · 1s"), "{screen}");
    assert_eq!(rows.len(), 3, "{screen}");
    fs::write(folder.path().join("go"), "").unwrap();
    let (code, screen, bytes) = run.end();
    assert_eq!(code, Some(0));
    let rows: Vec<&str> = screen.lines().collect();
    assert!(
        rows[1].starts_with("  ✓ Look around  search · "),
        "{screen}"
    );
    assert_eq!(rows[2], "Done.");
    assert!(rows[3].ends_with("s · 1 tool"), "{screen}");
    assert_eq!(rows.len(), 4, "{screen}");
    is_restored(&bytes);
}

#[test]
fn a_window_that_gets_narrow_gets_narrow_rows() {
    let folder = tempfile::tempdir().unwrap();
    let run = acp(&["x"], TOOL).in_folder(folder.path());
    let run = run.on_terminal(60, 12);
    run.wait_until(|screen| screen.contains("search"));
    run.resize(24, 12);
    // The kind has no room any more.
    let screen = run.wait_until(|screen| {
        let behind = screen
            .lines()
            .nth(1)
            .and_then(|row| row.split("Look around  ").nth(1));
        let seconds = behind.and_then(|time| time.strip_suffix('s'));
        seconds.is_some_and(|seconds| seconds.parse::<u32>().is_ok())
    });
    assert_eq!(screen.lines().count(), 3, "{screen}");
    fs::write(folder.path().join("go"), "").unwrap();
    run.end();
}

#[test]
fn ctrl_c_cancels_and_leaves_no_rows() {
    let mut run = acp(&["x"], WAITS).on_terminal(60, 12);
    run.wait_until(|screen| screen.contains("working"));
    run.press("\u{3}");
    let (code, screen, bytes) = run.end();
    assert_eq!(code, Some(130));
    let rows: Vec<&str> = screen.lines().collect();
    assert!(
        rows[0].ends_with("> cancelling; once more kills the agent"),
        "{screen}"
    );
    assert!(
        rows[1].starts_with("  ○ Look around  search · not finished"),
        "{screen}"
    );
    assert_eq!(rows.len(), 3, "{screen}");
    is_restored(&bytes);
}

#[test]
fn a_program_that_is_killed_leaves_the_terminal_as_it_was() {
    let run = acp(&["x"], "start; while :; do sleep 600; done").on_terminal(60, 12);
    run.wait_until(|screen| screen.contains("working"));
    run.kill();
    let (code, _, bytes) = run.end();
    assert_eq!(code, None);
    is_restored(&bytes);
}

#[test]
fn text_goes_elsewhere_byte_by_byte_while_rows_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let script = TOOL.replace("I look.", "I \\u001b[1mlook.");
    let run = acp(&["x"], &script).in_folder(folder.path());
    let out = File::create(&path).unwrap();
    let run = run.on_terminal_with(60, 12, out.into());
    let screen = run.wait_until(|screen| screen.contains("working"));
    assert!(!screen.contains("look."), "{screen}");
    fs::write(folder.path().join("go"), "").unwrap();
    run.end();
    assert_eq!(
        fs::read_to_string(path).unwrap(),
        "I \u{1b}[1mlook.\nDone.\n"
    );
}

#[test]
fn beside_a_pipe_and_on_dumb_terminals_nothing_is_drawn() {
    let quick = TOOL.replace("while ! [ -e go ]; do sleep 0.01; done", "sleep 0.3");
    let (reader, writer) = std::io::pipe().unwrap();
    let (_, screen, bytes) = acp(&["x"], &quick)
        .on_terminal_with(60, 12, writer.into())
        .end();
    drop(reader);
    assert!(screen.contains("✓ Look around"), "{screen}");
    assert!(!bytes.contains("working"), "{bytes:?}");
    let (_, _, bytes) = acp(&["x"], &quick)
        .with_env("TERM", "dumb")
        .on_terminal(60, 12)
        .end();
    assert!(
        bytes.contains("[tool] search Look around: completed"),
        "{bytes:?}"
    );
    assert!(!bytes.contains('\u{1b}'), "{bytes:?}");
}

#[test]
fn colours_are_a_matter_of_choice() {
    let quick = "start; update '{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t\",\"title\":\"Look\",\"status\":\"failed\"}'; end end_turn; hear";
    let red = "\u{1b}[31m";
    let run = |args: &[&str]| acp(args, quick);
    let seen = |bytes: &str| bytes.contains(red);
    assert!(seen(&run(&["x"]).on_terminal(60, 12).end().2));
    assert!(!seen(
        &run(&["x"])
            .with_env("NO_COLOR", "1")
            .on_terminal(60, 12)
            .end()
            .2
    ));
    let args = ["--color", "always", "x"];
    assert!(seen(
        &run(&args)
            .with_env("NO_COLOR", "1")
            .on_terminal(60, 12)
            .end()
            .2
    ));
    assert!(!seen(
        &run(&["--color", "never", "x"]).on_terminal(60, 12).end().2
    ));
    assert!(!seen(&run(&["x"]).end().err));
    assert!(seen(&run(&["x"]).with_env("CLICOLOR_FORCE", "1").end().err));
    assert!(seen(&run(&args).end().err));
}
