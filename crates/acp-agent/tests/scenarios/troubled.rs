//! A library in which things go wrong when a scenario wants them to.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, OnceLock},
    time::Duration,
};

use acp_agent::host::{
    Authenticator, Cancel, CatalogEntry, CatalogQuery, ClientLink, CommandId, ConfigCatalog,
    ConfigChange, ConfigController, ConfigOption, EventBody, GateResponse, HostError,
    HostErrorKind, HostEvent, InputCancelReason, LiveSession, LogoutHandler, Replay,
    RestoredSession, SessionCatalog, SessionDeleter, SessionHost, SessionId, SessionLoader,
    SessionResumer, Setup, Submission, TurnFailure, TurnOrigin, TurnRejectReason,
};
use parking_lot::Mutex;

use crate::{
    desk::Desk,
    library::{Library, Serves},
};

/// What no client may ever read.
pub(crate) const SECRET: &str = "canary-4711";

/// The calls of a host in which something can go wrong.
const CALLS: [&str; 16] = [
    "new",
    "load",
    "journal",
    "resume",
    "attach",
    "submit",
    "turn",
    "respond",
    "list",
    "delete",
    "options",
    "mode",
    "set",
    "authenticate",
    "logout",
    "shutdown",
];

/// What will go wrong, by the call in which it does.
#[derive(Clone, Default)]
pub(crate) struct Troubles(Arc<Mutex<HashMap<String, VecDeque<String>>>>);

impl Troubles {
    /// Has the next call that has no trouble yet go wrong.
    pub(crate) fn expect(&self, call: &str, trouble: &str) -> Result<(), String> {
        if !CALLS.contains(&call) {
            return Err(format!("a host has no call {call:?}"));
        }
        let mut calls = self.0.lock();
        let troubles = calls.entry(call.to_owned()).or_default();
        troubles.push_back(trouble.to_owned());
        Ok(())
    }

    /// A trouble that has not come about.
    pub(crate) fn left(&self) -> Option<String> {
        let calls = self.0.lock();
        let left = |(call, troubles): (&String, &VecDeque<String>)| {
            troubles.front().map(|first| format!("{call}={first}"))
        };
        calls.iter().find_map(left)
    }

    fn next(&self, call: &str) -> Option<String> {
        self.0.lock().get_mut(call)?.pop_front()
    }

    async fn meet(&self, call: &str) -> Result<(), HostError> {
        let of_kind = |text: &'static str, kind| Err(HostError::public(text).with_kind(kind));
        match self.next(call).as_deref() {
            None | Some("works") => Ok(()),
            Some("fails") => Err(HostError::internal(SECRET)),
            Some("panics") => panic!("{SECRET}"),
            Some("waits") => std::future::pending().await,
            Some("regrets") => Err(HostError::public("the roof leaks")),
            Some("misses") => of_kind("nobody knows it", HostErrorKind::NotFound),
            Some("locks") => of_kind("show your card", HostErrorKind::AuthRequired),
            Some("declines") => of_kind("not like this", HostErrorKind::InvalidInput),
            Some("is-busy") => {
                let retry_after = Some(Duration::from_secs(2));
                of_kind("come back later", HostErrorKind::Busy { retry_after })
            }
            Some(other) => panic!("nobody knows how {call} {other}"),
        }
    }
}

/// A library, and what goes wrong in it.
#[derive(Clone, Default)]
pub(crate) struct Troubled {
    library: Library,
    pub(crate) troubles: Troubles,
}

/// A desk of it.
pub(crate) struct TroubledDesk {
    desk: Desk,
    link: OnceLock<ClientLink>,
    troubles: Troubles,
}

/// A journal that cannot be read.
struct Torn;

impl Replay for Torn {
    async fn next_event(&mut self) -> Result<Option<HostEvent>, HostError> {
        Err(HostError::internal(SECRET))
    }
}

impl Troubled {
    fn wrap(&self, desk: Desk) -> TroubledDesk {
        TroubledDesk {
            desk,
            link: OnceLock::new(),
            troubles: self.troubles.clone(),
        }
    }
}

impl Serves for Troubled {}

impl SessionHost for Troubled {
    type Session = TroubledDesk;

    async fn new_session(&self, setup: Setup) -> Result<TroubledDesk, HostError> {
        self.troubles.meet("new").await?;
        Ok(self.wrap(self.library.new_session(setup).await?))
    }
}

impl SessionResumer for Troubled {
    type Session = TroubledDesk;

    async fn resume_session(&self, id: SessionId, setup: Setup) -> Result<TroubledDesk, HostError> {
        self.troubles.meet("resume").await?;
        Ok(self.wrap(self.library.resume_session(id, setup).await?))
    }
}

impl SessionLoader for Troubled {
    type Session = TroubledDesk;

    async fn load_session(
        &self,
        id: SessionId,
        setup: Setup,
    ) -> Result<RestoredSession<TroubledDesk>, HostError> {
        self.troubles.meet("load").await?;
        let RestoredSession { session, journal } = self.library.load_session(id, setup).await?;
        let session = self.wrap(session);
        Ok(match self.troubles.next("journal") {
            None => RestoredSession { session, journal },
            Some(_) => RestoredSession::new(session, Torn),
        })
    }
}

impl SessionCatalog for Troubled {
    async fn list(&self, query: CatalogQuery) -> Result<Vec<CatalogEntry>, HostError> {
        self.troubles.meet("list").await?;
        self.library.list(query).await
    }
}

impl SessionDeleter for Troubled {
    async fn delete(&self, id: &SessionId) -> Result<(), HostError> {
        self.troubles.meet("delete").await?;
        self.library.delete(id).await
    }
}

impl ConfigCatalog for Troubled {
    async fn options(&self, session: &SessionId) -> Result<Vec<ConfigOption>, HostError> {
        self.troubles.meet("options").await?;
        let mut options = self.library.options(session).await?;
        if self
            .troubles
            .next("mode")
            .is_some_and(|what| what == "vanishes")
        {
            options.retain(|option| option.id != ConfigOption::MODE);
        }
        Ok(options)
    }
}

impl ConfigController for Troubled {
    async fn set(
        &self,
        session: &SessionId,
        change: ConfigChange,
    ) -> Result<Vec<ConfigOption>, HostError> {
        self.troubles.meet("set").await?;
        self.library.set(session, change).await
    }
}

impl Authenticator for Troubled {
    async fn authenticate(&self, method: &str) -> Result<(), HostError> {
        self.troubles.meet("authenticate").await?;
        self.library.authenticate(method).await
    }

    async fn is_logged_in(&self) -> bool {
        self.library.is_logged_in().await
    }
}

impl LogoutHandler for Troubled {
    async fn logout(&self) -> Result<(), HostError> {
        self.troubles.meet("logout").await?;
        self.library.logout().await
    }
}

impl TroubledDesk {
    /// Runs a turn that ends in a way of its own.
    async fn end_turn(&self, submission: &Submission, end: &str) -> Result<(), HostError> {
        let command = submission.command.clone();
        let origin = Arc::new(TurnOrigin::new("main", command.as_str()));
        let mut numbers = 0..;
        let mut tell = async |body| {
            let link = self.link.get().expect("it is attached");
            let number = numbers.next().unwrap_or_default();
            let event = HostEvent::new(Arc::clone(&origin), number, body);
            link.emit(event).await.map_err(HostError::internal)
        };
        let rejected = |reason| EventBody::TurnRejected {
            command: command.clone(),
            reason,
        };
        let withdrawn = |reason| EventBody::InputCancelled {
            command: command.clone(),
            reason,
        };
        let reply = match end {
            "never-begins" => return std::future::pending().await,
            "is-queued" => {
                let command = command.clone();
                tell(EventBody::InputQueued { command }).await?;
                return std::future::pending().await;
            }
            "finds-a-full-queue" => rejected(TurnRejectReason::QueueFull),
            "finds-it-closing" => rejected(TurnRejectReason::ShuttingDown),
            "is-rejected" => rejected(TurnRejectReason::Internal),
            "is-retracted" => withdrawn(InputCancelReason::Retracted),
            "loses-its-turn" => withdrawn(InputCancelReason::TurnFailed),
            _ => EventBody::TurnStarted {
                command: Some(command.clone()),
                index: 0,
            },
        };
        let is_started = matches!(reply, EventBody::TurnStarted { .. });
        tell(reply).await?;
        if !is_started {
            return Ok(());
        }
        let retry_after = Some(Duration::from_millis(1500));
        let failure = match end {
            "is-interrupted" => return tell(EventBody::TurnInterrupted).await,
            "runs-out-of-tokens" => TurnFailure::MaxTokens,
            "runs-out-of-tools" => TurnFailure::ToolLimit,
            "is-refused" => TurnFailure::Refused,
            "is-empty" => TurnFailure::EmptyResponse,
            "overflows" => TurnFailure::ContextOverflow,
            "is-too-fast" => TurnFailure::RateLimited { retry_after },
            "needs-a-login" => TurnFailure::AuthRequired,
            "panics" => TurnFailure::Panicked,
            "fails" => TurnFailure::Other(HostError::internal(SECRET)),
            "regrets" => TurnFailure::Other(HostError::public("the ink is dry")),
            other => panic!("nobody knows how a turn {other}"),
        };
        tell(EventBody::TurnFailed(failure)).await
    }
}

impl LiveSession for TroubledDesk {
    fn id(&self) -> &SessionId {
        self.desk.id()
    }

    async fn attach(&self, link: ClientLink) -> Result<(), HostError> {
        self.link.set(link.clone()).expect("attached twice");
        self.troubles.meet("attach").await?;
        self.desk.attach(link).await
    }

    async fn submit(&self, submission: Submission) -> Result<(), HostError> {
        self.troubles.meet("submit").await?;
        match self.troubles.next("turn") {
            Some(end) => self.end_turn(&submission, &end).await,
            None => self.desk.submit(submission).await,
        }
    }

    async fn respond_gate(&self, response: GateResponse) -> Result<(), HostError> {
        self.troubles.meet("respond").await?;
        self.desk.respond_gate(response).await
    }

    async fn interrupt(&self) -> bool {
        self.desk.interrupt().await
    }

    async fn compact(&self, command: CommandId, cancel: Cancel) -> Result<(), HostError> {
        self.desk.compact(command, cancel).await
    }

    async fn shutdown(&self) {
        let _ = self.troubles.meet("shutdown").await;
        self.desk.shutdown().await;
    }
}
