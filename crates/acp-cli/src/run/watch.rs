//! Watching a turn to its end: what is shown of it, and who answers its questions.

use std::io;

use acp_client::{PendingPermission, PendingQuestion, TurnEvent};
use acp_harness::turn::{DrivenTurn, DriverEvent, StopCause, TimeLimit, TurnDriver};
use acp_text::clean;

use super::Run;
use super::protected::{ProtectedQuestion, warning};
use crate::sessions::ClaimedSession;
use crate::show::{Answered, AskText, Output};

/// Shows the events of a turn, and answers its questions.
pub(super) struct Watch<'a> {
    pub(super) run: &'a mut Run,
    pub(super) output: &'a mut Output,
    /// The kept session that hears what happens.
    pub(super) kept: Option<&'a ClaimedSession>,
}

impl Watch<'_> {
    /// Watches a turn to its end.
    pub(super) async fn turn(&mut self, mut driver: TurnDriver) -> DrivenTurn {
        let kill = self.run.kill.clone();
        loop {
            let shown = tokio::select! {
                // A flood that was received is not shown to its end.
                () = kill.stopped() => {
                    driver.give_up();
                    break;
                }
                event = driver.next() => match event {
                    Some(event) => self.show(event, &mut driver).await,
                    None => break,
                },
                Some(served) = self.run.served.recv() => self.output.served(&served),
                Some(question) = self.run.protected.recv() => {
                    self.allow_write(question, &mut driver).await
                }
            };
            self.check(shown);
        }
        while let Ok(served) = self.run.served.try_recv() {
            // Whether it can be shown makes no difference to how the turn ended.
            let _ = self.output.served(&served);
        }
        let driven = driver.end().await;
        if driven.answer.is_none() {
            self.output
                .say("the agent does not end its turn; killing it");
            self.run.client.kill().await;
        }
        driven
    }

    /// Cancels the turn when it can no longer be shown.
    pub(super) fn check(&mut self, shown: io::Result<()>) {
        if let Err(error) = shown
            && !self.output.is_broken()
        {
            self.output.give_up();
            self.output
                .say(&format!("cancelling: standard output fails: {error}"));
            self.run.stop.stop();
        }
    }

    async fn show(&mut self, event: DriverEvent, driver: &mut TurnDriver) -> io::Result<()> {
        if let (Some(kept), DriverEvent::Turn(event)) = (self.kept, &event) {
            kept.hear(event);
        }
        match event {
            DriverEvent::Turn(TurnEvent::Permission(pending)) => self.permit(pending, driver).await,
            DriverEvent::Turn(TurnEvent::Question(pending)) => self.answer(pending, driver).await,
            DriverEvent::Turn(event) => self.output.event(&event),
            DriverEvent::Stopping(cause) => {
                self.stopping(cause);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn stopping(&mut self, cause: StopCause) {
        match cause {
            // The reason was given.
            StopCause::Stopped if self.output.is_broken() => {}
            StopCause::Stopped => self.output.say("cancelling; once more kills the agent"),
            StopCause::Limit { limit, after } => {
                let seconds = after.as_secs();
                self.output.say(&match limit {
                    TimeLimit::Idle => {
                        format!("cancelling: the agent said nothing for {seconds} s")
                    }
                    _ => format!("cancelling: it took longer than {seconds} s"),
                });
            }
        }
        self.output.status(&clean!("cancelling"));
    }

    async fn permit(
        &mut self,
        mut pending: PendingPermission,
        driver: &mut TurnDriver,
    ) -> io::Result<()> {
        if !pending.is_open() {
            return Ok(());
        }
        let Self { run, output, .. } = self;
        let ask = pending.request().clone();
        let decision = tokio::select! {
            biased;
            // The request is refused.
            cause = run.bounds.exceeded() => {
                driver.stop(cause);
                return Ok(());
            }
            decision = run.consent.decide(&ask) => decision,
        };
        let person = match &mut run.person {
            Some(person) if !decision.allowed && run.consent.leaves_open(&ask, &decision) => {
                if let Some(found) = run.consent.protected(&ask).await {
                    output.ask(&warning(&found))?;
                }
                person
            }
            _ => {
                let shown = output.permission(ask.tool(), &decision);
                pending.decide(&decision);
                return shown;
            }
        };
        let option = tokio::select! {
            biased;
            cause = run.bounds.exceeded() => {
                driver.stop(cause);
                return self.end_asking(None);
            }
            () = pending.closed() => return self.end_asking(Some(TAKEN_BACK)),
            option = person.permit(&ask, output) => option?,
        };
        let shown = output.chosen(ask.tool(), option.as_ref());
        match &option {
            // It is one of those that were offered.
            Some(option) => drop(pending.select(&option.option_id)),
            None => pending.reject(),
        }
        shown
    }

    async fn allow_write(
        &mut self,
        question: ProtectedQuestion,
        driver: &mut TurnDriver,
    ) -> io::Result<()> {
        let Self { run, output, .. } = self;
        let ProtectedQuestion { write, mut answer } = question;
        let Some(person) = &mut run.person else {
            return Ok(());
        };
        let is_allowed = tokio::select! {
            biased;
            cause = run.bounds.exceeded() => {
                driver.stop(cause);
                return self.end_asking(None);
            }
            () = answer.closed() => return self.end_asking(Some(TAKEN_BACK)),
            is_allowed = person.allow_write(&write, output) => is_allowed?,
        };
        self.output.answered();
        // The agent may have taken it back meanwhile.
        let _ = answer.send(is_allowed);
        Ok(())
    }

    async fn answer(
        &mut self,
        mut pending: PendingQuestion,
        driver: &mut TurnDriver,
    ) -> io::Result<()> {
        if !pending.is_open() {
            return Ok(());
        }
        let Self { run, output, .. } = self;
        let question = pending.request().clone();
        let (answer, answered) = match &mut run.person {
            None => {
                let answer = run.consent.headless.decide(&question);
                let answered = Answered::headless(&question, &answer);
                (answer, answered)
            }
            Some(person) => tokio::select! {
                biased;
                cause = run.bounds.exceeded() => {
                    driver.stop(cause);
                    return self.end_asking(None);
                }
                () = pending.closed() => return self.end_asking(Some(TAKEN_BACK)),
                answer = person.answer(&question, output) => answer?,
            },
        };
        let shown = output.question(&question, answered);
        // It was checked when it was made.
        drop(pending.answer(answer));
        shown
    }

    /// Leaves a question that nobody need answer any more.
    fn end_asking(&mut self, why: Option<&str>) -> io::Result<()> {
        self.output.ask(&AskText::new().words(clean!("\n")))?;
        self.output.answered();
        if let Some(why) = why {
            self.output.say(why);
        }
        Ok(())
    }
}

const TAKEN_BACK: &str = "the agent does not want to know any more";
