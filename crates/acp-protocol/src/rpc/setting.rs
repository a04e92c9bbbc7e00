//! Updates that say how a session is set: its mode, options, commands and title.
//!
//! Others than the reader of the updates ask for these, at any time. So the newest of each
//! is kept as it arrives, whether or not anybody reads it in its place.

use bytes::Bytes;

use super::ReceiveSeq;
use crate::json;

/// The part of a session that an update sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// The current mode.
    Mode,
    /// The configuration options.
    Options,
    /// The commands that the agent has.
    Commands,
    /// The title.
    Title,
}

/// The newest update of a kind, as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewestSetting {
    /// The part that it sets.
    pub kind: SettingKind,
    /// Its place in what was received.
    pub receive_seq: ReceiveSeq,
    /// Its line; `None` where that is longer than
    /// [`Limits::setting_bytes`](super::Limits::setting_bytes).
    pub line: Option<Bytes>,
}

/// The newest update of each kind that nobody has taken.
#[derive(Debug, Default)]
pub(super) struct NewestSettings([Option<NewestSetting>; 4]);

impl NewestSettings {
    /// Keeps the updates among the lines of a run that set something, each in place of the
    /// one before. `first` is the place of the first.
    pub(super) fn learn(&mut self, run: &[u8], first: ReceiveSeq, most: usize) {
        let lines = run.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.trim_ascii().is_empty());
        for (line, index) in lines.zip(0..) {
            let Some(kind) = kind_of(line, 0) else {
                continue;
            };
            self.0[kind as usize] = Some(NewestSetting {
                kind,
                receive_seq: first.plus(index),
                // A copy, which keeps no chunk alive.
                line: (line.len() <= most).then(|| Bytes::copy_from_slice(line)),
            });
        }
    }

    /// Takes all that are kept, in wire order.
    pub(super) fn take(&mut self) -> Vec<NewestSetting> {
        let mut taken: Vec<_> = self.0.iter_mut().filter_map(Option::take).collect();
        taken.sort_unstable_by_key(|setting| setting.receive_seq);
        taken
    }
}

/// How the parameters of an update go on behind the id of its session, as JavaScript and
/// Python write them.
const BEFORE_TAG: [&[u8]; 2] = [
    br#","update":{"sessionUpdate":""#,
    br#", "update": {"sessionUpdate": ""#,
];

/// Tells what the update in a line sets; most set nothing, and must cost next to nothing.
/// The session was named up to the byte `told`, or somewhere else where that is 0.
#[inline]
pub(super) fn kind_of(line: &[u8], told: usize) -> Option<SettingKind> {
    let rest = &line[told..];
    for before in BEFORE_TAG {
        if let Some(tag) = rest.strip_prefix(before) {
            // The first letters already tell pieces of text and tool calls from them.
            return match tag {
                [b'a', b'v', ..] | [b'c', b'o' | b'u', ..] | [b's', ..] => kind_of_tag(tag, line),
                _ => None,
            };
        }
    }
    kind_anywhere(line)
}

/// Tells it where the tag stands elsewhere: in front of its object's end, as several Python
/// agents write it, or in the middle.
fn kind_anywhere(line: &[u8]) -> Option<SettingKind> {
    match tag_at_end(line) {
        Some(tag) => kind_of_tag(tag, line),
        // All of the tags end like this, and the method does not.
        None => {
            memchr::memmem::find(line, b"_update\"")?;
            let update = update_of(line)?;
            let tag = json::members(update)?.find("sessionUpdate").ok()??;
            kind_of_tag(tag.strip_prefix('"')?.as_bytes(), line)
        }
    }
}

/// The tag with the quote behind it, where it is the last member of the update and the
/// update the last of the parameters.
fn tag_at_end(line: &[u8]) -> Option<&[u8]> {
    let rest = line.trim_ascii_end().strip_suffix(b"}}}")?;
    let text = rest.trim_ascii_end().strip_suffix(b"\"")?;
    let open = memchr::memrchr(b'"', text)?;
    let name = text[..open].trim_ascii_end().strip_suffix(b":")?;
    let is_tag = name.trim_ascii_end().ends_with(b"\"sessionUpdate\"");
    is_tag.then(|| &rest[open + 1..])
}

/// Tells the kind by the text of the tag, up to its closing quote.
fn kind_of_tag(tag: &[u8], line: &[u8]) -> Option<SettingKind> {
    let tags: [(&[u8], SettingKind); 4] = [
        (b"current_mode_update\"", SettingKind::Mode),
        (b"config_option_update\"", SettingKind::Options),
        (b"available_commands_update\"", SettingKind::Commands),
        (b"session_info_update\"", SettingKind::Title),
    ];
    let (_, kind) = tags.into_iter().find(|(name, _)| tag.starts_with(name))?;
    // One that says nothing of the title must not displace one that does.
    let says_title = || json::members(update_of(line)?)?.find("title").ok()?;
    (kind != SettingKind::Title || says_title().is_some()).then_some(kind)
}

fn update_of(line: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(line).ok()?;
    let params = json::members(text)?.find("params").ok()??;
    json::members(params)?.find("update").ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(update: &str, expected: Option<SettingKind>) {
        let spaced = update.replace("\":", "\": ").replace(",\"", ", \"");
        for update in [update, &spaced] {
            let first = format!(
                r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#
            );
            let told = first.find(r#"s","update""#).unwrap() + 2;
            assert_eq!(kind_of(first.as_bytes(), told), expected, "{first}");
            assert_eq!(kind_of(first.as_bytes(), 0), expected, "{first}");
            let last = format!(
                r#"{{"params":{{"update":{update},"sessionId":"s"}},"method":"session/update","jsonrpc":"2.0"}}"#
            );
            assert_eq!(kind_of(last.as_bytes(), 0), expected, "{last}");
        }
    }

    #[test]
    fn what_sets_something_is_found_however_it_is_written() {
        use SettingKind::{Commands, Mode, Options, Title};
        for (tag, more, kind) in [
            (
                "current_mode_update",
                r#""currentModeId":"ask""#,
                Some(Mode),
            ),
            (
                "config_option_update",
                r#""configOptions":[]"#,
                Some(Options),
            ),
            (
                "available_commands_update",
                r#""availableCommands":[]"#,
                Some(Commands),
            ),
            ("session_info_update", r#""title":null"#, Some(Title)),
            ("session_info_update", r#""updatedAt":"2026-01-01""#, None),
            (
                "agent_message_chunk",
                r#""content":{"type":"text","text":"a_update\""}"#,
                None,
            ),
            ("tool_call_update", r#""toolCallId":"t","title":"x""#, None),
            ("compaction_update", r#""compactionId":"c""#, None),
            ("usage_update", r#""used":1"#, None),
        ] {
            check(&format!(r#"{{"sessionUpdate":"{tag}",{more}}}"#), kind);
            check(&format!(r#"{{{more},"sessionUpdate":"{tag}"}}"#), kind);
            check(
                &format!(r#"{{"x":[1],"sessionUpdate":"{tag}",{more}}}"#),
                kind,
            );
        }
    }

    #[test]
    fn what_is_said_of_a_tag_in_a_text_is_no_tag() {
        let quoted = r#"\"sessionUpdate\":\"current_mode_update"#;
        check(
            &format!(
                r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{quoted}"}}}}"#
            ),
            None,
        );
        for line in [
            "",
            "{}",
            "null",
            r#"{"params":{}}"#,
            r#"{"params":{"update":3}}"#,
        ] {
            assert_eq!(kind_of(line.as_bytes(), 0), None, "{line}");
        }
    }
}
