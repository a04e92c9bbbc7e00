//! What was seen in a play, bounded.

use std::collections::VecDeque;

use tokio::time::Instant;

use acp_recording::{PeerSide, RecordedEvent, Recording, RecordingEntry};

/// How much of the beginning and of the end is kept, each.
const KEPT: usize = 16 << 20;

/// What an entry counts for beside its bytes.
const EACH: usize = 64;

/// Calls a function with each entry, whole, as it is seen.
pub(crate) type Recorder = Box<dyn FnMut(&RecordingEntry) + Send>;

/// Keeps the beginning and the end of a conversation.
pub(crate) struct Transcript {
    begun: Instant,
    head: Vec<RecordingEntry>,
    head_bytes: usize,
    tail: VecDeque<RecordingEntry>,
    tail_bytes: usize,
    /// How many entries between them are gone.
    left: u64,
    recorder: Option<Recorder>,
}

impl Transcript {
    pub(crate) fn new(recorder: Option<Recorder>) -> Self {
        Self {
            begun: Instant::now(),
            head: Vec::new(),
            head_bytes: 0,
            tail: VecDeque::new(),
            tail_bytes: 0,
            left: 0,
            recorder,
        }
    }

    /// Enters what was seen now and returns its number.
    pub(crate) fn push(&mut self, from: PeerSide, what: RecordedEvent) -> usize {
        let entry = RecordingEntry {
            at: self.begun.elapsed(),
            from,
            what,
        };
        if let Some(recorder) = &mut self.recorder {
            recorder(&entry);
        }
        let number = self.next_number();
        let size = size(&entry);
        if self.tail.is_empty() && self.head_bytes + size <= KEPT {
            self.head_bytes += size;
            self.head.push(entry);
        } else {
            self.tail_bytes += size;
            self.tail.push_back(entry);
            while self.tail_bytes > KEPT && self.tail.len() > 1 {
                if let Some(gone) = self.tail.pop_front() {
                    self.tail_bytes -= self::size(&gone);
                    self.left += 1;
                }
            }
        }
        number
    }

    /// Returns the number that the next entry gets.
    pub(crate) fn next_number(&self) -> usize {
        self.head.len() + self.tail.len() + usize::try_from(self.left).unwrap_or(0)
    }

    /// Returns what was kept, with a note where something is missing, and
    /// where the entries stand in it now.
    pub(crate) fn finish(self) -> (Recording, Places) {
        let places = Places {
            gap: self.head.len(),
            left: usize::try_from(self.left).unwrap_or(usize::MAX),
        };
        let mut recording = Recording::new(self.head);
        let at = self.tail.front().map(|entry| entry.at);
        if let Some(at) = at
            && self.left > 0
        {
            recording.push(RecordingEntry {
                at,
                from: PeerSide::Agent,
                what: RecordedEvent::Left(self.left),
            });
        }
        for entry in self.tail {
            recording.push(entry);
        }
        (recording, places)
    }
}

/// Where entries stand in what was kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// How many entries stand before what is missing, and how many are.
    gap: usize,
    left: usize,
}

impl Places {
    /// Returns where an entry stands, `None` if it is missing.
    pub(crate) fn of(self, number: usize) -> Option<usize> {
        match number {
            number if number < self.gap || self.left == 0 => Some(number),
            number if number < self.gap.saturating_add(self.left) => None,
            // The note stands in the place of all that are missing.
            number => Some(number - self.left + 1),
        }
    }
}

fn size(entry: &RecordingEntry) -> usize {
    EACH + match &entry.what {
        RecordedEvent::Line(bytes)
        | RecordedEvent::Unfinished(bytes)
        | RecordedEvent::Stderr(bytes) => bytes.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn beginning_and_end_are_kept() {
        let mut tape = Transcript::new(None);
        let line = |n: u8| RecordedEvent::Line(vec![n; 1 << 20]);
        for n in 0..100 {
            assert_eq!(tape.push(PeerSide::Agent, line(n)), usize::from(n));
        }
        let (recording, places) = tape.finish();
        let entries = recording.entries();
        assert_eq!(entries[0].what, line(0));
        assert_eq!(entries[places.of(99).unwrap()].what, line(99));
        assert_eq!(places.of(50), None);
        assert!(entries.len() < 34);
        let left = entries.iter().find_map(|entry| match entry.what {
            RecordedEvent::Left(left) => Some(left),
            _ => None,
        });
        assert_eq!(left.unwrap() + entries.len() as u64 - 1, 100);
    }
}
