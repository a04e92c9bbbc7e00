//! The name of an event on the wire.

use std::borrow::Cow;

use acp_host::{CommandId, Origin};

/// The `_meta` of an update: which event it tells, and of which prompt.
///
/// Clients that get the same event twice recognise it by its id, which is
/// `{turn}:{number}`; where one event makes several updates, the second is
/// `{turn}:{number}.1`.
///
/// It is kept as JSON, of which only the number changes from one update of a turn
/// to the next.
#[derive(Clone, Debug)]
pub(crate) struct EventMeta {
    json: String,
    /// Whose event it is: the turn, or the session.
    source: Box<str>,
    number: u64,
    /// How many updates of the event came before.
    part: u32,
    /// How much of the text stands in front of the number.
    head: usize,
    /// What stands behind it.
    tail: Box<str>,
}

impl EventMeta {
    /// A stamp for an event of a session as a whole.
    pub(crate) fn of_session(session: &str, number: u64) -> Self {
        Self::new(session, number, "\"}")
    }

    /// A stamp for an event that is told once more.
    pub(crate) fn of_replay(source: &str, number: u64) -> Self {
        Self::new(source, number, r#"","isReplay":true}"#)
    }

    /// A stamp for an event of a turn that works for a prompt.
    pub(crate) fn of_prompt(turn: &str, number: u64, prompt: &CommandId) -> Self {
        let tail = [r#"","promptId":""#, &escaped(prompt.as_str()), "\"}"];
        Self::new(turn, number, &tail.concat())
    }

    fn new(source: &str, number: u64, tail: &str) -> Self {
        const DIGITS: usize = 20;
        let head = [r#"{"eventId":""#, &escaped(source), ":"].concat();
        let mut json = String::with_capacity(head.len() + DIGITS + tail.len());
        json.push_str(&head);
        let mut stamp = Self {
            head: json.len(),
            json,
            source: source.into(),
            number,
            part: 0,
            tail: tail.into(),
        };
        stamp.write();
        stamp
    }

    /// Names another event of the same source.
    fn set_number(&mut self, number: u64) {
        (self.number, self.part) = (number, 0);
        self.write();
    }

    /// Names the next update of the same event.
    pub(crate) fn next_part(&mut self) {
        self.part += 1;
        self.write();
    }

    fn write(&mut self) {
        let mut digits = itoa::Buffer::new();
        self.json.truncate(self.head);
        self.json.push_str(digits.format(self.number));
        if self.part > 0 {
            self.json.push('.');
            self.json.push_str(digits.format(self.part));
        }
        self.json.push_str(&self.tail);
    }

    /// What stands in the `_meta` in front of the number of an event, and behind it.
    pub(crate) fn around_number(&self) -> [&str; 2] {
        [&self.json[..self.head], &self.tail]
    }

    /// What stands in the `_meta`, as JSON.
    pub(crate) fn as_json(&self) -> &str {
        &self.json
    }
}

/// Text as it stands between the quotes of JSON.
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

/// Stamps the events of one prompt, and keeps the last stamp to use it again:
/// a stream of text allocates none.
#[derive(Debug, Default)]
pub(crate) struct EventMetaCache {
    spare: Option<EventMeta>,
}

impl EventMetaCache {
    /// Names an event of a turn that works for a prompt.
    pub(crate) fn stamp(&mut self, origin: &Origin, prompt: &CommandId, number: u64) -> EventMeta {
        match self.spare.take() {
            Some(mut spare) if *spare.source == *origin.turn.as_str() => {
                spare.set_number(number);
                spare
            }
            _ => EventMeta::of_prompt(origin.turn.as_str(), number, prompt),
        }
    }

    /// Takes a stamp back.
    pub(crate) fn take_back(&mut self, stamp: EventMeta) {
        self.spare = Some(stamp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_reused_for_its_turn() {
        let (mut stamper, prompt) = (EventMetaCache::default(), CommandId::from("c-1"));
        let mut check = |turn: &str, number, want: &str| {
            let stamp = stamper.stamp(&Origin::new("main", turn), &prompt, number);
            assert_eq!(stamp.as_json(), want);
            stamper.take_back(stamp);
        };
        check("t-1", 7, r#"{"eventId":"t-1:7","promptId":"c-1"}"#);
        check(
            "t-1",
            u64::MAX,
            r#"{"eventId":"t-1:18446744073709551615","promptId":"c-1"}"#,
        );
        check("t-1", 8, r#"{"eventId":"t-1:8","promptId":"c-1"}"#);
        check("t-10", 0, r#"{"eventId":"t-10:0","promptId":"c-1"}"#);
        check("t-1", 9, r#"{"eventId":"t-1:9","promptId":"c-1"}"#);
    }

    #[test]
    fn every_update_of_an_event_has_its_own_name() {
        let mut stamp = EventMeta::of_session("s.1", 41);
        for want in ["s.1:41", "s.1:41.1", "s.1:41.2", "s.1:41.3"] {
            assert_eq!(stamp.as_json(), format!(r#"{{"eventId":"{want}"}}"#));
            stamp.next_part();
        }
    }

    #[test]
    fn names_are_written_as_json() {
        let stamp = EventMeta::of_replay("a\"b\n", 3);
        let want = r#"{"eventId":"a\"b\n:3","isReplay":true}"#;
        assert_eq!(stamp.as_json(), want);
        let (mut stamper, prompt) = (EventMetaCache::default(), CommandId::from("c\\"));
        let stamp = stamper.stamp(&Origin::new("main", "t"), &prompt, 0);
        assert_eq!(stamp.as_json(), r#"{"eventId":"t:0","promptId":"c\\"}"#);
    }
}
