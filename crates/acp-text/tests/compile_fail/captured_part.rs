//! A template captures no variable: that would go around the check of its parts.

use acp_text::clean;

fn main() {
    let title = std::env::args().next().unwrap_or_default();
    let _ = clean!("{title} is read");
    let _ = clean!("{} is read by {title}", 1);
}
