//! Questions: who is asked, what is sent, and when nobody waits any more.

mod support;

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use acp_client::elicitation::Misfit;
use acp_client::{
    Answer, AnswerQuestions, ClientOptions, ElicitationModes, Headless, PendingQuestion, Question,
    TurnEvent,
};
use acp_protocol::v1::{ElicitationId, PermissionOptionId};
use serde_json::{Value, json};
use support::{Agent, SESSION, all, brief, dialed, end_turn, opened, selected};

const SECOND: Duration = Duration::from_secs(1);

/// A form with one field that must be filled in, and two that need not.
fn form() -> Value {
    json!({
        "mode": "form", "sessionId": SESSION, "toolCallId": "t", "message": "Which database?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 2, "default": "postgres"},
                "replicas": {"type": "integer", "maximum": 5},
                "regions": {"type": "array", "items": {"type": "string", "enum": ["eu", "us"]}},
            },
            "required": ["name"],
        },
    })
}

fn link(id: &str) -> Value {
    json!({
        "mode": "url", "sessionId": SESSION, "message": "Log in", "elicitationId": id,
        "url": "https://example.com/login",
    })
}

fn bound_to(mut question: Value, request: &Value) -> Value {
    let members = question.as_object_mut().unwrap();
    members.remove("sessionId");
    members.remove("toolCallId");
    members.insert("requestId".to_owned(), request["id"].clone());
    question
}

fn cancel() -> Value {
    json!({"action": "cancel"})
}

fn decline() -> Value {
    json!({"action": "decline"})
}

impl Agent {
    async fn question(&mut self, id: i64, question: Value) {
        self.ask(id, "elicitation/create", question).await;
    }

    async fn complete(&mut self, link: &str) {
        let params = json!({"elicitationId": link});
        self.say(json!({"jsonrpc": "2.0", "method": "elicitation/complete", "params": params}))
            .await;
    }

    async fn take_back(&mut self, id: i64) {
        let params = json!({"requestId": id});
        self.say(json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params}))
            .await;
    }
}

/// A handler that never answers, and counts who gave up waiting for it.
#[derive(Clone, Default)]
struct Silent {
    asked: Arc<AtomicUsize>,
    dropped: Arc<AtomicUsize>,
}

impl AnswerQuestions for Silent {
    async fn answer(&self, _: Question) -> Answer {
        struct Count(Arc<AtomicUsize>);
        impl Drop for Count {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        let _count = Count(Arc::clone(&self.dropped));
        pending().await
    }
}

/// Agrees to everything and keeps what it is told of links.
#[derive(Clone, Default)]
struct Agreeing(Arc<Mutex<Vec<String>>>);

impl AnswerQuestions for Agreeing {
    async fn answer(&self, _: Question) -> Answer {
        Answer::accept()
    }

    fn completed(&self, link: &ElicitationId) {
        self.0.lock().unwrap().push(link.to_string());
    }
}

/// Options for who answers from the stream.
fn in_stream(modes: ElicitationModes) -> ClientOptions {
    ClientOptions::new().with_elicitation_in_stream(modes, Headless::default())
}

/// Takes the next event, which must be a question.
async fn next_question(turn: &mut acp_client::Turn) -> PendingQuestion {
    match turn.next().await {
        Some(TurnEvent::Question(pending)) => pending,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_advertised_is_what_is_configured() {
    let cases = [
        (ClientOptions::new(), json!(null)),
        (
            ClientOptions::new().with_elicitation(ElicitationModes::FORM, Headless::default()),
            json!({"form": {}}),
        ),
        (in_stream(ElicitationModes::URL), json!({"url": {}})),
        (
            ClientOptions::new().with_elicitation(ElicitationModes::BOTH, Headless::default()),
            json!({"form": {}, "url": {}}),
        ),
    ];
    for (options, expected) in cases {
        let (client, mut agent) = support::pair(options);
        let serve = async {
            let hello = agent.request("initialize").await;
            agent.answer(&hello, json!({"protocolVersion": 1})).await;
            hello["params"]["clientCapabilities"]["elicitation"].clone()
        };
        let (dialed, advertised) = tokio::join!(client.dial(), serve);
        dialed.unwrap();
        assert_eq!(advertised, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_offered_is_refused_and_shown_to_nobody() {
    let (_client, _session, mut agent) = opened(ClientOptions::new()).await;
    agent.question(1, form()).await;
    assert_eq!(agent.refusal(1).await, -32602);
    agent.question(2, json!({"nonsense": true})).await;
    assert_eq!(agent.refusal(2).await, -32602);

    for (modes, refused) in [
        (ElicitationModes::FORM, link("a")),
        (ElicitationModes::URL, form()),
    ] {
        let silent = Silent::default();
        let options = ClientOptions::new().with_elicitation(modes, silent.clone());
        let (_client, _session, mut agent) = opened(options).await;
        let mut unknown = form();
        unknown["mode"] = json!("_voice");
        let mut nowhere = form();
        nowhere.as_object_mut().unwrap().remove("sessionId");
        let mut stranger = form();
        stranger["sessionId"] = json!("child-1");
        for (id, question, code) in [
            (1, refused, -32602),
            (2, unknown, -32602),
            (3, nowhere, -32602),
        ] {
            agent.question(id, question).await;
            assert_eq!(agent.refusal(id).await, code);
        }
        if modes.has_form() {
            agent.question(4, stranger).await;
            assert_eq!(agent.refusal(4).await, -32002);
        }
        assert_eq!(silent.asked.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_answers_and_is_told_after_what_it_was_asked() {
    let options = ClientOptions::new().with_elicitation(
        ElicitationModes::FORM,
        async |question: Question| {
            assert_eq!(question.message(), "Which database?");
            assert_eq!(question.session_id().unwrap(), SESSION);
            assert_eq!(question.tool_call_id().unwrap().as_str(), "t");
            assert_eq!(question.request_id(), None);
            // initialize, session/new, and one update.
            assert_eq!(question.after().get(), 3);
            Answer::accept()
                .with("name", "sqlite")
                .with("replicas", 3)
                .with_choices("regions", ["us"])
        },
    );
    let (_client, _session, mut agent) = opened(options).await;
    agent.text("one update").await;
    agent.question(1, form()).await;
    let content = json!({"name": "sqlite", "replicas": 3, "regions": ["us"]});
    assert_eq!(
        agent.result(1).await,
        json!({"action": "accept", "content": content})
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_fit_is_not_sent() {
    let answers = [
        Answer::accept(),
        Answer::accept().with("name", "x"),
        Answer::accept().with("name", 7),
        Answer::accept()
            .with("name", "sqlite")
            .with("surplus", true),
        Answer::accept().with("name", "sqlite").with("replicas", 6),
    ];
    for answer in answers {
        let options = ClientOptions::new()
            .with_elicitation(ElicitationModes::FORM, move |_: Question| {
                std::future::ready(answer.clone())
            });
        let (_client, _session, mut agent) = opened(options).await;
        agent.question(1, form()).await;
        assert_eq!(agent.result(1).await, cancel());
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_person_forms_are_declined_or_take_their_defaults() {
    let options =
        ClientOptions::new().with_elicitation(ElicitationModes::BOTH, Headless::DeclineAll);
    let (_client, _session, mut agent) = opened(options).await;
    agent.question(1, form()).await;
    assert_eq!(agent.result(1).await, decline());
    agent.question(2, link("a")).await;
    assert_eq!(agent.result(2).await, cancel());

    let options =
        ClientOptions::new().with_elicitation(ElicitationModes::BOTH, Headless::UseDefaults);
    let (_client, _session, mut agent) = opened(options).await;
    agent.question(1, form()).await;
    let accepted = json!({"action": "accept", "content": {"name": "postgres"}});
    assert_eq!(agent.result(1).await, accepted);
    let mut incomplete = form();
    incomplete["requestedSchema"]["required"] = json!(["name", "replicas"]);
    agent.question(2, incomplete).await;
    assert_eq!(agent.result(2).await, decline());
    let mut unfit = form();
    unfit["requestedSchema"]["properties"]["name"]["default"] = json!("x");
    agent.question(3, unfit).await;
    assert_eq!(agent.result(3).await, decline());
    agent.question(4, link("a")).await;
    assert_eq!(agent.result(4).await, cancel());
}

#[tokio::test(start_paused = true)]
async fn in_the_stream_questions_stand_in_their_place() {
    let options = in_stream(ElicitationModes::BOTH).with_permissions_in_stream();
    let (_client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.text("before").await;
    agent.question(1, form()).await;
    agent.text("between").await;
    agent.ask_permission(2, json!({"toolCallId": "t"})).await;
    agent.question(3, link("a")).await;
    agent.text("after").await;
    // Everything is in before anything is read.
    agent.hears_nothing_for(SECOND).await;
    let mut seen = Vec::new();
    for _ in 0..5 {
        match turn.next().await.unwrap() {
            TurnEvent::Question(pending) => {
                seen.push(format!("asks {}", pending.question().message()));
                let answer = match pending.question().form() {
                    Some(form) => form.defaults(),
                    None => Answer::accept(),
                };
                pending.answer(answer).unwrap();
            }
            TurnEvent::Permission(pending) => {
                seen.push("asks for permission".to_owned());
                pending.select(&PermissionOptionId::from("yes")).unwrap();
            }
            other => seen.push(brief(&other)),
        }
    }
    let mut answers = Vec::new();
    for _ in 0..3 {
        answers.push(agent.next().await);
    }
    answers.sort_by_key(|answer| answer["id"].as_i64());
    assert_eq!(
        answers[0]["result"],
        json!({"action": "accept", "content": {"name": "postgres"}})
    );
    assert_eq!(answers[1]["result"], selected("yes"));
    assert_eq!(answers[2]["result"], json!({"action": "accept"}));
    agent.complete("a").await;
    agent.text("the end").await;
    agent.answer(&prompt, end_turn()).await;
    while let Some(event) = turn.next().await {
        seen.push(match event {
            TurnEvent::LinkCompleted { link } => format!("done {link}"),
            other => brief(&other),
        });
    }
    assert_eq!(
        seen,
        [
            "before",
            "asks Which database?",
            "between",
            "asks for permission",
            "asks Log in",
            "after",
            "done a",
            "the end",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn in_the_stream_an_unfit_answer_can_be_given_again() {
    let options = in_stream(ElicitationModes::FORM);
    let (_client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    agent.request("session/prompt").await;
    agent.question(1, form()).await;
    let pending = next_question(&mut turn).await;
    let answer = Answer::accept()
        .with("name", "hunter2")
        .with("secret", "hunter3");
    let invalid = pending.answer(answer).unwrap_err();
    assert_eq!(
        invalid.to_string(),
        r#"answer the question: "secret" is no field of the form"#
    );
    assert!(!format!("{invalid:?}").contains("hunter"));
    assert_eq!(invalid.faults[0].misfit, Misfit::NoSuchField);
    agent.hears_nothing_for(SECOND).await;
    invalid
        .question
        .answer(Answer::accept().with("name", "sqlite"))
        .unwrap();
    let accepted = json!({"action": "accept", "content": {"name": "sqlite"}});
    assert_eq!(agent.result(1).await, accepted);
}

#[tokio::test(start_paused = true)]
async fn in_the_stream_what_is_dropped_is_refused() {
    let options = in_stream(ElicitationModes::BOTH);
    let (_client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.question(1, form()).await;
    drop(next_question(&mut turn).await);
    assert_eq!(agent.result(1).await, decline());
    agent.question(2, link("a")).await;
    drop(next_question(&mut turn).await);
    assert_eq!(agent.result(2).await, cancel());
    agent.question(3, form()).await;
    next_question(&mut turn).await.cancel();
    assert_eq!(agent.result(3).await, cancel());
    agent.question(4, link("b")).await;
    next_question(&mut turn).await.decline();
    assert_eq!(agent.result(4).await, decline());
    // Draining a turn reads its questions too.
    agent.question(5, form()).await;
    let serve = async {
        assert_eq!(agent.result(5).await, decline());
        agent.answer(&prompt, end_turn()).await;
    };
    let (end, ()) = tokio::join!(turn.end(), serve);
    end.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cancel_answers_what_is_open_and_what_comes_after_it() {
    let silent = Silent::default();
    let options = ClientOptions::new().with_elicitation(ElicitationModes::BOTH, silent.clone());
    let (client, mut session, mut agent) = opened(options).await;
    let turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.question(1, form()).await;
    agent.question(2, link("a")).await;
    // The prompt it belongs to is cancelled too.
    agent.question(3, bound_to(form(), &prompt)).await;
    agent.hears_nothing_for(60 * SECOND).await;
    assert_eq!(silent.asked.load(Ordering::SeqCst), 3);
    turn.cancel();
    agent.notification("session/cancel").await;
    let mut answered = [agent.next().await, agent.next().await, agent.next().await];
    answered.sort_by_key(|answer| answer["id"].as_i64());
    for (answer, id) in answered.iter().zip([1, 2, 3]) {
        assert_eq!((&answer["id"], &answer["result"]), (&json!(id), &cancel()));
    }
    assert_eq!(silent.dropped.load(Ordering::SeqCst), 3);
    agent.question(4, form()).await;
    assert_eq!(agent.result(4).await, cancel());
    assert_eq!(silent.asked.load(Ordering::SeqCst), 3, "nobody is asked");
    // The end of a link that was cancelled is no news.
    agent.complete("a").await;
    agent.answer(&prompt, end_turn()).await;
    turn.end().await.unwrap();
    assert_eq!(client.link_stats().unwrap().ignored, 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_the_cancel_goes_nowhere() {
    let options = in_stream(ElicitationModes::FORM);
    let (_client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.question(1, form()).await;
    let mut pending = next_question(&mut turn).await;
    assert!(pending.is_open());
    turn.cancel();
    agent.notification("session/cancel").await;
    assert_eq!(agent.result(1).await, cancel());
    pending.closed().await;
    assert!(!pending.is_open());
    pending
        .answer(Answer::accept().with("name", "late"))
        .unwrap();
    agent.hears_nothing_for(SECOND / 2).await;
    agent.answer(&prompt, end_turn()).await;
    turn.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_dropped_turn_cancels_its_questions() {
    let options = in_stream(ElicitationModes::FORM);
    let (_client, mut session, mut agent) = opened(options).await;
    let turn = session.prompt("one").await.unwrap();
    agent.request("session/prompt").await;
    agent.question(1, form()).await;
    agent.hears_nothing_for(SECOND).await;
    drop(turn);
    let mut heard = [agent.next().await, agent.next().await];
    heard.sort_by_key(|message| message.get("method").is_none());
    assert_eq!(heard[0]["method"], "session/cancel");
    assert_eq!(heard[1]["result"], cancel());
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_gone_answers_cancel() {
    let silent = Silent::default();
    let options = ClientOptions::new().with_elicitation(ElicitationModes::FORM, silent.clone());
    let (_client, session, mut agent) = opened(options).await;
    agent.question(1, form()).await;
    agent.hears_nothing_for(SECOND).await;
    drop(session);
    assert_eq!(agent.result(1).await, cancel());
}

#[tokio::test(start_paused = true)]
async fn a_question_the_agent_takes_back_is_answered_as_cancelled() {
    let silent = Silent::default();
    let options = ClientOptions::new().with_elicitation(ElicitationModes::BOTH, silent.clone());
    let (client, _session, mut agent) = opened(options).await;
    agent.question(1, link("a")).await;
    agent.take_back(1).await;
    assert_eq!(agent.refusal(1).await, -32800);
    assert_eq!(silent.dropped.load(Ordering::SeqCst), 1);
    // The id is free again, and its end is none.
    agent.complete("a").await;
    agent.question(2, link("a")).await;
    agent.hears_nothing_for(SECOND).await;
    assert_eq!(silent.asked.load(Ordering::SeqCst), 2);
    assert_eq!(client.link_stats().unwrap().ignored, 1);

    let options = in_stream(ElicitationModes::FORM);
    let (_client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.question(1, form()).await;
    agent.question(2, form()).await;
    let pending = next_question(&mut turn).await;
    agent.take_back(1).await;
    assert_eq!(agent.refusal(1).await, -32800);
    assert!(!pending.is_open());
    // One that was taken back before it was read is not shown at all.
    agent.take_back(2).await;
    assert_eq!(agent.refusal(2).await, -32800);
    agent.answer(&prompt, end_turn()).await;
    assert_eq!(all(&mut turn).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn questions_of_a_request_end_with_it() {
    let silent = Silent::default();
    let options =
        ClientOptions::new().with_elicitation_in_stream(ElicitationModes::FORM, silent.clone());
    let (client, mut agent) = dialed(options, json!({})).await;
    let serve = async {
        let opening = agent.request("session/new").await;
        agent.question(1, bound_to(form(), &opening)).await;
        agent.hears_nothing_for(60 * SECOND).await;
        assert_eq!(silent.asked.load(Ordering::SeqCst), 1, "nobody reads here");
        agent.answer(&opening, json!({"sessionId": SESSION})).await;
        assert_eq!(agent.result(1).await, cancel());
        // The request was answered, and is none of those that are open.
        agent.question(2, bound_to(form(), &opening)).await;
        assert_eq!(agent.refusal(2).await, -32602);
        agent
            .question(3, bound_to(form(), &json!({"id": "what"})))
            .await;
        assert_eq!(agent.refusal(3).await, -32602);
    };
    let (session, ()) = tokio::join!(client.new_session("/code"), serve);
    let mut session = session.unwrap();
    // One that belongs to a prompt stands in the stream of its turn.
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.question(4, bound_to(form(), &prompt)).await;
    let pending = next_question(&mut turn).await;
    assert!(pending.question().request_id().is_some());
    pending.decline();
    assert_eq!(agent.result(4).await, decline());
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_link_is_told_once() {
    let agreeing = Agreeing::default();
    let options = ClientOptions::new().with_elicitation(ElicitationModes::URL, agreeing.clone());
    let (client, _session, mut agent) = opened(options).await;
    agent.complete("a").await;
    agent.question(1, link("a")).await;
    assert_eq!(agent.result(1).await, json!({"action": "accept"}));
    // Its id stands for it until its end was told.
    agent.question(2, link("a")).await;
    assert_eq!(agent.refusal(2).await, -32602);
    agent.complete("a").await;
    agent.complete("a").await;
    agent.complete("never asked").await;
    agent.question(3, link("a")).await;
    assert_eq!(agent.result(3).await, json!({"action": "accept"}));
    assert_eq!(*agreeing.0.lock().unwrap(), ["a"]);
    let stats = client.link_stats().unwrap();
    assert_eq!((stats.completed, stats.ignored, stats.forgotten), (1, 3, 0));
}

#[tokio::test(start_paused = true)]
async fn a_link_may_end_while_the_user_is_asked() {
    let options = in_stream(ElicitationModes::URL);
    let (client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.question(1, link("a")).await;
    agent.complete("a").await;
    agent.complete("a").await;
    let pending = next_question(&mut turn).await;
    assert!(matches!(turn.next().await, Some(TurnEvent::LinkCompleted { link }) if link == *"a"));
    pending.answer(Answer::accept()).unwrap();
    assert_eq!(agent.result(1).await, json!({"action": "accept"}));
    // It is over: nothing is waited for any more.
    agent.complete("a").await;
    agent.answer(&prompt, end_turn()).await;
    assert_eq!(all(&mut turn).await, [""; 0]);
    let stats = client.link_stats().unwrap();
    assert_eq!((stats.completed, stats.ignored), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_link_is_told_between_turns_too() {
    let options = in_stream(ElicitationModes::URL);
    let (client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    for (id, name) in [(1, "a"), (2, "b")] {
        agent.question(id, link(name)).await;
        next_question(&mut turn)
            .await
            .answer(Answer::accept())
            .unwrap();
        assert_eq!(agent.result(id).await, json!({"action": "accept"}));
    }
    agent.answer(&prompt, end_turn()).await;
    turn.end().await.unwrap();
    agent.complete("a").await;
    let event = session.updates().next().await;
    assert!(matches!(event, Some(TurnEvent::LinkCompleted { link }) if link == *"a"));
    drop(session);
    agent.complete("b").await;
    agent.question(3, json!({})).await;
    assert_eq!(agent.refusal(3).await, -32602);
    let stats = client.link_stats().unwrap();
    assert_eq!(
        (stats.completed, stats.ignored),
        (1, 1),
        "nobody is left to tell"
    );
}

#[tokio::test(start_paused = true)]
async fn links_that_never_end_are_forgotten_at_last() {
    let options = ClientOptions::new().with_elicitation(ElicitationModes::URL, Agreeing::default());
    let (client, _session, mut agent) = opened(options).await;
    for id in 0..66 {
        agent.question(id, link(&id.to_string())).await;
        assert_eq!(agent.result(id).await, json!({"action": "accept"}));
    }
    for id in 0..66 {
        agent.complete(&id.to_string()).await;
    }
    agent.question(66, json!({})).await;
    assert_eq!(agent.refusal(66).await, -32602);
    let stats = client.link_stats().unwrap();
    assert_eq!(
        (stats.completed, stats.ignored, stats.forgotten),
        (64, 2, 2)
    );
}

#[tokio::test(start_paused = true)]
async fn too_many_open_questions_are_cancelled() {
    let options = in_stream(ElicitationModes::FORM).with_permissions_in_stream();
    let (_client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    agent.request("session/prompt").await;
    for id in 0..65 {
        agent.question(id, form()).await;
    }
    assert_eq!(agent.result(64).await, cancel());
    // Permissions have places of their own.
    agent.ask_permission(65, json!({"toolCallId": "t"})).await;
    agent.hears_nothing_for(SECOND).await;
    next_question(&mut turn).await.decline();
    assert_eq!(agent.result(0).await, decline());
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_fails_its_question_alone() {
    let options = ClientOptions::new().with_elicitation(
        ElicitationModes::BOTH,
        async |question: Question| match question.link() {
            Some(_) => panic!("as the test wants"),
            None => Answer::decline(),
        },
    );
    let (_client, _session, mut agent) = opened(options).await;
    agent.question(1, link("a")).await;
    assert_eq!(agent.refusal(1).await, -32603);
    agent.question(2, form()).await;
    assert_eq!(agent.result(2).await, decline());
    agent.question(3, link("a")).await;
    assert_eq!(agent.refusal(3).await, -32603, "the id was free again");
}

#[tokio::test(start_paused = true)]
async fn the_death_of_the_agent_ends_the_wait() {
    let silent = Silent::default();
    let options = ClientOptions::new().with_elicitation(ElicitationModes::FORM, silent.clone());
    let (client, _session, mut agent) = opened(options).await;
    agent.question(1, form()).await;
    agent.hears_nothing_for(SECOND).await;
    agent.hang_up();
    client.done().await;
    assert_eq!(silent.dropped.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn joining_pieces_of_text_holds_no_question_back() {
    let options = in_stream(ElicitationModes::FORM).with_permissions_in_stream();
    let (_client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    let serve = async {
        agent.text("be").await;
        agent.text("fore").await;
        // Goes on only when it has the answer.
        agent.question(1, form()).await;
        assert_eq!(agent.result(1).await, decline());
        agent.ask_permission(2, json!({"toolCallId": "t"})).await;
        assert_eq!(agent.result(2).await, selected("no"));
        agent.answer(&prompt, end_turn()).await;
    };
    let read = async {
        let (mut merge, mut seen) = (acp_client::Merge::new(), Vec::new());
        while let Some(event) = turn.next().await {
            for event in merge.push(event) {
                // What is dropped is refused.
                seen.push(match event {
                    TurnEvent::Question(_) => "asks".to_owned(),
                    other => brief(&other),
                });
            }
        }
        assert!(merge.finish().is_none());
        seen
    };
    let (seen, ()) = tokio::join!(read, serve);
    assert_eq!(seen, ["before", "asks", "asks t"]);
}
