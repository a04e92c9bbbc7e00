//! Plays both sides of a scenario against each other, as they should be and
//! with a fault.

use std::collections::BTreeSet;

use super::compile::Manner;
use super::mutator::Mutator;
use crate::language::{Mutant, Scenario};
use crate::player::{Play, PlayOutcome};
use crate::rules::{Breach, Rule, Rules};
use acp_recording::PeerSide;

/// What came of a scenario that was played against itself.
#[derive(Clone, Debug)]
pub struct Rehearsal {
    tested: PeerSide,
    mutant: Option<Mutant>,
    judge: PlayOutcome,
    judged: PlayOutcome,
}

/// Plays both sides of a scenario against each other over a pipe in memory.
///
/// `tested` is the side that the scenario is for. With a mutant that side has
/// its fault; the side that judges has to find it.
///
/// # Cancel safety
///
/// Dropping the future ends both plays.
pub async fn rehearse(scenario: &Scenario, tested: PeerSide, mutant: Option<&Mutant>) -> Rehearsal {
    let plain = || Play {
        manner: Manner::Rehearsing,
        ..Play::new(scenario, tested)
    };
    let judged = match mutant {
        None => plain(),
        Some(mutant) => {
            // What is sent without the fault, to know what comes before a message.
            let (_, judged) = meet(scenario, tested, plain()).await;
            Play {
                manner: Manner::Forgiving,
                mutator: Some(Mutator::new(mutant, &judged.sent)),
                ..Play::new(scenario, tested)
            }
        }
    };
    let (judge, judged) = meet(scenario, tested, judged).await;
    Rehearsal {
        tested,
        mutant: mutant.cloned(),
        judge,
        judged,
    }
}

/// The pipe holds a long line: who writes it need not wait.
const PIPE: usize = 1 << 20;

async fn meet(scenario: &Scenario, tested: PeerSide, judged: Play) -> (PlayOutcome, PlayOutcome) {
    let (ours, theirs) = tokio::io::duplex(PIPE);
    let (our_reader, our_writer) = tokio::io::split(ours);
    let (their_reader, their_writer) = tokio::io::split(theirs);
    tokio::join!(
        Play::new(scenario, tested.other()).over(our_reader, our_writer),
        judged.over(their_reader, their_writer),
    )
}

impl Rehearsal {
    /// Returns the outcome of the side that judges.
    #[must_use]
    pub fn judge(&self) -> &PlayOutcome {
        &self.judge
    }

    /// Returns the rules that were found broken.
    #[must_use]
    pub fn broken(&self) -> BTreeSet<&'static Rule> {
        let breaches = self.judge.breaches.iter();
        breaches.flat_map(|breach| &breach.rules).copied().collect()
    }

    /// Tells what is wrong with the scenario.
    ///
    /// Without a fault it has to pass, without a warning, and every rule it
    /// proves has to be tried. With one, exactly the rule of the mutant has to
    /// be found broken, and at most twins of it besides.
    ///
    /// # Errors
    ///
    /// What is wrong, for people, with the report of the side that found it.
    pub fn check(&self) -> Result<(), String> {
        let complaint = match &self.mutant {
            None => self.plain(),
            Some(mutant) => self.mutated(mutant),
        };
        complaint.map_or(Ok(()), |complaint| {
            let mut text = format!("{complaint}\n");
            for breach in &self.judge.breaches {
                let line = breach.line.map_or("?".to_owned(), |line| line.to_string());
                text.push_str(&format!("  line {line}: {breach}\n"));
            }
            text.push_str(&format!(
                "\nthe {} judged:\n{}",
                self.tested.other(),
                self.judge
            ));
            if !self.judged.passed() || !self.judged.breaches.is_empty() {
                text.push_str(&format!("\nthe {}:\n{}", self.tested, self.judged));
            }
            Err(text)
        })
    }

    fn plain(&self) -> Option<String> {
        if !self.judge.passed() || !self.judge.breaches.is_empty() {
            return Some("without a fault it has to pass, and without a warning".to_owned());
        }
        let sure = |breach: &&Breach| !breach.doubtful;
        if !self.judged.passed() || self.judged.breaches.iter().any(|all| sure(&all)) {
            return Some(format!(
                "the {} finds fault with who judges it",
                self.tested
            ));
        }
        let scenario = &self.judge.scenario;
        let named = scenario.rules();
        for id in &scenario.header.proves {
            let Some(rule) = Rules::get(id) else {
                return Some(format!("there is no rule {id}"));
            };
            if !rule.binds(self.tested) {
                return Some(format!("{rule} does not bind the {}", self.tested));
            }
            // Others are kept or broken by the conversation as a whole.
            if named.contains(rule) && !self.judge.exercised.contains(&rule) {
                return Some(format!("{rule} was not tried"));
            }
        }
        None
    }

    fn mutated(&self, mutant: &Mutant) -> Option<String> {
        if !self.judged.mutated {
            return Some(format!(
                "`{mutant}`: its message was not sent, or has no such place"
            ));
        }
        let breaches = &self.judge.breaches;
        if breaches.is_empty() {
            return Some(format!("`{mutant}`: nobody noticed"));
        }
        let broken = self.broken();
        let nameless = breaches.iter().any(|all| all.rules.is_empty());
        let meant = |rule: &Rule| match mutant.rule {
            Some(one) => rule == one || one.twins.contains(&rule.id),
            None => false,
        };
        let others = broken.iter().filter(|rule| !meant(rule));
        let mut others: Vec<&str> = others.map(|rule| rule.id).collect();
        let found = match mutant.rule {
            Some(rule) => broken.contains(rule),
            None => nameless,
        };
        if !found {
            let breaks = mutant.breaks();
            return Some(format!("`{mutant}`: it was not {breaks} that broke"));
        }
        if nameless && mutant.rule.is_some() {
            others.push("the scenario");
        }
        if !others.is_empty() {
            return Some(format!(
                "`{mutant}`: besides {} this broke: {}",
                mutant.breaks(),
                others.join(", "),
            ));
        }
        None
    }
}
