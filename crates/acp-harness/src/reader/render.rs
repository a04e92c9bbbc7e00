//! Content of tools as text.

use acp_protocol::RawJson;
use acp_protocol::v1::{ContentBlock, Diff, EmbeddedResourceResource, ToolCallContent};

use crate::limits::MAX_TOOL_TITLE;
use acp_text::{cut_bytes, one_line};

/// A text of bounded length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounded {
    pub(super) text: String,
    /// Whether there was more.
    pub(super) cut: bool,
}

impl Bounded {
    fn push(&mut self, text: &str, max: usize) {
        let kept = cut_bytes(text, max - self.text.len());
        self.text.push_str(kept);
        self.cut |= kept.len() < text.len();
    }
}

/// Writes the parts of a content one below the other.
///
/// What has no text is named in brackets; a diff is one line that says of which file; a
/// terminal is nothing, because what it shows is told elsewhere.
pub(super) fn content(parts: &[ToolCallContent], max: usize) -> Bounded {
    let mut all = Bounded::default();
    for part in parts {
        let heading;
        let text = match part {
            ToolCallContent::Content(content) => match block(&content.content) {
                Words::Said(text) => text,
                Words::Named(name) => {
                    heading = name;
                    &heading
                }
            },
            ToolCallContent::Diff(diff) => {
                heading = patch_heading(diff);
                &heading
            }
            _ => continue,
        };
        if text.is_empty() {
            continue;
        }
        if !all.text.is_empty() && !all.text.ends_with('\n') {
            all.push("\n", max);
        }
        all.push(text, max);
        if all.cut {
            break;
        }
    }
    all
}

/// Writes what a tool put out: a text as it is, and anything else as JSON.
pub(super) fn raw(value: &RawJson, max: usize) -> Bounded {
    let mut all = Bounded::default();
    if value.as_str().starts_with('"')
        && let Ok(text) = value.parse::<String>()
    {
        all.push(&text, max);
    } else if value.as_str() != "null" {
        all.push(value.as_str(), max);
    }
    all
}

enum Words<'a> {
    Said(&'a str),
    Named(String),
}

fn block(block: &ContentBlock) -> Words<'_> {
    match block {
        ContentBlock::Text(text) => Words::Said(&text.text),
        ContentBlock::Image(image) => Words::Named(format!("[image {}]", image.mime_type)),
        ContentBlock::Audio(audio) => Words::Named(format!("[audio {}]", audio.mime_type)),
        ContentBlock::ResourceLink(link) => Words::Named(format!("[{}]", link.uri)),
        ContentBlock::Resource(resource) => match &resource.resource {
            EmbeddedResourceResource::TextResourceContents(text) => Words::Said(&text.text),
            EmbeddedResourceResource::BlobResourceContents(blob) => {
                Words::Named(format!("[{}]", blob.uri))
            }
            _ => Words::Said(""),
        },
        _ => Words::Said(""),
    }
}

/// Says in one line which file a diff is about, and how much of it there was and is.
pub(super) fn patch_heading(diff: &Diff) -> String {
    let path = one_line(&diff.path, MAX_TOOL_TITLE);
    let new = lines(&diff.new_text);
    match &diff.old_text {
        Some(old) => format!("patch {path}: {} to {new} lines", lines(old)),
        None => format!("patch {path}: new, {new} lines"),
    }
}

pub(super) fn lines(text: &str) -> usize {
    text.lines().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(parts: serde_json::Value, expected: &str) {
        let parts: Vec<ToolCallContent> = serde_json::from_value(parts).unwrap();
        assert_eq!(content(&parts, 1000).text, expected);
    }

    #[test]
    fn parts_stand_one_below_the_other() {
        let text =
            |text: &str| json!({"type": "content", "content": {"type": "text", "text": text}});
        check(json!([]), "");
        check(
            json!([text("a"), text(""), text("b\n"), text("c")]),
            "a\nb\nc",
        );
        check(
            json!([
                {"type": "diff", "path": "/p/a.rs", "oldText": "1\n2\n", "newText": "1"},
                {"type": "diff", "path": "/p/\nb.rs", "newText": "1\n2"},
                {"type": "terminal", "terminalId": "t"},
                {"type": "later", "x": 1},
            ]),
            "patch /p/a.rs: 2 to 1 lines\npatch /p/ b.rs: new, 2 lines",
        );
        let block = |block| json!({"type": "content", "content": block});
        check(
            json!([
                block(json!({"type": "image", "data": "AAAA", "mimeType": "image/png"})),
                block(json!({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"})),
                block(json!({"type": "resource_link", "name": "n", "uri": "file:///a"})),
                block(
                    json!({"type": "resource", "resource": {"uri": "file:///b", "text": "body"}})
                ),
                block(json!({"type": "resource", "resource": {"uri": "file:///c", "blob": "AA"}})),
            ]),
            "[image image/png]\n[audio audio/wav]\n[file:///a]\nbody\n[file:///c]",
        );
    }

    #[test]
    fn raw_output_is_text_or_json() {
        let of = |json: &str| raw(&serde_json::from_str(json).unwrap(), 10).text;
        assert_eq!(of(r#""a\nb""#), "a\nb");
        assert_eq!(of(r#"{"a": 1}"#), r#"{"a": 1}"#);
        assert_eq!(of("[1]"), "[1]");
        assert_eq!(of("null"), "");
        assert_eq!(of(r#""0123456789x""#), "0123456789");
    }

    #[test]
    fn length_is_bounded_at_characters() {
        let parts = vec![ToolCallContent::text("日本"), ToolCallContent::text("語")];
        for (max, expected, cut) in [
            (10, "日本\n語", false),
            (9, "日本\n", true),
            (7, "日本\n", true),
            (6, "日本", true),
            (5, "日", true),
            (0, "", true),
        ] {
            let got = content(&parts, max);
            assert_eq!((&*got.text, got.cut), (expected, cut), "{max}");
        }
    }
}
