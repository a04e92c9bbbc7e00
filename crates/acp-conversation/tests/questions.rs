//! The questions of an agent to the user, and their outcomes.

use acp_conversation::limits::{
    MAX_ID, MAX_LINE, MAX_QUESTION_BYTES, MAX_QUESTION_OPTIONS, MAX_QUESTIONS,
};
use acp_conversation::{
    Conversation, QuestionNumber, QuestionOutcome, QuestionSubject, Questions, TurnEntry,
};
use acp_protocol::v1::{
    ContentBlock, CreateElicitationRequest, ElicitationAction, PermissionOption, PromptResponse,
    RequestPermissionOutcome, RequestPermissionRequest, SelectedPermissionOutcome, SessionUpdate,
    StopReason, ToolCallStatus, ToolCallUpdate,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn permission(call: &str, options: &[(&str, &str)]) -> RequestPermissionRequest {
    let options = options.iter();
    let options = options.map(|(id, kind)| PermissionOption::new(*id, "name", *kind));
    RequestPermissionRequest::new("s", ToolCallUpdate::new(call), options)
}

fn usual(call: &str) -> RequestPermissionRequest {
    permission(call, &[("yes", "allow_once"), ("no", "reject_once")])
}

fn elicitation(request: Value) -> CreateElicitationRequest {
    serde_json::from_value(request).unwrap()
}

fn form(message: &str) -> CreateElicitationRequest {
    elicitation(json!({"message": message, "mode": "form", "sessionId": "s",
        "requestedSchema": {"type": "object", "properties": {}}}))
}

fn link(id: &str, url: &str) -> CreateElicitationRequest {
    elicitation(
        json!({"message": "Go there", "mode": "url", "sessionId": "s",
        "toolCallId": "t", "elicitationId": id, "url": url}),
    )
}

fn selected(option: &str) -> RequestPermissionOutcome {
    SelectedPermissionOutcome::new(option).into()
}

fn outcome(questions: &Questions, number: QuestionNumber) -> Option<&QuestionOutcome> {
    questions.get(number).unwrap().outcome.as_ref()
}

#[test]
fn a_permission_request_has_an_outcome() {
    let unknown = json!({"outcome": "postponed"});
    let unknown = serde_json::from_value(unknown).unwrap();
    for (answer, is_positive, expected) in [
        (selected("yes"), true, "selected yes"),
        (selected("no"), false, "selected no"),
        (selected("never offered"), false, "unknown option"),
        (RequestPermissionOutcome::Cancelled, false, "cancelled"),
        (unknown, false, "postponed"),
    ] {
        let mut questions = Questions::default();
        let number = questions.permission(&usual("t"));
        assert_eq!(questions.open().count(), 1);
        let question = questions.answer_permission(number, &answer).unwrap();
        let outcome = question.outcome.as_ref().unwrap();
        let words = match outcome {
            QuestionOutcome::Selected(option) => format!("selected {}", option.option_id),
            QuestionOutcome::UnknownOption => "unknown option".to_owned(),
            QuestionOutcome::Cancelled => "cancelled".to_owned(),
            QuestionOutcome::Unrecognized(name) => name.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!((&*words, outcome.is_positive()), (expected, is_positive));
        assert_eq!(questions.open().count(), 0);
    }
}

#[test]
fn an_elicitation_has_an_outcome_without_its_content() {
    let accept = json!({"action": "accept", "content": {"name": "Ada"}});
    for (answer, expected) in [
        (accept, QuestionOutcome::Accepted),
        (json!({"action": "decline"}), QuestionOutcome::Declined),
        (json!({"action": "cancel"}), QuestionOutcome::Cancelled),
        (
            json!({"action": "later"}),
            QuestionOutcome::Unrecognized("later".to_owned()),
        ),
    ] {
        let mut questions = Questions::default();
        let number = questions.elicitation(&form("Your name?"));
        let answer: ElicitationAction = serde_json::from_value(answer).unwrap();
        let question = questions.answer_elicitation(number, &answer).unwrap();
        assert_eq!(question.message.as_deref(), Some("Your name?"));
        assert_eq!(question.outcome, Some(expected.clone()));
        assert!(!format!("{question:?}").contains("Ada"));
        assert_eq!(
            expected.is_positive(),
            expected == QuestionOutcome::Accepted
        );
    }
}

#[test]
fn the_first_outcome_stays() {
    let mut questions = Questions::default();
    let number = questions.permission(&usual("t"));
    assert!(questions.withdraw(number).is_some());
    assert!(
        questions
            .answer_permission(number, &selected("yes"))
            .is_none()
    );
    assert!(questions.withdraw(number).is_none());
    assert_eq!(
        outcome(&questions, number),
        Some(&QuestionOutcome::Withdrawn)
    );
}

#[test]
fn the_end_of_a_turn_withdraws_its_permission_requests() {
    let mut conversation = Conversation::new();
    let answered = conversation.permission(&usual("a"));
    let open = conversation.permission(&usual("b"));
    let form = conversation.elicitation(&form("Still there?"));
    conversation
        .questions
        .answer_permission(answered, &selected("no"));
    conversation.end(&PromptResponse::new(StopReason::EndTurn));
    let questions = &conversation.questions;
    assert!(matches!(
        outcome(questions, answered),
        Some(QuestionOutcome::Selected(_))
    ));
    assert_eq!(outcome(questions, open), Some(&QuestionOutcome::Withdrawn));
    assert_eq!(outcome(questions, form), None);

    // A turn without an end is over when the next one begins.
    let lost = conversation.permission(&usual("c"));
    conversation.prompt(&[ContentBlock::text("Again")]);
    assert_eq!(
        outcome(&conversation.questions, lost),
        Some(&QuestionOutcome::Withdrawn)
    );
}

#[test]
fn questions_have_their_place_in_the_turn() {
    let mut conversation = Conversation::new();
    conversation.update(&SessionUpdate::agent_text("I would like"));
    let form = conversation.elicitation(&form("Which one?"));
    conversation.update(&SessionUpdate::agent_text(" to write."));
    let number = conversation.permission(&usual("t"));
    conversation.update(&SessionUpdate::agent_text("Thanks."));
    let entries = conversation.turn.entries.iter().map(|entry| match entry {
        TurnEntry::Message(message) => message.text.clone(),
        TurnEntry::ToolCall(id) => format!("call {id}"),
        TurnEntry::Question(it) if *it == form => "form".to_owned(),
        TurnEntry::Question(it) if *it == number => "permission".to_owned(),
        other => panic!("{other:?}"),
    });
    let expected = [
        "I would like to write.",
        "form",
        "call t",
        "permission",
        "Thanks.",
    ];
    assert_eq!(entries.collect::<Vec<_>>(), expected);
    assert_eq!(
        conversation.turn.said(99),
        "I would like to write.\n\nThanks."
    );
}

#[test]
fn the_subject_of_a_permission_request_joins_its_call() {
    let mut conversation = Conversation::new();
    let end = ToolCallUpdate::status("t", ToolCallStatus::InProgress);
    conversation.update(&end.into());
    let mut request = usual("t");
    request.tool_call.title = Some("Write notes.md".to_owned());
    let number = conversation.permission(&request);
    let call = conversation
        .questions
        .get(number)
        .unwrap()
        .tool_call
        .clone();
    let call = conversation.tool_calls.get(&call.unwrap()).unwrap();
    assert_eq!(call.title.as_deref(), Some("Write notes.md"));
    assert_eq!(call.status, Some(ToolCallStatus::InProgress));
}

#[test]
fn an_address_is_completed_once() {
    let mut questions = Questions::default();
    let number = questions.elicitation(&link("e-1", "https://example.com/"));
    assert!(questions.complete(&"e-2".into()).is_none());
    let question = questions.complete(&"e-1".into()).unwrap();
    assert_eq!(question.tool_call.as_ref().unwrap(), "t");
    assert!(matches!(
        question.subject,
        QuestionSubject::Url {
            is_complete: true,
            ..
        }
    ));
    assert!(questions.complete(&"e-1".into()).is_none());
    assert_eq!(
        outcome(&questions, number),
        None,
        "the user answers by itself"
    );
}

#[test]
fn hostile_questions_are_cut() {
    let mut questions = Questions::default();
    let long = "é".repeat(1 << 20);
    let options: Vec<_> = (0..200).map(|n| (n.to_string(), long.clone())).collect();
    let mut options: Vec<_> = options.iter().map(|(id, kind)| (&**id, &**kind)).collect();
    options[0].0 = &long;
    let number = questions.permission(&permission(&long, &options));
    let question = questions.get(number).unwrap();
    let QuestionSubject::Permission {
        options,
        more_options,
    } = &question.subject
    else {
        panic!("{question:?}");
    };
    assert_eq!((options.len(), *more_options), (MAX_QUESTION_OPTIONS, 136));
    assert_eq!(
        (&*options[0].option_id.to_string(), &question.tool_call),
        ("1", &None)
    );
    questions.answer_permission(number, &selected("0"));
    assert_eq!(
        outcome(&questions, number),
        Some(&QuestionOutcome::UnknownOption)
    );

    let number = questions.elicitation(&form(&long));
    let message = questions.get(number).unwrap().message.as_ref().unwrap();
    assert_eq!(message.len(), MAX_LINE);
    let number = questions.elicitation(&link(&"x".repeat(MAX_ID + 1), &long));
    let question = questions.get(number).unwrap();
    assert!(matches!(
        question.subject,
        QuestionSubject::Url {
            url: None,
            id: None,
            ..
        }
    ));
    assert!(questions.bytes() < 64 << 10);
}

#[test]
fn answered_questions_make_room_first() {
    let mut questions = Questions::default();
    let open = questions.permission(&usual("open"));
    let answered = questions.permission(&usual("answered"));
    questions.answer_permission(answered, &selected("yes"));
    for n in 2..=MAX_QUESTIONS {
        questions.permission(&usual(&n.to_string()));
    }
    assert_eq!(
        (questions.iter().len(), questions.dropped),
        (MAX_QUESTIONS, 1)
    );
    assert!(questions.get(answered).is_none());
    assert!(questions.get(open).is_some());
    questions.permission(&usual("one more"));
    assert!(
        questions.get(open).is_none(),
        "nothing is answered that could go"
    );
}

#[test]
fn questions_have_a_budget_in_bytes() {
    let mut questions = Questions::default();
    let long = "x".repeat(1 << 20);
    for _ in 0..MAX_QUESTIONS {
        questions.elicitation(&form(&long));
    }
    assert!(questions.dropped > 0, "the budget comes before the number");
    assert!(questions.bytes() <= MAX_QUESTION_BYTES);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn all_limits_hold(steps in prop::collection::vec((0_usize..3, 0_usize..6000, any::<bool>()), 1..1300)) {
        let mut questions = Questions::default();
        let mut numbers = Vec::new();
        for (kind, size, answers) in steps {
            let text = "x".repeat(size);
            let number = match kind {
                0 => questions.permission(&permission(&text, &[(&*text, &*text); 3])),
                1 => questions.elicitation(&form(&text)),
                _ => questions.elicitation(&link(&text, &text)),
            };
            numbers.push(number);
            let number = numbers[size % numbers.len()];
            if answers && questions.get(number).is_some() {
                let before = outcome(&questions, number).is_some();
                let is_first = match kind {
                    0 => questions.answer_permission(number, &selected(&text)).is_some(),
                    1 => questions.answer_elicitation(number, &ElicitationAction::Decline).is_some(),
                    _ => questions.withdraw(number).is_some(),
                };
                prop_assert_eq!(is_first, !before);
            }
            prop_assert!(questions.bytes() <= MAX_QUESTION_BYTES);
            prop_assert!(questions.iter().len() <= MAX_QUESTIONS);
            prop_assert_eq!(questions.iter().len() as u64 + questions.dropped, numbers.len() as u64);
        }
    }
}
