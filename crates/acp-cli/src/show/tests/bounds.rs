//! Floods: work and memory have bounds.

use acp_protocol::v1::{ToolCallStatus, ToolKind};

use super::*;

/// Updates that come in one second.
const FLOOD: usize = 100_000;

#[test]
fn a_flood_of_updates_is_drawn_twelve_times_a_second() {
    let mut desk = Desk::new(80, 24);
    desk.update(tool(
        "t",
        ToolKind::Execute,
        "make",
        ToolCallStatus::InProgress,
    ));
    let before = desk.writes();
    for n in 0..FLOOD {
        if n % (FLOOD / 1000) == 0 {
            desk.millis += 1;
            let now = desk.start + Duration::from_millis(desk.millis);
            desk.screen.at(now).settle();
        }
        desk.update(change("t", ToolCallStatus::InProgress).with_title(format!("make {n}")));
    }
    let writes = desk.writes() - before;
    assert!((10..=13).contains(&writes), "{writes}");
}

#[test]
fn lines_of_a_flood_are_written_together() {
    let mut desk = Desk::new(80, 24);
    let before = desk.writes();
    for n in 0..10_000 {
        let title = format!("Read {n}");
        desk.update(tool(
            &n.to_string(),
            ToolKind::Read,
            &title,
            ToolCallStatus::Completed,
        ));
    }
    desk.wait(100);
    let writes = desk.writes() - before;
    assert!(writes < 50, "{writes}");
    assert!(
        desk.seen().contains("  ✓ Read 9999  read\n"),
        "{}",
        desk.seen()
    );
}

#[test]
fn what_is_shown_of_a_flood_is_short() {
    let mut desk = Desk::new(80, 24);
    let megabyte = "x".repeat(999) + "\n";
    let megabyte = megabyte.repeat(1000);
    for status in [ToolCallStatus::InProgress, ToolCallStatus::Completed] {
        let update = change("t", status).with_title(megabyte.as_str());
        desk.update(update.with_content(output(&megabyte)));
    }
    desk.finish();
    assert!(desk.tty.0.lock().bytes < 4096);
}
