//! Nor does a part of it, nor a literal that nobody looked at.

use acp_text::ScreenText;

fn main() {
    let title = std::env::args().next().unwrap_or_default();
    let mut text = ScreenText::new();
    text.push(title.as_str());
    text.push("\u{1b}[2J");
}
