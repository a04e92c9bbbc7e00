//! `acp run`: one prompt, one turn.

mod args;
mod interrupts;
mod launch;

use std::env;
use std::io::{self, Read};
use std::path::PathBuf;

use acp_client::limits::CANCEL_GRACE;
use acp_client::{
    Client, ClientError, ClientOptions, PendingPermission, Policy, Session, Turn, TurnEvent,
};
use acp_protocol::rpc::Limits;
use acp_protocol::v1::Implementation;
use tokio::time::{Instant, sleep_until};

use crate::exit::Exit;
use crate::outcome::Outcome;
use crate::show::Output;
pub(crate) use args::RunArgs;
use interrupts::Interrupts;
pub(crate) use launch::LaunchError;
use launch::launch;

/// The longest prompt that is read from standard input: what a message may hold.
const MAX_PROMPT: u64 = 32 << 20;

/// Runs one turn and shows it.
pub(crate) async fn run(args: RunArgs) -> Exit {
    let mut output = Output::standard(args.json);
    let outcome = match prepare(args) {
        Ok(plan) => plan.carry_out(&mut output).await,
        Err(outcome) => outcome,
    };
    output.end(&outcome);
    outcome.exit
}

/// What is to be done, once the command line has been understood.
struct Plan {
    cwd: PathBuf,
    prompt: String,
    mode: Option<String>,
    policy: Policy,
    client: Client,
}

fn prepare(args: RunArgs) -> Result<Plan, Outcome> {
    let cwd = working_folder(args.cwd)?;
    let prompt = prompt(args.prompt)?;
    let launch = launch(&args.command, &cwd).map_err(|error| Outcome::not_found(&error))?;
    let mut options = ClientOptions::new()
        .with_info(Implementation::new("acp", env!("CARGO_PKG_VERSION")))
        .with_permissions_in_stream()
        .with_notices()
        // As in any pipe, a slow reader of our output slows the agent, and loses nothing.
        .with_limits(Limits::default().with_patience(None));
    if let Some(time) = args.start_timeout {
        options = options
            .with_initialize_timeout(time)
            .with_new_session_timeout(time);
    }
    Ok(Plan {
        policy: Policy::new(args.allow.into(), &cwd),
        client: Client::new(launch, options),
        mode: args.mode,
        cwd,
        prompt,
    })
}

fn working_folder(given: Option<PathBuf>) -> Result<PathBuf, Outcome> {
    let folder = given.unwrap_or_else(|| PathBuf::from("."));
    let resolved = folder.canonicalize().and_then(|path| match path.is_dir() {
        true => Ok(path),
        false => Err(io::ErrorKind::NotADirectory.into()),
    });
    resolved.map_err(|error| {
        let message = format!("failed to work in {}: {error}", folder.display());
        Outcome::usage(message, "--cwd takes a folder that exists")
    })
}

fn prompt(given: String) -> Result<String, Outcome> {
    let prompt = if given == "-" { read_prompt()? } else { given };
    if prompt.trim().is_empty() {
        return Err(Outcome::usage(
            "the prompt is empty".to_owned(),
            "say what the agent shall do; - reads it from standard input",
        ));
    }
    Ok(prompt)
}

fn read_prompt() -> Result<String, Outcome> {
    let mut prompt = String::new();
    let refuse = |what: &str| {
        let message = format!("failed to read the prompt from standard input: {what}");
        Outcome::usage(message, "it must be text, of at most 32 MiB")
    };
    let read = io::stdin().take(MAX_PROMPT + 1).read_to_string(&mut prompt);
    match read {
        Ok(length) if length as u64 > MAX_PROMPT => Err(refuse("it is too long")),
        Ok(_) => {
            prompt.truncate(prompt.trim_end_matches(['\r', '\n']).len());
            Ok(prompt)
        }
        Err(error) => Err(refuse(&error.to_string())),
    }
}

impl Plan {
    async fn carry_out(self, output: &mut Output) -> Outcome {
        let interrupts = match Interrupts::listen(self.client.clone()) {
            Ok(interrupts) => interrupts,
            Err(error) => return Outcome::not_started(&error),
        };
        let outcome = self.converse(output, &interrupts).await;
        // Whatever happened, nothing of the agent is left behind.
        if interrupts.count() < 2 {
            let wishes = interrupts.count();
            tokio::select! {
                _ = self.client.close() => {}
                () = interrupts.reach(wishes + 1) => {}
            }
        }
        self.client.kill().await;
        outcome.with_noise(self.client.noise())
    }

    async fn converse(&self, output: &mut Output, interrupts: &Interrupts) -> Outcome {
        let opened = tokio::select! {
            opened = self.open() => opened,
            () = interrupts.reach(1) => {
                output.say("stopping the agent");
                self.client.kill().await;
                return Outcome::interrupted(None);
            }
        };
        let (mut session, shown) = match opened {
            Ok(session) => {
                let shown = output.session(&self.client, &session, &self.cwd);
                (session, shown)
            }
            Err(error) => return Outcome::of_error(&error),
        };
        match session.prompt(self.prompt.as_str()).await {
            Ok(turn) => {
                let watched = Watch::new(self, output, interrupts);
                watched.turn(turn, shown).await
            }
            Err(error) => Outcome::of_error(&error),
        }
    }

    async fn open(&self) -> Result<Session, ClientError> {
        self.client.dial().await?;
        let session = self.client.new_session(self.cwd.as_path()).await?;
        if let Some(mode) = &self.mode {
            session.control().set_mode(mode.as_str()).await?;
        }
        Ok(session)
    }
}

/// Watches one turn to its end.
struct Watch<'a> {
    plan: &'a Plan,
    output: &'a mut Output,
    interrupts: &'a Interrupts,
    /// When the patience with a cancelled turn ends.
    patience: Option<Instant>,
}

impl<'a> Watch<'a> {
    fn new(plan: &'a Plan, output: &'a mut Output, interrupts: &'a Interrupts) -> Self {
        Self {
            plan,
            output,
            interrupts,
            patience: None,
        }
    }

    async fn turn(mut self, mut turn: Turn, shown: io::Result<()>) -> Outcome {
        self.check(&turn, shown);
        loop {
            tokio::select! {
                event = turn.next() => match event {
                    Some(event) => {
                        let shown = self.show(event);
                        self.check(&turn, shown);
                    }
                    None => break,
                },
                () = self.interrupts.reach(1), if self.patience.is_none() => {
                    self.output.say("cancelling; once more kills the agent");
                    self.cancel(&turn);
                }
                () = until(self.patience) => {
                    self.output.say("the agent does not end its turn; killing it");
                    self.plan.client.kill().await;
                    return Outcome::interrupted(None);
                }
            }
        }
        match (turn.end().await, self.patience) {
            (Ok(end), None) => Outcome::of_turn(end.stop_reason),
            (Ok(end), Some(_)) => Outcome::interrupted(Some(end.stop_reason)),
            // Agents answer a cancelled prompt in many ways, and a killed one not at all.
            (Err(_), Some(_)) => Outcome::interrupted(None),
            (Err(error), None) => Outcome::of_error(&error),
        }
    }

    fn show(&mut self, event: TurnEvent) -> io::Result<()> {
        match event {
            TurnEvent::Permission(pending) => self.permit(pending),
            _ if self.output.is_broken() => Ok(()),
            event => self.output.event(&event),
        }
    }

    fn permit(&mut self, pending: PendingPermission) -> io::Result<()> {
        if !pending.is_open() {
            return Ok(());
        }
        let ask = pending.ask();
        let decision = self.plan.policy.decide(ask.tool(), ask.options());
        let shown = self.output.permission(ask.tool(), &decision);
        pending.decide(&decision);
        shown
    }

    /// Cancels the turn when what it says can no longer be shown.
    fn check(&mut self, turn: &Turn, shown: io::Result<()>) {
        if let Err(error) = shown
            && !self.output.is_broken()
        {
            self.output.give_up();
            self.output
                .say(&format!("cancelling: standard output fails: {error}"));
            self.cancel(turn);
        }
    }

    fn cancel(&mut self, turn: &Turn) {
        turn.cancel();
        self.patience = Some(Instant::now() + CANCEL_GRACE);
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::time::Duration;

    use acp_client::Allow;
    use tokio::io::{
        AsyncBufReadExt, AsyncWriteExt, BufReader, Lines, ReadHalf, WriteHalf, duplex, split,
    };
    use tokio::sync::watch;

    /// An agent that answers what it is told to.
    struct Agent {
        lines: Lines<BufReader<ReadHalf<tokio::io::DuplexStream>>>,
        writer: WriteHalf<tokio::io::DuplexStream>,
    }

    impl Agent {
        async fn hear(&mut self) -> Option<serde_json::Value> {
            let line = self.lines.next_line().await.unwrap()?;
            Some(serde_json::from_str(&line).unwrap())
        }

        async fn answer(&mut self, method: &str, result: serde_json::Value) {
            let request = self.hear().await.unwrap();
            assert_eq!(request["method"], method);
            let answer =
                serde_json::json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
            self.writer
                .write_all(format!("{answer}\n").as_bytes())
                .await
                .unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_that_does_not_end_its_cancelled_turn_is_ended() {
        let (ours, theirs) = duplex(4096);
        let (reader, writer) = split(ours);
        let plan = Plan {
            cwd: "/".into(),
            prompt: "x".to_owned(),
            mode: None,
            policy: Policy::new(Allow::None, "/"),
            client: Client::over(reader, writer, ClientOptions::new()),
        };
        let (count, interrupts) = watch::channel(0);
        let agent = async {
            let (reader, writer) = split(theirs);
            let lines = BufReader::new(reader).lines();
            let mut agent = Agent { lines, writer };
            agent
                .answer("initialize", serde_json::json!({"protocolVersion": 1}))
                .await;
            agent
                .answer("session/new", serde_json::json!({"sessionId": "s"}))
                .await;
            assert_eq!(agent.hear().await.unwrap()["method"], "session/prompt");
            count.send_replace(1);
            let cancelled = Instant::now();
            let mut cancels = 0;
            while let Some(message) = agent.hear().await {
                assert_eq!(message["method"], "session/cancel");
                cancels += 1;
            }
            (cancels, cancelled.elapsed())
        };
        let mut output = Output::nowhere();
        let interrupts = Interrupts::of(interrupts);
        let (outcome, (cancels, waited)) =
            tokio::join!(plan.converse(&mut output, &interrupts), agent);
        assert_eq!(outcome, Outcome::interrupted(None));
        assert_eq!(cancels, 4, "once, and three times again");
        assert_eq!(waited.as_secs(), CANCEL_GRACE.as_secs());
        assert!(waited < CANCEL_GRACE + Duration::from_secs(1));
    }
}
