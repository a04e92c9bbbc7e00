//! Agents that want a login before they open a session: who judges logs in, or says
//! that nothing can be said.

use acp_mockpeer::{Play, PlayOutcome, Scenario, Verdict};
use expect_test::{Expect, expect};

/// What is tried with each of them; it does not speak of logins.
const SESSIONS: &str = "\
# Two sessions are open, and one of them answers.
-> initialize {\"clientCapabilities\": {\"auth\": {\"terminal\": true}}}
<- result
-> session/new as one
-> session/new as two
any order
  <- result of one {\"sessionId\": \"$one\"}
  <- result of two {\"sessionId\": not \"$one\"}
end
-> session/prompt {\"sessionId\": \"$one\", \"prompt\": [{\"type\": \"text\", \"text\": \"hello\"}]}
<- result
";

/// An agent with one login that it does itself, one that it does not, and what it
/// does when somebody wants in.
fn locked(authenticate: &str) -> String {
    format!(
        "\
allow: unadvertised rules
whenever -> initialize
  <- result {{\"authMethods\": [{{\"id\": \"key\", \"name\": \"By a key\"}}, {{\"id\": \"shell\", \"name\": \"In a shell\", \"type\": \"terminal\"}}]}}
end
whenever -> session/new
  <- error -32000
end
whenever -> authenticate {{\"methodId\": \"key\"}}
{authenticate}
end
whenever -> session/prompt
  <- result {{\"stopReason\": \"end_turn\"}}
end
"
    )
}

const LETS_IN: &str = "  \
  <- result {}
  whenever -> session/new
    <- result {\"sessionId\": \"$s\"}
  end";

fn play(scenario: &str, agent: &str, login: Option<&str>) -> PlayOutcome {
    let scenario = Scenario::parse("sessions.acpt", scenario).expect("the scenario can be read");
    let agent = Scenario::parse("agent.acpt", agent).expect("the agent can be read");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let (ours, theirs) = tokio::io::duplex(4096);
        let (our_reader, our_writer) = tokio::io::split(ours);
        let (their_reader, their_writer) = tokio::io::split(theirs);
        let judge = Play::client(&scenario).with_login(login);
        tokio::join!(
            judge.over(our_reader, our_writer),
            Play::agent(&agent)
                .without_limit()
                .over(their_reader, their_writer),
        )
        .0
    })
}

/// Shows what came of it and what was said, without what is in it.
#[track_caller]
fn check(scenario: &str, agent: &str, login: Option<&str>, expected: Expect) {
    let outcome = play(scenario, agent, login);
    let mut shown = match outcome.verdict {
        Verdict::Skipped(why) => format!("skipped: {why}\n"),
        other => format!("{other:?}\n").to_lowercase(),
    };
    for entry in outcome.transcript.entries() {
        let line: serde_json::Value =
            serde_json::from_str(&entry.to_json()).expect("an entry is JSON");
        let Some(message) = line["line"].as_str() else {
            continue;
        };
        let message: serde_json::Value = serde_json::from_str(message).expect("a message is JSON");
        let what = match (&message["method"], &message["error"]["code"]) {
            (serde_json::Value::String(method), _) => method.clone(),
            (_, serde_json::Value::Null) => "result".to_owned(),
            (_, code) => format!("error {code}"),
        };
        shown.push_str(&format!("{} {what}\n", message["id"]));
    }
    expected.assert_eq(&shown);
}

#[test]
fn who_knows_a_login_is_let_in_and_asks_again() {
    check(
        SESSIONS,
        &locked(LETS_IN),
        Some("key"),
        expect![[r#"
        passed
        1 initialize
        1 result
        2 session/new
        3 session/new
        2 error -32000
        3 error -32000
        4 authenticate
        4 result
        2 session/new
        3 session/new
        2 result
        3 result
        5 session/prompt
        5 result
    "#]],
    );
}

#[test]
fn without_one_nothing_can_be_said() {
    check(
        SESSIONS,
        &locked(LETS_IN),
        None,
        expect![[r#"
        skipped: the agent wants a login: it offers `key`, `shell`; a profile may say `login`
        1 initialize
        1 result
        2 session/new
        3 session/new
        2 error -32000
        3 error -32000
    "#]],
    );
}

#[test]
fn a_login_that_leads_nowhere_is_told() {
    let refuses = "  <- error -32603";
    check(
        SESSIONS,
        &locked(refuses),
        Some("key"),
        expect![[r#"
        skipped: the agent wants a login: it answered `key` with an error (-32603)
        1 initialize
        1 result
        2 session/new
        3 session/new
        2 error -32000
        3 error -32000
        4 authenticate
        4 error -32603
    "#]],
    );
    // It has this one, and a person would have to do it.
    check(
        SESSIONS,
        &locked(LETS_IN),
        Some("shell"),
        expect![[r#"
        skipped: the agent wants a login: `shell` is none that it does itself
        1 initialize
        1 result
        2 session/new
        3 session/new
        2 error -32000
        3 error -32000
    "#]],
    );
    check(
        SESSIONS,
        &locked(LETS_IN),
        Some("face"),
        expect![[r#"
        skipped: the agent wants a login: it offers `key`, `shell`, and not `face`
        1 initialize
        1 result
        2 session/new
        3 session/new
        2 error -32000
        3 error -32000
    "#]],
    );
    let silent = "  <- wait 1ms";
    check(
        SESSIONS,
        &locked(silent),
        Some("key"),
        expect![[r#"
        skipped: the agent wants a login: `key` did not come to an end
        1 initialize
        1 result
        2 session/new
        3 session/new
        2 error -32000
        3 error -32000
        4 authenticate
    "#]],
    );
    let none = "whenever -> initialize\n  <- result\nend\nwhenever -> session/new\n  <- error -32000\nend\n";
    check(
        SESSIONS,
        none,
        Some("key"),
        expect![[r#"
        skipped: the agent wants a login: it offers none
        1 initialize
        1 result
        2 session/new
        3 session/new
        2 error -32000
        3 error -32000
    "#]],
    );
}

#[test]
fn who_is_in_and_refuses_fails() {
    let forgets = "  <- result {}";
    check(
        SESSIONS,
        &locked(forgets),
        Some("key"),
        expect![[r#"
        failed
        1 initialize
        1 result
        2 session/new
        3 session/new
        2 error -32000
        3 error -32000
        4 authenticate
        4 result
        2 session/new
        3 session/new
        2 error -32000
        3 error -32000
    "#]],
    );
    // A scenario about logins is not helped.
    let own = "\
-> initialize
<- result
-> authenticate {\"methodId\": \"key\"}
<- result
-> session/new
<- result
";
    check(
        own,
        &locked(forgets),
        Some("key"),
        expect![[r#"
        failed
        1 initialize
        1 result
        2 authenticate
        2 result
        3 session/new
        3 error -32000
    "#]],
    );
}

#[test]
fn a_step_that_expects_the_error_gets_it() {
    let own = "\
-> initialize {\"clientCapabilities\": {\"auth\": {\"terminal\": true}}}
<- result
-> session/new
<- error -32000
";
    check(
        own,
        &locked(LETS_IN),
        Some("key"),
        expect![[r#"
        passed
        1 initialize
        1 result
        2 session/new
        2 error -32000
    "#]],
    );
}

/// The code says so of other requests as well, and may mean any error of a server.
#[test]
fn an_error_that_is_about_something_else_fails() {
    let loads = "\
-> initialize
<- result
-> session/load
<- result
";
    let agent = "allow: unadvertised\nwhenever -> initialize\n  <- result\nend\nwhenever -> session/load\n  <- error -32000\nend\n";
    let scenario = format!("allow: unadvertised\n{loads}");
    check(
        &scenario,
        agent,
        Some("key"),
        expect![[r#"
        failed
        1 initialize
        1 result
        2 session/load
        2 error -32000
    "#]],
    );
}
