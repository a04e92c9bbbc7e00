//! The open gates of a session, and the turns that wait at them.

use std::collections::BTreeMap;

use acp_host::{GateAnswer, GateId, GateResponse, HostError};
use parking_lot::Mutex;
use tokio::sync::oneshot;

/// The open gates of a session; at most one for each question under way.
#[derive(Debug, Default)]
pub(in crate::kit) struct OpenGates(Mutex<BTreeMap<GateId, oneshot::Sender<GateAnswer>>>);

impl OpenGates {
    /// Opens a gate, and gives the end at which its answer arrives.
    pub(in crate::kit) fn open(&self, id: GateId) -> oneshot::Receiver<GateAnswer> {
        let (sender, answer) = oneshot::channel();
        self.0.lock().insert(id, sender);
        answer
    }

    /// Closes a gate. False if it was answered.
    pub(in crate::kit) fn close(&self, id: &GateId) -> bool {
        self.0.lock().remove(id).is_some()
    }

    /// Answers a gate.
    pub(super) fn respond(&self, response: GateResponse) -> Result<(), HostError> {
        let sender = self.0.lock().remove(&response.gate);
        sender
            .and_then(|sender| sender.send(response.answer).ok())
            .ok_or_else(|| HostError::public("the gate is not open"))
    }
}
