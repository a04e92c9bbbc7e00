//! What each kind of step does to the other side.

mod support;

use std::time::Duration;

use acp_mockpeer::{Check, Play, Verdict};
use support::{meet, run, scenario};

/// Plays two scripts against each other; what the client says of it.
#[track_caller]
fn verdict(agent: &str, client: &str) -> Verdict {
    let agent = scenario("agent.acpt", agent);
    let client = scenario("client.acpt", client);
    let (_, outcome) = run(meet(Play::agent(&agent), Play::client(&client)));
    if matches!(outcome.verdict, Verdict::Failed | Verdict::Broken(_)) {
        panic!("{outcome}");
    }
    outcome.verdict.clone()
}

#[track_caller]
fn check(agent: &str, client: &str) {
    assert_eq!(verdict(agent, client), Verdict::Passed);
}

const HELLO: &str = "-> initialize\n<- result\n";

/// Both say hello; then the agent does one thing, and the client another.
#[track_caller]
fn after_hello(agent: &str, client: &str) {
    check(&format!("{HELLO}{agent}"), &format!("{HELLO}{client}"));
}

#[test]
fn lines_in_any_form_are_lines() {
    for form in [
        "split every 1",
        "split at 1, 20, 5 pausing 100ms",
        "split at 9999",
        "ended by crlf",
        "padded to 256KiB",
        "ended by nothing\n<- text \"\\n\"",
    ] {
        check(&format!("-> initialize\n<- result {form}\n"), HELLO);
    }
}

#[test]
fn a_line_longer_than_any_buffer() {
    let client = scenario("client.acpt", &format!("{HELLO}<- any*\n<- close\n"));
    let agent = scenario("agent.acpt", &format!("{HELLO}<- line of 2MiB\n<- close\n"));
    let (_, strict) = run(meet(Play::agent(&agent), Play::client(&client)));
    assert_eq!(strict.findings[0].finding.check, Check::Noise);
    let lax = Play::client(&client).allow(Check::Noise);
    let (_, lax) = run(meet(Play::agent(&agent), lax));
    lax.assert_passed();
}

#[test]
fn ids_by_choice() {
    after_hello(
        "-> session/new with id $id\n<- raw message {\"jsonrpc\": \"2.0\", \"id\": \"$id\", \"result\": {\"sessionId\": \"s\"}}\n",
        "-> session/new with id \"odd id\"\n<- result {\"sessionId\": \"s\"} with id \"odd id\"\n",
    );
    after_hello(
        "-> session/new with id -7\n<- result\n",
        "-> session/new with id -7\n<- result\n",
    );
}

#[test]
fn silence() {
    after_hello(
        "<- nothing for 2s\n<- notify _done\n",
        "<- nothing for 1s\n<- notify _done\n",
    );
    let agent = scenario(
        "agent.acpt",
        &format!("{HELLO}<- wait 500ms\n<- request _early\n"),
    );
    let client = scenario("client.acpt", &format!("{HELLO}<- nothing for 1s\n"));
    let (_, outcome) = run(meet(Play::agent(&agent), Play::client(&client)));
    assert_eq!(outcome.failure.unwrap().line, 3);
    // What is ignored does not break it.
    let client = format!("<- ignore request _early\n{HELLO}<- nothing for 1s\n");
    let client = scenario("client.acpt", &client);
    let (_, outcome) = run(meet(Play::agent(&agent), Play::client(&client)));
    outcome.assert_passed();
}

#[test]
fn within_counts_from_the_line_before_and_not_from_repetitions() {
    let updates = "repeat 5\n<- wait 500ms\n<- notify _tick\nend\n";
    let agent = scenario("agent.acpt", &format!("{HELLO}{updates}<- notify _done\n"));
    let client = |within: &str| {
        let text = format!("{HELLO}<- notify _tick*\n<- notify _done within {within}\n");
        let client = scenario("client.acpt", &text);
        run(meet(Play::agent(&agent), Play::client(&client))).1
    };
    client("3s").assert_passed();
    let late = client("2s");
    let failure = late.failure.unwrap();
    assert_eq!(
        (failure.line, failure.summary.as_str()),
        (4, "it did not come within 2s")
    );
}

#[test]
fn never_and_ignore_stand() {
    let agent = scenario(
        "agent.acpt",
        &format!("{HELLO}<- notify _a\n<- notify _b\n<- notify _c\n"),
    );
    let play = |rules: &str| {
        let client = scenario("client.acpt", &format!("{rules}{HELLO}<- notify _c\n"));
        run(meet(Play::agent(&agent), Play::client(&client))).1
    };
    play("<- ignore notify _a\n<- ignore notify _b\n").assert_passed();
    let outcome = play("<- ignore notify _a\n<- never notify _b\n<- ignore notify _b\n");
    let failure = outcome.failure.unwrap();
    assert_eq!(
        (failure.line, failure.summary.as_str()),
        (2, "the agent sent what it must never send")
    );
    // What is of the agent's own, nobody has to know, unless it asks for an answer.
    play("").assert_passed();
    let agent = scenario("agent.acpt", &format!("{HELLO}<- request _a\n"));
    let client = scenario("client.acpt", &format!("{HELLO}<- notify _c\n"));
    let (_, outcome) = run(meet(Play::agent(&agent), Play::client(&client)));
    let failure = outcome.failure.unwrap();
    assert_eq!(
        (failure.line, failure.summary.as_str()),
        (3, "the agent sent what no step expects")
    );
}

#[test]
fn standing_rules_serve_again_and_again() {
    check(
        "whenever -> any request\n<- error -32601\nend\n\
         whenever -> initialize\n<- result\nend\n\
         whenever -> session/new\n<- result {\"sessionId\": \"$s\"}\n\
         whenever -> session/prompt {\"sessionId\": \"$s\"}\n<- session/update {\"sessionId\": \"$s\"}\n<- result\nend\nend\n",
        "-> initialize\n<- result\n\
         -> session/new\n<- result {\"sessionId\": \"$a\"}\n-> session/new\n<- result {\"sessionId\": \"$b\"}\n\
         -> session/prompt {\"sessionId\": \"$a\"} as one\n<- session/update {\"sessionId\": \"$a\"}\n<- result of one\n\
         -> session/prompt {\"sessionId\": \"$b\"} as two\n<- session/update {\"sessionId\": \"$b\"}\n<- result of two\n\
         -> session/prompt {\"sessionId\": \"$a\"} as three\n<- session/update {\"sessionId\": \"$a\"}\n<- result of three\n\
         -> request _other\n<- error -32601\n",
    );
}

#[test]
fn a_flood_is_counted() {
    after_hello(
        "repeat 20000 as $i\n<- notify _flood {\"i\": \"$i\", \"text\": \"number $i\"}\nend\n",
        "repeat 20000 as $i\n<- notify _flood {\"i\": \"$i\", \"text\": \"number $i\"}\nend\n",
    );
    after_hello(
        "repeat 20000\n<- notify _flood\nend\n<- notify _end\n",
        "<- notify _flood+\n<- notify _end\n",
    );
}

#[test]
fn who_reads_slowly_or_not_at_all_is_waited_for() {
    // The pipe holds 4 KiB; the client has to wait while the agent does not read.
    after_hello(
        "<- stop reading\n<- wait 1s\n<- read on\n-> notify _big\n<- notify _thanks\n",
        "-> notify _big {} padded to 64KiB\n<- notify _thanks within 3s\n",
    );
    let agent =
        format!("{HELLO}<- read slowly 1KiB every 10ms\n-> notify _big\n<- notify _thanks\n");
    let client = format!("{HELLO}-> notify _big {{}} padded to 64KiB\n<- notify _thanks\n");
    let (agent, client) = (
        scenario("agent.acpt", &agent),
        scenario("client.acpt", &client),
    );
    let (_, outcome) = run(meet(Play::agent(&agent), Play::client(&client)));
    outcome.assert_passed();
    let thanked = &outcome.transcript.entries()[3];
    assert!(thanked.at >= Duration::from_millis(630), "{thanked:?}");
}

#[test]
fn both_flood_and_nobody_hangs() {
    let flood =
        |arrow: &str| format!("repeat 500\n{arrow} notify _flood {{}} padded to 4KiB\nend\n");
    after_hello(
        &format!("{}-> notify _flood*\n-> notify _end\n", flood("<-")),
        &format!("{}-> notify _end\n<- notify _flood+\n", flood("->")),
    );
}

#[test]
fn branches_are_told_apart_by_what_comes() {
    let client = "-> session/new as new\n\
        either\n<- session/update*\n<- error to new -32000\n<- notify _login\n\
        or\n<- session/update*\n<- result of new\n<- notify _ready\nend\n";
    after_hello(
        "-> session/new\n<- error -32000\n<- notify _login\n",
        client,
    );
    after_hello("-> session/new\n<- result\n<- notify _ready\n", client);
    after_hello(
        "-> session/new\n<- session/update {\"sessionId\": \"s\"}\n<- result {\"sessionId\": \"s\"}\n<- notify _ready\n",
        client,
    );
}

#[test]
fn any_order() {
    let client = "any order\n<- notify _a {\"n\": 1}\n<- notify _a {\"n\": 2}\n<- notify _b*\n<- notify _c?\nend\n<- notify _end\n";
    after_hello(
        "<- notify _a {\"n\": 1}\n<- notify _a {\"n\": 2}\n<- notify _end\n",
        client,
    );
    after_hello(
        "<- notify _b\n<- notify _a {\"n\": 2}\n<- notify _b\n<- notify _c\n<- notify _a {\"n\": 1}\n<- notify _b\n<- notify _end\n",
        client,
    );
    let agent = scenario(
        "agent.acpt",
        &format!("{HELLO}<- notify _a {{\"n\": 2}}\n<- notify _end\n"),
    );
    let client = scenario("client.acpt", &format!("{HELLO}{client}"));
    let (_, outcome) = run(meet(Play::agent(&agent), Play::client(&client)));
    // What is missing is named, not the block.
    assert_eq!(outcome.failure.unwrap().line, 4);
}

#[test]
fn what_is_needed_is_advertised_or_skipped() {
    let needs = "needs: agent sessionCapabilities.list, agent loadSession\n";
    let listing = format!("{needs}{HELLO}-> session/list\n<- result\n");
    check(&listing, &listing);
    let skipped = verdict(HELLO, &listing);
    assert_eq!(
        skipped,
        Verdict::Skipped("the agent does not advertise `sessionCapabilities.list`".to_owned())
    );
    let refused = format!(
        "{needs}-> initialize\n<- result {{\"agentCapabilities\": {{\"loadSession\": false}}}}\n"
    );
    let agent = scenario("agent.acpt", &refused);
    let client = scenario("client.acpt", HELLO);
    let (outcome, _) = run(meet(Play::agent(&agent), Play::client(&client)));
    assert!(matches!(outcome.verdict, Verdict::Broken(_)), "{outcome}");
}

#[test]
fn what_did_not_happen_proves_nothing() {
    let client = format!(
        "{HELLO}either\n<- notify _race\nor\n<- notify _calm\nnot exercised \"nobody raced\"\nend\n"
    );
    check(&format!("{HELLO}<- notify _race\n"), &client);
    assert_eq!(
        verdict(&format!("{HELLO}<- notify _calm\n"), &client),
        Verdict::NotExercised("nobody raced (line 7)".to_owned())
    );
}

#[test]
fn what_the_one_branch_that_goes_on_asked_is_answered_behind_it() {
    let client = format!(
        "{HELLO}-> session/new as new\n\
        either\n<- request _ask as ask\n<- result of new\n\
        or\n<- result of new\nnot exercised \"nobody asked\"\nend\n\
        -> result of ask {{\"n\": 1}}\n<- notify _thanks\n"
    );
    let agent = "-> session/new as new\n<- request _ask as ask\n<- result of new\n\
        -> result of ask {\"n\": 1}\n<- notify _thanks\n";
    check(&format!("{HELLO}{agent}"), &client);
}

#[test]
fn a_script_that_is_wrong_itself_blames_nobody() {
    let client = scenario("client.acpt", HELLO);
    let broken = |agent: &str, line: usize, why: &str| {
        let agent = scenario("agent.acpt", agent);
        let (outcome, _) = run(meet(Play::agent(&agent), Play::client(&client)));
        assert!(matches!(outcome.verdict, Verdict::Broken(_)), "{outcome}");
        let failure = outcome.failure.unwrap();
        assert_eq!(failure.line, line);
        let told = format!(
            "{} {}",
            failure.summary.as_str(),
            failure.because.as_deref().unwrap_or_default()
        );
        assert!(told.contains(why), "{told}");
    };
    broken(
        "-> initialize\n<- result {\"protocolVersion\": \"1\"}\n",
        2,
        "is not of type",
    );
    broken(
        "-> initialize\n<- fs/read_text_file\n",
        2,
        "came before initialize was answered",
    );
    broken(
        &format!("{HELLO}<- fs/read_text_file\n"),
        3,
        "was not advertised",
    );
    broken(
        "-> initialize\n<- result {\"protocolVersion\": any integer}\n",
        2,
        "cannot be sent",
    );
    broken(
        "side: agent\n-> initialize\n",
        1,
        "it tests the agent, so it plays the client",
    );
    broken("-> text \"half a line\"\n", 1, "as one whole line only");
    broken(
        &format!("{HELLO}<- grandchild for 5s\n"),
        3,
        "only a mock agent that is a process",
    );
}

#[test]
fn a_play_ends_when_its_time_is_over() {
    let agent = scenario(
        "agent.acpt",
        &format!("{HELLO}repeat 100\n<- notify _tick\n<- wait 1s\nend\n"),
    );
    let client = scenario(
        "client.acpt",
        &format!("limit: 10s\n{HELLO}<- any*\n<- notify _never\n"),
    );
    let (_, outcome) = run(meet(Play::agent(&agent), Play::client(&client)));
    let failure = outcome.failure.unwrap();
    assert_eq!(
        (failure.line, failure.summary.as_str()),
        (5, "the play took longer than 10s")
    );
}

/// An end that comes while silence is awaited is still an end.
#[test]
fn an_end_in_a_silence() {
    let text = "-> initialize\n<- result\n-> nothing for 300ms\n-> close\n";
    let scenario = scenario("silence.acpt", text);
    let (agent, client) = run(meet(Play::agent(&scenario), Play::client(&scenario)));
    agent.assert_passed();
    client.assert_passed();
}
