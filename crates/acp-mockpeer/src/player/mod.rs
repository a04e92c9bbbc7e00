//! Plays one side of a scenario.

mod breaches;
mod compare;
mod compile;
mod compose;
mod describe;
mod engine;
mod failure;
mod flow;
mod login;
mod mutator;
mod outcome;
mod plain;
mod process;
mod rehearsal;
mod report;
mod surroundings;
pub(crate) mod transcript;
pub(crate) mod wire;

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

pub use compile::Unplayable;
#[cfg(feature = "judge")]
pub(crate) use describe::{event, line as shown};
pub use failure::Failure;
#[cfg(feature = "judge")]
pub(crate) use failure::rows as failure_rows;
#[cfg(feature = "judge")]
pub(crate) use login::WANTS_A_LOGIN;
pub use outcome::{PlacedFinding, PlayOutcome, Verdict};
pub use rehearsal::{Rehearsal, rehearse};
pub use surroundings::Ended;

use crate::language::Scenario;
use crate::rules::{Breach, Check};
use acp_recording::{PeerSide, RecordingEntry};
use compare::Knowledge;
use compile::{Manner, Program};
use engine::{Engine, Stop};
use login::Login;
use mutator::Mutator;
use plain::CWD;
use surroundings::World;
use transcript::Recorder;

/// The folder a conversation is about, when nobody says otherwise.
const DEFAULT_CWD: &str = "/home/ada/project";

/// One side of a scenario, ready to be played.
///
/// The other side is the program under test. The same scenario is played as
/// agent against a client, and as client against an agent.
///
/// # Examples
///
/// Two plays against each other, over a pipe in memory:
///
/// ```
/// use acp_mockpeer::{Play, Scenario};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), acp_mockpeer::ParseError> {
/// let hello = Scenario::parse("hello.acpt", "\
/// -> initialize {\"protocolVersion\": 1}
/// <- result {\"protocolVersion\": 1}
/// ")?;
/// let (ours, theirs) = tokio::io::duplex(64);
/// let (agent_reads, agent_writes) = tokio::io::split(ours);
/// let (client_reads, client_writes) = tokio::io::split(theirs);
/// let (agent, client) = tokio::join!(
///     Play::agent(&hello).over(agent_reads, agent_writes),
///     Play::client(&hello).over(client_reads, client_writes),
/// );
/// agent.assert_passed();
/// client.assert_passed();
/// # Ok(())
/// # }
/// ```
#[must_use = "a play does nothing until it meets the other side"]
pub struct Play {
    scenario: Scenario,
    us: PeerSide,
    allow: BTreeSet<Check>,
    knowledge: Knowledge,
    limit: Option<Duration>,
    /// How long an agent serves on when its script is over.
    linger: Option<Duration>,
    recorder: Option<Recorder>,
    world: World,
    manner: Manner,
    /// What the side with a fault does otherwise.
    mutator: Option<Mutator>,
    /// What is done when the agent wants a login first.
    login: Option<Login>,
}

impl Play {
    /// Plays the agent; a client is under test.
    pub fn agent(scenario: &Scenario) -> Self {
        Self::new(scenario, PeerSide::Agent)
    }

    /// Plays the client; an agent is under test.
    pub fn client(scenario: &Scenario) -> Self {
        Self::new(scenario, PeerSide::Client)
    }

    /// Plays this side.
    pub fn new(scenario: &Scenario, us: PeerSide) -> Self {
        let mut knowledge = Knowledge::default();
        knowledge.names.insert(CWD.into(), DEFAULT_CWD.into());
        for (word, said) in crate::suite::words() {
            let is_named = [format!("${word}"), format!("${{{word}}}")];
            if is_named.iter().any(|name| scenario.source.contains(name)) {
                knowledge.names.insert(word.as_str().into(), said.clone());
            }
        }
        Self {
            us,
            allow: scenario.header.allow.clone(),
            knowledge,
            limit: Some(scenario.header.limit),
            linger: Some(scenario.header.patience),
            recorder: None,
            world: World::default(),
            manner: Manner::Judging,
            mutator: None,
            login: None,
            scenario: scenario.clone(),
        }
    }

    /// Says what a name stands for from the beginning, `cwd` for example.
    pub fn with_value(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.knowledge.names.insert(name.into(), value.into());
        self
    }

    /// Reckons with an agent that wants a login before it opens a session: logs in by
    /// this method and asks again. Without one, or where it leads nowhere, the
    /// scenario is skipped.
    pub fn with_login(mut self, by: Option<&str>) -> Self {
        self.login = Some(Login::new(by));
        self
    }

    /// Switches a check off.
    pub fn allow(mut self, check: Check) -> Self {
        self.allow.insert(check);
        self
    }

    /// Lets the play take as long as it takes, and the agent serve on after
    /// its last step until the client closes.
    pub fn without_limit(mut self) -> Self {
        self.limit = None;
        self.linger = None;
        self
    }

    /// Calls this function with everything that is seen, as it is seen.
    pub fn with_recorder(mut self, recorder: impl FnMut(&RecordingEntry) + Send + 'static) -> Self {
        self.recorder = Some(Box::new(recorder));
        self
    }

    /// Tells whether this side of the scenario can be played at all.
    ///
    /// # Errors
    ///
    /// [`Unplayable`] names the step that cannot.
    pub fn check(&self) -> Result<(), Unplayable> {
        compile::compile(&self.scenario, self.us, self.manner).map(drop)
    }

    /// Plays over a pair of pipes.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the play and closes the pipes.
    pub async fn over<R, W>(self, reader: R, writer: W) -> PlayOutcome
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let began = Instant::now();
        let compiled = compile::compile(&self.scenario, self.us, self.manner);
        let (program, unplayable) = match compiled {
            Ok(program) => (program, None),
            Err(why) => (Program::empty(self.manner), Some(why)),
        };
        let mut engine = Engine::new(self, program, reader, writer);
        let stop = match unplayable {
            None => engine.run().await,
            Some(why) => Stop::Broken(Box::new(Failure::at(why.line, why.reason))),
        };
        let (mut verdict, mut failure, mut exit_as) = (Verdict::Passed, None, None);
        match stop {
            Stop::Over => {}
            Stop::Exit(how) => exit_as = Some(how),
            Stop::Failed(why) => {
                verdict = Verdict::Failed;
                failure = Some(*why);
            }
            Stop::Broken(why) => {
                verdict = Verdict::Broken(why.summary.clone());
                failure = Some(*why);
            }
            Stop::Skipped(why) => verdict = Verdict::Skipped(why),
            Stop::NotExercised(why) => verdict = Verdict::NotExercised(why),
        }
        let Engine {
            play:
                Self {
                    scenario,
                    us,
                    mutator,
                    ..
                },
            wire,
            mut findings,
            more_findings,
            breaches: mut demanded,
            exercised,
            ended,
            sent,
            ..
        } = engine;
        let mut found = findings.iter().map(breaches::of_finding);
        let broken =
            found.any(|breach| breach.is_failure()) || demanded.iter().any(Breach::is_failure);
        if broken && !matches!(verdict, Verdict::Broken(_)) {
            verdict = Verdict::Failed;
        }
        let (transcript, places) = wire.inlet.transcript.finish();
        let findings_at = findings.iter_mut().map(|found| &mut found.entry);
        let demanded_at = demanded.iter_mut().map(|breach| &mut breach.entry);
        let failed_at = failure.iter_mut().map(|failure| &mut failure.entry);
        for entry in findings_at.chain(demanded_at).chain(failed_at) {
            *entry = entry.and_then(|entry| places.of(entry));
        }
        let breaches = breaches::all(
            &scenario,
            us.other(),
            &verdict,
            &findings,
            &demanded,
            failure.as_mut(),
        );
        PlayOutcome {
            scenario,
            played: us,
            verdict,
            failure,
            findings,
            more_findings,
            breaches,
            demanded,
            exercised: exercised.into_iter().collect(),
            sent,
            mutated: mutator.is_some_and(|mutator| mutator.applied),
            transcript,
            elapsed: began.elapsed(),
            ended,
            exit_as,
            stderr: String::new(),
        }
    }
}
