//! `acp run`: one prompt, one turn.

mod agent;
mod args;
mod attach;
mod consent;
mod help;
mod interrupts;
mod keep;
mod mcp;
mod open;
mod person;
mod prompt;
mod serve;
mod watch;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use acp_client::{Client, ClientOptions};
use acp_harness::limits::HEADLESS_LOGIN_TIMEOUT;
use acp_protocol::rpc::Limits;
use acp_protocol::v1::{ContentBlock, Implementation};
use tokio::sync::mpsc;

use crate::exit::Exit;
use crate::outcome::Outcome;
use crate::sessions::{AgentId, Kept, Target};
use crate::show::{Format, Open, Output};
use agent::Origin;
pub(crate) use agent::{Agent, AgentError};
pub(crate) use args::{AgentArgs, RunArgs};
use attach::Attachment;
use consent::Consent;
use interrupts::Interrupts;
pub(crate) use keep::{ask, let_remember};
use open::Wishes;
use person::Person;
pub(crate) use serve::Served;
use watch::{Bounds, Total, Watch};

/// How long an agent may be silent if nothing else is said: longer than the longest command
/// that the usual agents let themselves wait for, which is ten minutes.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// Runs one turn and shows it.
pub(crate) async fn run(args: RunArgs) -> Exit {
    let format = match &args {
        RunArgs { json: true, .. } => Format::Json,
        RunArgs { quiet: true, .. } => Format::Quiet,
        _ => Format::Human,
    };
    let mut output = Output::standard(format, args.color.unwrap_or_default());
    let outcome = match Run::prepare(args) {
        Ok(mut run) => {
            let outcome = run.carry_out(&mut output).await;
            if run.agent.origin == Origin::Fallback && outcome.exit == Exit::EndOfTurn {
                output.hint(
                    "this was the built-in demo agent, which has no model; \
                     `acp agents` lists real ones, and `acp run --agent NAME` asks them",
                );
            }
            outcome
        }
        Err(outcome) => outcome,
    };
    output.end(&outcome);
    outcome.exit
}

/// What is to be done, once the command line has been understood.
struct Run {
    agent: Agent,
    client: Client,
    session: Wishes,
    prompt: String,
    attachments: Vec<Attachment>,
    consent: Consent,
    person: Option<Person>,
    served: mpsc::Receiver<Served>,
    bounds: Bounds,
    /// The kept session it is part of.
    target: Option<Target>,
    agent_id: AgentId,
}

impl Run {
    fn prepare(mut args: RunArgs) -> Result<Self, Outcome> {
        let cwd = args.agent.cwd.as_deref().unwrap_or(Path::new("."));
        let mut cwd = working_folder(cwd, "--cwd")?;
        let person = args.consent.ask.then(Person::at_terminal).transpose()?;
        let attachments = args.attach.iter().map(|given| Attachment::read(given));
        let attachments = attachments.collect::<Result<_, _>>()?;
        let prompt = prompt::gather(args.prompt.as_deref(), args.file.as_deref())?;
        let target = keep::target(&mut args, &cwd)?;
        if let Some(settled) = target.as_ref().and_then(Target::cwd) {
            cwd = settled.to_owned();
        }
        let kept_model = target.as_ref().and_then(Target::model);
        let model = args.session.model.as_deref().or(kept_model);
        let agent = Agent::choose(&args.agent, model, &cwd);
        let mut agent = agent.map_err(|error| Outcome::no_agent(&error))?;
        if let Some(target) = &target {
            keep::let_remember(&mut agent, target.folder());
        }
        let idle = args.limits.idle_timeout;
        let options = consent::offer(&args.consent, client_options(&args));
        let empty = agent.entry.quirks.missing_file_reads_empty;
        let (options, served) = serve::offer(&args.consent, empty, options);
        Ok(Self {
            client: Client::new(agent.launch.clone(), options),
            agent_id: keep::id_of(&agent, &args.agent),
            target,
            agent,
            consent: Consent::new(&args.consent, &cwd),
            session: Wishes::new(args.session, cwd)?,
            prompt,
            attachments,
            person,
            served,
            bounds: Bounds {
                total: args.limits.timeout.and_then(Total::begin),
                idle: idle.map_or(Some(IDLE_TIMEOUT), |bound| bound.0),
            },
        })
    }

    async fn carry_out(&mut self, output: &mut Output) -> Outcome {
        let interrupts = match Interrupts::listen(self.client.clone()) {
            Ok(interrupts) => interrupts,
            Err(error) => return Outcome::not_started(&error),
        };
        for variable in &self.agent.left_out {
            let agent = &self.agent.entry.title;
            output.say(&format!(
                "{variable} is not passed on: it keeps {agent} from working"
            ));
        }
        let mut kept = match self.claim(output, &interrupts).await {
            Ok(kept) => kept,
            Err(outcome) => return outcome,
        };
        output.status(&format!("starting {}", self.agent.entry.title));
        let outcome = self.converse(output, &interrupts, kept.as_mut()).await;
        output.status("stopping the agent");
        // Whatever happened, nothing of the agent is left behind.
        if interrupts.count() < 2 {
            let wishes = interrupts.count();
            tokio::select! {
                _ = self.client.close() => {}
                () = interrupts.reach(wishes + 1) => {}
            }
        }
        self.client.kill().await;
        if let Some(kept) = kept {
            // Now that the agent is gone, another one may go on in the session.
            keep::end(kept, &outcome, output).await;
        }
        outcome.with_noise(self.client.noise())
    }

    async fn converse(
        &mut self,
        output: &mut Output,
        interrupts: &Interrupts,
        mut kept: Option<&mut Kept>,
    ) -> Outcome {
        let known = kept.as_deref();
        let mut tell = |event| output.progress(&event);
        let opened = tokio::select! {
            opened = self.session.open(&self.agent, &self.client, known, &mut tell) => Ok(opened),
            () = interrupts.reach(1) => Err(Outcome::interrupted(None)),
            bound = self.bounds.passed() => Err(Outcome::out_of_time(
                acp_harness::turn::TimeLimit::Total, bound, None
            )),
        };
        let mut ready = match opened {
            Ok(Ok(ready)) => ready,
            Ok(Err(error)) => return Outcome::of_turn_error(&error),
            Err(outcome) => {
                output.say("stopping the agent");
                self.client.kill().await;
                return outcome;
            }
        };
        let opened = Open {
            agent: &self.agent.entry.name,
            client: &self.client,
            session: &ready.session,
            opened: ready.opened,
            cwd: &self.session.cwd,
        };
        let shown = output.session(&opened);
        let prompt = match kept.as_deref_mut() {
            Some(kept) => match self.begin_kept(kept, &ready, output) {
                Ok(prompt) => prompt,
                Err(outcome) => return outcome,
            },
            None => self.prompt.clone(),
        };
        let turn = match ready.session.prompt(self.blocks(prompt)).await {
            Ok(turn) => turn,
            Err(error) => return Outcome::of_error(&error),
        };
        let watch = Watch {
            client: &self.client,
            consent: &self.consent,
            person: self.person.as_mut(),
            served: &mut self.served,
            bounds: self.bounds,
            output,
            interrupts,
            kept: kept.as_deref(),
            cancelled: None,
        };
        watch.turn(turn, shown).await
    }
}

impl Run {
    /// The prompt, as this agent takes it.
    fn blocks(&self, prompt: String) -> Vec<ContentBlock> {
        let agent = self.client.agent().ok();
        let takes = agent.map(|agent| agent.agent_capabilities.prompt_capabilities.clone());
        let takes = takes.unwrap_or_default();
        let attached = self.attachments.iter().map(|file| file.block(&takes));
        let text = ContentBlock::text(prompt);
        std::iter::once(text).chain(attached).collect()
    }
}

fn client_options(args: &RunArgs) -> ClientOptions {
    let mut options = ClientOptions::new()
        .with_info(Implementation::new("acp", env!("CARGO_PKG_VERSION")))
        .with_notices()
        .with_boolean_options()
        .with_authenticate_timeout(HEADLESS_LOGIN_TIMEOUT)
        // As in any pipe, a slow reader of our output slows the agent, and loses nothing.
        .with_limits(Limits::default().with_patience(None));
    if let Some(time) = args.agent.start_timeout {
        options = options
            .with_initialize_timeout(time)
            .with_new_session_timeout(time);
    }
    options
}

/// Finds a folder that an option names.
pub(crate) fn working_folder(folder: &Path, option: &str) -> Result<PathBuf, Outcome> {
    let resolved = folder.canonicalize().and_then(|path| match path.is_dir() {
        true => Ok(path),
        false => Err(io::ErrorKind::NotADirectory.into()),
    });
    resolved.map_err(|error| {
        let message = format!("failed to work in {}: {error}", folder.display());
        Outcome::usage(message, &format!("{option} takes a folder that exists"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    use acp_client::limits::CANCEL_GRACE;
    use tokio::io::{
        AsyncBufReadExt, AsyncWriteExt, BufReader, Lines, ReadHalf, WriteHalf, duplex, split,
    };
    use tokio::sync::watch;
    use tokio::time::Instant;

    use super::args::ConsentArgs;

    /// An agent that answers what it is told to.
    struct Scripted {
        lines: Lines<BufReader<ReadHalf<tokio::io::DuplexStream>>>,
        writer: WriteHalf<tokio::io::DuplexStream>,
    }

    impl Scripted {
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
        let folder = Path::new("/");
        let mut plan = Run {
            agent: Agent::choose(&AgentArgs::default(), None, folder).unwrap(),
            client: Client::over(reader, writer, ClientOptions::new()),
            session: Wishes::only(folder),
            prompt: "x".to_owned(),
            attachments: Vec::new(),
            consent: Consent::new(&ConsentArgs::default(), folder),
            person: None,
            served: mpsc::channel(1).1,
            bounds: Bounds::default(),
            target: None,
            agent_id: AgentId::Demo,
        };
        let count = watch::Sender::new(0);
        let interrupts = count.clone();
        let agent = async {
            let (reader, writer) = split(theirs);
            let lines = BufReader::new(reader).lines();
            let mut agent = Scripted { lines, writer };
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
            tokio::join!(plan.converse(&mut output, &interrupts, None), agent);
        assert_eq!(outcome, Outcome::interrupted(None));
        assert_eq!(cancels, 4, "once, and three times again");
        assert_eq!(waited.as_secs(), CANCEL_GRACE.as_secs());
        assert!(waited < CANCEL_GRACE + Duration::from_secs(1));
    }
}
