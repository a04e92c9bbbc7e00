//! Claiming a session that another process may be using.

use std::sync::Arc;
use std::time::Duration;

use acp_harness::turn::SteerOutcome;
use clap::ValueEnum;
use tokio::time::{Instant, sleep};

use super::control::{Answer, Ask, Caller, NoAnswer};
use super::key::SessionKey;
use super::limits::{LOCK_POLL, MAX_STEER};
use super::store::{Hold, Store, StoreError};
use crate::exit::Exit;
use crate::outcome::Outcome;

/// What to do when another turn runs in the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum IfBusy {
    /// Wait until it has ended
    #[default]
    Wait,
    /// Give up at once
    Refuse,
    /// Tell its agent the prompt while it works; wait where the agent takes none
    Steer,
}

/// What came of claiming a session.
#[derive(Debug)]
pub(crate) enum Claimed {
    /// It is ours.
    Held(Arc<Hold>),
    /// The turn that runs in it took the prompt.
    Steered,
}

/// Why a session is not ours.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotClaimed {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("claim the session: another turn runs in it")]
    Busy,
    #[error("claim the session within {} s: another turn runs in it", .after.as_secs())]
    StillBusy { after: Duration },
    /// Saying it again might say it twice.
    #[error("learn whether the agent took what it was told while it works")]
    Untold(#[source] Option<NoAnswer>),
}

/// Claims a session, and does as told while another turn runs in it. Nobody has a place in
/// a queue: who looks first when it comes free has it. `prompt` is what the other turn may
/// be told, or why it may not.
///
/// # Cancel safety
///
/// Dropped while it waits, nothing is claimed; a prompt that was to steer may have been
/// taken.
pub(crate) async fn claim(
    store: &Store,
    key: &SessionKey,
    mut if_busy: IfBusy,
    patience: Duration,
    prompt: Result<&str, &str>,
    say: &mut (dyn FnMut(&str) + Send),
) -> Result<Claimed, NotClaimed> {
    let begun = Instant::now();
    let left = || patience.saturating_sub(begun.elapsed());
    let mut waits = false;
    loop {
        if let Some(hold) = store.try_claim(key)? {
            return Ok(Claimed::Held(Arc::new(hold)));
        }
        match if_busy {
            IfBusy::Refuse => return Err(NotClaimed::Busy),
            IfBusy::Steer => match steer(store, key, prompt, left()).await? {
                Steer::Done => return Ok(Claimed::Steered),
                Steer::Refused(why) => {
                    say(&why);
                    if_busy = IfBusy::Wait;
                    continue;
                }
                Steer::Again => {}
            },
            IfBusy::Wait if !waits => {
                waits = true;
                let most = patience.as_secs();
                say(&format!(
                    "waiting for the turn that runs in the session {}, {most} s at the most",
                    key.name
                ));
            }
            IfBusy::Wait => {}
        }
        if left().is_zero() {
            return Err(NotClaimed::StillBusy { after: patience });
        }
        sleep(LOCK_POLL.min(left())).await;
    }
}

const TAKES_NOTHING: &str = "the agent takes nothing more while it works";

/// What came of steering.
enum Steer {
    Done,
    /// It cannot be told, and why.
    Refused(String),
    /// The session changes hands in this moment.
    Again,
}

async fn steer(
    store: &Store,
    key: &SessionKey,
    prompt: Result<&str, &str>,
    patience: Duration,
) -> Result<Steer, NotClaimed> {
    let refused = |why: &str| Ok(Steer::Refused(why.to_owned()));
    let prompt = match prompt {
        Ok(prompt) if prompt.len() <= MAX_STEER => prompt,
        Ok(_) => return refused("the prompt is too long to be told while the agent works"),
        Err(why) => return refused(why),
    };
    let ask = Ask::Steer {
        text: prompt.to_owned(),
    };
    let asked = Caller::call_and_ask(&store.socket(key), &ask, patience).await;
    let answer = asked.map_err(|error| NotClaimed::Untold(Some(error)))?;
    match answer.map(|(_, answer)| answer) {
        None | Some(Answer::Ended(_)) => Ok(Steer::Again),
        Some(Answer::Steered { outcome }) => match outcome {
            SteerOutcome::Injected => Ok(Steer::Done),
            outcome if outcome.is_retry_safe() => refused(TAKES_NOTHING),
            _ => Err(NotClaimed::Untold(None)),
        },
        Some(_) => refused(TAKES_NOTHING),
    }
}

impl From<NotClaimed> for Outcome {
    fn from(error: NotClaimed) -> Self {
        let (exit, hint) = match &error {
            NotClaimed::Store(_) => (Exit::StartFailed, None),
            NotClaimed::Busy => (
                Exit::Busy,
                Some("--if-busy wait waits for it; `acp cancel` cancels it"),
            ),
            NotClaimed::StillBusy { .. } => (
                Exit::Busy,
                Some("--busy-timeout waits for longer; `acp cancel` cancels it"),
            ),
            NotClaimed::Untold(_) => (
                Exit::AgentError,
                Some("look at what it does before you say it again"),
            ),
        };
        Self::failed(exit, &error).with_advice(hint)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, Store, SessionKey) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::in_folder(dir.path().join("sessions"));
        (dir, store, SessionKey::of_demo("one"))
    }

    const PATIENCE: Duration = Duration::from_secs(100);

    #[tokio::test(start_paused = true)]
    async fn who_waits_gets_it_as_soon_as_it_is_free() {
        let (_dir, store, key) = store();
        let hold = store.try_claim(&key).unwrap().unwrap();
        tokio::spawn(async move {
            sleep(Duration::from_secs(30)).await;
            drop(hold);
        });
        let begun = Instant::now();
        let mut said = Vec::new();
        let mut say = |text: &str| said.push(text.to_owned());
        let claimed = claim(&store, &key, IfBusy::Wait, PATIENCE, Ok("x"), &mut say).await;
        assert!(matches!(claimed, Ok(Claimed::Held(_))), "{claimed:?}");
        let waited = begun.elapsed() - Duration::from_secs(30);
        assert!(waited <= 2 * LOCK_POLL, "{waited:?}");
        assert_eq!(
            said,
            ["waiting for the turn that runs in the session one, 100 s at the most"]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_ever() {
        let (_dir, store, key) = store();
        let _hold = store.try_claim(&key).unwrap().unwrap();
        let begun = Instant::now();
        let mut say = |_: &str| {};
        let refused = claim(&store, &key, IfBusy::Wait, PATIENCE, Ok("x"), &mut say).await;
        assert!(matches!(refused, Err(NotClaimed::StillBusy { .. })));
        assert_eq!(begun.elapsed(), PATIENCE);
        let refused = claim(&store, &key, IfBusy::Refuse, PATIENCE, Ok("x"), &mut say).await;
        assert!(matches!(refused, Err(NotClaimed::Busy)));
        assert_eq!(begun.elapsed(), PATIENCE, "at once");
        // Nobody listens: the turn is about to begin, or has just ended.
        let refused = claim(&store, &key, IfBusy::Steer, PATIENCE, Ok("x"), &mut say).await;
        assert!(matches!(refused, Err(NotClaimed::StillBusy { .. })));
        assert_eq!(begun.elapsed(), 2 * PATIENCE);
    }

    #[tokio::test(start_paused = true)]
    async fn what_cannot_be_told_waits() {
        let (_dir, store, key) = store();
        let _hold = store.try_claim(&key).unwrap().unwrap();
        let mut said = Vec::new();
        let mut say = |text: &str| said.push(text.to_owned());
        let long = "x".repeat(MAX_STEER + 1);
        let refused = claim(&store, &key, IfBusy::Steer, PATIENCE, Ok(&long), &mut say).await;
        assert!(matches!(refused, Err(NotClaimed::StillBusy { .. })));
        let why = Err("it may not be told");
        let refused = claim(&store, &key, IfBusy::Steer, PATIENCE, why, &mut say).await;
        assert!(matches!(refused, Err(NotClaimed::StillBusy { .. })));
        let why: Vec<_> = said.iter().step_by(2).collect();
        assert_eq!(
            why,
            [
                "the prompt is too long to be told while the agent works",
                "it may not be told"
            ]
        );
    }
}
