//! `acp run`: one prompt, one turn.

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
mod protected;
mod sandbox;
mod serve;
mod watch;

use std::path::Path;
use std::time::Duration;

use acp_client::{Client, ClientTimeouts};
use acp_harness::limits::HEADLESS_LOGIN_TIMEOUT;
use acp_harness::turn::{StopHandle, TurnBounds, TurnDriver};
use acp_protocol::rpc::Limits;
use acp_protocol::v1::ContentBlock;
use acp_text::clean;
use tokio::sync::mpsc;

use crate::agent::{Agent, Asked, Origin, client_options, id_of, let_remember, working_folder};
use crate::config;
use crate::exit::Exit;
use crate::outcome::Outcome;
use crate::sessions::{AgentId, ClaimedSession, Target};
use crate::show::{self, Format, Open, Output, Served};
pub(crate) use args::RunArgs;
use attach::Attachment;
use consent::Consent;
use interrupts::Interrupts;
use open::SessionRequest;
use person::Person;
use watch::Watch;

/// Runs one turn and shows it.
pub(crate) async fn run(args: RunArgs) -> Exit {
    let format = match &args {
        RunArgs { json: true, .. } => Format::Json,
        RunArgs { quiet: true, .. } => Format::Quiet,
        _ => Format::Human,
    };
    let colour = args.color.unwrap_or_default();
    let prepared = Run::prepare(args);
    let colour = prepared.as_ref().map_or(colour, |run| run.colour);
    let mut output = Output::standard(format, colour);
    let outcome = match prepared {
        Ok(mut run) => {
            let outcome = run.carry_out(&mut output).await;
            if outcome.exit == Exit::EndOfTurn && !output.agent_acted() {
                output.say(
                    "the agent said nothing and did nothing; some end a turn so when they \
                     cannot reach their model",
                );
            }
            if run.agent.origin == Origin::Fallback && outcome.exit == Exit::EndOfTurn {
                output.hint(&how_to_go_on());
            }
            outcome
        }
        Err(outcome) => outcome,
    };
    output.end(&outcome);
    outcome.exit
}

/// Says what an agent started to outlive it, if it did.
fn left_behind(exit: &acp_client::Exit) -> Option<String> {
    let processes = |count| match count {
        1 => "1 process".to_owned(),
        count => format!("{count} processes"),
    };
    match (exit.escaped(), exit.survivors()) {
        (0, _) => None,
        (escaped, 0) => Some(format!(
            "the agent had detached {}; ended with the agent",
            processes(escaped)
        )),
        (_, survivors) => Some(format!(
            "the agent had detached {}; still running, end by hand",
            processes(survivors)
        )),
    }
}

/// What to do after the demo agent has shown itself.
fn how_to_go_on() -> String {
    let demo = "this was the built-in demo agent, which has no model";
    match acp_harness::detect_installed().first() {
        Some(agent) => format!(
            "{demo}; {} is here: `acp run --agent {} \"…\"` asks it, `acp agents` lists others",
            agent.title, agent.name
        ),
        None => format!(
            "{demo}; `acp agents` lists real ones and how to get them, `acp run --agent NAME` asks them"
        ),
    }
}

/// What is to be done, once the command line has been understood.
struct Run {
    agent: Agent,
    client: Client,
    session: SessionRequest,
    prompt: String,
    attachments: Vec<Attachment>,
    consent: Consent,
    person: Option<Person>,
    served: mpsc::Receiver<Served>,
    protected: mpsc::Receiver<protected::ProtectedQuestion>,
    bounds: TurnBounds,
    stop: StopHandle,
    /// Used when the agent is to be killed, and not waited for any more.
    kill: StopHandle,
    /// The kept session it is part of.
    target: Option<Target>,
    agent_id: AgentId,
    /// What is to be said before it begins.
    notes: Vec<String>,
    colour: config::Colour,
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
        let config = config::load(&cwd, args.flags()?)?;
        let mut asked = Asked::of(&config);
        if args.session.model.is_none() {
            let kept = target.as_ref().and_then(Target::model);
            asked.model = kept.or(asked.model);
        }
        let mut agent = Agent::choose(&asked, &args.agent, &cwd)?;
        if let Some(target) = &target {
            let_remember(&mut agent, target.folder());
        }
        let request = SessionRequest::new(args.session, &config, cwd)?;
        let cwd = &request.cwd;
        let sandbox = args.consent.sandbox;
        let sandbox = sandbox.map(|level| sandbox::of(level, &agent, cwd, request.folders()));
        let sandbox = sandbox.transpose()?;
        if let Some(sandbox) = &sandbox {
            sandbox::hold(&mut agent, sandbox, cwd);
        }
        let settings = &config.settings;
        let timeouts = ClientTimeouts {
            authenticate: HEADLESS_LOGIN_TIMEOUT,
            ..ClientTimeouts::default()
        };
        let options = client_options(timeouts, settings.start_timeout.value.map(Into::into))
            .with_notices()
            .with_boolean_options()
            // As in any pipe, a slow reader of our output slows the agent, and loses nothing.
            .with_limits(Limits::default().with_patience(None));
        let options = consent::offer(&args.consent, options);
        let (asks, protected) = protected::questions();
        let (options, served) = serve::offer(
            settings.files.value,
            settings.terminals.value,
            sandbox,
            agent.entry.quirks.missing_file_reads_empty,
            &config.protected,
            person.is_some().then_some(asks),
            options,
        );
        let mut notes: Vec<_> = config.project_changes().into_iter().collect();
        notes.extend(config.warnings());
        notes.extend(agent.left_out.iter().map(|variable| {
            let agent = &agent.entry.title;
            format!("{variable} is not passed on: it keeps {agent} from working")
        }));
        let stop = StopHandle::new();
        let idle = settings.idle_timeout.value;
        Ok(Self {
            client: Client::new(agent.launch.clone(), options),
            agent_id: id_of(&agent, &args.agent),
            target,
            agent,
            consent: Consent::new(
                &args.consent,
                settings.allow.value,
                &config.protected,
                request.all_folders(),
            ),
            protected,
            session: request,
            prompt,
            attachments,
            person,
            served,
            bounds: TurnBounds::new(&stop)
                .with_total(settings.timeout.value.map(Duration::from))
                .with_idle(idle.map_or(Some(config::limits::IDLE_TIMEOUT), |bound| bound.0)),
            stop,
            kill: StopHandle::new(),
            notes,
            colour: settings.color.value,
        })
    }

    async fn carry_out(&mut self, output: &mut Output) -> Outcome {
        let interrupts = match Interrupts::listen(self.client.clone(), &self.stop, &self.kill) {
            Ok(interrupts) => interrupts,
            Err(error) => return error.into(),
        };
        for note in &self.notes {
            output.say(note);
        }
        let mut kept = match self.claim(output).await {
            Ok(kept) => kept,
            Err(outcome) => return outcome,
        };
        output.status(&clean!(
            "starting {}",
            show::one_line(&self.agent.entry.title)
        ));
        let outcome = self.converse(output, kept.as_mut()).await;
        let outcome = outcome.unwrap_or_else(|outcome| outcome);
        output.status(&clean!("stopping the agent"));
        // Whatever happened, nothing of the agent is left behind.
        let closed = tokio::select! {
            exit = self.client.close() => exit,
            () = interrupts.another() => None,
        };
        let exit = closed.or(self.client.kill().await);
        if let Some(note) = exit.as_ref().and_then(left_behind) {
            output.say(&note);
        }
        if let Some(kept) = kept {
            // Now that the agent is gone, another one may go on in the session.
            keep::end(kept, &outcome, output).await;
        }
        outcome.with_noise(self.client.noise())
    }

    async fn converse(
        &mut self,
        output: &mut Output,
        mut kept: Option<&mut ClaimedSession>,
    ) -> Result<Outcome, Outcome> {
        let known = kept.as_deref();
        let mut tell = |event| output.progress(&event);
        let opening = self
            .session
            .open(&self.agent, &self.client, known, &mut tell);
        let mut ready = match self.bounds.within(opening).await {
            Ok(Ok(ready)) => ready,
            // It was killed, so it could not go on.
            Ok(Err(_)) if self.stop.is_stopped() => return Err(Outcome::interrupted(None)),
            Ok(Err(error)) => return Err(error.into()),
            Err(cause) => {
                output.say("stopping the agent");
                self.client.kill().await;
                return Err(Outcome::cut_short(cause, None));
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
            Some(kept) => self.begin_kept(kept, &ready, output)?,
            None => self.prompt.clone(),
        };
        let turn = ready.session.prompt(self.blocks(prompt)).await?;
        let driver = TurnDriver::new(&self.client, turn, &self.bounds);
        let mut watch = Watch {
            run: self,
            output,
            kept: kept.as_deref(),
        };
        watch.check(shown);
        let driven = watch.turn(driver).await;
        Ok(Outcome::of_driven(driven, self.stop.is_stopped()))
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

#[cfg(test)]
mod tests {
    use super::*;

    use acp_client::ProtectedPaths;
    use acp_client::limits::CANCEL_GRACE;
    use acp_harness::Registry;
    use acp_protocol::v1::StopReason;
    use serde_json::{Value, json};
    use tokio::io::{
        AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
        duplex, split,
    };
    use tokio::time::Instant;

    use super::args::ConsentArgs;
    use crate::agent::AgentArgs;

    /// An agent that answers what it is told to.
    struct Scripted {
        lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
        writer: WriteHalf<DuplexStream>,
    }

    impl Scripted {
        async fn hear(&mut self) -> Option<Value> {
            let line = self.lines.next_line().await.unwrap()?;
            Some(serde_json::from_str(&line).unwrap())
        }

        async fn reply(&mut self, request: &Value, result: Value) {
            let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
            self.writer
                .write_all(format!("{answer}\n").as_bytes())
                .await
                .unwrap();
        }

        async fn answer(&mut self, method: &str, result: Value) {
            let request = self.hear().await.unwrap();
            assert_eq!(request["method"], method);
            self.reply(&request, result).await;
        }

        /// Comes to where it is asked; gives the prompt.
        async fn start(&mut self) -> Value {
            self.answer("initialize", json!({"protocolVersion": 1}))
                .await;
            self.answer("session/new", json!({"sessionId": "s"})).await;
            let prompt = self.hear().await.unwrap();
            assert_eq!(prompt["method"], "session/prompt");
            prompt
        }

        /// Waits for the end, and counts how often it is asked to cancel until then.
        async fn count_cancels(&mut self) -> usize {
            let mut cancels = 0;
            while let Some(message) = self.hear().await {
                assert_eq!(message["method"], "session/cancel");
                cancels += 1;
            }
            cancels
        }
    }

    /// A run, its agent, and what counts the wishes to stop.
    fn run_over(total: Option<Duration>, idle: Option<Duration>) -> (Run, Scripted) {
        let (ours, theirs) = duplex(4096);
        let stop = StopHandle::new();
        let (reader, writer) = split(ours);
        let folder = Path::new("/");
        let demo = Asked {
            agent: &config::Agent::Demo,
            by_default: true,
            registry: &Registry::empty(),
            model: None,
        };
        let consent = ConsentArgs::default();
        let run = Run {
            agent: Agent::choose(&demo, &AgentArgs::default(), folder).unwrap(),
            client: Client::over(reader, writer, acp_client::ClientOptions::new()),
            session: SessionRequest::only(folder),
            prompt: "x".to_owned(),
            attachments: Vec::new(),
            consent: Consent::new(
                &consent,
                config::AllowLevel::None,
                &ProtectedPaths::new(),
                folder.into(),
            ),
            protected: mpsc::channel(1).1,
            person: None,
            served: mpsc::channel(1).1,
            bounds: TurnBounds::new(&stop).with_total(total).with_idle(idle),
            stop,
            kill: StopHandle::new(),
            target: None,
            agent_id: AgentId::Demo,
            notes: Vec::new(),
            colour: config::Colour::Never,
        };
        let (reader, writer) = split(theirs);
        let lines = BufReader::new(reader).lines();
        (run, Scripted { lines, writer })
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_that_does_not_end_its_cancelled_turn_is_ended() {
        let (mut run, mut agent) = run_over(None, None);
        let stop = run.stop.clone();
        let agent = async {
            agent.start().await;
            stop.stop();
            let cancelled = Instant::now();
            (agent.count_cancels().await, cancelled.elapsed())
        };
        let mut output = Output::nowhere();
        let (outcome, (cancels, waited)) = tokio::join!(run.converse(&mut output, None), agent);
        let outcome = outcome.unwrap_or_else(|outcome| outcome);
        assert_eq!(outcome, Outcome::interrupted(None));
        assert_eq!(cancels, 4, "once, and three times again");
        assert_eq!(waited.as_secs(), CANCEL_GRACE.as_secs());
        assert!(waited < CANCEL_GRACE + Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_takes_too_long_is_cancelled() {
        let minute = Duration::from_secs(60);
        let (mut run, mut agent) = run_over(Some(minute), None);
        let began = Instant::now();
        let agent = async {
            let prompt = agent.start().await;
            let cancel = agent.hear().await.unwrap();
            assert_eq!(cancel["method"], "session/cancel");
            assert_eq!(began.elapsed().as_secs(), 60);
            agent
                .reply(&prompt, json!({"stopReason": "end_turn"}))
                .await;
        };
        let mut output = Output::nowhere();
        let (outcome, ()) = tokio::join!(run.converse(&mut output, None), agent);
        let outcome = outcome.unwrap_or_else(|outcome| outcome);
        assert_eq!(outcome.exit, Exit::TimedOut);
        // As some agents put it; it was cancelled all the same.
        assert_eq!(outcome.stop_reason, Some(StopReason::EndTurn));
        let failure = outcome.failure.unwrap();
        assert_eq!(
            failure.message,
            "failed to end the turn: it took longer than 60 s"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_deaf_agent_has_as_long_as_the_timeout_and_no_longer() {
        let (mut run, mut agent) = run_over(Some(Duration::from_secs(2)), None);
        let began = Instant::now();
        let agent = async {
            agent.start().await;
            (agent.count_cancels().await, began.elapsed())
        };
        let mut output = Output::nowhere();
        let (outcome, (cancels, waited)) = tokio::join!(run.converse(&mut output, None), agent);
        let outcome = outcome.unwrap_or_else(|outcome| outcome);
        assert_eq!(outcome.exit, Exit::TimedOut);
        assert_eq!((cancels, waited.as_secs()), (2, 4));
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_that_is_silent_is_cancelled_and_then_ended() {
        let (mut run, mut agent) = run_over(None, Some(Duration::from_secs(600)));
        let began = Instant::now();
        let agent = async {
            agent.start().await;
            (agent.count_cancels().await, began.elapsed())
        };
        let mut output = Output::nowhere();
        let (outcome, (cancels, waited)) = tokio::join!(run.converse(&mut output, None), agent);
        let outcome = outcome.unwrap_or_else(|outcome| outcome);
        assert_eq!(outcome.exit, Exit::TimedOut);
        assert_eq!(outcome.stop_reason, None);
        let failure = outcome.failure.unwrap();
        assert_eq!(
            failure.message,
            "failed to end the turn: the agent said nothing for 600 s"
        );
        assert_eq!(cancels, 4);
        // It is looked after several times within the bound.
        assert!((610..760).contains(&waited.as_secs()), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_start_that_takes_too_long_is_ended() {
        let (mut run, mut agent) = run_over(Some(Duration::from_secs(10)), None);
        let agent = async {
            let request = agent.hear().await.unwrap();
            assert_eq!(request["method"], "initialize");
            agent.hear().await
        };
        let mut output = Output::nowhere();
        let (outcome, heard) = tokio::join!(run.converse(&mut output, None), agent);
        let outcome = outcome.unwrap_or_else(|outcome| outcome);
        assert_eq!(outcome.exit, Exit::TimedOut);
        assert_eq!(heard, None, "nothing more is said to it");
    }
}
