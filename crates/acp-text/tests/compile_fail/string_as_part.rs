//! Parts of a clean text are clean.

use acp_text::clean;

fn main() {
    let title = std::env::args().next().unwrap_or_default();
    let _ = clean!("{} is read", title);
}
