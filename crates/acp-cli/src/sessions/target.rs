//! Finding the session that a command line means.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use acp_harness::turn::StopHandle;
use acp_protocol::v1::SessionId;

use super::args::KeepArgs;
use super::busy::{Claimed, IfBusy, NotClaimed, claim};
use super::claimed::{ClaimedSession, Continuation};
use super::key::{AgentId, SessionKey, SessionName, scope_of};
use super::limits::{BUSY_WAIT, MAX_NAME};
use super::record::Record;
use super::store::{Store, StoreError};
use crate::exit::Exit;
use crate::outcome::Outcome;

/// The kept session that a run is part of, before it is claimed.
#[derive(Debug)]
pub(crate) struct Target {
    store: Store,
    /// The folder that sessions of the run's folder belong to.
    scope: String,
    name: SessionName,
    way: Continuation,
    /// What is recorded of it, as far as it is known which one it is.
    found: Option<Record>,
    if_busy: IfBusy,
    patience: Duration,
}

/// Why no session can be meant.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoTarget {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("keep a session of {}: its path is no text", .folder.display())]
    NoText { folder: PathBuf },
}

impl Target {
    /// Finds the session that is meant in a folder; `agent` is who was asked for, if
    /// anybody was: then sessions of others do not count.
    pub(crate) fn find(
        args: &KeepArgs,
        agent: Option<&AgentId>,
        cwd: &Path,
    ) -> Result<Self, NoTarget> {
        Self::find_in(Store::of_user()?, args, agent, cwd)
    }

    fn find_in(
        store: Store,
        args: &KeepArgs,
        agent: Option<&AgentId>,
        cwd: &Path,
    ) -> Result<Self, NoTarget> {
        let folder = text_of(scope_of(cwd))?;
        let records = store.list(Some(&folder))?.records;
        let fits = |record: &&Record| agent.is_none_or(|agent| record.agent.is(agent));
        let id = args.resume.as_deref().map(SessionId::from);
        // The last used comes first.
        let found = records
            .iter()
            .filter(fits)
            .find(|record| match (&args.session, &id) {
                (Some(name), _) => record.name == *name,
                (None, Some(id)) => record.session_ids().any(|known| known == id),
                (None, None) if args.new => record.name == SessionName::default_name(),
                (None, None) => record.closed.is_none(),
            });
        let name = match (&args.session, found, &args.resume) {
            (Some(name), _, _) => name.clone(),
            (None, Some(found), _) => found.name.clone(),
            (None, None, Some(id)) => named_after(id),
            (None, None, None) => SessionName::default_name(),
        };
        Ok(Self {
            found: found.cloned(),
            store,
            scope: folder,
            name,
            way: match id {
                Some(id) => Continuation::In(id),
                None if args.new => Continuation::Anew,
                None => Continuation::Continue,
            },
            if_busy: args.if_busy.unwrap_or_default(),
            patience: args.busy_timeout.unwrap_or(BUSY_WAIT),
        })
    }

    /// Returns the folder in which sessions are kept.
    pub(crate) fn folder(&self) -> &Path {
        self.store.folder()
    }

    /// Returns the agent of the session that was found.
    pub(crate) fn agent(&self) -> Option<&AgentId> {
        self.found.as_ref().map(|found| &found.agent)
    }

    /// Returns the folder the agent works in, where that is settled: a session stays where
    /// it was begun.
    pub(crate) fn cwd(&self) -> Option<&Path> {
        self.way.settled_cwd(self.found.as_ref()?)
    }

    /// Returns the model it was set to.
    pub(crate) fn model(&self) -> Option<&str> {
        let found = self
            .found
            .as_ref()
            .filter(|_| self.way != Continuation::Anew)?;
        found.wishes.model.as_deref()
    }

    /// Claims the session for a turn in `cwd`; `None` when a turn that runs took the
    /// prompt. Others may stop the turn by `stop`.
    ///
    /// # Cancel safety
    ///
    /// As [`claim`].
    pub(crate) async fn claim(
        &self,
        agent: AgentId,
        cwd: &Path,
        prompt: Result<&str, &str>,
        stop: &StopHandle,
        say: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Option<ClaimedSession>, NotClaimed> {
        let key = SessionKey {
            folder: self.scope.clone(),
            agent,
            name: self.name.clone(),
        };
        let (if_busy, patience) = (self.if_busy, self.patience);
        let prompt = match self.way {
            Continuation::Continue => prompt,
            _ => Err("the turn that runs is not of the session that is asked for"),
        };
        match claim(&self.store, &key, if_busy, patience, prompt, say).await? {
            Claimed::Steered => Ok(None),
            Claimed::Held(hold) => {
                let cwd = cwd.to_string_lossy();
                let hold = Arc::clone(&hold);
                Ok(Some(ClaimedSession::begin(
                    &self.store,
                    &key,
                    hold,
                    &cwd,
                    &self.way,
                    stop,
                )))
            }
        }
    }
}

/// Paths are text in the protocol too.
pub(crate) fn text_of(folder: PathBuf) -> Result<String, NoTarget> {
    let text = folder.into_os_string().into_string();
    text.map_err(|folder| NoTarget::NoText {
        folder: folder.into(),
    })
}

/// Makes a name of an id of the agent.
fn named_after(id: &str) -> SessionName {
    let plain = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
    let name: String = id.chars().filter(plain).take(MAX_NAME).collect();
    let name = name.trim_start_matches('-').parse();
    name.unwrap_or_else(|_| SessionName::default_name())
}

impl From<NoTarget> for Outcome {
    fn from(error: NoTarget) -> Self {
        Self::failed(Exit::StartFailed, &error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sessions of a folder, the last used first: `a`, which is closed; `b` of codex with `s-2`, before it `s-1`;
    /// `default` of the demo agent; `b` of the demo agent.
    fn store(cwd: &Path) -> Store {
        let store = Store::in_folder(cwd.join("state"));
        let codex = AgentId::Named {
            name: "codex".to_owned(),
        };
        let all = [
            ("a", AgentId::Demo, 40, vec![]),
            ("b", codex, 30, vec!["s-1", "s-2"]),
            ("default", AgentId::Demo, 20, vec!["s-3"]),
            ("b", AgentId::Demo, 10, vec!["s-4"]),
        ];
        for (name, agent, used, sessions) in all {
            let key = SessionKey {
                folder: cwd.to_str().unwrap().to_owned(),
                agent,
                name: name.parse().unwrap(),
            };
            let hold = store.try_claim(&key).unwrap().unwrap();
            let mut record = Record::new(&key, cwd.to_str().unwrap());
            for session in sessions {
                record.go_on_in(session.into());
            }
            if name == "a" {
                record.close();
            }
            record.used = used;
            hold.save(record).unwrap();
        }
        store
    }

    #[track_caller]
    fn check(args: &KeepArgs, agent: Option<AgentId>, expected: &str) {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path();
        let target = Target::find_in(store(cwd), args, agent.as_ref(), cwd).unwrap();
        let whose = target.agent().map_or("new", AgentId::label);
        let way = match &target.way {
            Continuation::Continue => "continue".to_owned(),
            Continuation::Anew => "anew".to_owned(),
            Continuation::In(id) => format!("in {id}"),
        };
        assert_eq!(format!("{} {whose} {way}", target.name), expected);
        let open = target.found.as_ref().is_some_and(|it| it.closed.is_none());
        assert_eq!(
            target.cwd().is_some(),
            open && target.way != Continuation::Anew
        );
    }

    #[test]
    fn the_session_that_is_meant_is_found() {
        let named = |name: &str| KeepArgs {
            session: Some(name.parse().unwrap()),
            ..KeepArgs::default()
        };
        check(&named("b"), None, "b codex continue");
        check(&named("b"), Some(AgentId::Demo), "b demo continue");
        check(&named("c"), None, "c new continue");
        check(&named("a"), None, "a demo continue");
        let go_on = || KeepArgs {
            go_on: true,
            ..KeepArgs::default()
        };
        check(&go_on(), None, "b codex continue");
        check(&go_on(), Some(AgentId::Demo), "default demo continue");
        check(
            &go_on(),
            Some(AgentId::of_command(&["x"])),
            "default new continue",
        );
        let resume = |id: &str| KeepArgs {
            resume: Some(id.to_owned()),
            ..KeepArgs::default()
        };
        check(&resume("s-1"), None, "b codex in s-1");
        check(&resume("s-4"), None, "b demo in s-4");
        check(&resume("s/9!"), None, "s9 new in s/9!");
        check(&resume("../.."), None, ".... new in ../..");
        let new = || KeepArgs {
            new: true,
            ..KeepArgs::default()
        };
        check(&new(), None, "default demo anew");
        check(
            &KeepArgs {
                new: true,
                ..named("b")
            },
            None,
            "b codex anew",
        );
    }
}
