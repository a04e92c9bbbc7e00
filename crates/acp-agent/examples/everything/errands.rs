//! Errands: turns for which the library needs its reader's machine, its reader,
//! or somebody who reads for it.

use std::time::Duration;

use acp_agent::host::{
    ClientCallError, CreateTerminal, Delta, EventBody, FormField, FormOption, FormValue, Gate,
    GateAnswer, GateId, HostError, Notice, NoticeSeverity, OpenUrl, PlanEntry, PlanStatus,
    ReadTextFile, Terminal, ToolCall, ToolContent, ToolEnd, ToolKind, UserForm, WriteTextFile,
};
use tokio::time::timeout;

use super::desk::{Desk, End, Turn};

/// The commands with which a prompt may begin: name, what it does, what follows.
pub(crate) const COMMANDS: &[(&str, &str, Option<&str>)] = &[
    ("read", "Reads the book out", None),
    ("copy", "Copies a file of yours aloud", Some("path")),
    (
        "print",
        "Prints the book into a file of yours",
        Some("path"),
    ),
    ("bind", "Has your machine bind the book", Some("command")),
    ("sign", "Asks who wrote the book", None),
    ("donate", "Sends you to where one can give", None),
    ("review", "Has the book reviewed", None),
];

/// How long a command may run.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the errand that a prompt names; none if it names none.
pub(crate) async fn run(
    desk: &Desk,
    turn: &Turn<'_>,
    text: &str,
) -> Option<Result<End, HostError>> {
    let (command, rest) = text.split_once(' ').unwrap_or((text, ""));
    let rest = rest.trim();
    let errand = async {
        match command {
            "/read" => turn.say(desk.read()?).await.map(Some),
            "/copy" => copy(desk, turn, rest).await.map(Some),
            "/print" => print(desk, turn, rest).await.map(Some),
            "/bind" => bind(desk, turn, rest).await.map(Some),
            "/sign" => sign(desk, turn).await.map(Some),
            "/donate" => donate(desk, turn).await.map(Some),
            "/review" => review(desk, turn).await.map(Some),
            _ => Ok(None),
        }
    };
    // What was asked of the client is withdrawn when the turn is cancelled:
    // its future is dropped.
    match turn.cancel.run_until_cancelled(errand).await {
        None => Some(Ok(End::Interrupted)),
        Some(Err(error)) => Some(Err(error)),
        Some(Ok(done)) => done.map(|()| Ok(End::Done)),
    }
}

/// What the client did, in words.
fn outcome<T>(done: Result<T, ClientCallError>, words: impl FnOnce(T) -> String) -> String {
    match done {
        Ok(value) => words(value),
        Err(error) => format!("I could not {error}."),
    }
}

async fn copy(desk: &Desk, turn: &Turn<'_>, path: &str) -> Result<(), HostError> {
    let file = ReadTextFile::new(path).with_line(1).with_limit(100);
    let read = desk.link()?.read_text_file(file).await;
    turn.say(outcome(read, |text| text)).await
}

async fn print(desk: &Desk, turn: &Turn<'_>, path: &str) -> Result<(), HostError> {
    let file = WriteTextFile::new(path, desk.read()?);
    let printed = desk.link()?.write_text_file(file).await;
    turn.say(outcome(printed, |()| "It is printed.".to_owned()))
        .await
}

/// Shows the terminal as part of a tool call while the command runs.
async fn bind(desk: &Desk, turn: &Turn<'_>, command: &str) -> Result<(), HostError> {
    let mut words = command.split(' ');
    let command = words.next().unwrap_or_default();
    let command = CreateTerminal::new(command)
        .with_args(words)
        .with_output_byte_limit(4096);
    let terminal = match desk.link()?.create_terminal(command).await {
        Ok(terminal) => terminal,
        Err(error) => return turn.say(format!("I could not {error}.")).await,
    };
    let tool = ToolCall::new(format!("{}-bind", turn.origin.turn), "bind", "Bind it")
        .with_kind(ToolKind::Execute)
        .with_content(ToolContent::Terminal(terminal.id().to_owned()));
    let id = tool.id.clone();
    turn.tell(EventBody::ToolStarted(Box::new(tool))).await?;
    let bound = watch(&terminal).await;
    // Its end shows what it printed, also when it is released.
    let end = match &bound {
        Ok(_) => ToolEnd::completed(id),
        Err(_) => ToolEnd::failed(id),
    };
    turn.tell(EventBody::ToolCompleted(Box::new(end))).await?;
    let released = terminal.release().await;
    turn.say(outcome(
        bound.and_then(|said| released.map(|()| said)),
        |said| said,
    ))
    .await
}

/// Waits for a command, not for ever, and gives what it printed.
async fn watch(terminal: &Terminal) -> Result<String, ClientCallError> {
    if let Ok(exit) = timeout(PATIENCE, terminal.wait()).await {
        exit?;
    } else {
        terminal.kill().await?;
    }
    let output = terminal.output().await?;
    let end = match &output.exit {
        Some(exit) if exit.is_success() => "It is bound",
        Some(_) => "It came apart",
        None => "It is still wet",
    };
    Ok(format!("{end}: {}", output.text))
}

async fn sign(desk: &Desk, turn: &Turn<'_>) -> Result<(), HostError> {
    let hands = vec![
        FormOption::new("neat", "A neat hand"),
        FormOption::new("quick", "A quick hand"),
    ];
    let form = UserForm::new()
        .with_field(FormField::text("name", "Your name"))
        .with_field(FormField::select("hand", "Your hand", hands))
        .with_field(FormField::confirm("seal", "With a seal?").optional());
    let gate = GateId::from(format!("{}-sign", turn.origin.turn));
    let question = Gate::form(gate, "Who wrote this book?", form);
    let said = match desk.ask(turn, question).await? {
        GateAnswer::Form(values) => {
            let text = |name| values.get(name).and_then(FormValue::as_text);
            let seal = values.get("seal") == Some(&FormValue::Flag(true));
            let (name, hand) = (text("name").unwrap_or("?"), text("hand").unwrap_or("?"));
            let sealed = if seal { ", and sealed" } else { "" };
            format!("Signed by {name} in a {hand} hand{sealed}.")
        }
        GateAnswer::Declined => "Unsigned, then.".to_owned(),
        _ => "Nobody signed it.".to_owned(),
    };
    turn.say(said).await
}

async fn donate(desk: &Desk, turn: &Turn<'_>) -> Result<(), HostError> {
    let gate = GateId::from(format!("{}-donate", turn.origin.turn));
    let url = OpenUrl::new("https://library.example/give?reader=ada");
    // One can also give at the door, so the question stays open without a client.
    let question = Gate::open_url(gate.clone(), "Give what you like.", url).answered_elsewhere();
    match desk.ask(turn, question).await? {
        GateAnswer::Opened => {
            turn.say("Thank you for going there.").await?;
            // Here somebody would wait until the money is there.
            turn.tell(EventBody::GateResolved(gate)).await
        }
        _ => turn.say("Another time, then.").await,
    }
}

/// A sub-agent reads the book. What it does stays with it, except for what the
/// user is asked.
async fn review(desk: &Desk, turn: &Turn<'_>) -> Result<(), HostError> {
    let plan = |read, judge| {
        let read = PlanEntry::new("Read the book").with_status(read);
        EventBody::PlanChanged(vec![read, PlanEntry::new("Judge it").with_status(judge)])
    };
    let thought = Delta::Thinking("Somebody should read it first.".to_owned());
    turn.tell(EventBody::Delta(thought)).await?;
    turn.tell(plan(PlanStatus::InProgress, PlanStatus::Pending))
        .await?;

    let reviewer = turn.child("reviewer");
    let tool = ToolCall::new(
        format!("{}-read", reviewer.origin.turn),
        "read",
        "Read the whole book",
    )
    .with_kind(ToolKind::Read);
    let gate = GateId::from(format!("{}-read", reviewer.origin.turn));
    let question = Gate::permission(gate, tool.clone());
    let answer = desk.ask(&reviewer, question).await?;
    let may_read = matches!(answer, GateAnswer::Permission(action) if action.is_approval());
    let end = if may_read {
        turn.tell(plan(PlanStatus::Completed, PlanStatus::InProgress))
            .await?;
        ToolEnd::completed(tool.id.clone())
    } else {
        ToolEnd::failed(tool.id.clone())
    };
    if may_read {
        let started = EventBody::ToolStarted(Box::new(tool));
        reviewer.tell(started).await?;
    }
    reviewer
        .tell(EventBody::ToolCompleted(Box::new(end)))
        .await?;
    reviewer.tell(EventBody::TurnDone).await?;
    if !may_read {
        return turn.say("Nobody may read it, so nobody judges it.").await;
    }

    turn.tell(plan(PlanStatus::Completed, PlanStatus::Completed))
        .await?;
    let words = desk.read()?.split_whitespace().count();
    let notice = Notice::new(NoticeSeverity::Info, "The review is done");
    turn.tell(EventBody::Noticed(Box::new(notice))).await?;
    turn.say(format!("{words} words, well chosen.")).await
}
