//! Server-sent events: the data of each, out of a stream of bytes.

/// The longest event. A longer one is no piece of an answer.
const MAX_EVENT: usize = 1 << 20;

/// An event that does not end.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("read an event: it has more than {MAX_EVENT} bytes")]
pub(crate) struct TooLong;

/// Puts events together from bytes, however those are cut.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// The beginning of a line.
    line: Vec<u8>,
    /// The data of the event so far.
    data: Option<String>,
}

impl Events {
    /// Takes some bytes, and gives the data of the events that end in them.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        let mut events = Vec::new();
        let mut lines = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = lines.next() {
            let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
            if held + piece.len() > MAX_EVENT {
                return Err(TooLong);
            }
            self.line.extend_from_slice(piece);
            // The last piece has no end yet.
            if lines.peek().is_some() {
                events.extend(self.end_line());
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Option<String> {
        let line = String::from_utf8_lossy(&self.line);
        let line = line.strip_suffix('\r').unwrap_or(&line);
        let mut event = None;
        if line.is_empty() {
            event = self.data.take();
        } else if let Some(data) = line.strip_prefix("data:") {
            let data = data.strip_prefix(' ').unwrap_or(data);
            match &mut self.data {
                Some(before) => *before = format!("{before}\n{data}"),
                None => self.data = Some(data.to_owned()),
            }
        }
        // Other fields, and comments, do not matter here.
        self.line.clear();
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = ": hello\n\ndata: {\"ä\": 1}\n\nevent: x\r\ndata:two\r\ndata: lines\r\n\r\n\
        id: 7\n\ndata: [DONE]\n\ndata: unfinished\n";
    const WANT: [&str; 3] = ["{\"ä\": 1}", "two\nlines", "[DONE]"];

    #[test]
    fn events_are_found_however_they_are_cut() {
        for size in 1..STREAM.len() {
            let mut events = Events::default();
            let pieces = STREAM.as_bytes().chunks(size);
            let found: Vec<_> = pieces
                .flat_map(|piece| events.push(piece).unwrap())
                .collect();
            assert_eq!(found, WANT, "in pieces of {size}");
        }
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let mut events = Events::default();
        let line = [b'x'; 1 << 19];
        assert_eq!(events.push(&line), Ok(vec![]));
        assert_eq!(events.push(&line), Ok(vec![]));
        assert_eq!(events.push(b"x"), Err(TooLong));
        let mut events = Events::default();
        let data = format!("data: {}\n", "x".repeat(1 << 18));
        let refused = (0..8).find(|_| events.push(data.as_bytes()).is_err());
        assert_eq!(refused, Some(3));
    }
}
