//! What a tool call showed: output, changes to files, and what has no lines.

use std::path::Path;

use acp_conversation::{FileChange, ToolCallPart};
use acp_text::Clean;

use super::excerpt::Excerpt;
use super::line::one_line;

/// A part of what a call showed.
#[derive(Debug, PartialEq)]
pub(super) enum Part<'a> {
    Text(Excerpt),
    Change {
        change: &'a FileChange,
        path: Clean<'static>,
    },
    /// Something that has no lines.
    Other(Clean<'static>),
}

impl<'a> Part<'a> {
    /// Returns how a part is shown; nothing for a terminal.
    pub(super) fn of(part: &'a ToolCallPart, cwd: &Path) -> Option<Self> {
        Some(match part {
            ToolCallPart::Text(text) => Self::Text(Excerpt::of_kept(text)),
            ToolCallPart::Change(change) => Self::Change {
                path: short_path(&change.path, cwd),
                change,
            },
            ToolCallPart::Named(name) => Self::Other(one_line(name)),
            _ => return None,
        })
    }
}

/// Shortens a path that lies in the folder the agent works in.
pub(super) fn short_path(path: &str, cwd: &Path) -> Clean<'static> {
    let inside = Path::new(path).strip_prefix(cwd).ok();
    match inside
        .and_then(Path::to_str)
        .filter(|path| !path.is_empty())
    {
        Some(inside) => one_line(inside),
        None => one_line(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_short() {
        let cwd = Path::new("/code");
        assert_eq!(short_path("/code/src/a.rs", cwd), "src/a.rs");
        assert_eq!(short_path("/other/a.rs", cwd), "/other/a.rs");
        assert_eq!(short_path("/code", cwd), "/code");
    }
}
