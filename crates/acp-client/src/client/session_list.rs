//! The sessions an agent remembers, page by page.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::path::PathBuf;
use std::vec;

use acp_protocol::json_length;
use acp_protocol::v1::{ListSessionsRequest, SessionInfo};

use super::Client;
use super::listing::ListSessions;
use crate::connection::Capability;
use crate::error::ClientError;
use crate::limits::{MAX_LIST_BYTES, MAX_LIST_PAGES};
use crate::session::path_text;

/// Lists the sessions an agent remembers; see [`Client::list_sessions`].
///
/// Asks for a page when it comes to its beginning, and not before.
///
/// ```no_run
/// # async fn list(client: acp_client::Client) -> Result<(), acp_client::ClientError> {
/// let mut sessions = client.list_sessions().with_cwd("/home/ada/project");
/// while let Some(session) = sessions.next().await? {
///     println!("{} {}", session.session_id, session.title.unwrap_or_default());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "it asks for nothing until it is read"]
pub struct SessionList {
    client: Client,
    cwd: Option<PathBuf>,
    next: Next,
    pages: usize,
    /// Bytes of the sessions that were listed.
    bytes: usize,
    /// Marks of the cursors that were given, to notice one that comes again.
    seen: HashSet<u64>,
    hasher: RandomState,
    /// What is left of the page that is read.
    page: vec::IntoIter<SessionInfo>,
    /// Rows that could not be read.
    left_out: u64,
}

/// Where the next page begins.
#[derive(Debug, Clone)]
enum Next {
    Start,
    At(String),
    Nowhere,
}

/// One page of sessions.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionPage {
    /// The sessions; none is not the end.
    pub sessions: Vec<SessionInfo>,
    /// Where the next page begins, `None` on the last one. For
    /// [`SessionList::with_cursor`].
    pub next_cursor: Option<String>,
    /// Sessions that are left out, because the agent says too little of them.
    pub left_out: u64,
}

impl SessionList {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            cwd: None,
            next: Next::Start,
            pages: 0,
            bytes: 0,
            seen: HashSet::new(),
            hasher: RandomState::new(),
            page: Vec::new().into_iter(),
            left_out: 0,
        }
    }

    /// Lists only sessions that work in this folder, an absolute path.
    pub fn with_cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Begins at a page that an earlier list came to. The agent may have forgotten it.
    pub fn with_cursor(mut self, cursor: impl Into<String>) -> Self {
        let cursor = cursor.into();
        self.seen.insert(self.hasher.hash_one(&cursor));
        self.next = Next::At(cursor);
        self
    }

    /// Waits for the next session; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`ClientError::Unsupported`] when the agent lists no sessions,
    /// [`ClientError::EndlessList`] when its list goes round,
    /// [`ClientError::ListTooLarge`] when it is larger than any that is taken, else as
    /// any request.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: a page that was not waited for is asked for again.
    pub async fn next(&mut self) -> Result<Option<SessionInfo>, ClientError> {
        loop {
            if let Some(session) = self.page.next() {
                return Ok(Some(session));
            }
            match self.next_page().await? {
                Some(page) => self.page = page.sessions.into_iter(),
                None => return Ok(None),
            }
        }
    }

    /// Waits for the next page, which may be empty; `None` behind the last one.
    ///
    /// What [`next`](Self::next) has not given of a page is passed over.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    ///
    /// # Cancel safety
    ///
    /// As [`next`](Self::next).
    pub async fn next_page(&mut self) -> Result<Option<SessionPage>, ClientError> {
        let mut request = ListSessionsRequest::new();
        match &self.next {
            Next::Start => {}
            Next::At(cursor) => request = request.with_cursor(cursor.clone()),
            Next::Nowhere => return Ok(None),
        }
        if self.pages >= MAX_LIST_PAGES {
            return Err(ClientError::EndlessList { pages: self.pages });
        }
        if let Some(cwd) = &self.cwd {
            request = request.with_cwd(path_text(cwd.clone())?);
        }
        let lease = self.client.lease()?;
        lease.connection.require(Capability::List)?;
        let cwd = request.cwd.clone();
        let (_, answer) = lease
            .request(&ListSessions(request), self.client.limit)
            .await?;
        let (sessions, left_out) = answer.sessions(cwd.as_deref());
        self.left_out += left_out;
        self.pages += 1;
        self.bytes += sessions.iter().map(size).sum::<usize>();
        if self.bytes > MAX_LIST_BYTES {
            let max = MAX_LIST_BYTES;
            return Err(ClientError::ListTooLarge { max });
        }
        self.page = Vec::new().into_iter();
        // An empty cursor leads nowhere.
        let next_cursor = answer.next_cursor().filter(|cursor| !cursor.is_empty());
        self.next = Next::Nowhere;
        self.next = match &next_cursor {
            Some(cursor) if !self.seen.insert(self.hasher.hash_one(cursor)) => {
                return Err(ClientError::EndlessList { pages: self.pages });
            }
            Some(cursor) => Next::At(cursor.clone()),
            None => Next::Nowhere,
        };
        Ok(Some(SessionPage {
            sessions,
            next_cursor,
            left_out,
        }))
    }

    /// Returns how many sessions were left out so far, because the agent says too little
    /// of them: no id, or no folder where the list is not of one folder.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Waits for all that are left. [`next`](Self::next) leaves the list, and what it says of
    /// [sessions left out](Self::left_out), to its caller.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    ///
    /// # Cancel safety
    ///
    /// Dropped, what was listed is lost.
    pub async fn all(mut self) -> Result<Vec<SessionInfo>, ClientError> {
        let mut sessions = Vec::new();
        while let Some(session) = self.next().await? {
            sessions.push(session);
        }
        Ok(sessions)
    }
}

/// The bytes of a session on the list.
fn size(session: &SessionInfo) -> usize {
    let folders = session.additional_directories.iter();
    let texts = [&session.title, &session.updated_at].into_iter().flatten();
    size_of_val(session)
        + session.session_id.as_str().len()
        + session.cwd.len()
        + folders.chain(texts).map(String::len).sum::<usize>()
        + session.meta.as_ref().map_or(0, json_length)
}
