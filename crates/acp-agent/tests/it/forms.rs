//! Forms and addresses: what the user is asked besides permission.

use std::{collections::BTreeMap, sync::Arc};

use acp_agent::host::{
    DecisionSource, EventBody, FieldKind, FormField, FormOption, FormValue, Gate, GateAnswer,
    GateId, GateResponse, OpenUrl, PermissionAction, TextFormat, TextRule, ToolCall, UserForm,
};
use serde_json::{Value, json};

use crate::{
    client::Client,
    host::{Session, Turn, agent},
};

fn gate() -> Gate {
    let colours = vec![
        FormOption::new("red", "Red"),
        FormOption::new("blue", "Blue"),
    ];
    let form = UserForm::new()
        .with_field(FormField::text("name", "Name").with_default(FormValue::Text("Ada".into())))
        .with_field(FormField::select("colour", "Colour", colours).optional())
        .with_field(
            FormField::confirm("sure", "Sure?")
                .with_description("Really?")
                .optional(),
        );
    Gate::form("g1", "Who are you?", form).for_tool("t1")
}

struct Scene {
    client: Client,
    session: Arc<Session>,
    turn: Turn,
    request: i64,
}

async fn scene(capabilities: Value) -> Scene {
    let (agent, mut strings) = agent();
    let mut client = Client::ready_with(&agent, capabilities).await;
    let id = client.new_session().await;
    let session = strings.session().await;
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    Scene {
        client,
        session,
        turn,
        request,
    }
}

fn both() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}})
}

impl Scene {
    async fn open(&mut self, gate: Gate) {
        self.turn
            .tell(EventBody::GateOpened(Box::new(gate)))
            .await
            .unwrap();
    }

    /// Opens a gate, answers as a client, and gives what the host is told.
    async fn ask(&mut self, gate: Gate, result: Value) -> GateResponse {
        self.open(gate).await;
        let asked = self.client.asked("elicitation/create").await;
        self.client.reply(&asked["id"], result).await;
        self.session.response().await
    }

    async fn end(mut self) {
        self.turn.done().await;
        assert_eq!(self.client.stop_reason(self.request).await, "end_turn");
    }
}

#[tokio::test(start_paused = true)]
async fn a_form_is_asked_and_answered() {
    let mut scene = scene(both()).await;
    scene.open(gate()).await;
    let asked = scene.client.asked("elicitation/create").await;
    assert_eq!(
        asked["params"],
        json!({
            "message": "Who are you?", "mode": "form", "sessionId": "session-0",
            "toolCallId": "t1",
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "title": "Name", "maxLength": 4096,
                        "default": "Ada"},
                    "colour": {"type": "string", "title": "Colour", "oneOf": [
                        {"const": "red", "title": "Red"}, {"const": "blue", "title": "Blue"}]},
                    "sure": {"type": "boolean", "title": "Sure?", "description": "Really?"},
                },
                "required": ["name"],
            },
        })
    );
    let content = json!({"name": "Grace", "colour": "blue", "sure": false});
    let answer = json!({"action": "accept", "content": content});
    scene.client.reply(&asked["id"], answer).await;
    let response = scene.session.response().await;
    assert_eq!(response.source, DecisionSource::User);
    let want = BTreeMap::from([
        ("name".to_owned(), FormValue::Text("Grace".into())),
        ("colour".to_owned(), FormValue::Text("blue".into())),
        ("sure".to_owned(), FormValue::Flag(false)),
    ]);
    assert_eq!(response.answer, GateAnswer::Form(want));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn numbers_and_several_choices() {
    let mut scene = scene(both()).await;
    let letters = vec![
        FormOption::new("a", "A").with_description("The first"),
        FormOption::new("b", "B"),
    ];
    let port = FieldKind::Integer {
        min: Some(1),
        max: None,
    };
    let name = TextRule::new()
        .with_max_chars(8)
        .with_format(TextFormat::Email);
    let form = UserForm::new()
        .with_field(FormField::new("port", "Port", port).with_default(FormValue::Integer(80)))
        .with_field(FormField::number("load", "Load").with_default(FormValue::Number(0.5)))
        .with_field(FormField::multi_select("letters", "Letters", letters))
        .with_field(FormField::new("name", "Name", FieldKind::Text(name)).optional());
    scene.open(Gate::form("g1", "Which?", form)).await;
    let asked = scene.client.asked("elicitation/create").await;
    assert_eq!(
        asked["params"]["requestedSchema"],
        json!({
            "type": "object",
            "properties": {
                "port": {"type": "integer", "title": "Port", "minimum": 1, "default": 80},
                "load": {"type": "number", "title": "Load", "default": 0.5},
                "letters": {"type": "array", "title": "Letters", "items": {"anyOf": [
                    {"const": "a", "title": "A", "description": "The first"},
                    {"const": "b", "title": "B"}]}},
                "name": {"type": "string", "title": "Name", "maxLength": 8, "format": "email"},
            },
            "required": ["port", "load", "letters"],
        })
    );
    let content = json!({"port": 8080, "load": 1, "letters": ["b"]});
    let answer = json!({"action": "accept", "content": content});
    scene.client.reply(&asked["id"], answer).await;
    let want = BTreeMap::from([
        ("port".to_owned(), FormValue::Integer(8080)),
        ("load".to_owned(), FormValue::Integer(1)),
        ("letters".to_owned(), FormValue::Choices(vec!["b".into()])),
    ]);
    let response = scene.session.response().await;
    assert_eq!(response.answer, GateAnswer::Form(want));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn answers_that_do_not_fit_are_none() {
    let mut scene = scene(both()).await;
    for content in [
        json!({}),
        json!({"name": 7}),
        json!({"name": ["Ada"]}),
        json!({"name": "Ada", "colour": "green"}),
        json!({"name": "Ada", "sure": "yes"}),
        json!({"name": "Ada", "more": "more"}),
        json!({"name": "x".repeat(4097)}),
    ] {
        let answer = json!({"action": "accept", "content": content});
        let response = scene.ask(gate(), answer).await;
        assert_eq!(response.answer, GateAnswer::Dismissed, "{content}");
        assert!(
            matches!(response.source, DecisionSource::Policy { .. }),
            "{content}"
        );
    }
    let unknown = scene.ask(gate(), json!({"action": "shrug"})).await;
    assert_eq!(unknown.answer, GateAnswer::Dismissed);
    assert!(matches!(unknown.source, DecisionSource::Policy { .. }));
    let malformed = scene.ask(gate(), json!("yes")).await;
    assert_eq!(malformed.answer, GateAnswer::Dismissed);
    for (action, want) in [
        ("decline", GateAnswer::Declined),
        ("cancel", GateAnswer::Dismissed),
    ] {
        let response = scene.ask(gate(), json!({"action": action})).await;
        assert_eq!(
            (response.answer, response.source),
            (want, DecisionSource::User)
        );
    }
    scene.open(gate()).await;
    let asked = scene.client.asked("elicitation/create").await;
    scene.client.reply_error(&asked["id"], -32603).await;
    assert_eq!(scene.session.response().await.answer, GateAnswer::Dismissed);
    // The turn goes on.
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_client_hears_when_all_is_done_at_an_address() {
    let mut scene = scene(both()).await;
    let url = || {
        Gate::open_url(
            "g2",
            "Log in.",
            OpenUrl::new("https://example.com/login?a=b"),
        )
    };
    scene.open(url()).await;
    let asked = scene.client.asked("elicitation/create").await;
    let params = &asked["params"];
    assert_eq!(params["mode"], "url");
    assert_eq!(params["url"], "https://example.com/login?a=b");
    assert_eq!(params["message"], "Log in.");
    let id = params["elicitationId"].clone();
    scene
        .client
        .reply(&asked["id"], json!({"action": "accept"}))
        .await;
    assert_eq!(scene.session.response().await.answer, GateAnswer::Opened);
    // To be on the way is not to be there.
    scene.client.assert_quiet().await;
    for _ in 0..2 {
        let resolved = EventBody::GateResolved(GateId::from("g2"));
        scene.turn.tell(resolved).await.unwrap();
    }
    let done = scene.client.next().await;
    assert_eq!(done["method"], "elicitation/complete");
    assert_eq!(done["params"]["elicitationId"], id);
    scene.client.assert_quiet().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_be_asked_is_told() {
    let gate = || gate().answered_elsewhere();
    let url = || {
        let url = OpenUrl::new("https://example.com/login");
        Gate::open_url("g2", "Log in.", url).answered_elsewhere()
    };
    // By a notice, if it shows notices.
    let mut noticed = scene(json!({"session": {"notices": {}}})).await;
    noticed.open(url()).await;
    let notice = noticed.client.update().await;
    assert_eq!(notice["sessionUpdate"], "notice");
    let title = notice["title"].as_str().unwrap();
    assert!(
        title.contains("Log in.") && title.contains("https://example.com/login"),
        "{title}"
    );

    // Else in words; each mode by itself.
    for (capabilities, gate) in [
        (json!({}), gate()),
        (json!({"elicitation": {"url": {}}}), gate()),
        (json!({"elicitation": {"form": {}}}), url()),
    ] {
        let mut scene = scene(capabilities).await;
        scene.open(gate).await;
        let text = scene.client.update().await;
        assert_eq!(text["sessionUpdate"], "agent_message_chunk");
        // The gate stays with the host, which may resolve it in its own way.
        assert!(scene.session.has_no_response().await);
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_form_for_a_client_without_forms_is_declined() {
    let url = || Gate::open_url("g2", "Log in.", OpenUrl::new("https://example.com/login"));
    let nothing_to_choose =
        || Gate::permission_with("g3", ToolCall::new("t2", "edit", "Edit"), Vec::new());
    let denied = GateAnswer::Permission(PermissionAction::Deny);
    for (capabilities, gate, want) in [
        (json!({}), gate(), GateAnswer::Declined),
        (
            json!({"elicitation": {"url": {}}}),
            gate(),
            GateAnswer::Declined,
        ),
        (
            json!({"elicitation": {"form": {}}}),
            url(),
            GateAnswer::Declined,
        ),
        // A form that no client can show, and a question without an answer.
        (
            both(),
            Gate::form(
                "g4",
                "Who?",
                UserForm::new().with_field(FormField::select("a", "A", Vec::new())),
            ),
            GateAnswer::Declined,
        ),
        (both(), nothing_to_choose(), denied),
    ] {
        let mut scene = scene(capabilities).await;
        scene.open(gate).await;
        let response = scene.session.response().await;
        assert_eq!(response.answer, want);
        assert!(matches!(response.source, DecisionSource::Policy { .. }));
        scene.client.assert_quiet().await;
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_withdraws_its_form() {
    let mut scene = scene(both()).await;
    scene.open(gate()).await;
    let asked = scene.client.asked("elicitation/create").await;
    scene.client.cancel("session-0").await;
    let withdrawn = scene.client.next().await;
    assert_eq!(withdrawn["params"]["requestId"], asked["id"], "{withdrawn}");
    let response = scene.session.response().await;
    assert_eq!(response.answer, GateAnswer::Dismissed);
    scene.turn.interrupted().await;
    assert_eq!(scene.client.stop_reason(scene.request).await, "cancelled");
    let late = json!({"action": "accept", "content": {"name": "Ada"}});
    scene.client.reply(&asked["id"], late).await;
    scene.client.assert_quiet().await;
    assert!(scene.session.has_no_response().await);
}
