//! A journal told to the client: the same updates as when it was new.

use std::sync::Arc;

use acp_host::{Event, EventBody, GateKind, LoopId, Origin, Visibility, dynamic::DynReplay};
use acp_protocol::rpc::Fault;

use crate::{
    fault,
    host_call::{HostPanicked, call_host},
    session::SessionCore,
    turn::client_view::ClientView,
    turn::translator::{Translator, Updates},
    wire::event_meta::EventMeta,
};

/// Tells a whole journal, in its order.
///
/// # Errors
///
/// A journal that cannot be read to its end, or updates that cannot be sent:
/// nothing that looks complete and is not.
pub(crate) async fn tell(
    core: &SessionCore,
    method: &str,
    mut journal: Box<dyn DynReplay>,
) -> Result<(), Fault> {
    let mut replayer = Replayer::default();
    loop {
        let next = &mut journal;
        let read = call_host(move || next.next_event()).await;
        let event = match read {
            Ok(Ok(Some(event))) => event,
            Ok(Ok(None)) => return Ok(()),
            Ok(Err(error)) => return Err(fault::from_host(method, error)),
            Err(HostPanicked) => return Err(fault::internal(method, "the agent failed")),
        };
        let source = match &event.origin {
            Some(origin) => origin.turn.to_shared(),
            None => core.id.as_str().into(),
        };
        let number = event.number;
        let told = replayer.event(event, core.slot().shown());
        let mut stamp = core.stamps.then(|| EventMeta::of_replay(&source, number));
        for update in told {
            core.send(&update, stamp.as_ref()).await.map_err(|error| {
                fault::internal(method, "the conversation cannot be told").with_source(error)
            })?;
            stamp.iter_mut().for_each(EventMeta::next_part);
        }
    }
}

/// Turns the events of a journal into updates. Without I/O.
#[derive(Debug, Default)]
pub(crate) struct Replayer {
    /// The session's own loop: that of the first event of a turn.
    main: Option<LoopId>,
    turn: Option<Arc<Origin>>,
    translator: Translator,
}

impl Replayer {
    pub(crate) fn event(&mut self, event: Event, shown: &mut ClientView) -> Updates {
        let Event {
            origin,
            visibility,
            body,
            ..
        } = event;
        if visibility != Visibility::Public {
            return Updates::Nothing;
        }
        let Some(origin) = origin else {
            return shown.tell(body);
        };
        let main = self.main.get_or_insert_with(|| origin.loop_id.clone());
        if let EventBody::TurnStarted { .. } = body
            && origin.loop_id == *main
        {
            self.translator = Translator::default();
            self.translator.begin(&origin);
            self.turn = Some(origin);
            return Updates::Nothing;
        }
        let Some(turn) = &self.turn else {
            return Updates::Nothing;
        };
        let is_own = turn.is_same_turn(&origin);
        match body {
            // What was asked is over; the tool that waited for it is shown.
            EventBody::GateOpened(gate) if is_own || origin.descends_from(turn) => {
                match &gate.kind {
                    GateKind::Permission { .. } if shown.can_ask(&gate) => {
                        self.translator.announce(&gate)
                    }
                    _ => Updates::Nothing,
                }
            }
            EventBody::UserMessage(blocks) if is_own => self.translator.user_message(blocks),
            body if is_own => self.translator.tell(body, shown),
            body if origin.descends_from(turn) => self.translator.tell_known_tool(body),
            _ => Updates::Nothing,
        }
    }
}

#[cfg(test)]
mod tests;
