//! The logins that are under way, one for each user and provider.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::{DeviceCommand, DeviceLogin, State, Stop, ended, run};
use crate::limits::MAX_LOGINS;
use crate::login::LoginError;

/// Keeps at most one login alive for each user and provider; cheap to clone.
///
/// A new one cancels the old, and begins when nothing of the old is left: two would write
/// the same files.
#[derive(Clone)]
pub struct Logins {
    max: usize,
    live: Arc<Mutex<BTreeMap<Key, Live>>>,
}

/// Whose login, and to what.
type Key = (String, String);

#[derive(Clone)]
struct Live {
    stop: Stop,
    state: watch::Receiver<State>,
}

impl Logins {
    /// Keeps none yet, and at most 256 at a time.
    #[must_use]
    pub fn new() -> Self {
        Self::at_most(MAX_LOGINS)
    }

    /// Keeps none yet, and at most this many at a time.
    #[must_use]
    pub fn at_most(max: usize) -> Self {
        Self {
            max,
            live: Arc::default(),
        }
    }

    /// Begins a login of this user to this provider.
    ///
    /// # Errors
    ///
    /// [`LoginError::TooMany`]; what goes wrong later is told by the login.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn begin(
        &self,
        owner: &str,
        provider: &str,
        command: DeviceCommand,
    ) -> Result<DeviceLogin, LoginError> {
        let key = (owner.to_owned(), provider.to_owned());
        let (told, state) = watch::channel(State::default());
        let live = Live {
            stop: Stop::new(),
            state,
        };
        let earlier = {
            let mut all = self.live.lock();
            if all.len() >= self.max && !all.contains_key(&key) {
                return Err(LoginError::TooMany { max: self.max });
            }
            all.insert(key.clone(), live.clone())
        };
        if let Some(earlier) = &earlier {
            earlier.stop.now(LoginError::Replaced);
        }
        let entry = Entry {
            logins: self.clone(),
            key,
            state: live.state.clone(),
        };
        let stop = live.stop.clone();
        tokio::spawn(async move {
            if let Some(mut earlier) = earlier {
                // However it ended, it has.
                let _ = ended(&mut earlier.state).await;
            }
            let end = run(&command, &stop, &told).await;
            drop(entry);
            told.send_modify(|state| state.end = Some(end));
        });
        Ok(DeviceLogin {
            stop: live.stop,
            state: live.state,
        })
    }

    /// Cancels the login of this user to this provider, and waits until nothing of it is
    /// left; tells whether there was one.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the login is cancelled all the same.
    pub async fn cancel(&self, owner: &str, provider: &str) -> bool {
        let Some(mut live) = self.get(owner, provider) else {
            return false;
        };
        live.stop.now(LoginError::Cancelled);
        let _ = ended(&mut live.state).await;
        true
    }

    /// Tells whether a login of this user to this provider is under way.
    #[must_use]
    pub fn is_live(&self, owner: &str, provider: &str) -> bool {
        self.get(owner, provider).is_some()
    }

    fn get(&self, owner: &str, provider: &str) -> Option<Live> {
        let key = (owner.to_owned(), provider.to_owned());
        self.live.lock().get(&key).cloned()
    }
}

impl Default for Logins {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Logins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logins")
            .field("live", &self.live.lock().len())
            .finish()
    }
}

/// The place of a login among the live; given back on drop, unless another has it.
struct Entry {
    logins: Logins,
    key: Key,
    state: watch::Receiver<State>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut all = self.logins.live.lock();
        let own = all.get(&self.key);
        if own.is_some_and(|live| live.state.same_channel(&self.state)) {
            all.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use acp_process::Launch;

    use super::*;

    #[tokio::test]
    async fn there_are_only_so_many() {
        let logins = Logins::at_most(1);
        let begin = |owner| {
            let command = DeviceCommand::new(Launch::new("/no/such/program"));
            logins.begin(owner, "agent", command)
        };
        // Nothing of it runs before somebody waits.
        let first = begin("ada").unwrap();
        let refused = begin("bob").unwrap_err();
        assert!(matches!(refused, LoginError::TooMany { max: 1 }));
        let second = begin("ada").unwrap();
        assert!(matches!(first.end().await, Err(LoginError::Replaced)));
        assert!(matches!(second.end().await, Err(LoginError::Spawn(_))));
        assert!(matches!(
            second.challenge().await,
            Err(LoginError::Spawn(_))
        ));
        begin("bob").unwrap();
    }
}
