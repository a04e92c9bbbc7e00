//! The `_meta` of an update: the id of its event, and the prompt it belongs to.

use std::borrow::Cow;

use acp_host::ToolId;

/// The `_meta` of the updates of one turn or one session; they differ by the
/// number of their event.
///
/// Clients that get the same event twice recognise it by its id, which is
/// `{turn}:{number}`; the second update of one event has `{turn}:{number}.1`.
#[derive(Debug)]
pub(crate) struct EventMeta {
    before_number: Box<str>,
    after_number: Box<str>,
}

impl EventMeta {
    /// For events of a session as a whole.
    pub(crate) fn of_session(session: &str) -> Self {
        Self::new(session, "\"}".into())
    }

    /// For events that are replayed.
    pub(crate) fn of_replay(source: &str) -> Self {
        Self::new(source, r#"","isReplay":true}"#.into())
    }

    /// For events of a turn that works for a prompt.
    pub(crate) fn of_prompt(turn: &str, prompt: &str) -> Self {
        let after = [r#"","promptId":""#, &escaped(prompt), "\"}"].concat();
        Self::new(turn, after.into())
    }

    fn new(source: &str, after_number: Box<str>) -> Self {
        let before = [r#"{"eventId":""#, &escaped(source), ":"].concat();
        Self {
            before_number: before.into(),
            after_number,
        }
    }

    /// The JSON before and after the number.
    pub(crate) fn around_number(&self) -> [&str; 2] {
        [&self.before_number, &self.after_number]
    }

    /// The JSON of one update of an event.
    pub(crate) fn json(&self, name: &EventName, part: u32) -> String {
        let (mut number_digits, mut part_digits) = (itoa::Buffer::new(), itoa::Buffer::new());
        let [before, after] = self.around_number();
        let number = match name {
            EventName::Number(number) => number_digits.format(*number),
            EventName::OwnCommands => "commands",
            EventName::ToolEnd(tool) => {
                return [before, "end:", &escaped(tool.as_str()), after].concat();
            }
        };
        match part {
            0 => [before, number, after].concat(),
            part => [before, number, ".", part_digits.format(part), after].concat(),
        }
    }
}

/// The name of an event in its turn or session.
#[derive(Debug)]
pub(crate) enum EventName {
    /// The number that the host gave it.
    Number(u64),
    /// The agent's own commands.
    OwnCommands,
    /// The end of this tool call, which no event of the host reported.
    ToolEnd(ToolId),
}

/// A text between the quotes of JSON.
fn escaped(text: &str) -> Cow<'_, str> {
    let is_plain = |byte| byte >= b' ' && byte != b'"' && byte != b'\\';
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    // A text always has a form, with quotes around it.
    let quoted = serde_json::to_string(text).unwrap_or_default();
    let inside = quoted.get(1..quoted.len().saturating_sub(1));
    Cow::Owned(inside.unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_update_of_an_event_has_its_own_id() {
        let prompt = EventMeta::of_prompt("t-1", "c-1");
        let check = |number, part, want: &str| {
            assert_eq!(prompt.json(&EventName::Number(number), part), want)
        };
        check(7, 0, r#"{"eventId":"t-1:7","promptId":"c-1"}"#);
        check(7, 1, r#"{"eventId":"t-1:7.1","promptId":"c-1"}"#);
        check(
            u64::MAX,
            2,
            r#"{"eventId":"t-1:18446744073709551615.2","promptId":"c-1"}"#,
        );
        let session = EventMeta::of_session("s.1");
        let name = EventName::Number(41);
        assert_eq!(session.json(&name, 3), r#"{"eventId":"s.1:41.3"}"#);
        let name = EventName::ToolEnd("tool\"1".into());
        assert_eq!(session.json(&name, 0), r#"{"eventId":"s.1:end:tool\"1"}"#);
    }

    #[test]
    fn ids_are_escaped() {
        let replay = EventMeta::of_replay("a\"b\n");
        assert_eq!(
            replay.json(&EventName::Number(3), 0),
            r#"{"eventId":"a\"b\n:3","isReplay":true}"#
        );
        let prompt = EventMeta::of_prompt("t", "c\\");
        let name = EventName::Number(0);
        assert_eq!(
            prompt.json(&name, 0),
            r#"{"eventId":"t:0","promptId":"c\\"}"#
        );
    }
}
