//! What a handler is asked, and what of its answers is sent.

use acp_client::limits::{MAX_FORM_CHOICES, MAX_FORM_FIELDS, MAX_ID, MAX_LINK, MAX_QUESTION};

use super::*;

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
        if modes.form {
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
            ElicitationAnswer::accept()
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
        ElicitationAnswer::accept(),
        ElicitationAnswer::accept().with("name", "x"),
        ElicitationAnswer::accept().with("name", 7),
        ElicitationAnswer::accept()
            .with("name", "sqlite")
            .with("surplus", true),
        ElicitationAnswer::accept()
            .with("name", "sqlite")
            .with("replicas", 6),
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
async fn a_handler_that_panics_fails_its_question_alone() {
    let options = ClientOptions::new().with_elicitation(
        ElicitationModes::BOTH,
        async |question: Question| match question.link() {
            Some(_) => panic!("as the test wants"),
            None => ElicitationAnswer::decline(),
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

/// Sends a question, which must be refused for its size, and gives the message.
async fn refused(agent: &mut Agent, id: i64, question: Value) -> String {
    agent.question(id, question).await;
    let answer = agent.next().await;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(id), &json!(-32602))
    );
    answer["error"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn forms_that_nobody_could_fill_in_are_refused_and_nothing_else() {
    let options =
        ClientOptions::new().with_elicitation(ElicitationModes::BOTH, Headless::UseDefaults);
    let (_client, _session, mut agent) = opened(options).await;
    let with_fields = |fields: Value, required: Value| {
        let mut question = form();
        question["requestedSchema"]["properties"] = fields;
        question["requestedSchema"]["required"] = required;
        question
    };
    let fields = |count: usize| {
        let fields =
            (0..count).map(|n| (format!("f{n}"), json!({"type": "boolean", "default": true})));
        Value::Object(fields.collect())
    };
    let choices = |count: usize| {
        let values: Vec<String> = (0..count).map(|n| n.to_string()).collect();
        json!({"f": {"type": "array", "default": values, "items": {"type": "string", "enum": values}}})
    };
    for (id, question, reason) in [
        (
            1,
            with_fields(fields(MAX_FORM_FIELDS + 1), json!([])),
            "requestedSchema.properties has 513 fields; at most 512",
        ),
        (
            2,
            with_fields(choices(MAX_FORM_CHOICES + 1), json!([])),
            "has 4097 choices; at most 4096",
        ),
        (
            3,
            with_fields(fields(1), json!(vec!["f0"; MAX_FORM_FIELDS + 1])),
            "requestedSchema.required has 513 fields",
        ),
    ] {
        let message = refused(&mut agent, id, question).await;
        assert!(message.contains(reason), "{message}");
    }
    let mut long = form();
    long["message"] = json!("m".repeat(MAX_QUESTION));
    let message = refused(&mut agent, 4, long).await;
    assert!(message.contains("the question has 262"), "{message}");
    let mut long = link("a");
    long["elicitationId"] = json!("i".repeat(MAX_ID + 1));
    let message = refused(&mut agent, 5, long).await;
    assert!(
        message.contains("elicitationId has 1025 bytes"),
        "{message}"
    );
    let mut long = link("a");
    long["url"] = json!(format!("https://example.com/{}", "u".repeat(MAX_LINK)));
    let message = refused(&mut agent, 6, long).await;
    assert!(message.contains("url has 16404 bytes"), "{message}");
    let mut long = form();
    long["toolCallId"] = json!("i".repeat(MAX_ID + 1));
    let message = refused(&mut agent, 7, long).await;
    assert!(message.contains("toolCallId has 1025 bytes"), "{message}");
    // At the bound, a form is answered.
    agent
        .question(8, with_fields(fields(MAX_FORM_FIELDS), json!(["f0"])))
        .await;
    let filled = agent.result(8).await;
    assert_eq!(
        filled["content"].as_object().unwrap().len(),
        MAX_FORM_FIELDS
    );
    agent
        .question(9, with_fields(choices(MAX_FORM_CHOICES), json!([])))
        .await;
    let chosen = agent.result(9).await;
    assert_eq!(
        chosen["content"]["f"].as_array().unwrap().len(),
        MAX_FORM_CHOICES
    );
}
