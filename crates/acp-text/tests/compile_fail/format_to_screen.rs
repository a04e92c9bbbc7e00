//! Text that was formatted is not clean, even if its parts were.

use acp_text::{Clean, ScreenText, ScreenWriter};

fn main() {
    let title = Clean::line("Read");
    let mut text = ScreenText::new();
    text.push(format!("{title}: ok"));
    text.push(format_args!("{title}"));
    let mut screen = ScreenWriter::to_terminal(std::io::sink());
    let _ = screen.write(&format!("{title}"));
}
