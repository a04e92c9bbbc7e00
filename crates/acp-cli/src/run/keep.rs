//! Runs that are part of a kept session.

use acp_harness::turn::{Ready, can_steer};

use super::{Run, RunArgs};
use crate::agent::{ask, asked};
use crate::exit::Exit;
use crate::outcome::Outcome;
use crate::sessions::{ClaimedSession, Target, TurnEnded, prove_all};
use crate::show::Output;

/// Finds the kept session that is meant, if any is, and asks its agent where nobody asked
/// for another.
pub(super) fn target(args: &mut RunArgs, cwd: &std::path::Path) -> Result<Option<Target>, Outcome> {
    if args.keep.is_half_said() {
        return Err(Outcome::usage(
            "failed to find the session that may be busy: none is named".to_owned(),
            "--session names one, --continue takes the last one",
        ));
    }
    if !args.keep.is_wanted() {
        return Ok(None);
    }
    let asked = asked(&args.agent);
    let target = Target::find(&args.keep, asked.as_ref(), cwd)?;
    if let (None, Some(agent)) = (asked, target.agent()) {
        ask(&mut args.agent, agent)?;
    }
    Ok(Some(target))
}

impl Run {
    /// Claims the kept session, if the run is part of one.
    pub(super) async fn claim(
        &self,
        output: &mut Output,
    ) -> Result<Option<ClaimedSession>, Outcome> {
        let Some(target) = &self.target else {
            return Ok(None);
        };
        let mut say = |text: &str| {
            output.say(text);
            output.status(&acp_text::clean!("waiting for the session"));
        };
        let prompt = match self.attachments.is_empty() {
            true => Ok(&*self.prompt),
            false => Err("what is attached cannot be told while the agent works"),
        };
        let agent = self.agent_id.clone();
        let claim = target.claim(agent, &self.session.cwd, prompt, &self.stop, &mut say);
        let claimed = self.bounds.within(claim).await;
        match claimed.map_err(|cause| Outcome::cut_short(cause, None))? {
            Ok(Some(mut kept)) => {
                for trouble in kept.take_troubles() {
                    output.say(&trouble);
                }
                if kept.cwd() != self.session.cwd {
                    let outcome = Outcome::usage(
                        "failed to claim the session: another turn moved it to another folder"
                            .to_owned(),
                        "try again",
                    );
                    end(kept, &outcome, output).await;
                    return Err(outcome);
                }
                Ok(Some(kept))
            }
            Ok(None) => {
                output.steered();
                Err(Outcome::steered())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Records that the turn begins, tells how the session was opened, and lets others reach
    /// it.
    pub(super) fn begin_kept(
        &self,
        kept: &mut ClaimedSession,
        ready: &Ready,
        output: &mut Output,
    ) -> Result<String, Outcome> {
        let control = ready.session.control();
        let wanted = self.session.remembered(Some(kept));
        prove_all(&control, &wanted)?;
        let told = kept.open(ready, &self.prompt)?;
        output.kept(&told);
        let agent = self.client.agent().ok();
        let steers = agent.is_some_and(|agent| can_steer(&self.agent.entry, &agent));
        kept.begin_turn(control, steers);
        Ok(kept.prompt(ready.opened, &self.prompt))
    }
}

/// Records how the turn ended, and gives the session up.
pub(super) async fn end(kept: ClaimedSession, outcome: &Outcome, output: &mut Output) {
    let stop_reason = match (&outcome.stop_reason, outcome.exit) {
        (Some(reason), _) => Some(reason.as_str().to_owned()),
        (None, Exit::Cancelled) => Some("cancelled".to_owned()),
        (None, Exit::TimedOut) => Some("timeout".to_owned()),
        (None, _) => None,
    };
    let end = TurnEnded {
        report: output.report(),
        stop_reason,
    };
    if let Err(error) = kept.end(end, outcome.exit.code()).await {
        output.say(&crate::outcome::in_words(&error));
    }
}
