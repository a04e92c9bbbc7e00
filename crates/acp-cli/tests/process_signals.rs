//! Ctrl-C and SIGTERM: the first asks, the second kills, and nothing is ever left.
#![cfg(target_os = "linux")]

mod support;

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use support::{Running, acp, acp_alone, left, wait_until_gone};

/// Waits for a cancel, says so, and answers.
const OBEDIENT: &str = r#"start; prompt=$id; text 'working\n'; hear
    case $line in *session/cancel*) text 'heard\n';; esac; id=$prompt; end cancelled; hear"#;

/// Never hears anything, and neither does what it started.
const DEAF: &str = r"trap '' INT TERM; start; (trap '' INT TERM; exec sleep 600) & text 'working\n'
    while :; do sleep 600; done";

#[test]
fn the_first_signal_cancels() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut run = acp(&["x"], OBEDIENT).start();
        assert_eq!(run.wait_for("working"), "working\n");
        run.signal(signal);
        let ended = run.end();
        assert_eq!(ended.code, Some(130));
        assert_eq!(ended.out, "heard\n");
        assert_eq!(ended.err, "[acp] cancelling; once more kills the agent\n");
    }
}

#[test]
fn a_cancelled_turn_is_130_however_the_agent_ends_it() {
    for end in [
        "end end_turn",
        "refuse '{\"code\":-32603,\"message\":\"x\"}'",
        "exit 1",
    ] {
        let script = format!("start; prompt=$id; text 'working\\n'; hear; id=$prompt; {end}; hear");
        let mut run = acp(&["--json", "x"], &script).start();
        run.wait_for("working");
        run.signal(Signal::INT);
        let ended = run.end();
        assert_eq!(ended.code, Some(130), "{end}");
        let last = ended.out.lines().last().unwrap();
        assert!(
            last.contains(r#""event":"end""#) && last.contains("130"),
            "{end}: {last}"
        );
    }
}

#[test]
fn a_cancel_the_agent_lost_is_said_again() {
    let script =
        r"start; prompt=$id; text 'working\n'; hear; hear; id=$prompt; end cancelled; hear";
    let mut run = acp(&["x"], script).start();
    run.wait_for("working");
    run.signal(Signal::INT);
    let ended = run.end();
    assert_eq!(ended.code, Some(130));
    assert!(ended.took >= Duration::from_secs(1), "{:?}", ended.took);
}

#[test]
fn the_second_signal_kills_the_whole_tree() {
    for second in [Signal::INT, Signal::TERM] {
        let mut run = acp(&["x"], DEAF).start();
        run.wait_for("working");
        // acp, the agent, and what it started, which may just be on its way.
        let since = Instant::now();
        while left(run.mark()).len() < 3 {
            assert!(since.elapsed() < Duration::from_secs(10));
            thread::sleep(Duration::from_millis(5));
        }
        run.signal(Signal::INT);
        let since = Instant::now();
        run.signal(second);
        // Two signals of a kind may arrive as one.
        while !run.has_ended() && since.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(50));
            run.try_signal(second);
        }
        let ended = run.end();
        assert_eq!(ended.code, Some(130), "{}", ended.err);
    }
}

#[test]
fn a_signal_while_the_agent_starts_ends_it() {
    let run = acp(
        &["x"],
        "echo ready >&2; trap '' INT TERM; while :; do sleep 600; done",
    )
    .start();
    // The agent runs once it sleeps; before that, its guard starts it.
    while !left(run.mark())
        .iter()
        .any(|command| command.starts_with("sleep 600"))
    {
        thread::sleep(Duration::from_millis(5));
    }
    run.signal(Signal::TERM);
    let ended = run.end();
    assert_eq!(ended.code, Some(130), "{}", ended.err);
}

#[test]
fn a_signal_while_the_agent_is_being_started_leaves_nobody() {
    for signal in [Signal::TERM, Signal::INT].repeat(4) {
        let run = acp(&["x"], "trap '' INT TERM; while :; do sleep 600; done").start();
        // The first process below the program is the agent's guard, on its way to the agent.
        while left(run.mark()).len() < 2 {
            thread::yield_now();
        }
        run.signal(signal);
        let ended = run.end();
        assert_eq!(ended.code, Some(130), "{}", ended.err);
    }
}

#[test]
fn an_output_nobody_reads_does_not_keep_the_program() {
    let flood = r#"trap '' INT TERM; start
        line=0123456789012345678901234567890123456789012345678901234567890123456789
        while :; do text "$line$line$line$line"; done"#;
    let mut run = acp(&["x"], flood).start();
    run.wait_until_stuck();
    run.signal(Signal::INT);
    let since = Instant::now();
    while !run.has_ended() && since.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(50));
        run.try_signal(Signal::INT);
    }
    assert_eq!(run.end_unread(), Some(130));
}

#[test]
fn a_reader_that_rests_loses_nothing() {
    // More than is ever kept in memory, behind a rest longer than the patience with
    // readers that stand still.
    let flood = r#"start; awk 'BEGIN { text = sprintf("%1000s", ""); for (n = 0; n < 90000; n++)
        printf "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"%d%s\\n\"}}}}\n", n, text }'
        end end_turn; hear"#;
    let run = acp(&["x"], flood).start();
    run.wait_until_stuck();
    thread::sleep(Duration::from_secs(6));
    let ended = run.end();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let numbers: Vec<&str> = ended.out.lines().map(str::trim_end).collect();
    let expected: Vec<String> = (0..90_000).map(|n| n.to_string()).collect();
    assert!(
        numbers == expected,
        "{} lines of {}: {}",
        numbers.len(),
        expected.len(),
        ended.err
    );
}

#[test]
fn a_reader_that_leaves_cancels_the_turn() {
    let script = r#"start; prompt=$id; text 'working\n'; n=0
        while [ $n -lt 2000 ]; do text "more and more and more text $n"; n=$((n+1)); done
        hear; case $line in *session/cancel*) echo heard >&2;; esac; id=$prompt; end cancelled; hear"#;
    let mut run = acp(&["x"], script).start();
    run.wait_for("working");
    run.close_out();
    let err = run.err();
    assert!(err.contains("cancelling: standard output fails"), "{err}");
    assert_eq!(run.end_unread(), Some(130));
}

#[test]
fn the_demo_agent_can_be_cancelled() {
    let mut run = acp_alone(&["slow"]).start();
    run.wait_some_output();
    run.signal(Signal::INT);
    let ended = run.end();
    assert_eq!(ended.code, Some(130));
    assert!(ended.took < Duration::from_secs(20), "{:?}", ended.took);
}

#[test]
fn when_the_program_is_killed_its_agent_goes_too() {
    let kill = |run: Running| {
        let mark = run.mark().to_owned();
        assert!(left(&mark).len() >= 2);
        run.signal(Signal::KILL);
        wait_until_gone(&mark);
    };
    let mut deaf = acp(&["x"], DEAF).start();
    deaf.wait_for("working");
    kill(deaf);
    let mut demo = acp_alone(&["slow"]).start();
    demo.wait_some_output();
    kill(demo);
}
