//! Which request an answer in the text means.

use std::sync::Arc;

use super::step::Slot;
use acp_recording::PeerSide;

/// The requests that can be answered at a place of the text.
#[derive(Debug, Default)]
pub(crate) struct Names {
    requests: Vec<Request>,
    /// Where in `requests` each open block begins.
    blocks: Vec<usize>,
    next_slot: Slot,
}

/// A request in the text above.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) slot: Slot,
    pub(crate) from: PeerSide,
    pub(crate) method: Option<Arc<str>>,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) line: usize,
    /// The line of its answer.
    answered: Option<usize>,
}

/// What was answered at a place; see [`Names::remember`].
#[derive(Clone, Debug)]
pub(crate) struct Remembered(Vec<Option<usize>>);

impl Names {
    /// Enters a request and returns its slot.
    ///
    /// A name that is taken moves to the new request once the old one is answered.
    pub(crate) fn ask(
        &mut self,
        from: PeerSide,
        method: Option<Arc<str>>,
        name: Option<Arc<str>>,
        line: usize,
    ) -> Result<Slot, String> {
        if let Some(name) = &name
            && let Some(older) = self.named(name)
            && older.answered.is_none()
        {
            return Err(format!(
                "the request of line {} is called `{name}` and still waits for its answer",
                older.line
            ));
        }
        let slot = self.next_slot;
        self.next_slot += 1;
        self.requests.push(Request {
            slot,
            from,
            method,
            name,
            line,
            answered: None,
        });
        Ok(slot)
    }

    /// Finds the request of the other side that an answer without a name means:
    /// the only one of the innermost block that has any.
    pub(crate) fn only_open(&self, asker: PeerSide) -> Result<Request, String> {
        let mut end = self.requests.len();
        let floors = self.blocks.iter().rev().chain(std::iter::once(&0));
        for &floor in floors {
            let open: Vec<&Request> = self.requests[floor..end]
                .iter()
                .filter(|request| request.from == asker && request.answered.is_none())
                .collect();
            match open.as_slice() {
                [] => end = floor,
                [one] => return Ok((*one).clone()),
                many => {
                    let lines: Vec<String> =
                        many.iter().map(|open| open.line.to_string()).collect();
                    return Err(format!(
                        "the requests of lines {} wait for an answer here; give them names \
                         with `as NAME` and say which one is meant: `result of NAME`",
                        lines.join(" and ")
                    ));
                }
            }
        }
        Err(format!(
            "no request of the {asker} waits for an answer here"
        ))
    }

    /// Finds the latest request with this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Request> {
        let mut all = self.requests.iter().rev();
        all.find(|request| request.name.as_deref() == Some(name))
    }

    /// Marks a request as answered, and refuses a second answer.
    pub(crate) fn answer(&mut self, slot: Slot, line: usize) -> Result<(), String> {
        let mut all = self.requests.iter_mut();
        let Some(request) = all.find(|request| request.slot == slot) else {
            return Ok(());
        };
        match request.answered {
            Some(before) => Err(format!(
                "the request of line {} is answered in line {before} already; write `raw` \
                 before `result` to answer it twice",
                request.line
            )),
            None => {
                request.answered = Some(line);
                Ok(())
            }
        }
    }

    /// Begins a block: what is asked in it is not known behind it.
    pub(crate) fn begin_block(&mut self) {
        self.blocks.push(self.requests.len());
    }

    /// Ends a block, and returns what was asked in it.
    pub(crate) fn end_block(&mut self) -> Vec<Request> {
        match self.blocks.pop() {
            Some(floor) => self.requests.drain(floor..).collect(),
            None => Vec::new(),
        }
    }

    /// Makes known here what was asked in a block.
    pub(crate) fn reopen(&mut self, asked: Vec<Request>) {
        self.requests.extend(asked);
    }

    /// Notes what is answered now, to come back to it for the next branch.
    pub(crate) fn remember(&self) -> Remembered {
        Remembered(
            self.requests
                .iter()
                .map(|request| request.answered)
                .collect(),
        )
    }

    /// Goes back to what was answered then.
    pub(crate) fn restore(&mut self, then: &Remembered) {
        for (request, answered) in self.requests.iter_mut().zip(&then.0) {
            request.answered = *answered;
        }
    }

    /// Takes as answered what every branch answered.
    pub(crate) fn join(&mut self, branches: &[Remembered]) {
        for (index, request) in self.requests.iter_mut().enumerate() {
            let answers = branches
                .iter()
                .map(|branch| branch.0.get(index).copied().flatten());
            request.answered = answers.reduce(Option::and).flatten();
        }
    }
}
