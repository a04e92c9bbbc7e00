//! The name of an event on the wire.

use acp_host::{CommandId, Origin};
use acp_protocol::Meta;
use serde::Serialize;

/// The `_meta` of an update: which event it tells, and of which prompt.
///
/// Clients that get the same event twice recognise it by its id, which is
/// `{turn}:{number}`; where one event makes several updates, the second is
/// `{turn}:{number}.1`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stamp {
    event_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_id: Option<Box<str>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_replay: bool,
    /// How much of the event id is the name of the turn and the colon.
    #[serde(skip)]
    prefix: usize,
}

impl Stamp {
    /// A stamp for an event of a session as a whole.
    pub(crate) fn of_session(session: &str, number: u64) -> Self {
        let mut stamp = Self::new(session, None);
        stamp.set_number(number);
        stamp
    }

    /// A stamp for an event that is told once more.
    pub(crate) fn of_replay(source: &str, number: u64) -> Self {
        let mut stamp = Self::of_session(source, number);
        stamp.is_replay = true;
        stamp
    }

    fn new(source: &str, prompt: Option<&CommandId>) -> Self {
        let mut event_id = String::with_capacity(source.len() + 1 + 20);
        event_id.push_str(source);
        event_id.push(':');
        let prefix = event_id.len();
        let prompt_id = prompt.map(|prompt| prompt.as_str().into());
        Self {
            event_id,
            prompt_id,
            is_replay: false,
            prefix,
        }
    }

    fn set_number(&mut self, number: u64) {
        self.event_id.truncate(self.prefix);
        self.event_id.push_str(itoa::Buffer::new().format(number));
    }

    /// The stamp of an event of no prompt, for a notification of its own.
    pub(crate) fn to_meta(&self) -> Box<Meta> {
        let event = ("eventId".to_owned(), self.event_id.as_str().into());
        Box::new(Meta::from_iter([event]))
    }

    /// Names the next update of the same event.
    pub(crate) fn next_part(&mut self) {
        let part = match self.event_id[self.prefix..].split_once('.') {
            Some((number, part)) => {
                let part = part.parse().unwrap_or(0u32) + 1;
                let end = self.prefix + number.len();
                self.event_id.truncate(end);
                part
            }
            None => 1,
        };
        self.event_id.push('.');
        self.event_id.push_str(itoa::Buffer::new().format(part));
    }
}

/// Stamps the events of one prompt, and keeps the last stamp to use it again:
/// a stream of text allocates none.
#[derive(Debug, Default)]
pub(crate) struct Stamper {
    spare: Option<Stamp>,
}

impl Stamper {
    /// Names an event of a turn that works for a prompt.
    pub(crate) fn stamp(&mut self, origin: &Origin, prompt: &CommandId, number: u64) -> Stamp {
        let mut stamp = match self.spare.take() {
            Some(spare) if spare.is_of(origin) => spare,
            _ => Stamp::new(origin.turn.as_str(), Some(prompt)),
        };
        stamp.set_number(number);
        stamp
    }

    /// Takes a stamp back.
    pub(crate) fn take_back(&mut self, stamp: Stamp) {
        self.spare = Some(stamp);
    }
}

impl Stamp {
    fn is_of(&self, origin: &Origin) -> bool {
        self.event_id[..self.prefix - 1] == *origin.turn.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_reused_for_its_turn() {
        let (mut stamper, prompt) = (Stamper::default(), CommandId::from("c-1"));
        let mut check = |turn: &str, number, want: &str| {
            let stamp = stamper.stamp(&Origin::new("main", turn), &prompt, number);
            assert_eq!(serde_json::to_string(&stamp).unwrap(), want);
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
        let mut stamp = Stamp::of_session("s.1", 41);
        assert_eq!(
            serde_json::to_string(&stamp).unwrap(),
            r#"{"eventId":"s.1:41"}"#
        );
        for want in ["s.1:41.1", "s.1:41.2", "s.1:41.3"] {
            stamp.next_part();
            assert_eq!(stamp.event_id, want);
        }
    }
}
