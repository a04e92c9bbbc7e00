//! The contract of the stream, for any schedule of updates, pauses, slow consumers, lines
//! that cannot be read, cancels and ends of the peer:
//!
//! * received = delivered + gaps, in each session and on the connection;
//! * what is delivered is in order, with each gap in its place;
//! * an end that was written is delivered, once, behind everything that came before it;
//! * a barrier that is reached says the truth.

mod consumer;
mod peer;
mod play;

use acp_protocol::rpc::Flow;
use proptest::prelude::*;

use consumer::Habits;
use peer::{Leaving, Step};
use play::Plan;

fn step(sessions: usize) -> impl Strategy<Value = Step> {
    let session = 0..sessions;
    prop_oneof![
        12 => (session.clone(), 0_usize..900).prop_map(|(session, padding)| Step::Update { session, padding }),
        2 => session.clone().prop_map(|session| Step::Burst { session }),
        2 => session.clone().prop_map(|session| Step::Senseless { session }),
        2 => session.clone().prop_map(|session| Step::Long { session }),
        1 => session.clone().prop_map(|session| Step::LongOfSomebody { session }),
        2 => session.clone().prop_map(|session| Step::Torn { session }),
        2 => Just(Step::Noise),
        1 => session.prop_map(|session| Step::Answer { session }),
        2 => (0_u64..40).prop_map(|millis| Step::Sleep { millis }),
    ]
}

fn habits() -> impl Strategy<Value = Habits> {
    let look_ahead = prop_oneof![3 => Just(0), 2 => 1_usize..4];
    let flow = prop_oneof![
        4 => Just(Flow::Lossless),
        2 => Just(Flow::Spill),
        1 => (0_u64..20).prop_map(|depth| Flow::DropOldest { depth }),
    ];
    (
        prop::collection::vec(
            prop_oneof![3 => Just(0), 2 => 1_u64..30, 1 => 1000_u64..9000],
            1..6,
        ),
        look_ahead,
        any::<bool>(),
        flow,
        prop::option::weighted(0.2, 0_usize..40),
        prop::option::weighted(0.15, 0_usize..40),
    )
        .prop_map(
            |(delays, look_ahead, puts_back, flow, cancels_at, leaves_at)| Habits {
                delays,
                look_ahead,
                puts_back,
                flow,
                cancels_at,
                leaves_at,
            },
        )
}

fn plan() -> impl Strategy<Value = Plan> {
    (1_usize..4).prop_flat_map(|sessions| {
        (
            prop::collection::vec(step(sessions), 1..120),
            prop::sample::select(vec![
                Leaving::Closes,
                Leaving::ClosesInALine,
                Leaving::Exits,
                Leaving::LeavesThePipeOpen,
            ]),
            prop::collection::vec(habits(), sessions),
            prop::sample::select(vec![64_usize, 1000, 16 << 10, 1 << 20]),
            prop::sample::select(vec![4_usize << 10, 64 << 10, 1 << 20]),
            prop::collection::vec((0_u64..60, 0_u64..40), 0..4),
        )
            .prop_map(|(steps, leaving, habits, pipe, hard, barriers)| Plan {
                steps,
                leaving,
                habits,
                pipe,
                hard,
                barriers,
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_without_a_word(plan in plan()) {
        plan.play();
    }
}
