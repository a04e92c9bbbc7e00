//! What we do ourselves.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::{Engine, MOST_FLOWS, Standing, Stop};
use crate::language::step::{Act, Message, Step};
use crate::ledger::Observed;
use crate::player::compare::{Knowledge, unmet};
use crate::player::compile::{Manner, within};
use crate::player::compose::{on_the_wire, pieces};
use crate::player::describe;
use crate::player::failure::{Failure, broken, failed};
use crate::player::mutator::{Mutator, Put};
use crate::player::wire::{Pace, Unwritten};
use crate::rules::Check;

impl<R, W> Engine<R, W>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    /// Does a step of ours.
    pub(super) async fn perform(
        &mut self,
        step: &Arc<Step>,
        knowledge: &mut Knowledge,
    ) -> Result<(), Stop> {
        if let Some(mutator) = &mut self.play.mutator
            && !matches!(step.act, Act::Message(_) | Act::Bytes(_))
        {
            if mutator.leaves_out(step) {
                return Ok(());
            }
            let puts = mutator.before(step, &mut knowledge.names);
            if !puts.is_empty() {
                self.put(step, puts).await?;
            }
        }
        match &step.act {
            Act::Message(message) => self.send(step, message, knowledge).await?,
            Act::Bytes(bytes) => {
                self.enter_own(bytes);
                if let Some(mutator) = &mut self.play.mutator {
                    let puts = mutator.bytes(step, "", bytes.clone(), &mut knowledge.names);
                    return self.put(step, puts).await;
                }
                self.note_sent(step);
                self.write(step, bytes).await?;
            }
            Act::Wait(time) | Act::Nothing(time) => self.wire.wait(*time).await,
            Act::Never(message) => {
                self.exercised.extend(&step.rules);
                stand(&mut self.never, standing(step, message, knowledge))?;
            }
            Act::Ignore(message) => stand(&mut self.ignore, standing(step, message, knowledge))?,
            Act::Close { .. } => self.close().await,
            Act::StopReading => self.wire.inlet.pace = Pace::Stopped,
            Act::ReadOn => self.wire.inlet.pace = Pace::Free,
            Act::ReadSlowly { bytes, every } => self.wire.inlet.slow_down(*bytes, *every),
            Act::Exit { how, .. } => return Err(Stop::Exit(*how)),
            Act::Signal(signal) => {
                let why = "a signal can be sent to a process only, and here is only a pipe";
                let send = self.play.world.signal.as_mut();
                send.ok_or_else(|| broken(step.line, why))?(*signal).map_err(|error| {
                    failed(step, format!("the signal could not be sent: {error}"))
                })?;
            }
            Act::Stderr { text, size } => self.stderr(step, text, *size)?,
            Act::Grandchild(time) => {
                let why = "only a mock agent that is a process can start another";
                let start = self.play.world.grandchild.as_mut();
                start.ok_or_else(|| broken(step.line, why))?(*time).map_err(|error| {
                    failed(step, format!("no process could be started: {error}"))
                })?;
            }
        }
        Ok(())
    }

    fn stderr(&mut self, step: &Step, text: &[u8], size: usize) -> Result<(), Stop> {
        let Some(write) = &mut self.play.world.stderr else {
            // Without a process there is nobody to see it.
            return Ok(());
        };
        let mut left = size;
        while left > 0 && !text.is_empty() {
            let piece = &text[..text.len().min(left)];
            write(piece)
                .map_err(|error| failed(step, format!("stderr could not be written: {error}")))?;
            left -= piece.len();
        }
        Ok(())
    }

    /// Sends a message.
    async fn send(
        &mut self,
        step: &Arc<Step>,
        message: &Message,
        knowledge: &mut Knowledge,
    ) -> Result<(), Stop> {
        if self.forgives() && knowledge.answers_nothing(message) {
            return Ok(());
        }
        let line = self.composer.line(message, knowledge, &self.ledger);
        let line = line.map_err(|vague| broken(step.line, &vague.to_string()))?;
        let bytes = on_the_wire(&line, &message.writing);
        let whole = self.wire.begins_line();
        let observed = self.enter_own(&bytes);
        if let Some(mutator) = &mut self.play.mutator {
            let names = &mut knowledge.names;
            let puts = mutator.message(step, &line, &message.writing, names);
            return self.put(step, puts).await;
        }
        self.note_sent(step);
        if whole && !message.raw {
            for observed in &observed {
                self.own_faults(step, &line, observed, knowledge)?;
            }
        }
        if let (Some(login), [observed]) = (&mut self.play.login, observed.as_slice()) {
            login.asks(&line, observed);
        }
        for piece in pieces(&bytes, &message.writing.split) {
            self.write(step, piece).await?;
            if !message.writing.pausing.is_zero() {
                self.wire.wait(message.writing.pausing).await;
            }
        }
        self.check_needs()
    }

    /// Says a line that stands in no script.
    pub(super) async fn say(&mut self, line: &str) -> Result<(), Stop> {
        let bytes = format!("{line}\n").into_bytes();
        for observed in self.enter_own(&bytes) {
            if let Some(login) = &mut self.play.login {
                login.asks(line, &observed);
            }
        }
        // What waits for an answer begins to wait now.
        let now = Instant::now();
        let flows = self.main.iter_mut().chain(&mut self.flows);
        flows.for_each(|flow| flow.wait_anew(now));
        let patience = self.patience();
        let written = self.wire.write(&bytes, patience).await;
        // Who does not read it does not answer it either, and that is told.
        written.or(Ok(()))
    }

    /// A script that is wrong itself would blame the other side.
    fn own_faults(
        &self,
        step: &Step,
        line: &str,
        observed: &Observed,
        knowledge: &mut Knowledge,
    ) -> Result<(), Stop> {
        let mut faults = observed.findings.iter();
        // What monitors find is what a peer may be tried with.
        let fault = faults.find(|finding| {
            finding.check != Check::Rules && !self.play.allow.contains(&finding.check)
        });
        let unmet = unmet(step, observed.message.as_ref(), &mut knowledge.names);
        let because = match (fault, unmet.first()) {
            (Some(fault), _) => fault.to_string(),
            (None, Some(unmet)) => unmet.why.to_string(),
            (None, None) => return Ok(()),
        };
        let why = "this step would break a check itself; write `raw` if that is meant";
        Err(Stop::Broken(Box::new(Failure {
            got: Some(describe::line(line.as_bytes())),
            because: Some(because),
            ..Failure::at(step.line, why)
        })))
    }

    /// Enters what we write, line by line.
    fn enter_own(&mut self, bytes: &[u8]) -> Vec<Observed> {
        let us = self.play.us;
        let lines = self.wire.enter(bytes).into_iter();
        let observed = lines.map(|(line, entry)| {
            let marked = line.strip_prefix(b"\xef\xbb\xbf");
            if marked.is_some() {
                self.ledger.note_odd(us);
            }
            self.ledger.observe_at(us, marked.unwrap_or(&line), entry)
        });
        observed.collect()
    }

    async fn write(&mut self, step: &Step, bytes: &[u8]) -> Result<(), Stop> {
        let patience = within(step).unwrap_or(self.play.scenario.header.patience);
        let written = self.wire.write(bytes, patience).await;
        written.map_err(|why| {
            failed(
                step,
                match why {
                    Unwritten::Closed => "this side has closed before".to_owned(),
                    Unwritten::Blocked => {
                        format!("the {} did not read for {patience:?}", self.other())
                    }
                    Unwritten::Failed(error) => {
                        format!("the {} reads no more: {error}", self.other())
                    }
                },
            )
        })
    }

    /// Notes what is sent without a fault, for the play with one.
    fn note_sent(&mut self, step: &Step) {
        if self.program.manner == Manner::Rehearsing {
            self.sent.push(step.line);
        }
    }

    /// Writes what stands in the place of a message.
    async fn put(&mut self, step: &Step, puts: Vec<Put>) -> Result<(), Stop> {
        for put in puts {
            match put {
                Put::Bytes(bytes) => self.write(step, &bytes).await?,
                Put::Close => self.close().await,
            }
        }
        Ok(())
    }

    pub(super) async fn close(&mut self) {
        if let Some(mutator) = &mut self.play.mutator {
            if mutator.stays_open() {
                return;
            }
            let patience = self.patience();
            for put in self
                .play
                .mutator
                .as_mut()
                .map(Mutator::rest)
                .unwrap_or_default()
            {
                if let Put::Bytes(bytes) = put {
                    // Who does not read any more does not miss it.
                    let _ = self.wire.write(&bytes, patience).await;
                }
            }
        }
        self.wire.close().await;
    }
}

fn standing(step: &Step, message: &Message, knowledge: &Knowledge) -> Standing {
    Standing {
        line: step.line,
        rules: step.rules.clone(),
        message: message.clone(),
        knowledge: knowledge.clone(),
    }
}

fn stand(all: &mut Vec<Standing>, rule: Standing) -> Result<(), Stop> {
    if all.len() >= MOST_FLOWS {
        return Err(broken(rule.line, "there are too many standing rules"));
    }
    all.push(rule);
    Ok(())
}
