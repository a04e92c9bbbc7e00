//! What is demanded for rules, and what breaks them.

mod support;

use acp_mockpeer::{Play, PlayOutcome, Scenario};
use expect_test::{Expect, expect};
use support::{meet, run, scenario};

/// The client's outcome: it judges.
fn judged(agent: &str, client: &str) -> PlayOutcome {
    let agent = scenario("agent.acpt", agent);
    let client = scenario("judge.acpt", client);
    run(meet(Play::agent(&agent), Play::client(&client))).1
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
fn check(agent: &str, client: &str, expected: Expect) {
    let outcome = judged(agent, client);
    let mut shown = format!("{:?}\n", outcome.verdict);
    for breach in &outcome.breaches {
        let mark = if breach.is_failure() { '!' } else { '~' };
        let line = breach.line.map_or("?".to_owned(), |line| line.to_string());
        shown.push_str(&format!("{mark} line {line}: {breach}\n"));
    }
    expected.assert_eq(&shown);
}

const INTRODUCES: &str = "\
# An agent introduces itself.
-> initialize {\"protocolVersion\": 1}
<- result {\"protocolVersion\": any integer | 1} for R027
  for R032 {\"protocolVersion\": 1}
  for R029 {\"agentInfo\": {\"name\": any string | \"a\", \"version\": any string | \"1\"}}
-> session/new
<- result {\"sessionId\": \"$s\"} for R058
";

#[test]
fn what_is_demanded_is_sent() {
    let outcome = judged(INTRODUCES, INTRODUCES);
    outcome.assert_passed();
    assert_eq!(outcome.breaches, []);
    let exercised: Vec<&str> = outcome.exercised.iter().map(|rule| rule.id).collect();
    assert_eq!(exercised, ["R027", "R029", "R032", "R058"]);
}

#[test]
fn the_play_goes_on_when_a_demand_is_broken() {
    // Without a name it is warned; R029 is a SHOULD.
    check(
        "-> initialize\n<- result {\"protocolVersion\": 1}\n-> session/new\n<- result\n",
        INTRODUCES,
        expect![[r#"
            Passed
            ~ line 5: R029: at result.agentInfo: expected {"name": any string | "a", "version": any string | "1"}, got nothing
        "#]],
    );
    // Another version than the one that was asked for is a failure.
    check(
        "-> initialize\n<- result {\"protocolVersion\": 2}\n-> session/new\n<- result\n",
        INTRODUCES,
        expect![[r#"
            Failed
            ! line 4: R032: at result.protocolVersion: expected 1, got 2
            ~ line 5: R029: at result.agentInfo: expected {"name": any string | "a", "version": any string | "1"}, got nothing
        "#]],
    );
}

#[test]
fn a_step_that_fails_breaks_what_it_is_for() {
    check(
        "-> initialize\n<- error -32603\n",
        INTRODUCES,
        expect![[r#"
            Failed
            ! line 3: R027: expected the result of initialize {"protocolVersion": any integer | 1} (line 3); at the answer: expected a result, got an error
        "#]],
    );
    check(
        "-> initialize\n<- nothing for 1m\n",
        INTRODUCES,
        expect![[r#"
            Failed
            ! line 3: R027: expected the result of initialize {"protocolVersion": any integer | 1} (line 3); it did not come within 5s
        "#]],
    );
}

#[test]
fn a_scenario_for_one_rule_and_a_scenario_for_none() {
    let refuses = "-> initialize\n<- error -32603\n";
    check(
        refuses,
        "proves: R027\n-> initialize\n<- result\n",
        expect![[r#"
            Failed
            ! line 3: R027: expected the result of initialize (line 3); at the answer: expected a result, got an error
        "#]],
    );
    check(
        refuses,
        "proves: R027 R028\n-> initialize\n<- result\n",
        expect![[r#"
            Failed
            ! line 3: expected the result of initialize (line 3); at the answer: expected a result, got an error
        "#]],
    );
    // A rule that binds the other side was not broken by this one.
    check(
        refuses,
        "proves: R024\n-> initialize\n<- result\n",
        expect![[r#"
            Failed
            ! line 3: expected the result of initialize (line 3); at the answer: expected a result, got an error
        "#]],
    );
}

#[test]
fn what_must_never_come() {
    check(
        "-> initialize\n<- result {\"protocolVersion\": 1}\n<- raw notify \"oh\"\n-> session/new\n<- result\n",
        "-> initialize\n<- result\n<- never notify oh for R180\n-> session/new\n<- result\n",
        expect![[r#"
            Failed
            ! line 3: R180: the agent sent what it must never send
        "#]],
    );
}

/// One fault is told once: what is missed because of it is not a second one.
#[test]
fn a_fault_is_told_once() {
    check(
        "-> initialize\n<- raw result {\"protocolVersion\": 1} with id 99\n<- nothing for 1m\n",
        INTRODUCES,
        expect![[r#"
            Failed
            ! line 3: R019: nothing that was asked has the id 99 and waits for an answer
        "#]],
    );
    check(
        "-> initialize\n<- raw result {\"protocolVersion\": \"one\"}\n",
        INTRODUCES,
        expect![[r#"
            Failed
            ! line 3: R031: at result.protocolVersion: "one" is not of type "integer"
        "#]],
    );
}

#[test]
fn what_no_rule_is_about_has_a_rule_all_the_same() {
    check(
        "-> initialize\n<- result\n<- raw session/update {\"sessionId\": 5}\n",
        "allow: unknown-session\n-> initialize\n<- result\n<- session/update\n-> session/new\n<- nothing for 1s\n",
        expect![[r#"
            Failed
            ! line 4: schema: at params: "update" is a required property
            ! line 4: schema: at params.sessionId: 5 is not of type "string"
        "#]],
    );
}

#[test]
fn who_would_break_a_demand_itself_does_not_send() {
    let wrong = "-> initialize\n<- result {\"protocolVersion\": 1}\n  for R032 {\"protocolVersion\": not 1}\n";
    let (agent, _) = {
        let wrong = scenario("wrong.acpt", wrong);
        run(meet(Play::agent(&wrong), Play::client(&wrong)))
    };
    let failure = agent.failure.unwrap();
    assert_eq!(
        failure.because.as_deref(),
        Some("at result.protocolVersion: expected not 1, got 1")
    );
    assert_eq!(agent.breaches, []);
}

#[test]
fn tasks_of_a_client() {
    let text = "task: [\"new\"] [\"prompt\", \"$say_text\"]\n-> initialize\n";
    let read = Scenario::parse("task.acpt", text).unwrap();
    let values = |name: &str| [(name.to_owned(), "hello".into())].into();
    let tasks = read.tasks(&values("say_text")).unwrap();
    assert_eq!(tasks.to_string(), r#"[["new"],["prompt","hello"]]"#);
    let error = read.tasks(&values("other")).unwrap_err();
    assert_eq!(error, "nobody says what $say_text stands for");
}
