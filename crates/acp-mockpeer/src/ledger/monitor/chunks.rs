//! The pieces of messages, and which message each is of.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{MOST, kept};

/// The messages of sessions, as their pieces come.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// By session and kind of chunk.
    streams: HashMap<(String, String), Stream>,
}

#[derive(Debug, Default)]
struct Stream {
    /// The message of the last piece.
    current: Option<String>,
    /// Those before it.
    over: HashSet<String>,
}

impl Messages {
    /// A session is told again from its beginning.
    pub(super) fn begin_again(&mut self, session: &str) {
        self.streams.retain(|(known, _), _| known != session);
    }

    /// Takes an update; says what is wrong if it goes on with a message that is
    /// over (R113).
    pub(super) fn take(&mut self, session: &str, update: &Value) -> Option<String> {
        let kind = update["sessionUpdate"].as_str()?;
        if !kind.ends_with("_chunk") {
            return None;
        }
        let id = update["messageId"].as_str()?;
        let key = (session.to_owned(), kind.to_owned());
        let stream = kept(&mut self.streams, key)?;
        if stream.current.as_deref() == Some(id) {
            return None;
        }
        let came_back = stream.over.contains(id);
        if let Some(before) = stream.current.replace(id.to_owned())
            && stream.over.len() < MOST
        {
            stream.over.insert(before);
        }
        came_back.then(|| format!("the message {id:?} goes on, though another one began since"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_message_that_is_over_does_not_go_on() {
        let mut messages = Messages::default();
        let mut take = |session: &str, kind: &str, id: Value| {
            let update = json!({"sessionUpdate": kind, "messageId": id});
            messages.take(session, &update).is_none()
        };
        assert!(take("s", "agent_message_chunk", json!("a")));
        assert!(take("s", "agent_message_chunk", json!("a")));
        // Thoughts, other sessions and pieces without an id do not end it.
        assert!(take("s", "agent_thought_chunk", json!("t")));
        assert!(take("r", "agent_message_chunk", json!("b")));
        assert!(take("s", "agent_message_chunk", json!(null)));
        assert!(take("s", "agent_message_chunk", json!("a")));
        assert!(take("s", "agent_message_chunk", json!("b")));
        assert!(!take("s", "agent_message_chunk", json!("a")));
        messages.begin_again("s");
        let update = json!({"sessionUpdate": "agent_message_chunk", "messageId": "b"});
        assert_eq!(messages.take("s", &update), None);
    }
}
