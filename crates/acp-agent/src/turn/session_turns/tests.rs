use std::{
    sync::atomic::{AtomicUsize, Ordering},
    task::Wake,
};

use acp_host::{Delta, Gate, InputCancelReason, ToolCall, TurnRejectReason};
use proptest::prelude::*;

use super::*;
use crate::{turn::active_prompt::GateSignal, turn::translator::Updates};

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn poll(slot: &mut SessionTurns, command: &str) -> Poll<(PromptEnd, Option<StopCause>)> {
    let mut progress = PromptProgress::default();
    slot.poll_end(&CommandId::from(command), Waker::noop(), &mut progress)
}

fn tell(slot: &mut SessionTurns, turn: &Arc<Origin>, body: EventBody) -> EventAction {
    let mut after = Effects::default();
    let step = slot.event(turn, Visibility::Public, body, &mut after);
    after.run();
    step
}

fn turn(name: &str) -> Arc<Origin> {
    Arc::new(Origin::new("main", name))
}

fn started(command: &str) -> EventBody {
    EventBody::TurnStarted {
        command: Some(CommandId::from(command)),
        index: 0,
    }
}

fn text() -> EventBody {
    EventBody::Delta(Delta::Text("hi".into()))
}

fn begin(slot: &mut SessionTurns, command: &str) -> Admission {
    slot.begin(CommandId::from(command), Cancel::new())
}

#[test]
fn closing_wins_over_beginning() {
    let mut slot = SessionTurns::default();
    assert_eq!(begin(&mut slot, "a"), Admission::Started);
    assert_eq!(begin(&mut slot, "b"), Admission::Busy);
    slot.mark_closing();
    assert_eq!(begin(&mut slot, "b"), Admission::Closing);
    slot.end(&CommandId::from("a"), PromptEnd::Interrupted)
        .run();
    assert!(poll(&mut slot, "a").is_ready());
    assert_eq!(begin(&mut slot, "b"), Admission::Closing);
}

#[test]
fn who_waits_is_woken_by_what_it_waits_for() {
    let count = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&count));
    let woken = || count.0.swap(0, Ordering::SeqCst);
    let command = CommandId::from("a");
    let mut progress = PromptProgress::default();
    let mut slot = SessionTurns::default();
    begin(&mut slot, "a");
    assert!(slot.poll_end(&command, &waker, &mut progress).is_pending());
    assert!(slot.poll_idle(&waker).is_pending());

    // Text wakes nobody: the hot path costs no wake-up.
    tell(&mut slot, &turn("t"), started("a"));
    tell(&mut slot, &turn("t"), text());
    assert_eq!(woken(), 0);

    slot.stop(None, StopCause::Cancelled).run();
    assert_eq!(woken(), 1);
    assert!(slot.poll_end(&command, &waker, &mut progress).is_pending());
    assert!(progress.started && progress.stopped);

    tell(&mut slot, &turn("t"), EventBody::TurnDone);
    assert_eq!(woken(), 1);
    let ended = slot.poll_end(&command, &waker, &mut progress);
    assert!(matches!(
        ended,
        Poll::Ready((PromptEnd::Done { .. }, Some(StopCause::Cancelled)))
    ));
    assert_eq!(woken(), 1, "who waited for the slot to be idle");
    assert!(slot.poll_idle(&waker).is_ready());
}

#[test]
fn what_was_abandoned_keeps_its_slot_until_it_ends() {
    for is_over in [false, true] {
        let mut slot = SessionTurns::default();
        begin(&mut slot, "a");
        tell(&mut slot, &turn("t"), started("a"));
        slot.abandon(&CommandId::from("a"), is_over).1.run();
        assert!(matches!(
            tell(&mut slot, &turn("t"), text()),
            EventAction::TooLate
        ));
        assert!(slot.check_told(&turn("t")).is_err());
        let next = begin(&mut slot, "b");
        assert_eq!(
            next,
            if is_over {
                Admission::Started
            } else {
                Admission::Busy
            }
        );
        tell(&mut slot, &turn("t"), EventBody::TurnInterrupted);
        let after = begin(&mut slot, "c");
        assert_eq!(
            after,
            if is_over {
                Admission::Busy
            } else {
                Admission::Started
            }
        );
    }
}

/// Something that happens to a slot.
#[derive(Clone, Copy, Debug)]
enum Op {
    Admission,
    Start,
    Fold,
    Text(Who),
    OpenGate(Who, u8),
    ResolveGate(u8),
    Answer(u8),
    /// The client is no longer asked what was answered or given up.
    Withdrawn,
    PromptEnd(Who),
    Reject,
    Withdraw,
    StopCause(bool),
    Lose,
    Abandon(bool),
    Poll,
}

#[derive(Clone, Copy, Debug)]
enum Who {
    Own,
    Child,
    Stranger,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let who = prop_oneof![
        3 => Just(Who::Own),
        1 => Just(Who::Child),
        1 => Just(Who::Stranger),
    ];
    let op = prop_oneof![
        3 => Just(Op::Admission),
        3 => Just(Op::Start),
        1 => Just(Op::Fold),
        3 => who.clone().prop_map(Op::Text),
        3 => (who.clone(), 0..3u8).prop_map(|(who, gate)| Op::OpenGate(who, gate)),
        1 => (0..3u8).prop_map(Op::ResolveGate),
        1 => (0..3u8).prop_map(Op::Answer),
        2 => Just(Op::Withdrawn),
        2 => who.prop_map(Op::PromptEnd),
        1 => Just(Op::Reject),
        1 => Just(Op::Withdraw),
        2 => any::<bool>().prop_map(Op::StopCause),
        1 => Just(Op::Lose),
        1 => any::<bool>().prop_map(Op::Abandon),
        3 => Just(Op::Poll),
    ];
    proptest::collection::vec(op, 0..60)
}

/// What a test knows of a slot: the prompt that runs, by its number.
#[derive(Default)]
struct Model {
    slot: SessionTurns,
    prompts: usize,
    /// Nobody has its answer yet.
    is_unanswered: bool,
    is_stopped: bool,
    /// Round trips that were started, and whether they were answered.
    trips: Vec<(GateId, GateSignal, bool)>,
    /// How many of them still stand before the client.
    asking: usize,
}

impl Model {
    fn command(&self) -> CommandId {
        CommandId::from(format!("c{}", self.prompts))
    }

    fn origin(&self, who: Who) -> Arc<Origin> {
        let own = turn(&format!("t{}", self.prompts));
        match who {
            Who::Own => own,
            Who::Child => Arc::new(Origin::new("child", "t").with_parent(own)),
            Who::Stranger => turn("stranger"),
        }
    }

    fn tell(&mut self, who: Who, body: EventBody) {
        let origin = self.origin(who);
        match tell(&mut self.slot, &origin, body) {
            EventAction::AddressDone(_) => unreachable!("no address is opened"),
            EventAction::Tell(Updates::Nothing) | EventAction::Ignore | EventAction::TooLate => {}
            EventAction::Tell(_) => assert!(self.is_unanswered, "told behind the answer"),
            EventAction::Ask {
                announce,
                gate,
                signal,
                ..
            } => {
                let is_asked = matches!(announce, Updates::One(_));
                assert!(self.is_unanswered || !is_asked, "asked behind the answer");
                assert!(
                    !(self.is_stopped && is_asked),
                    "asked though nobody wants it"
                );
                self.trips.push((gate.id.clone(), signal, false));
                self.slot.begin_asking(&self.command());
                self.asking += 1;
            }
        }
    }

    fn answered(&mut self) {
        self.is_unanswered = false;
        for (gate, signal, is_answered) in self.trips.drain(..) {
            assert!(is_answered || signal.is_given_up(), "{gate} waits for ever");
        }
    }

    fn run(&mut self, op: Op) {
        let command = self.command();
        match op {
            Op::Admission => {
                let next = CommandId::from(format!("c{}", self.prompts + 1));
                let was_taken = self.slot.is_taken();
                assert!(was_taken || !self.is_unanswered, "two prompts at once");
                if self.slot.begin(next, Cancel::new()) == Admission::Started {
                    assert!(!was_taken);
                    self.prompts += 1;
                    self.asking = 0;
                    (self.is_unanswered, self.is_stopped) = (true, false);
                }
            }
            Op::Start => self.tell(Who::Own, started(command.as_str())),
            Op::Fold => self.tell(Who::Own, EventBody::TurnFoldedInto { command }),
            Op::Text(who) => self.tell(who, text()),
            Op::OpenGate(who, gate) => {
                // A tool of its own, so that each gate announces one.
                let tool = ToolCall::new(format!("{}", self.trips.len()), "edit", "Edit");
                let gate = Gate::permission(format!("g{gate}"), tool);
                self.tell(who, EventBody::GateOpened(Box::new(gate)));
            }
            Op::ResolveGate(gate) => {
                self.tell(
                    Who::Own,
                    EventBody::GateResolved(GateId::from(format!("g{gate}"))),
                );
            }
            Op::Answer(gate) => {
                let gate = GateId::from(format!("g{gate}"));
                if self.slot.close_gate(&gate) {
                    let open = self.trips.iter_mut().rev().find(|(id, ..)| *id == gate);
                    let (_, signal, is_answered) = open.expect("an open gate");
                    assert!(!signal.is_given_up() && !*is_answered);
                    *is_answered = true;
                }
            }
            Op::Withdrawn => {
                let over = |(_, signal, is_answered): &&(_, GateSignal, bool)| {
                    *is_answered || signal.is_given_up()
                };
                let standing = self.trips.len() - self.trips.iter().filter(over).count();
                if self.asking > standing {
                    self.asking -= 1;
                    self.slot.end_asking(&command).run();
                }
            }
            Op::PromptEnd(who) => self.tell(who, EventBody::TurnDone),
            Op::Reject => {
                let reason = TurnRejectReason::QueueFull;
                self.tell(Who::Own, EventBody::TurnRejected { command, reason });
            }
            Op::Withdraw => {
                let reason = InputCancelReason::Retracted;
                self.tell(Who::Own, EventBody::InputCancelled { command, reason });
            }
            Op::StopCause(cancelled) => {
                let stop = if cancelled {
                    StopCause::Cancelled
                } else {
                    StopCause::Request
                };
                self.slot.stop(Some(&command), stop).run();
                self.is_stopped |= self.slot.progress().is_some_and(|known| known.stopped);
            }
            Op::Lose => self.slot.lose(None).run(),
            Op::Abandon(is_over) => {
                if self.is_unanswered {
                    self.slot.abandon(&command, is_over).1.run();
                    self.answered();
                }
            }
            Op::Poll => {
                if self.is_unanswered && poll(&mut self.slot, command.as_str()).is_ready() {
                    assert!(!self.slot.is_taken());
                    assert_eq!(self.asking, 0, "answered before a question is withdrawn");
                    self.answered();
                }
            }
        }
    }
}

proptest! {
    /// Whatever happens, in whatever order: one prompt at a time, nothing is
    /// told behind its answer, no gate waits for ever, and the end of the turn
    /// frees the slot.
    #[test]
    fn any_order_of_events(ops in ops()) {
        let mut model = Model::default();
        for op in ops {
            model.run(op);
        }
        // The host ends what it began.
        model.run(Op::Start);
        model.run(Op::PromptEnd(Who::Own));
        while model.asking > 0 {
            model.run(Op::Withdrawn);
        }
        if model.is_unanswered {
            let command = model.command();
            prop_assert!(poll(&mut model.slot, command.as_str()).is_ready());
            model.answered();
        }
        prop_assert!(!model.slot.is_taken());
    }
}
