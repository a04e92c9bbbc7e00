//! How a conversation goes on over several turns, and how an agent is logged in to.

mod support;

use acp_client::{Client, ClientError, ClientOptions};
use acp_harness::launch::Isolation;
use acp_harness::limits::{LATE_REPLAY_LIMIT, LATE_REPLAY_QUIET};
use acp_harness::login::{AuthPolicy, LoginMarker};
use acp_harness::record::{RecordError, SessionRecords};
use acp_harness::transcript::{Speaker, Transcript};
use acp_harness::turn::{HarnessError, Opened, Opening, TurnProgress, TurnRequest, progress};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};
use support::{Do, Fake, SECOND, ada, ask, harness, harness_of, methods, params, text};
use tempfile::TempDir;

/// A conversation, of which one turn was run.
struct Talk {
    dir: TempDir,
}

impl Talk {
    async fn begun() -> Self {
        let talk = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        let (outcome, _) = Fake::new(json!({}))
            .run(&harness(), talk.ask("Hello?"))
            .await;
        assert_eq!(outcome.unwrap().opened, Some(Opened::New));
        talk
    }

    fn records(&self) -> SessionRecords {
        SessionRecords::in_folder(self.dir.path())
    }

    fn ask(&self, prompt: &str) -> TurnRequest {
        let mut said = Transcript::new();
        said.push(Speaker::User, "Hello?");
        ask(prompt)
            .with_instructions("Be brief.")
            .with_history(said)
            .in_conversation(self.records(), "ticket 17")
    }

    /// The session that is recorded.
    fn recorded(&self) -> Option<String> {
        let claim = self.records().try_claim("ada", "ticket 17").unwrap();
        claim
            .load()
            .unwrap()
            .map(|record| record.session_id.to_string())
    }
}

fn able(what: &[&str]) -> Value {
    let resume = if what.contains(&"resume") {
        json!({"resume": {}})
    } else {
        json!({})
    };
    json!({"loadSession": what.contains(&"load"), "sessionCapabilities": resume})
}

fn prompt(heard: &support::Heard) -> &str {
    params(heard, "session/prompt")["prompt"][0]["text"]
        .as_str()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_next_turn_resumes_the_session_and_sends_the_prompt_alone() {
    let talk = Talk::begun().await;
    let fake = Fake::new(able(&["resume", "load"])).on("session/resume", [Do::Answer(json!({}))]);
    let (outcome, heard) = fake.run(&harness(), talk.ask("And now?")).await;
    let outcome = outcome.unwrap();
    assert_eq!(outcome.opened, Some(Opened::Resumed));
    assert_eq!(
        methods(&heard),
        ["initialize", "session/resume", "session/prompt"]
    );
    let resumed = params(&heard, "session/resume");
    assert_eq!(
        (&resumed["sessionId"], &resumed["cwd"]),
        (&json!("s-1"), &json!("/code"))
    );
    assert_eq!(prompt(&heard), "And now?");
    assert_eq!(outcome.history.kept, 0);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_loaded_replays_nothing_into_the_report() {
    let talk = Talk::begun().await;
    let replayed = json!({"sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": "late replay"}});
    let late = json!({"jsonrpc": "2.0", "method": "session/update", "params":
        {"sessionId": "s-1", "update": replayed, "_meta": {"isReplay": true}}});
    let late: &'static str = Box::leak(late.to_string().into_boxed_str());
    let fake = Fake::new(able(&["load"]))
        .on(
            "session/load",
            [
                text("Old words."),
                Do::Answer(json!({})),
                text("Older."),
                // Some agents go on with the history after their answer, piece by piece.
                Do::Wait(LATE_REPLAY_QUIET / 2),
                text("Oldest."),
            ],
        )
        .on(
            "session/prompt",
            [Do::Raw(late), text("New words."), Do::End("end_turn")],
        );
    let (outcome, heard) = fake.run(&harness(), talk.ask("And now?")).await;
    let outcome = outcome.unwrap();
    assert_eq!(
        (outcome.opened, &*outcome.report),
        (Some(Opened::Loaded), "New words.")
    );
    assert_eq!(prompt(&heard), "And now?");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_never_stops_its_replay_is_prompted_all_the_same() {
    let talk = Talk::begun().await;
    let pieces = LATE_REPLAY_LIMIT.as_millis() / (LATE_REPLAY_QUIET / 2).as_millis();
    let endless = (0..2 * pieces).flat_map(|_| [Do::Wait(LATE_REPLAY_QUIET / 2), text("old ")]);
    let fake = Fake::new(able(&["load"])).on(
        "session/load",
        [Do::Answer(json!({}))].into_iter().chain(endless),
    );
    let (outcome, heard) = fake.run(&harness(), talk.ask("And now?")).await;
    assert_eq!(outcome.unwrap().opened, Some(Opened::Loaded));
    assert_eq!(prompt(&heard), "And now?");
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_falls_to_the_next_rung_and_in_the_end_a_new_session() {
    let talk = Talk::begun().await;
    let fake = Fake::new(able(&["resume", "load"]))
        .on("session/resume", [Do::Refuse(-32603)])
        .on("session/load", [Do::Refuse(-32002)])
        .on("session/new", [Do::Answer(json!({"sessionId": "s-2"}))])
        .on("session/prompt", [Do::End("end_turn")]);
    let (outcome, heard) = fake.run(&harness(), talk.ask("And now?")).await;
    let outcome = outcome.unwrap();
    assert_eq!(outcome.opened, Some(Opened::New));
    let expected = [
        "initialize",
        "session/resume",
        "session/load",
        "session/new",
        "session/prompt",
    ];
    assert_eq!(methods(&heard), expected);
    assert!(
        prompt(&heard).contains("user:\n> Hello?\n"),
        "{}",
        prompt(&heard)
    );
    assert_eq!(talk.recorded().unwrap(), "s-2");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_cannot_go_on_gets_a_new_session_at_once() {
    let talk = Talk::begun().await;
    let (outcome, heard) = Fake::new(able(&[]))
        .run(&harness(), talk.ask("And now?"))
        .await;
    assert_eq!(outcome.unwrap().opened, Some(Opened::New));
    assert_eq!(
        methods(&heard),
        ["initialize", "session/new", "session/prompt"]
    );
}

#[tokio::test(start_paused = true)]
async fn who_keeps_records_themselves_learns_why_a_session_is_new_or_has_none() {
    for (able_to, refused, expected) in [
        (able(&["resume"]), "the agent answered no (-32603)", -32603),
        (able(&[]), "which the agent does not offer", 0),
    ] {
        for no_other in [false, true] {
            let fake = Fake::new(able_to.clone()).on("session/resume", [Do::Refuse(-32603)]);
            let heard = fake.heard();
            let (ours, _served) = fake.serve();
            let (reader, writer) = tokio::io::split(ours);
            let client = Client::over(reader, writer, ClientOptions::new());
            let entry = ada();
            let mut opening = Opening::new(&entry, "/code").going_on_in("s-9");
            if no_other {
                opening = opening.or_failing();
            }
            let opened = opening.open(&client, &mut |_| {}).await;
            let asked_for_new = methods(&heard.lock()).contains(&"session/new");
            assert_eq!(asked_for_new, !no_other);
            match opened {
                Ok(ready) => {
                    assert_eq!(ready.opened, Opened::New);
                    let code = match ready.refusal {
                        Some(ClientError::Refused { error, .. }) => error.code.0,
                        _ => 0,
                    };
                    assert_eq!(code, expected);
                }
                Err(error) => assert!(no_other && error.to_string().contains(refused), "{error}"),
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn another_folder_is_another_session() {
    let talk = Talk::begun().await;
    let elsewhere =
        TurnRequest::new("ada", "x", "/elsewhere").in_conversation(talk.records(), "ticket 17");
    let (outcome, heard) = Fake::new(able(&["resume"]))
        .run(&harness(), elsewhere)
        .await;
    assert_eq!(outcome.unwrap().opened, Some(Opened::New));
    assert!(!methods(&heard).contains(&"session/resume"));
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_dies_has_refused_nothing() {
    for rung in ["session/resume", "session/load"] {
        let talk = Talk::begun().await;
        let fake = Fake::new(able(&[rung.trim_start_matches("session/")])).on(rung, [Do::HangUp]);
        let (outcome, heard) = fake.run(&harness(), talk.ask("And now?")).await;
        assert!(
            matches!(outcome, Err(HarnessError::Client(_))),
            "{outcome:?}"
        );
        assert_eq!(methods(&heard), ["initialize", rung]);
        assert_eq!(talk.recorded().unwrap(), "s-1", "the record is kept");
    }
}

#[tokio::test(start_paused = true)]
async fn a_truncated_turn_keeps_the_record_and_tells_no_session() {
    let talk = Talk::begun().await;
    let fake = Fake::new(able(&["resume"]))
        .on("session/resume", [Do::Answer(json!({}))])
        .on("session/prompt", [text("Half"), Do::HangUp]);
    let (outcome, _) = fake.run(&harness(), talk.ask("And now?")).await;
    let outcome = outcome.unwrap();
    assert_eq!((&*outcome.report, outcome.session_id), ("Half", None));
    assert_eq!(talk.recorded().unwrap(), "s-1");
}

#[tokio::test(start_paused = true)]
async fn one_turn_of_a_conversation_at_a_time() {
    let talk = Talk::begun().await;
    let claim = talk.records().try_claim("ada", "ticket 17").unwrap();
    let error = harness()
        .run_over(talk.ask("x"), tokio::io::empty(), tokio::io::sink())
        .await;
    assert!(
        matches!(error, Err(HarnessError::Record(RecordError::Busy))),
        "{error:?}"
    );

    let harness = harness();
    let fake = Fake::new(json!({}));
    let patient = talk.ask("x").waiting_for_conversation(60 * SECOND);
    let free = async {
        tokio::time::sleep(10 * SECOND).await;
        drop(claim);
    };
    let ((outcome, _), ()) = tokio::join!(fake.run(&harness, patient), free);
    outcome.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_conversation_is_free_again_after_its_turn_was_dropped() {
    let talk = Talk::begun().await;
    let (ours, served) = Fake::new(json!({})).on("session/prompt", []).serve();
    let (reader, writer) = tokio::io::split(ours);
    let harness = harness();
    let turn = harness.run_over(talk.ask("x"), reader, writer);
    let dropped = tokio::time::timeout(5 * SECOND, turn).await;
    assert!(dropped.is_err(), "it was dropped before its end");
    served.await.unwrap();
    let patience = Duration::from_secs(60);
    talk.records()
        .claim("ada", "ticket 17", patience)
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_needs_no_login_is_not_logged_in() {
    let (outcome, heard) = Fake::with_logins(&["key"]).run(&harness(), ask("x")).await;
    assert_eq!(outcome.unwrap().login, None);
    assert!(!methods(&heard).contains(&"authenticate"));
}

#[tokio::test(start_paused = true)]
async fn a_refused_session_is_asked_for_once_more_after_a_login() {
    let fake = Fake::with_logins(&["terminal:tui", "browser", "first", "second"])
        .on("session/new", [Do::Refuse(-32000)])
        .then("session/new", [Do::Answer(json!({"sessionId": "s-1"}))])
        .on("authenticate", [Do::Refuse(-32603)])
        .then("authenticate", [Do::Answer(json!({}))]);
    let mut entry = ada();
    entry.login.browser_methods = vec!["browser".to_owned()];
    let (sender, mut events) = progress();
    let request = ask("x").with_progress(sender);
    let (outcome, heard) = fake.run(&harness_of(entry), request).await;
    assert_eq!(outcome.unwrap().login.unwrap(), "second");
    let expected = [
        "initialize",
        "session/new",
        "authenticate",
        "authenticate",
        "session/new",
        "session/prompt",
    ];
    assert_eq!(methods(&heard), expected);
    let mut logins = Vec::new();
    while let Some(event) = events.next().await {
        if let TurnProgress::Login { method, succeeded } = event {
            logins.push((method.to_string(), succeeded));
        }
    }
    let login = |method: &str, succeeded| (method.to_owned(), succeeded);
    let expected = [
        login("first", None),
        login("first", Some(false)),
        login("second", None),
        login("second", Some(true)),
    ];
    assert_eq!(logins, expected);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_asks_for_ever_is_not_logged_in_for_ever() {
    let fake = Fake::with_logins(&["one"]).on("session/new", [Do::Refuse(-32000)]);
    let (outcome, heard) = fake.run(&harness(), ask("x")).await;
    let Err(HarnessError::AuthRequired(required)) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(required.tried, ["one"]);
    assert_eq!(required.to_string(), "log in to ada: ada login");
    let expected = ["initialize", "session/new", "authenticate", "session/new"];
    assert_eq!(methods(&heard), expected);
}

#[tokio::test(start_paused = true)]
async fn what_needs_a_person_is_not_tried_unless_somebody_is_there() {
    let fake = || {
        Fake::with_logins(&["terminal:tui", "browser"])
            .on("session/new", [Do::Refuse(-32000)])
            .then("session/new", [Do::Answer(json!({"sessionId": "s-1"}))])
    };
    let mut entry = ada();
    entry.login.browser_methods = vec!["browser".to_owned()];
    let harness = harness_of(entry);
    let (outcome, heard) = fake().run(&harness, ask("x")).await;
    let Err(HarnessError::AuthRequired(required)) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!((required.methods.len(), required.tried.len()), (2, 0));
    assert!(!methods(&heard).contains(&"authenticate"));
    let present = ask("x").with_auth(AuthPolicy::new().allowing_browser());
    let (outcome, _) = fake().run(&harness, present).await;
    assert_eq!(outcome.unwrap().login.unwrap(), "browser");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_needs_a_login_is_resumed_after_it() {
    let talk = Talk::begun().await;
    let hello = json!({"protocolVersion": 1, "agentCapabilities": able(&["resume"]),
        "authMethods": [{"id": "key", "name": "Key"}]});
    let fake = Fake::new(json!({}))
        .on("initialize", [Do::Answer(hello)])
        .on("session/resume", [Do::Refuse(-32000)])
        .then("session/resume", [Do::Answer(json!({}))]);
    let (outcome, heard) = fake.run(&harness(), talk.ask("x")).await;
    assert_eq!(outcome.unwrap().opened, Some(Opened::Resumed), "{heard:?}");
}

#[tokio::test(start_paused = true)]
async fn a_key_is_announced_to_who_wants_to_know_it() {
    let mut entry = ada();
    entry.login.keys = vec!["ADA_KEY".to_owned()];
    entry.login.key_method = Some("key".to_owned());
    entry.login.announces_key = true;
    let harness = harness_of(entry);
    let request = ask("x").with_key("s3cret");
    let (outcome, heard) = Fake::with_logins(&["other", "key"])
        .run(&harness, request)
        .await;
    outcome.unwrap();
    assert_eq!(
        methods(&heard)[..3],
        ["initialize", "authenticate", "session/new"]
    );
    assert_eq!(params(&heard, "authenticate")["methodId"], "key");
    let (_, heard) = Fake::with_logins(&["key"]).run(&harness, ask("x")).await;
    assert!(
        !methods(&heard).contains(&"authenticate"),
        "there is no key"
    );
}

#[tokio::test(start_paused = true)]
#[cfg(unix)]
async fn a_login_is_remembered_until_the_agent_asks_again() {
    let dir = tempfile::tempdir().unwrap();
    let home = Isolation::new(dir.path().join("homes"))
        .home("ada", "ada")
        .unwrap();
    let logged_in = || LoginMarker::read(&home).unwrap();
    let fake = Fake::with_logins(&["one"])
        .on("session/new", [Do::Refuse(-32000)])
        .then("session/new", [Do::Answer(json!({"sessionId": "s-1"}))]);
    let (outcome, _) = fake.run(&harness(), ask("x").in_home(home.clone())).await;
    outcome.unwrap();
    assert_eq!(logged_in().unwrap().method, "one");
    let fake = Fake::with_logins(&["one"])
        .on("session/new", [Do::Refuse(-32000)])
        .on("authenticate", [Do::Refuse(-32603)]);
    let (outcome, _) = fake.run(&harness(), ask("x").in_home(home.clone())).await;
    assert!(matches!(outcome, Err(HarnessError::AuthRequired(_))));
    assert_eq!(logged_in(), None);
    // So it is when only the prompt is refused.
    LoginMarker::new(SystemTime::now(), "one")
        .write(&home)
        .unwrap();
    let fake = Fake::with_logins(&["one"]).on("session/prompt", [Do::Refuse(-32000)]);
    let (outcome, _) = fake.run(&harness(), ask("x").in_home(home.clone())).await;
    assert!(matches!(outcome, Err(HarnessError::AuthRequired(_))));
    assert_eq!(logged_in(), None);
}
