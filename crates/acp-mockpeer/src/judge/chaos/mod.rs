//! Chaos: a valid conversation, spoiled by chance that can be repeated, and the
//! question whether the peer survives it.
//!
//! A round is a process of its own. Nothing is said about what a peer makes of a
//! spoiled line. It must
//!
//! * not crash: no signal, no panic, no uncaught exception;
//! * answer what was asked in order, in time, or close;
//! * afterwards, if it did not close, answer one more request;
//! * end when the conversation does, leave no process, and not grow without bound;
//! * never say what stands in its environment.
//!
//! The spoiled lines of a round follow from the seed and its number alone. A round that
//! fails is played again and again with less in it, and the smallest that fails in the
//! same way is told.

mod conversation;
mod mutate;
mod plan;
mod random;
mod selection;
mod shrink;
mod survival;
mod wire;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::verdict::{Judged, ScenarioFault, ScenarioState};
use super::workspace::TestWorkspace;
use super::{Judge, Stop, Unseen, Unstartable, process};
use crate::language::{Header, Scenario};
use acp_recording::{PeerSide, Recording};
use conversation::{ChaosTalk, RoundRecord};
use random::SeededRandom;
pub use selection::{Lines, NoLines};
use shrink::Shrink;
use wire::ChaosWire;

/// How long a peer may take for what it must do, if its profile does not say.
const PATIENCE: Duration = Duration::from_secs(10);

/// The variable that must not be heard again.
const CANARY: &str = "ACP_CHECK_CANARY_TOKEN";

/// The tasks of a client in chaos.
const TASKS: &str = r#"[["new"],["prompt","hello"],["prompt","hello again"]]"#;

/// One round of chaos.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    pub(super) seed: u64,
    pub(super) number: u32,
}

impl Round {
    /// Returns the round as a scenario, for reports: its lines, and nothing to play.
    pub(super) fn scenario(self, script: &[String]) -> Scenario {
        let title = format!(
            "Round {} of the chaos with seed {}.",
            self.number, self.seed
        );
        let script: String = script.iter().map(|line| format!("{line}\n")).collect();
        Scenario {
            file: format!("chaos/{}/{}", self.seed, self.number).into(),
            source: format!("# {title}\n{script}").into(),
            header: Header {
                title,
                ..Header::default()
            },
            items: [].into(),
        }
    }

    /// Plays the round, and if it fails in a way that is new, a smaller one.
    pub(super) async fn judge(
        self,
        judge: &Judge,
        small: &Small,
        stop: &watch::Receiver<Stop>,
    ) -> Result<Judged, Unstartable> {
        let wanted = judge.lines.as_ref();
        let (judged, said) = self.play(judge, wanted, stop.clone()).await?;
        if wanted.is_some() || !small.wants(&judged) {
            return Ok(judged);
        }
        self.smaller(judge, judged, said, stop).await
    }

    /// Finds the smallest round that fails as this one did.
    async fn smaller(
        self,
        judge: &Judge,
        mut judged: Judged,
        said: Lines,
        stop: &watch::Receiver<Stop>,
    ) -> Result<Judged, Unstartable> {
        let (lines, changes) = (said.count(), said.count_changes());
        let why = kind(&judged).unwrap_or_default().to_owned();
        let mut shrink = Shrink::new(said);
        while let Some(less) = shrink.next() {
            let (tried, _) = self.play(judge, Some(&less), stop.clone()).await?;
            if tried.state == ScenarioState::NotRun {
                break;
            }
            let failed = kind(&tried) == Some(&*why);
            shrink.tell(failed);
            if failed {
                judged = tried;
            }
        }
        let least = shrink.smallest();
        judged.notes.push(format!(
            "the smallest that fails so, of {} played: {} of its {} lines, with {} of {} changes\n{}",
            shrink.tries() + 1,
            least.count(),
            lines,
            least.count_changes(),
            changes,
            judge.again(&format!(
                "--chaos {} --round {} --lines {least}",
                self.seed, self.number
            )),
        ));
        Ok(judged)
    }

    /// Plays the round, or some lines of it; tells which lines were said.
    async fn play(
        self,
        judge: &Judge,
        wanted: Option<&Lines>,
        stop: watch::Receiver<Stop>,
    ) -> Result<(Judged, Lines), Unstartable> {
        let began = Instant::now();
        let not_run = |why: String| {
            let judged = Judged::because(&self.scenario(&[]), ScenarioState::NotRun, why);
            Ok((judged, Lines::default()))
        };
        let workspace = match TestWorkspace::new() {
            Ok(workspace) => workspace,
            Err(why) => return not_run(why),
        };
        let canary = format!("canary-{:016x}", SeededRandom::new(self.seed, &[0]).next());
        let launch = workspace
            .mark(judge.launch.clone())
            .with_env(CANARY, &canary);
        let launch = match judge.role {
            PeerSide::Agent => launch,
            PeerSide::Client => launch
                .with_env("ACP_CHECK_TASK", TASKS)
                .with_env("ACP_CHECK_CWD", &workspace.project),
        };
        let patience = judge.profile.patience_or(PATIENCE);
        let mut started = process::start(judge, launch, &workspace, patience, stop).await?;
        let memory = survival::watch_memory(&started.handle);
        let talked = match started.reached {
            Err(unseen) => Err(unseen),
            Ok((reader, writer)) => {
                let names = judge.names(&workspace);
                let words = names.get("say_text").and_then(Value::as_str);
                let talk = ChaosTalk {
                    wire: ChaosWire::new(judge.role.other(), reader, writer, &canary),
                    patience,
                    session: String::new(),
                    cwd: workspace.project.to_string_lossy().into_owned(),
                    words: words.unwrap_or("hello").to_owned(),
                    wanted: wanted.cloned(),
                    told: RoundRecord::default(),
                };
                tokio::select! {
                    biased;
                    why = process::stopped(&mut started.stop) => Err(Unseen::Stopped(why)),
                    talked = talk.talk(self, judge.role) => Ok(talked),
                }
            }
        };
        // A client waits for the end of the agent that it started.
        drop(started.frames.take());
        let exit = survival::see_off(&started.handle, talked.is_err()).await;
        let group = started.handle.pid();
        let left = tokio::task::spawn_blocking(move || workspace.clear(group)).await;
        let (told, talk) = match talked {
            Ok(talked) => talked,
            Err(Unseen::Stopped(why)) => return not_run(why),
            Err(Unseen::NeverCame(why)) => {
                let why = format!("the client never started its agent: {why}");
                let told = RoundRecord {
                    faults: vec![fault(why, None)],
                    ..RoundRecord::default()
                };
                (told, Recording::default())
            }
            Err(Unseen::Overdue(_)) => Default::default(),
        };
        let mut faults = told.faults;
        faults.extend(survival::faults(
            &exit,
            *memory.borrow(),
            &left.unwrap_or_default(),
        ));
        let state = if faults.is_empty() {
            ScenarioState::Passed
        } else {
            ScenarioState::Failed
        };
        let mut judged = Judged::new(&self.scenario(&told.script), state);
        judged.faults = faults;
        judged.elapsed = began.elapsed();
        judged.ended = Some(exit.status().to_string());
        judged.stderr = judge.redactor.redact(&exit.stderr_tail());
        judged.told = super::evidence::told(&talk, judge.role);
        if state == ScenarioState::Failed {
            judged
                .faults
                .iter_mut()
                .for_each(|fault| judge.redact(fault));
            judged.transcript = super::evidence::kept(&talk, &mut judged.faults, &judge.redactor);
        }
        Ok((judged, told.said))
    }
}

/// How many ways to fail are made small; who fails in more has enough to look at.
const MOST_SMALL: usize = 3;

/// The ways to fail of which a small round was looked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Small(Arc<Mutex<BTreeSet<String>>>);

impl Small {
    /// Tells whether a smaller round is wanted: it failed, in a way that is new.
    fn wants(&self, judged: &Judged) -> bool {
        let Some(kind) = kind(judged) else {
            return false;
        };
        let mut known = self.0.lock();
        known.len() < MOST_SMALL && known.insert(kind.to_owned())
    }
}

/// Returns in what way a round failed: what is told first of it, without the details.
fn kind(judged: &Judged) -> Option<&str> {
    let first = judged
        .faults
        .first()
        .filter(|_| judged.state == ScenarioState::Failed)?;
    first.summary.split(':').next()
}

fn fault(summary: String, entry: Option<usize>) -> ScenarioFault {
    ScenarioFault {
        entry,
        ..super::evidence::plain_fault(summary)
    }
}
