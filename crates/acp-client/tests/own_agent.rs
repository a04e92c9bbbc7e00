//! Questions between this client and an agent of the kit, over a pipe.

use acp_agent::host::OpenUrl;
use acp_agent::kit::{Kit, Prompt, Turn, TurnEnd, TurnError, TurnHandler};
use acp_client::{
    Client, ClientOptions, ElicitationAnswer, ElicitationModes, Headless, PendingQuestion,
    QuestionKind, TurnEvent,
};
use tokio::io::{duplex, split};

#[derive(Debug, schemars::JsonSchema, serde::Deserialize)]
enum Database {
    Sqlite,
    Postgres,
}

#[expect(dead_code, reason = "it is printed")]
#[derive(Debug, schemars::JsonSchema, serde::Deserialize)]
struct Deployment {
    database: Database,
    replicas: u8,
    name: Option<String>,
}

struct Deployer;

impl TurnHandler for Deployer {
    async fn turn(&self, turn: &mut Turn, _: Prompt) -> Result<TurnEnd, TurnError> {
        turn.text("first").await?;
        let answer = turn.ask::<Deployment>("How shall it run?").await?;
        turn.text(format!("{answer:?}")).await?;
        let login = OpenUrl::new("https://example.com/login");
        match turn.send_to("Log in", login).await? {
            Some(visit) => {
                turn.text("waiting").await?;
                visit.done().await?;
            }
            None => turn.text("no login").await?,
        }
        turn.text("last").await?;
        Ok(TurnEnd::Done)
    }
}

/// Runs one turn, answers its questions with `answer`, and tells what happened.
async fn run(options: ClientOptions, answer: impl Fn(PendingQuestion)) -> (Vec<String>, Client) {
    let agent = Kit::new(Deployer).into_builder().build().unwrap();
    let (ours, theirs) = duplex(1 << 16);
    let (reader, writer) = split(theirs);
    tokio::spawn(async move { agent.serve(reader, writer).await });
    let (reader, writer) = split(ours);
    let client = Client::over(reader, writer, options);
    client.dial().await.unwrap();
    let mut session = client.new_session("/code").await.unwrap();
    let mut turn = session.prompt("deploy").await.unwrap();
    let mut seen = Vec::new();
    while let Some(event) = turn.next().await {
        seen.push(match event {
            TurnEvent::Update(update) => match update.update {
                acp_protocol::v1::SessionUpdate::AgentMessageChunk(chunk) => {
                    chunk.as_text().unwrap().to_owned()
                }
                _ => continue,
            },
            TurnEvent::Question(pending) => {
                let asked = pending.request().message().to_owned();
                answer(pending);
                format!("asks: {asked}")
            }
            TurnEvent::LinkCompleted { .. } => "link completed".to_owned(),
            other => panic!("{other:?}"),
        });
    }
    turn.end().await.unwrap();
    (seen, client)
}

#[tokio::test]
async fn a_reader_answers_forms_and_hears_the_end_of_links() {
    let options = ClientOptions::new()
        .with_elicitation_in_stream(ElicitationModes::BOTH, Headless::default());
    let (seen, client) = run(options, |pending| {
        let answer = match pending.request().kind() {
            QuestionKind::Form(form) => {
                assert!(form.is_answerable() && form.is_required("database"));
                assert!(!form.is_required("name"));
                ElicitationAnswer::accept()
                    .with("database", "Postgres")
                    .with("replicas", 3)
            }
            QuestionKind::Link(link) => {
                assert_eq!(link.host().as_deref(), Some("example.com"));
                assert_eq!(link.cautions(), []);
                ElicitationAnswer::accept()
            }
        };
        // What the agent would refuse is refused here already.
        let unfit = ElicitationAnswer::accept()
            .with("database", "Oracle")
            .with("replicas", 300);
        let pending = pending.answer(unfit).unwrap_err().question;
        pending.answer(answer).unwrap();
    })
    .await;
    assert_eq!(
        seen,
        [
            "first",
            "asks: How shall it run?",
            "Given(Deployment { database: Postgres, replicas: 3, name: None })",
            "asks: Log in",
            "waiting",
            "link completed",
            "last",
        ]
    );
    assert_eq!(client.link_stats().unwrap().completed, 1);
}

#[tokio::test]
async fn nobody_declines_forms_and_cancels_links() {
    let options =
        ClientOptions::new().with_elicitation(ElicitationModes::BOTH, Headless::UseDefaults);
    let (seen, _client) = run(options, |_| panic!("a handler answers")).await;
    assert_eq!(seen, ["first", "Declined", "no login", "last"]);
}
