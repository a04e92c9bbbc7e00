//! A journal sent to the client: the same updates as when it was new.

use std::sync::Arc;

use acp_host::{
    EmitError, EventBody, GateKind, HostEvent, LoopId, TurnOrigin, Visibility, dynamic::DynReplay,
};
use acp_protocol::{rpc::Fault, v1::SessionUpdate};

use super::{SessionCore, outgoing, unsent::UnsentEvent};
use crate::{
    fault,
    host_call::call_host,
    turn::{
        client_view::ClientView,
        draft::PendingEvent,
        effects::{ClosedTool, Effects},
        translator::Translator,
    },
    wire::event_meta::{EventMeta, EventName},
};

/// Sends a whole journal, in its order.
///
/// # Errors
///
/// A journal that cannot be read to its end, or updates that cannot be sent: a part
/// of a conversation never passes for the whole.
pub(crate) async fn send(
    core: &Arc<SessionCore>,
    method: &str,
    mut journal: Box<dyn DynReplay>,
) -> Result<(), Fault> {
    let mut replayer = Replayer::new(core.id.as_str());
    loop {
        let next = &mut journal;
        let read = call_host(move || next.next_event()).await;
        let event = fault::called(method, read)?;
        for ClosedTool { meta, id, update } in replayer.close_tools(event.as_ref()) {
            let name = EventName::ToolEnd(id);
            send_updates(core, method, vec![update], (meta, name)).await?;
        }
        let Some(mut event) = event else {
            return Ok(());
        };
        outgoing::fit(&mut event.body, &core.cwd).map_err(|error| not_sent(method, error))?;
        let (origin, number) = (event.origin.clone(), event.number);
        let updates = replayer.event(event, core.turns().view());
        let meta = replayer.meta(origin);
        send_updates(core, method, updates, (meta, EventName::Number(number))).await?;
    }
}

async fn send_updates(
    core: &Arc<SessionCore>,
    method: &str,
    updates: Vec<SessionUpdate>,
    meta: (Arc<EventMeta>, EventName),
) -> Result<(), Fault> {
    let meta = core.has_event_ids.then_some(meta);
    let unsent = UnsentEvent::new(PendingEvent::of_updates(updates), meta);
    let waiting = unsent.wait(core, &mut core.turns(), None);
    let sent = waiting.send().await;
    sent.map_err(|error| not_sent(method, error))
}

fn not_sent(method: &str, error: EmitError) -> Fault {
    fault::internal(method, "the conversation cannot be sent").with_source(error)
}

/// Turns the events of a journal into updates. Without I/O.
#[derive(Debug)]
pub(crate) struct Replayer {
    session_meta: Arc<EventMeta>,
    /// The session's own loop: that of the first event of a turn.
    main: Option<LoopId>,
    turn: Option<(Arc<TurnOrigin>, Translator)>,
}

impl Replayer {
    pub(crate) fn new(session: &str) -> Self {
        Self {
            session_meta: Arc::new(EventMeta::of_replay(session)),
            main: None,
            turn: None,
        }
    }

    fn meta(&self, origin: Option<Arc<TurnOrigin>>) -> Arc<EventMeta> {
        match (origin, &self.turn) {
            (None, _) => Arc::clone(&self.session_meta),
            (Some(origin), Some((turn, translator))) if turn.turn == origin.turn => {
                Arc::clone(translator.meta())
            }
            (Some(origin), _) => Arc::new(EventMeta::of_replay(origin.turn.as_str())),
        }
    }

    pub(crate) fn event(&mut self, event: HostEvent, view: &mut ClientView) -> Vec<SessionUpdate> {
        let HostEvent {
            origin,
            visibility,
            body,
            ..
        } = event;
        if visibility != Visibility::Public {
            return Vec::new();
        }
        let Some(origin) = origin else {
            return view.updates(body);
        };
        let main = self.main.get_or_insert_with(|| origin.loop_id.clone());
        if let EventBody::TurnStarted { .. } = body
            && origin.loop_id == *main
        {
            let meta = EventMeta::of_replay(origin.turn.as_str());
            let translator = Translator::new(&origin, meta);
            self.turn = Some((origin, translator));
            return Vec::new();
        }
        let Some((turn, translator)) = &mut self.turn else {
            return Vec::new();
        };
        let is_own = turn.is_same_turn(&origin);
        if !is_own && !origin.descends_from(turn) {
            return Vec::new();
        }
        match body {
            // The question is over; the tool that waited for it is shown.
            EventBody::GateOpened(gate) => match &gate.kind {
                GateKind::Permission { .. } if view.can_ask(&gate) => {
                    translator.updates(Translator::announcement(&gate), view)
                }
                _ => Vec::new(),
            },
            EventBody::UserMessage(blocks) if is_own => translator.user_message(blocks),
            body if is_own => translator.updates(PendingEvent::new(body), view),
            body => translator.updates(PendingEvent::of_sub_agent(body), view),
        }
    }

    /// Ends the tool calls that are open behind a turn: it ends with the next event, or
    /// another begins, or the journal is at its end.
    pub(crate) fn close_tools(&mut self, next: Option<&HostEvent>) -> Vec<ClosedTool> {
        let Some((turn, translator)) = &mut self.turn else {
            return Vec::new();
        };
        let is_over = next.is_none_or(|next| {
            let origin = next.origin.as_deref();
            origin.is_some_and(|origin| match next.body {
                EventBody::TurnStarted { .. } => origin.loop_id == turn.loop_id,
                _ => next.body.ends_turn() && origin.is_same_turn(turn),
            })
        });
        let mut effects = Effects::default();
        if is_over {
            effects.close_tools(translator);
        }
        effects.take_closed_tools()
    }
}

#[cfg(test)]
mod tests;
