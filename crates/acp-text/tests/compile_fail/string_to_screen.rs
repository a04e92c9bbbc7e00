//! Text that was not cleaned does not get to a screen.

use acp_text::ScreenText;

fn main() {
    let title = std::env::args().next().unwrap_or_default();
    let mut text = ScreenText::new();
    text.push(title);
}
