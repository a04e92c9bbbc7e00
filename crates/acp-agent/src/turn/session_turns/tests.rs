use std::{
    sync::atomic::{AtomicUsize, Ordering},
    task::Wake,
};

use acp_host::{Delta, Gate, InputCancelReason, ToolCall, TurnRejectReason};
use acp_protocol::v1::StopReason;
use proptest::prelude::*;

use super::*;
use crate::turn::gate_signal::GateSignal;

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn poll(turns: &mut SessionTurns, command: &str) -> Result<PromptAnswer, PromptProgress> {
    turns.poll_answer(&CommandId::from(command), Waker::noop())
}

/// As when the lock is released.
fn unlock(turns: &mut SessionTurns) {
    if let Some(effects) = turns.take_effects() {
        effects.run();
    }
}

fn tell(turns: &mut SessionTurns, turn: &Arc<TurnOrigin>, body: EventBody) -> EventAction {
    let action = turns.event(turn, Visibility::Public, body);
    unlock(turns);
    action
}

fn turn(name: &str) -> Arc<TurnOrigin> {
    Arc::new(TurnOrigin::new("main", name))
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

fn begin(turns: &mut SessionTurns, command: &str) -> Result<(), &'static str> {
    turns.begin(CommandId::from(command), Cancel::new())
}

#[test]
fn closing_wins_over_beginning() {
    let mut turns = SessionTurns::default();
    assert_eq!(begin(&mut turns, "a"), Ok(()));
    assert_eq!(begin(&mut turns, "b"), Err(BUSY));
    turns.mark_closing();
    assert_eq!(begin(&mut turns, "b"), Err(CLOSING));
    turns.end(&CommandId::from("a"), PromptEnd::Interrupted);
    unlock(&mut turns);
    assert!(poll(&mut turns, "a").is_ok());
    assert_eq!(begin(&mut turns, "b"), Err(CLOSING));
}

#[test]
fn who_waits_is_woken_by_what_it_waits_for() {
    let count = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&count));
    let woken = || count.0.swap(0, Ordering::SeqCst);
    let command = CommandId::from("a");
    let mut turns = SessionTurns::default();
    begin(&mut turns, "a").unwrap();
    assert!(turns.poll_answer(&command, &waker).is_err());
    assert!(turns.poll_idle(&waker).is_pending());

    // Text wakes nobody: the hot path costs no wake-up.
    tell(&mut turns, &turn("t"), started("a"));
    tell(&mut turns, &turn("t"), text());
    assert_eq!(woken(), 0);

    turns.stop(None, StopCause::Cancelled);
    unlock(&mut turns);
    assert_eq!(woken(), 1);
    let progress = turns.poll_answer(&command, &waker).unwrap_err();
    assert!(progress.has_turn && progress.is_stopped);

    tell(&mut turns, &turn("t"), EventBody::TurnDone);
    assert_eq!(woken(), 1);
    let answer = turns.poll_answer(&command, &waker).unwrap().unwrap();
    assert_eq!(answer.stop_reason, StopReason::Cancelled);
    unlock(&mut turns);
    assert_eq!(woken(), 1, "who waited for the turns to be idle");
    assert!(turns.poll_idle(&waker).is_ready());
}

#[test]
fn what_was_abandoned_keeps_its_turns_until_it_ends() {
    for is_over in [false, true] {
        let mut turns = SessionTurns::default();
        begin(&mut turns, "a").unwrap();
        tell(&mut turns, &turn("t"), started("a"));
        turns.abandon(&CommandId::from("a"), is_over);
        unlock(&mut turns);
        assert!(matches!(
            tell(&mut turns, &turn("t"), text()),
            EventAction::TooLate
        ));
        assert!(turns.check_open(Some(&turn("t"))).is_err());
        let next = begin(&mut turns, "b");
        assert_eq!(next, if is_over { Ok(()) } else { Err(BUSY) });
        tell(&mut turns, &turn("t"), EventBody::TurnInterrupted);
        let after = begin(&mut turns, "c");
        assert_eq!(after, if is_over { Err(BUSY) } else { Ok(()) });
    }
}

/// Something that happens to a turns.
#[derive(Clone, Copy, Debug)]
enum Op {
    Begin,
    Start,
    Fold,
    Text(Who),
    OpenGate(Who, u8),
    ResolveGate(u8),
    Answer(u8),
    /// The client is no longer asked what was answered or given up.
    Withdrawn,
    End(Who),
    Reject,
    Withdraw,
    Stop(bool),
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
        3 => Just(Op::Begin),
        3 => Just(Op::Start),
        1 => Just(Op::Fold),
        3 => who.clone().prop_map(Op::Text),
        3 => (who.clone(), 0..3u8).prop_map(|(who, gate)| Op::OpenGate(who, gate)),
        1 => (0..3u8).prop_map(Op::ResolveGate),
        1 => (0..3u8).prop_map(Op::Answer),
        2 => Just(Op::Withdrawn),
        2 => who.prop_map(Op::End),
        1 => Just(Op::Reject),
        1 => Just(Op::Withdraw),
        2 => any::<bool>().prop_map(Op::Stop),
        1 => Just(Op::Lose),
        1 => any::<bool>().prop_map(Op::Abandon),
        3 => Just(Op::Poll),
    ];
    proptest::collection::vec(op, 0..60)
}

/// What a test knows of a turns: the prompt that runs, by its number.
#[derive(Default)]
struct Model {
    turns: SessionTurns,
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

    fn origin(&self, who: Who) -> Arc<TurnOrigin> {
        let own = turn(&format!("t{}", self.prompts));
        match who {
            Who::Own => own,
            Who::Child => Arc::new(TurnOrigin::new("child", "t").with_parent(own)),
            Who::Stranger => turn("stranger"),
        }
    }

    fn tell(&mut self, who: Who, body: EventBody) {
        let origin = self.origin(who);
        match tell(&mut self.turns, &origin, body) {
            EventAction::AddressDone(_) => unreachable!("no address is opened"),
            EventAction::Ignore | EventAction::TooLate | EventAction::NoTurn => {}
            EventAction::Decline(gate) => panic!("{gate:?} can be asked about"),
            EventAction::Send(event) if !self.turns.has_update(Some(&origin), &event) => {}
            EventAction::Send(_) => assert!(self.is_unanswered, "told behind the answer"),
            EventAction::Ask {
                announce,
                gate,
                signal,
                ..
            } => {
                let is_asked = self.turns.has_update(Some(&origin), &announce);
                assert!(self.is_unanswered || !is_asked, "asked behind the answer");
                assert!(
                    !(self.is_stopped && is_asked),
                    "asked though nobody wants it"
                );
                self.trips.push((gate.id.clone(), signal, false));
                let command = self.command();
                self.turns.prompt(&command).unwrap().begin_asking();
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
            Op::Begin => {
                let next = CommandId::from(format!("c{}", self.prompts + 1));
                let was_taken = self.turns.is_active();
                assert!(was_taken || !self.is_unanswered, "two prompts at once");
                if self.turns.begin(next, Cancel::new()) == Ok(()) {
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
                if self.turns.close_gate(&gate) {
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
                    self.turns.end_asking(&command);
                    unlock(&mut self.turns);
                }
            }
            Op::End(who) => self.tell(who, EventBody::TurnDone),
            Op::Reject => {
                let reason = TurnRejectReason::QueueFull;
                self.tell(Who::Own, EventBody::TurnRejected { command, reason });
            }
            Op::Withdraw => {
                let reason = InputCancelReason::Retracted;
                self.tell(Who::Own, EventBody::InputCancelled { command, reason });
            }
            Op::Stop(cancelled) => {
                let stop = if cancelled {
                    StopCause::Cancelled
                } else {
                    StopCause::Request
                };
                self.turns.stop(Some(&command), stop);
                unlock(&mut self.turns);
                self.is_stopped |= self
                    .turns
                    .active()
                    .is_some_and(|prompt| prompt.progress().is_stopped);
            }
            Op::Lose => {
                self.turns.lose(None);
                unlock(&mut self.turns);
            }
            Op::Abandon(is_over) => {
                if self.is_unanswered {
                    self.turns.abandon(&command, is_over);
                    unlock(&mut self.turns);
                    self.answered();
                }
            }
            Op::Poll => {
                if self.is_unanswered && poll(&mut self.turns, command.as_str()).is_ok() {
                    assert!(!self.turns.is_active());
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
    /// frees the turns.
    #[test]
    fn any_order_of_events(ops in ops()) {
        let mut model = Model::default();
        for op in ops {
            model.run(op);
        }
        // The host ends what it began.
        model.run(Op::Start);
        model.run(Op::End(Who::Own));
        while model.asking > 0 {
            model.run(Op::Withdrawn);
        }
        if model.is_unanswered {
            let command = model.command();
            prop_assert!(poll(&mut model.turns, command.as_str()).is_ok());
            model.answered();
        }
        prop_assert!(!model.turns.is_active());
    }
}
