//! What a tool call showed: output, changes to files, and what has no lines.

use std::path::Path;

use acp_protocol::v1::{ContentBlock, Diff, EmbeddedResourceResource, ToolCallContent};

use super::changes::{MAX_COMPARED, count_lines};
use super::excerpt::Excerpt;
use super::line::one_line;

/// A part of what a call showed.
#[derive(Debug, PartialEq)]
pub(super) enum Part {
    Text(Excerpt),
    Change {
        diff: Box<Diff>,
        path: String,
    },
    /// A change to a file that is too large to be kept.
    LargeChange {
        path: String,
        old: usize,
        new: usize,
    },
    /// What a command writes that is served to the agent.
    Terminal(String),
    /// Something that has no lines.
    Other(String),
}

impl Part {
    pub(super) fn of(content: &ToolCallContent, cwd: &Path) -> Self {
        match content {
            ToolCallContent::Content(content) => match &content.content {
                ContentBlock::Text(text) => Self::Text(Excerpt::of(unfenced(&text.text))),
                ContentBlock::ResourceLink(link) => Self::Other(one_line(&link.uri)),
                ContentBlock::Resource(resource) => match &resource.resource {
                    EmbeddedResourceResource::TextResourceContents(text) => {
                        Self::Text(Excerpt::of(&text.text))
                    }
                    _ => Self::Other("a file that is no text".to_owned()),
                },
                other => Self::Other(format!("a piece of {}", one_line(other.tag()))),
            },
            ToolCallContent::Diff(diff) => {
                let path = short_path(&diff.path, cwd);
                let old = diff.old_text.as_deref().unwrap_or_default();
                if old.len().max(diff.new_text.len()) > MAX_COMPARED {
                    return Self::LargeChange {
                        path,
                        old: count_lines(old),
                        new: count_lines(&diff.new_text),
                    };
                }
                let mut kept = Box::new(Diff::new("", diff.new_text.as_str()));
                kept.old_text.clone_from(&diff.old_text);
                Self::Change { diff: kept, path }
            }
            ToolCallContent::Terminal(terminal) => {
                Self::Terminal(terminal.terminal_id.as_str().to_owned())
            }
            other => Self::Other(format!("a piece of {}", one_line(other.tag()))),
        }
    }

    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text(excerpt) => excerpt.size(),
            Self::Change { diff, path } => {
                let old = diff.old_text.as_ref().map_or(0, String::len);
                old + diff.new_text.len() + path.len()
            }
            Self::LargeChange { path, .. } => path.len(),
            Self::Terminal(text) | Self::Other(text) => text.len(),
        }
    }

    /// Forgets the text, and keeps how much it was.
    pub(super) fn forget(&mut self) {
        match self {
            Self::Text(excerpt) => excerpt.forget(),
            Self::Change { diff, path } => {
                *self = Self::LargeChange {
                    path: std::mem::take(path),
                    old: count_lines(diff.old_text.as_deref().unwrap_or_default()),
                    new: count_lines(&diff.new_text),
                }
            }
            Self::LargeChange { .. } | Self::Terminal(_) | Self::Other(_) => {}
        }
    }
}

/// Shortens a path that lies in the folder the agent works in.
pub(super) fn short_path(path: &str, cwd: &Path) -> String {
    let inside = Path::new(path).strip_prefix(cwd).ok();
    match inside
        .and_then(Path::to_str)
        .filter(|path| !path.is_empty())
    {
        Some(inside) => one_line(inside),
        None => one_line(path),
    }
}

/// Returns the bytes that parts keep.
pub(super) fn size(content: &[Part]) -> usize {
    content.iter().map(Part::size).sum()
}

/// Takes the fences off a text that is one block of code.
fn unfenced(text: &str) -> &str {
    let inner = text.trim().strip_prefix("```").and_then(|rest| {
        let (_language, rest) = rest.split_once('\n')?;
        rest.strip_suffix("```")
    });
    match inner {
        Some(inner) if !inner.contains("```") => inner,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_go_and_paths_are_short() {
        assert_eq!(unfenced("```console\n$ ls\n```\n"), "$ ls\n");
        assert_eq!(
            unfenced("```\na\n```\nb\n```\nc\n```"),
            "```\na\n```\nb\n```\nc\n```"
        );
        assert_eq!(unfenced("plain"), "plain");
        let cwd = Path::new("/code");
        assert_eq!(short_path("/code/src/a.rs", cwd), "src/a.rs");
        assert_eq!(short_path("/other/a.rs", cwd), "/other/a.rs");
        assert_eq!(short_path("/code", cwd), "/code");
    }
}
