//! A turn that runs, and what others may do to it.

use std::sync::Weak;

use acp_client::SessionControl;
use acp_harness::turn::{SteerOutcome, StopHandle, steering_prompt};
use tokio::sync::watch;

use super::{Answer, Ask, Ended, Running};
use crate::outcome::in_words;
use crate::sessions::key::SessionKey;
use crate::sessions::record::now;
use crate::sessions::store::Hold;
use crate::sessions::wishes::{Change, NotSet, Offers, apply};

/// A turn that runs in this process.
#[derive(Debug)]
pub(crate) struct Live {
    about: Running,
    stage: watch::Sender<Stage>,
    stop: StopHandle,
    /// How many callers' wishes are being carried out, and may have to be recorded.
    busy: watch::Sender<usize>,
    /// Gone as soon as the session is free.
    hold: Weak<Hold>,
}

/// How far a turn has come.
#[derive(Clone, Debug)]
enum Stage {
    /// The agent is being started.
    Opening,
    /// The agent works.
    Working {
        control: SessionControl,
        steers: bool,
    },
    /// The turn has ended, and is being recorded.
    Ending(Ended),
    /// The session is free.
    Over(Ended),
}

impl Live {
    /// Begins with an agent that is being started.
    pub(crate) fn new(key: &SessionKey, hold: Weak<Hold>, stop: &StopHandle) -> Self {
        Self {
            about: Running {
                name: key.name.clone(),
                agent: key.agent.label().to_owned(),
                pid: std::process::id(),
                since: now(),
            },
            stage: watch::Sender::new(Stage::Opening),
            stop: stop.clone(),
            busy: watch::Sender::new(0),
            hold,
        }
    }

    /// Lets others reach the session of the agent.
    pub(crate) fn begin(&self, control: SessionControl, steers: bool) {
        self.stage.send_replace(Stage::Working { control, steers });
    }

    /// Takes no more wishes, and waits until those that were taken are carried out.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: no more are taken all the same.
    pub(super) async fn settle(&self, ended: Ended) {
        self.stage.send_replace(Stage::Ending(ended));
        let mut busy = self.busy.subscribe();
        // The sender is ours, so it is there.
        let _ = busy.wait_for(|busy| *busy == 0).await;
    }

    /// Tells everybody that the session is free.
    pub(super) fn end(&self, ended: Ended) {
        self.stage.send_replace(Stage::Over(ended));
    }

    /// Does what a caller wants, and gives the answer; for a cancel only the first one.
    pub(super) async fn serve(&self, ask: Ask) -> Answer {
        let _busy = Busy::begin(&self.busy);
        match ask {
            Ask::Look => Answer::Running(self.about.clone()),
            Ask::Cancel => {
                self.stop.stop();
                Answer::Cancelling
            }
            Ask::Steer { text } => self.steer(&text).await,
            Ask::Set { change } => self.set(&change).await,
        }
    }

    /// Waits until the session is free.
    pub(super) async fn over(&self) -> Ended {
        let mut stage = self.stage.subscribe();
        loop {
            if let Stage::Over(ended) = &*stage.borrow_and_update() {
                return ended.clone();
            }
            // The sender is ours, so it is there.
            let _ = stage.changed().await;
        }
    }

    /// Waits until the agent works; or else how it ended.
    async fn working(&self) -> Result<(SessionControl, bool), Ended> {
        let mut stage = self.stage.subscribe();
        loop {
            match &*stage.borrow_and_update() {
                Stage::Opening => {}
                Stage::Working { control, steers } => return Ok((control.clone(), *steers)),
                Stage::Ending(ended) | Stage::Over(ended) => return Err(ended.clone()),
            }
            // The sender is ours, so it is there.
            let _ = stage.changed().await;
        }
    }

    async fn steer(&self, text: &str) -> Answer {
        let (control, steers) = match self.working().await {
            Ok(working) => working,
            Err(ended) => return Answer::Ended(ended),
        };
        if !steers {
            let outcome = SteerOutcome::Unsupported;
            return Answer::Steered { outcome };
        }
        let result = control.steer(steering_prompt(text)).result().await;
        let outcome = SteerOutcome::of(&result);
        if !outcome.is_retry_safe()
            && let Some(hold) = self.hold.upgrade()
        {
            // The agent has it, which is what was asked for; the end of the turn tells
            // when nothing can be recorded.
            let _ = hold.update(|record| record.add(text));
        }
        Answer::Steered { outcome }
    }

    async fn set(&self, change: &Change) -> Answer {
        let control = match self.working().await {
            Ok((control, _)) => control,
            Err(ended) => return Answer::Ended(ended),
        };
        let failed = |error: &dyn std::error::Error| Answer::Failed {
            message: in_words(error),
        };
        if let Err(error) = apply(&control, change).await {
            return failed(&error);
        }
        let Some(hold) = self.hold.upgrade() else {
            return Answer::Set;
        };
        let offers = Offers::of(&control);
        let mut added = true;
        let kept = hold.update(|record| {
            record.offers = offers;
            added = record.wishes.add(change);
        });
        match kept {
            Ok(()) if added => Answer::Set,
            Ok(()) => failed(&NotSet::TooMany {
                change: change.clone(),
            }),
            Err(error) => failed(&error),
        }
    }
}

/// Counts one wish that is being carried out.
struct Busy<'a>(&'a watch::Sender<usize>);

impl<'a> Busy<'a> {
    fn begin(count: &'a watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
