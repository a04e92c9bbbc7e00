//! Telling an agent more while it works.

mod support;

use acp_harness::turn::{SteerOutcome, TurnProgress, TurnRequest, can_steer, progress, steering};
use serde_json::{Value, json};
use support::{Do, Fake, SECOND, ada, ask, harness, harness_of, methods, params, text};

const METHOD: &str = "_session/steering";

fn hello(steering: &Value) -> Value {
    json!({"protocolVersion": 1, "agentInfo": {"name": "ada", "version": "1.2.3"},
        "_meta": {"steering": steering}})
}

/// An agent that can be steered, and says something before and after its answer.
fn fake(answer: Do) -> Fake {
    let able = json!({"supported": true, "idleBehaviors": ["promptRequired"]});
    Fake::new(json!({}))
        .on("initialize", [Do::Answer(hello(&able))])
        .on("session/prompt", [text("One.")])
        .on(
            METHOD,
            [text("Two."), answer, text("Three."), Do::End("end_turn")],
        )
}

/// Runs a turn, and steers it as soon as something was said.
async fn steered(fake: Fake, request: TurnRequest) -> (SteerOutcome, Vec<String>, support::Heard) {
    let (handle, asks) = steering();
    let (sender, mut events) = progress();
    let request = request.with_steering(asks).with_progress(sender);
    let harness = harness();
    let steering = async {
        let (mut told, mut outcome) = (Vec::new(), None);
        while let Some(event) = events.next().await {
            match event {
                TurnProgress::Message(text) => told.push(text),
                TurnProgress::Steered(outcome) => told.push(format!("{outcome:?}")),
                _ => continue,
            }
            if outcome.is_none() {
                outcome = Some(tokio::spawn({
                    let handle = handle.clone();
                    async move { handle.steer("and use tabs").await }
                }));
            }
        }
        (outcome.unwrap().await.unwrap(), told)
    };
    let ((outcome, heard), (steered, told)) = tokio::join!(fake.run(&harness, request), steering);
    outcome.unwrap();
    (steered, told, heard)
}

#[tokio::test(start_paused = true)]
async fn what_came_of_it_stands_in_its_place_among_the_updates() {
    let fake = fake(Do::Answer(json!({"outcome": "injected"})));
    let (outcome, told, heard) = steered(fake, ask("x")).await;
    assert_eq!(outcome, SteerOutcome::Injected);
    assert_eq!(told, ["One.", "Two.", "Injected", "Three."]);
    let sent = params(&heard, METHOD);
    assert_eq!(sent["prompt"][0]["text"], "and use tabs");
    assert_eq!(sent["_meta"]["idleBehavior"], "promptRequired");
}

#[tokio::test(start_paused = true)]
async fn each_answer_has_its_outcome() {
    let word = |word: &str| Do::Answer(json!({"outcome": word}));
    for (answer, expected, safe) in [
        (word("promptRequired"), SteerOutcome::FallbackRequired, true),
        (word("failed"), SteerOutcome::FallbackRequired, true),
        (
            word("startedNewTurn"),
            SteerOutcome::DeliveredUntrackable,
            false,
        ),
        (word("pondered"), SteerOutcome::DeliveryUnknown, false),
        (Do::Refuse(-32601), SteerOutcome::Unsupported, true),
        (Do::Refuse(-32602), SteerOutcome::FallbackRequired, true),
        (Do::Refuse(-32603), SteerOutcome::DeliveryUnknown, false),
        (Do::Wait(SECOND), SteerOutcome::DeliveryUnknown, false),
    ] {
        let shown = format!("{answer:?}");
        let (outcome, ..) = steered(fake(answer), ask("x")).await;
        assert_eq!(
            (outcome, outcome.is_retry_safe()),
            (expected, safe),
            "{shown}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn who_says_nothing_of_it_is_not_steered() {
    let quiet = Fake::new(json!({})).on(
        "session/prompt",
        [text("One."), Do::Wait(SECOND), Do::End("end_turn")],
    );
    let (outcome, _, heard) = steered(quiet, ask("x")).await;
    assert_eq!(outcome, SteerOutcome::Unsupported);
    assert!(!methods(&heard).contains(&METHOD));
}

#[tokio::test(start_paused = true)]
async fn what_may_have_been_done_twice_ends_it_for_the_turn() {
    let fake = Fake::new(json!({}))
        .on(
            "initialize",
            [Do::Answer(hello(
                &json!({"supported": true, "idleBehaviors": ["promptRequired"]}),
            ))],
        )
        .on("session/prompt", [text("One.")])
        .on(
            METHOD,
            [
                Do::Answer(json!({"outcome": "startedNewTurn"})),
                Do::Wait(SECOND),
            ],
        )
        .on("session/cancel", [Do::End("cancelled")]);
    let (handle, asks) = steering();
    let request = ask("x").with_steering(asks).with_total_timeout(60 * SECOND);
    let harness = harness();
    let steering = async { (handle.steer("a").await, handle.steer("b").await) };
    let ((_, heard), outcomes) = tokio::join!(fake.run(&harness, request), steering);
    assert_eq!(
        outcomes,
        (
            SteerOutcome::DeliveredUntrackable,
            SteerOutcome::Unsupported
        )
    );
    assert_eq!(
        methods(&heard)
            .iter()
            .filter(|method| **method == METHOD)
            .count(),
        1
    );
    // The turn is over, and with it the handle.
    assert_eq!(handle.steer("c").await, SteerOutcome::FallbackRequired);
}

#[tokio::test(start_paused = true)]
async fn who_steers_a_turn_that_never_begins_is_told_so() {
    let (handle, asks) = steering();
    let fake = Fake::new(json!({})).on("session/new", [Do::Wait(SECOND), Do::Refuse(-32603)]);
    let request = ask("x").with_steering(asks);
    let harness = harness();
    let ((outcome, _), steered) = tokio::join!(fake.run(&harness, request), handle.steer("a"));
    outcome.unwrap_err();
    assert_eq!(steered, SteerOutcome::FallbackRequired);
}

#[test]
fn the_gate_is_data() {
    let mut entry = ada();
    let mut check = |steering: Value, versions: &[&str], expected: bool| {
        let agent = serde_json::from_value(hello(&steering)).unwrap();
        entry.quirks.steering_versions = versions.iter().map(ToString::to_string).collect();
        assert_eq!(
            can_steer(&entry, &agent),
            expected,
            "{steering} {versions:?}"
        );
    };
    let by_word = json!({"supported": true, "idleBehaviors": ["a", "promptRequired"]});
    check(by_word, &[], true);
    check(json!({"supported": true}), &[], false);
    check(json!({"supported": true}), &["1.2.3"], true);
    check(json!({"supported": true}), &["1.2.2", "1.2"], false);
    check(
        json!({"supported": "true", "idleBehaviors": ["promptRequired"]}),
        &["1.2.3"],
        false,
    );
    check(
        json!({"idleBehaviors": ["promptRequired"]}),
        &["1.2.3"],
        false,
    );
    check(Value::Null, &["1.2.3"], false);
    drop(harness_of(entry));
}
