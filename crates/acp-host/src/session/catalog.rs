//! Sessions that outlive their connection: resumed, loaded, listed, deleted.
//!
//! Four small traits, each optional, each advertised by being registered.

use derive_setters::Setters;
use std::{cmp::Ordering, fmt, path::PathBuf, time::SystemTime};

use crate::{HostError, HostEvent, LiveSession, SessionId, Setup, session::dynamic::DynReplay};

/// Resumes an earlier session; `session/resume`.
///
/// The client knows the conversation already: nothing of it is replayed.
#[auto_impl::auto_impl(Arc)]
pub trait SessionResumer: Send + Sync + 'static {
    /// What a running session is.
    type Session: LiveSession;

    /// Takes up a session. The folders and tool servers of the set-up are those
    /// of this time; earlier ones are not carried over.
    ///
    /// # Errors
    ///
    /// [`HostError`]; say [`NotFound`](crate::HostErrorKind::NotFound) for a
    /// session that nobody knows. The session that is returned must have the id
    /// that was asked for, else it is shut down and the client reads that the
    /// agent failed.
    fn resume_session(
        &self,
        id: SessionId,
        setup: Setup,
    ) -> impl Future<Output = Result<Self::Session, HostError>> + Send;
}

/// Resumes an earlier session and replays its conversation; `session/load`.
#[auto_impl::auto_impl(Arc)]
pub trait SessionLoader: Send + Sync + 'static {
    /// What a running session is.
    type Session: LiveSession;

    /// Takes up a session, and opens its journal.
    ///
    /// The journal is sent to the client before the session is attached, so
    /// events of its link come behind it.
    ///
    /// # Errors
    ///
    /// As [`resume_session`](SessionResumer::resume_session).
    fn load_session(
        &self,
        id: SessionId,
        setup: Setup,
    ) -> impl Future<Output = Result<RestoredSession<Self::Session>, HostError>> + Send;
}

/// A session that was taken up, and its journal.
pub struct RestoredSession<S> {
    /// The session.
    pub session: S,
    /// What happened in it so far.
    pub journal: Box<dyn DynReplay>,
}

impl<S> RestoredSession<S> {
    /// Joins a session and its journal. A `Vec` of events is a journal by
    /// `into_iter`.
    pub fn new(session: S, journal: impl Replay) -> Self {
        Self {
            session,
            journal: Box::new(journal),
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for RestoredSession<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded")
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// A journal: the events of a session, once more in their order.
///
/// They have the origins and numbers they had when they were new, and become
/// the same updates with the same ids. Besides, a journal says what the user
/// asked ([`UserMessage`](crate::EventBody::UserMessage)). It need not keep
/// deltas: the [`StepDone`](crate::EventBody::StepDone) behind them says the
/// same; but it keeps each step in front of the tools that it asked for.
/// Events that are not public are not sent, whatever the journal holds.
pub trait Replay: Send + 'static {
    /// Reads on; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`HostError`] if the journal cannot be read; then nothing is loaded. A
    /// journal never leaves out what it cannot read.
    fn next_event(&mut self) -> impl Future<Output = Result<Option<HostEvent>, HostError>> + Send;
}

impl Replay for std::vec::IntoIter<HostEvent> {
    fn next_event(&mut self) -> impl Future<Output = Result<Option<HostEvent>, HostError>> + Send {
        std::future::ready(Ok(self.next()))
    }
}

/// Knows which sessions there are; `session/list`.
#[auto_impl::auto_impl(Arc)]
pub trait SessionCatalog: Send + Sync + 'static {
    /// Lists sessions.
    ///
    /// A small catalog returns all it has, in any order: the facade filters,
    /// sorts and cuts. A large one may return just what the query asks for: of
    /// those that match it and stand behind [`after`](CatalogQuery::after), in
    /// the [`order`](CatalogQuery::order) of the query, the first
    /// [`limit`](CatalogQuery::limit); fewer only if there are no more.
    ///
    /// # Errors
    ///
    /// [`HostError`]; only its public text reaches the client.
    fn list(
        &self,
        query: CatalogQuery,
    ) -> impl Future<Output = Result<Vec<CatalogEntry>, HostError>> + Send;
}

/// Which sessions are looked for.
#[derive(Clone, Debug, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct CatalogQuery {
    /// In which order they are listed.
    #[setters(into = false, strip_option = false)]
    pub order: CatalogOrder,
    /// Only those behind this place.
    #[setters(into = false)]
    pub after: Option<CatalogPosition>,
    /// Only those that work in this folder.
    pub cwd: Option<PathBuf>,
    /// So many, if there are.
    pub limit: usize,
}

impl CatalogQuery {
    /// Looks for the first so many sessions.
    pub fn new(limit: usize) -> Self {
        Self {
            order: CatalogOrder::default(),
            after: None,
            cwd: None,
            limit,
        }
    }

    /// Whether a session stands behind [`after`](Self::after).
    pub fn is_behind(&self, entry: &CatalogEntry) -> bool {
        let after = self.after.as_ref();
        after.is_none_or(|after| self.order.compare(&entry.position(), after).is_gt())
    }
}

/// In which order sessions are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatalogOrder {
    /// The session in which something happened last comes first, and those without a
    /// time come last; of the same time, by the bytes of their ids.
    ///
    /// A session in which something happens while a client reads page after page moves
    /// to the beginning: it is never listed twice, and a client that had not come to it
    /// finds it when it begins anew.
    #[default]
    NewestFirst,
    /// By the bytes of their ids.
    ById,
}

impl CatalogOrder {
    /// Compares the places of two sessions; the lesser is listed first.
    pub fn compare(self, a: &CatalogPosition, b: &CatalogPosition) -> Ordering {
        let by_id = || a.id.cmp(&b.id);
        match self {
            // No time is less than any.
            Self::NewestFirst => b.updated_at.cmp(&a.updated_at).then_with(by_id),
            Self::ById => by_id(),
        }
    }
}

/// The place of a session in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogPosition {
    /// When something last happened in it, as [`CatalogEntry::updated_at`] says.
    pub updated_at: Option<SystemTime>,
    /// The session.
    pub id: SessionId,
}

/// What a catalog knows of a session.
#[derive(Clone, Debug, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct CatalogEntry {
    /// The session.
    pub id: SessionId,
    /// The folder in which it works. Where neither the catalog nor a live
    /// session knows it, the session is not listed; never guess.
    pub cwd: Option<PathBuf>,
    /// Further folders that it may use.
    #[setters(into = false)]
    pub additional_directories: Vec<PathBuf>,
    /// What it is about.
    pub title: Option<String>,
    /// When something last happened in it.
    #[setters(into = false)]
    pub updated_at: Option<SystemTime>,
}

impl CatalogEntry {
    /// Names a session of which nothing else is known.
    pub fn new(id: SessionId) -> Self {
        Self {
            id,
            cwd: None,
            additional_directories: Vec::new(),
            title: None,
            updated_at: None,
        }
    }

    /// Its place in a list.
    pub fn position(&self) -> CatalogPosition {
        CatalogPosition {
            updated_at: self.updated_at,
            id: self.id.clone(),
        }
    }
}

/// Removes sessions for good; `session/delete`.
#[auto_impl::auto_impl(Arc)]
pub trait SessionDeleter: Send + Sync + 'static {
    /// Removes what is kept of a session. It is called only for sessions that
    /// are not live on this connection, and while it runs none with this id is
    /// taken up there.
    ///
    /// # Errors
    ///
    /// [`HostError`]. A session that nobody knows is deleted already: success,
    /// or [`NotFound`](crate::HostErrorKind::NotFound), which the client reads
    /// as success.
    fn delete(&self, id: &SessionId) -> impl Future<Output = Result<(), HostError>> + Send;
}
