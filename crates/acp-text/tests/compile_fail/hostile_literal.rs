//! A literal holds no command to a terminal.

use acp_text::{Clean, clean};

const HOSTILE: Clean<'static> = clean!("\u{1b}[2J");

fn main() {
    let _ = HOSTILE;
}
