//! A literal is one: text that was made at run time is none.

use acp_text::Clean;

fn main() {
    let text = String::from("\u{9b}2J");
    let _ = Clean::literal(text.as_str());
}
