//! Draws the pictures of the documentation, of real runs: `cargo xtask pictures`.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use support::acp_alone;
use support::picture::{Rows, rows, svg};
use support::terminal::OnTerminal;

/// The time between two screens of a picture that moves.
const FRAME: Duration = Duration::from_millis(150);

/// Runs the demo agent on a terminal, in a folder like that of a user.
fn run(args: &[&str], columns: u16, lines: u16, folder: &Path) -> OnTerminal {
    let words: Vec<String> = args
        .iter()
        .map(|arg| match arg.contains(' ') {
            true => format!("\"{arg}\""),
            false => (*arg).to_owned(),
        })
        .collect();
    let typed = format!("$ acp run {}", words.join(" "));
    acp_alone(args)
        .in_folder(folder)
        .on_terminal_after(&typed, columns, lines)
}

fn save(name: &str, title: &str, columns: u16, frames: &[(Duration, Rows)]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), svg(title, columns, frames)).unwrap();
}

#[test]
#[ignore = "it writes files of the documentation"]
fn a_turn_from_its_beginning_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(&["--allow", "edits", "ask"], 76, 16, folder.path());
    let began = Instant::now();
    let mut frames: Vec<(Duration, Rows)> = Vec::new();
    loop {
        let over = run.has_ended();
        let now = run.look(rows);
        if frames.last().is_none_or(|(_, last)| *last != now) {
            frames.push((began.elapsed(), now));
        }
        if over {
            break;
        }
        std::thread::sleep(FRAME);
    }
    save("turn.svg", "A turn of acp run on a terminal", 76, &frames);
    run.end();
}

#[test]
#[ignore = "it writes files of the documentation"]
fn tools_while_they_run() {
    for (name, columns) in [("tools.svg", 76), ("narrow.svg", 34)] {
        let folder = tempfile::tempdir().unwrap();
        let run = run(&["tools"], columns, 24, folder.path());
        run.wait_until(|screen| screen.contains("Go over to acting"));
        let frame = run.look(rows);
        save(
            name,
            "Tool calls of acp run on a terminal",
            columns,
            &[(Duration::ZERO, frame)],
        );
        run.end();
    }
}
