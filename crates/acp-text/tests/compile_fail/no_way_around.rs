//! No conversion takes a text without cleaning it.

use acp_text::Clean;

fn main() {
    let text = String::from("\u{9b}2J");
    let _: Clean<'_> = text.as_str().into();
    let _: Clean<'static> = text.into();
}
