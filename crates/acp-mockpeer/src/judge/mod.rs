//! The judge: plays scenarios against a program, each against a fresh process,
//! and tells which rules of the protocol it keeps.
//!
//! * Every scenario has its process, its folder, its time; when it is over,
//!   nothing of the program is left running.
//! * What did not happen is not guessed: a capability that is absent makes a
//!   scenario skipped, a race that was not run makes it not exercised.
//! * What is shown of a conversation holds no secret that can be known as one.

mod agent_socket;
mod chaos;
mod evidence;
mod expected;
mod process;
mod profile;
mod report;
mod verdict;
mod workspace;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use acp_process::{EnvironmentError, Launch, OrphanGuard};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

#[cfg(feature = "cli")]
pub(crate) use agent_socket::{Head, MOST as MOST_IN_A_FRAME};
pub use chaos::{Lines, NoLines};
pub use expected::{Expected, ExpectedError};
pub use profile::{Profile, ProfileError};
pub use report::{Format, Report, ReportLook, RuleReport, RuleState};
pub use verdict::{Judged, ScenarioFault, ScenarioState};

use crate::language::Scenario;
use crate::player::Play;
use acp_recording::{PeerSide, Redactor};
use chaos::{Round, Small};
use workspace::TestWorkspace;

/// More programs at once than this only wait for each other.
pub const MOST_JOBS: usize = 8;

/// How long everything together may take, if nobody says otherwise.
pub const DEFAULT_LIMIT: Duration = Duration::from_secs(30 * 60);

/// Judges one program.
///
/// # Examples
///
/// ```no_run
/// use acp_mockpeer::judge::{Format, Judge, Profile, ReportLook};
/// use acp_mockpeer::{Scenario, PeerSide};
/// use acp_process::Launch;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let launch = Launch::new("/opt/agents/ada");
/// let judge = Judge::new(PeerSide::Agent, launch, Profile::default())?;
/// let scenarios = vec![Scenario::load("cancel.acpt")?];
/// let report = judge.run(scenarios, std::future::pending(), |_| {}).await;
/// print!("{}", report.render(Format::Human, ReportLook::default()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a judge does nothing until it runs"]
pub struct Judge {
    role: PeerSide,
    launch: Launch,
    profile: Profile,
    redactor: Redactor,
    /// The command of ours by which a client under test starts its agent; it gets the place
    /// where we wait as one more argument. Without it the client speaks on its own stdin and
    /// stdout.
    pub agent: Option<Vec<OsString>>,
    /// What names of the scenarios stand for; a later one wins.
    pub values: Vec<(String, Value)>,
    /// How many scenarios are played at once, at most [`MOST_JOBS`].
    pub jobs: usize,
    /// Whether warnings are failures.
    pub strict: bool,
    /// How long everything together may take.
    pub limit: Duration,
    /// The only lines that are said in each round of chaos; none of them is made smaller.
    pub lines: Option<Lines>,
    /// How a person judges so again: the words of a command line that stand before the
    /// program. Reports name it where something can be repeated.
    pub words: Option<Vec<String>>,
}

/// What is done with one process.
#[derive(Clone)]
enum Work {
    Play(Box<Scenario>),
    Chaos(Round, Small),
}

impl Work {
    /// Returns what a report names it by.
    fn scenario(&self) -> Scenario {
        match self {
            Self::Play(scenario) => Scenario::clone(scenario),
            Self::Chaos(round, _) => round.scenario(&[]),
        }
    }
}

/// Why a judge stops before the end.
type Stop = Option<Arc<str>>;

/// The program could not be started.
struct Unstartable(String);

impl Judge {
    /// Judges the program of this launch as an agent or a client, by what is known of it;
    /// the environment of the launch becomes what the profile says.
    ///
    /// # Errors
    ///
    /// [`EnvironmentError`] when the profile names a variable that cannot be.
    pub fn new(role: PeerSide, launch: Launch, profile: Profile) -> Result<Self, EnvironmentError> {
        let mut redactor = Redactor::new().with_variables(acp_recording::variables());
        for secret in profile.secrets() {
            redactor = redactor.with_secret(secret);
        }
        Ok(Self {
            role,
            launch: launch.with_environment(profile.environment()?),
            agent: None,
            profile,
            values: Vec::new(),
            jobs: default_jobs(),
            strict: false,
            limit: DEFAULT_LIMIT,
            redactor,
            lines: None,
            words: None,
        })
    }

    /// Plays these scenarios, those at once that may, and calls `progress` with
    /// each as it is done. When `stop` is ready, what still runs is ended, and the
    /// rest is not played.
    ///
    /// Needs a runtime with time and io; one with several threads makes use of them.
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped, the programs are ended in the background.
    pub async fn run(
        self,
        scenarios: Vec<Scenario>,
        stop: impl Future<Output = ()>,
        progress: impl FnMut(&Judged),
    ) -> Report {
        let works = scenarios
            .into_iter()
            .map(|scenario| Work::Play(Box::new(scenario)))
            .collect();
        self.work(works, stop, progress).await
    }

    /// Plays rounds of chaos: a valid conversation that is spoiled under a seed, of
    /// which the program has to survive everything. A round is the same whenever it
    /// is played under this seed.
    ///
    /// Of a round that fails in a new way, what is not needed for that is left out: the
    /// report tells the smallest that still fails, and how it is played again.
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped, the programs are ended in the background.
    pub async fn run_chaos(
        self,
        seed: u64,
        rounds: RangeInclusive<u32>,
        stop: impl Future<Output = ()>,
        progress: impl FnMut(&Judged),
    ) -> Report {
        let small = Small::default();
        let works = rounds.map(|number| Work::Chaos(Round { seed, number }, small.clone()));
        self.work(works.collect(), stop, progress).await
    }

    async fn work(
        self,
        works: Vec<Work>,
        stop: impl Future<Output = ()>,
        mut progress: impl FnMut(&Judged),
    ) -> Report {
        let began = SystemTime::now();
        let started = Instant::now();
        let judge = Arc::new(self);
        let (tell, told) = watch::channel(Stop::None);
        let mut results: Vec<Option<Judged>> = works.iter().map(|_| None).collect();
        let mut waiting = works.iter().cloned().enumerate();
        let mut running = JoinSet::new();
        let mut unstartable = None;
        let mut interrupted = false;
        tokio::pin!(stop);
        loop {
            while running.len() < judge.jobs.clamp(1, MOST_JOBS) && told.borrow().is_none() {
                let Some((index, work)) = waiting.next() else {
                    break;
                };
                let (judge, told) = (judge.clone(), told.clone());
                running.spawn(async move { (index, judge.one(work, told).await) });
            }
            if running.is_empty() {
                break;
            }
            let going = told.borrow().is_none();
            tokio::select! {
                () = &mut stop, if going => {
                    interrupted = true;
                    tell.send_replace(Some("it was interrupted".into()));
                }
                () = sleep_until(started + judge.limit), if going => {
                    let why = format!("everything together took longer than {:?}", judge.limit);
                    tell.send_replace(Some(why.into()));
                }
                done = running.join_next() => match done {
                    Some(Ok((index, Ok(judged)))) => {
                        progress(&judged);
                        results[index] = Some(judged);
                    }
                    Some(Ok((_, Err(Unstartable(why))))) => {
                        let all = format!("the program could not be started: {why}");
                        tell.send_if_modified(|stop| stop.replace(all.into()).is_none());
                        unstartable.get_or_insert(why);
                    }
                    // The judge failed, not the program; below it is said.
                    Some(Err(_)) | None => {}
                },
            }
        }
        let why = told.borrow().clone();
        let why = why.as_deref().unwrap_or("the judge itself failed");
        let all = results.into_iter().zip(&works);
        let all = all.map(|(judged, work)| {
            judged.unwrap_or_else(|| Judged::because(&work.scenario(), ScenarioState::NotRun, why))
        });
        let mut report = Report::new(&judge, all.collect(), began, started.elapsed());
        (report.unstartable, report.interrupted) = (unstartable, interrupted);
        report
    }

    /// Does one piece of work.
    async fn one(&self, work: Work, stop: watch::Receiver<Stop>) -> Result<Judged, Unstartable> {
        match work {
            Work::Play(scenario) => self.scenario(*scenario, stop).await,
            Work::Chaos(round, small) => round.judge(self, &small, &stop).await,
        }
    }

    /// Plays one scenario.
    async fn scenario(
        &self,
        mut scenario: Scenario,
        stop: watch::Receiver<Stop>,
    ) -> Result<Judged, Unstartable> {
        self.profile.patient(&mut scenario);
        if let Some(side) = scenario.header.side
            && side != self.role
        {
            let why = format!("it tests {side}s only");
            return Ok(Judged::because(&scenario, ScenarioState::Skipped, why));
        }
        let workspace = match self.role {
            PeerSide::Agent => TestWorkspace::new().and_then(TestWorkspace::with_notes),
            PeerSide::Client => TestWorkspace::new(),
        };
        let workspace = match workspace {
            Ok(workspace) => workspace,
            Err(why) => return Ok(Judged::because(&scenario, ScenarioState::NotRun, why)),
        };
        let play = self.play(&scenario, &workspace);
        if let Err(why) = play.check() {
            return Ok(evidence::unplayable(&scenario, why.line, &why.reason));
        }
        let launch = match self.dress(&scenario, &workspace) {
            Ok(launch) => launch,
            Err(why) => return Ok(Judged::because(&scenario, ScenarioState::Broken, why)),
        };
        let patience = scenario.header.limit;
        let started = process::start(self, launch, &workspace, patience, stop).await?;
        let seen = started.play(play, &scenario, self.role).await;
        let group = seen.group;
        let cleared = tokio::task::spawn_blocking(move || workspace.clear(group)).await;
        let left = cleared.unwrap_or_default();
        Ok(self.evidence(&scenario, seen, &left))
    }

    /// Returns the command line that does something again.
    fn again(&self, options: &str) -> String {
        let usual = || {
            let role = match self.role {
                PeerSide::Agent => "",
                PeerSide::Client => " --role client",
            };
            format!("acp check{role}")
        };
        let words = self.words.as_deref();
        let words = words.map_or_else(usual, |words| report::command(words.iter()));
        let line = format!("{words} {options} -- {}", self.command());
        self.redactor.redact(&line)
    }

    /// Returns the program under test as one would type it.
    fn command(&self) -> String {
        let program = self.launch.program().to_string_lossy();
        let args = self.launch.args().iter().map(|word| word.to_string_lossy());
        report::command(std::iter::once(program).chain(args))
    }

    fn play(&self, scenario: &Scenario, workspace: &TestWorkspace) -> Play {
        let mut play = Play::new(scenario, self.role.other());
        for (name, value) in self.names(workspace) {
            play = play.with_value(&name, value);
        }
        for check in &self.profile.allow {
            play = play.allow(*check);
        }
        match self.role {
            PeerSide::Agent => play.with_login(self.login()),
            PeerSide::Client => play,
        }
    }

    /// Returns the login that is known to need no person: what a name of the suite
    /// stands for by default was said of no agent.
    fn login(&self) -> Option<&str> {
        let mut set = self.values.iter().rev();
        let set = set.find(|(name, _)| name == "login");
        let login = set.map(|(_, value)| value);
        login.or(self.profile.values.get("login"))?.as_str()
    }

    /// Says what names stand for; who comes last has the say.
    fn names(&self, workspace: &TestWorkspace) -> BTreeMap<String, Value> {
        let words = crate::suite::words().iter();
        let mut names: BTreeMap<String, Value> =
            words.map(|(n, v)| (n.clone(), v.clone())).collect();
        for (name, folder) in [
            ("cwd", &workspace.project),
            ("elsewhere", &workspace.elsewhere),
        ] {
            names.insert(name.to_owned(), folder.to_string_lossy().into());
        }
        names.extend(self.profile.values.clone());
        names.extend(self.values.iter().cloned());
        names
    }

    /// Gives the program what it is to know.
    fn dress(&self, scenario: &Scenario, workspace: &TestWorkspace) -> Result<Launch, String> {
        let launch = workspace.mark(self.launch.clone());
        Ok(match self.role {
            // What leaves its group is found by its mark later: the report names it. The agent
            // of a client is ended by a guard of the client's own, some milliseconds after it.
            PeerSide::Agent => launch.with_orphan_guard(OrphanGuard::Group),
            PeerSide::Client => {
                let tasks = scenario.tasks(&self.names(workspace))?;
                launch
                    .with_env("ACP_CHECK_TASK", tasks.to_string())
                    .with_env("ACP_CHECK_CWD", &workspace.project)
            }
        })
    }
}

/// Returns how many scenarios are played at once if nobody says.
fn default_jobs() -> usize {
    std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MOST_JOBS)
}

/// Returns the name of a scenario: its file without the ending.
pub(crate) fn plain_name(file: &str) -> &str {
    file.strip_suffix(".acpt").unwrap_or(file)
}

/// What was kept of a play.
struct Seen {
    /// What came of it, unless it was stopped from outside.
    outcome: Result<Box<crate::player::PlayOutcome>, Unseen>,
    /// How the program ended; `None` when it was never started.
    exit: acp_process::Exit,
    group: u32,
    notes: Vec<String>,
    elapsed: Duration,
}

/// Why there is no outcome.
enum Unseen {
    /// All was stopped.
    Stopped(String),
    /// The play did not end in its time.
    Overdue(Duration),
    /// The client ended, or waited too long, before it started its agent.
    NeverCame(String),
}
