//! Files below the folders of a session.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use acp_protocol::v1::{
    ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use super::lines::{LineRange, ReadLimits};
use super::write::{self, WriteAccess, WriteRefusal};
use super::{OpenFiles, ReadFiles, WriteFiles, read};
use crate::error::ServeError;
use crate::folders::SessionFolders;
use crate::folders::{Roots, SharedRoots};
use crate::limits::{FILE_TIMEOUT, MAX_FILE_BYTES, MAX_FILE_JOBS, MAX_FILE_SEEN, MAX_OPEN_ASKS};
use crate::protected::{AllowProtected, DynAllowProtected, ProtectedPaths, ProtectedWrite};

/// Serves files below the folders of a session, and no others.
///
/// The folders are opened once, before the agent hears of the session, and what it
/// names is only ever opened relative to them, so nothing that changes meanwhile,
/// links included, leads out. Links are followed as long as they stay inside; those
/// that lead out or to nowhere are refused, and so is everything that is not a
/// regular file. A folder that is removed and made anew is another one: its session
/// finds nothing there.
///
/// Another name of a file (a hard link) is the file: it can be read wherever its
/// other names lie. A write gives the name a new file, and what other names lead to
/// stays as it is.
///
/// Paths that grant rights or run code ([`protected`](crate::protected)) are not written,
/// unless a person allows it each time
/// ([`with_protected_writes`](Self::with_protected_writes)).
///
/// Text goes byte by byte in both directions: line ends, a missing last one and
/// byte order marks stay as they are. A write replaces a file in one step and keeps
/// its mode; it makes missing folders. That it outlives a loss of power is not
/// promised.
#[derive(Clone)]
pub struct WorkspaceFiles {
    missing: MissingFiles,
    limits: ReadLimits,
    max_write: u64,
    protected: ProtectedPaths,
    person: Option<Arc<dyn DynAllowProtected>>,
    asks: Arc<Semaphore>,
    roots: Arc<SharedRoots>,
    jobs: Arc<Semaphore>,
}

/// What the agent is told when it reads a file that does not exist.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingFiles {
    /// That there is none, -32002.
    #[default]
    Refuse,
    /// That it is empty. At least one agent reads before each write, and gives up
    /// on a new file when the answer is an error.
    Empty,
}

impl WorkspaceFiles {
    /// Makes files of at most 10 MiB; a missing one is refused.
    #[must_use]
    pub fn new() -> Self {
        Self {
            missing: MissingFiles::default(),
            limits: ReadLimits {
                taken: MAX_FILE_BYTES,
                seen: MAX_FILE_SEEN,
            },
            max_write: MAX_FILE_BYTES,
            protected: ProtectedPaths::new(),
            person: None,
            asks: Arc::new(Semaphore::new(MAX_OPEN_ASKS)),
            roots: Arc::default(),
            jobs: Arc::new(Semaphore::new(MAX_FILE_JOBS)),
        }
    }

    /// Says what the agent is told of a file that does not exist.
    #[must_use]
    pub fn with_missing_files(mut self, missing: MissingFiles) -> Self {
        self.missing = missing;
        self
    }

    /// Sets how many bytes one answer holds at most: the lines that are asked for,
    /// of a file of any size. Default 10 MiB.
    #[must_use]
    pub fn with_max_read(mut self, bytes: u64) -> Self {
        self.limits.taken = bytes;
        self
    }

    /// Sets how many bytes one write holds at most. Default 10 MiB.
    #[must_use]
    pub fn with_max_write(mut self, bytes: u64) -> Self {
        self.max_write = bytes;
        self
    }

    /// Sets which paths are protected.
    #[must_use]
    pub fn with_protected_paths(mut self, protected: ProtectedPaths) -> Self {
        self.protected = protected;
        self
    }

    /// Asks a person about each write to a protected path. Without one, all of them are
    /// refused.
    #[must_use]
    pub fn with_protected_writes(mut self, person: impl AllowProtected) -> Self {
        self.person = Some(Arc::new(person));
        self
    }
}

impl std::fmt::Debug for WorkspaceFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkspaceFiles")
            .field("missing", &self.missing)
            .field("limits", &self.limits)
            .field("max_write", &self.max_write)
            .finish_non_exhaustive()
    }
}

impl Default for WorkspaceFiles {
    fn default() -> Self {
        Self::new()
    }
}

impl OpenFiles for WorkspaceFiles {
    type Files = FolderFiles;

    async fn open(&self, folders: &SessionFolders) -> FolderFiles {
        FolderFiles {
            options: self.clone(),
            roots: self.roots.open(folders).await,
        }
    }
}

/// The files of one session, as [`WorkspaceFiles`] opens them.
#[derive(Debug)]
pub struct FolderFiles {
    options: WorkspaceFiles,
    roots: Arc<Roots>,
}

impl FolderFiles {
    /// Does what blocks on a thread for such work.
    ///
    /// Some work at the same time, the others wait, and nobody for ever. Work that
    /// nobody waits for any more is told so, and keeps its place until it has heard
    /// it.
    async fn blocking<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<io::Error> + Send + 'static,
        F: FnOnce(&Roots, &dyn Fn() -> bool) -> Result<T, E> + Send + 'static,
    {
        let place = Arc::clone(&self.options.jobs).acquire_owned();
        let until = Instant::now() + FILE_TIMEOUT;
        let place = timeout_at(until, place).await.map_err(io::Error::from)?;
        let place = place.map_err(io::Error::other)?;
        let roots = Arc::clone(&self.roots);
        let given_up = GivenUp::default();
        let stopped = Arc::clone(&given_up.0);
        let work = spawn_blocking(move || {
            let _place = place;
            work(&roots, &|| stopped.load(Ordering::Relaxed))
        });
        let done = timeout_at(until, work).await.map_err(io::Error::from)?;
        done.map_err(io::Error::other)?
    }
}

/// Set when it is dropped.
#[derive(Default)]
struct GivenUp(Arc<AtomicBool>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl ReadFiles for FolderFiles {
    async fn read(&self, request: ReadTextFileRequest) -> Result<ReadTextFileResponse, ServeError> {
        let lines = LineRange::new(request.line, request.limit);
        let (path, limits) = (PathBuf::from(request.path), self.options.limits);
        let read = self
            .blocking(move |roots, stopped| read::read(roots, &path, lines, limits, stopped))
            .await;
        match (read, self.options.missing) {
            (Err(ServeError::NotFound { .. }), MissingFiles::Empty) => {
                Ok(ReadTextFileResponse::new(""))
            }
            (read, _) => read.map(ReadTextFileResponse::new),
        }
    }
}

impl WriteFiles for FolderFiles {
    async fn write(
        &self,
        request: WriteTextFileRequest,
    ) -> Result<WriteTextFileResponse, ServeError> {
        let path: Arc<Path> = PathBuf::from(request.path).into();
        let content: Arc<str> = request.content.into();
        if content.len() as u64 > self.options.max_write {
            return Err(ServeError::TooLarge {
                path: path.to_path_buf(),
                limit: self.options.max_write,
            });
        }
        let (protected, target) = match self.try_write(&path, &content, None).await {
            Ok(()) => return Ok(WriteTextFileResponse::new()),
            Err(WriteRefusal::Failed(error)) => return Err(error),
            Err(WriteRefusal::Protected(protected, target)) => (protected, target),
        };
        let Some(person) = &self.options.person else {
            return Err(ServeError::Protected(protected));
        };
        let Ok(_asking) = self.options.asks.try_acquire() else {
            return Err(ServeError::Protected(protected));
        };
        let (session, text) = (request.session_id, Arc::clone(&content));
        let write = ProtectedWrite::new(session, protected, target.clone(), text);
        if !person.allow_boxed(write).await {
            return Err(ServeError::Denied);
        }
        match self.try_write(&path, &content, Some(target)).await {
            Ok(()) => Ok(WriteTextFileResponse::new()),
            Err(WriteRefusal::Failed(error)) => Err(error),
            // It leads elsewhere than the person was told.
            Err(WriteRefusal::Protected(protected, _)) => Err(ServeError::Protected(protected)),
        }
    }
}

impl FolderFiles {
    /// Writes, unless the place is protected and not the one that is allowed.
    async fn try_write(
        &self,
        path: &Arc<Path>,
        content: &Arc<str>,
        allowed: Option<PathBuf>,
    ) -> Result<(), WriteRefusal> {
        let (path, content) = (Arc::clone(path), Arc::clone(content));
        let protected = self.options.protected.clone();
        self.blocking(move |roots, stopped| {
            let access = WriteAccess {
                protected: &protected,
                allowed: allowed.as_deref(),
            };
            write::write(roots, &path, &access, content.as_bytes(), stopped)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::mpsc;

    use tokio::task::yield_now;

    const DONE: Result<(), ServeError> = Ok(());

    async fn files() -> FolderFiles {
        let nowhere = SessionFolders::new("/no/such/folder");
        WorkspaceFiles::new().open(&nowhere).await
    }

    #[tokio::test]
    async fn only_so_much_is_done_at_the_same_time() {
        let files = Arc::new(files().await);
        let (started, starts) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(parking_lot::Mutex::new(released));
        let jobs: Vec<_> = (0..2 * MAX_FILE_JOBS)
            .map(|_| {
                let (files, started) = (Arc::clone(&files), started.clone());
                let released = Arc::clone(&released);
                tokio::spawn(async move {
                    let work = files.blocking(move |_, _| {
                        started.send(()).unwrap();
                        released.lock().recv().unwrap();
                        DONE
                    });
                    work.await.unwrap();
                })
            })
            .collect();
        let mut running = 0;
        while running < MAX_FILE_JOBS {
            yield_now().await;
            running += starts.try_iter().count();
        }
        assert_eq!(running, MAX_FILE_JOBS);
        assert_eq!(files.options.jobs.available_permits(), 0);
        for _ in &jobs {
            release.send(()).unwrap();
        }
        for job in jobs {
            job.await.unwrap();
        }
        assert_eq!(running + starts.try_iter().count(), 2 * MAX_FILE_JOBS);
        assert_eq!(files.options.jobs.available_permits(), MAX_FILE_JOBS);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_ever() {
        let files = files().await;
        let jobs = u32::try_from(MAX_FILE_JOBS).unwrap();
        let all = files.options.jobs.acquire_many(jobs).await.unwrap();
        let since = Instant::now();
        let answer = files.blocking(|_, _| DONE).await.unwrap_err();
        assert_eq!(since.elapsed().as_secs(), FILE_TIMEOUT.as_secs());
        let timed_out = |error: &io::Error| error.kind() == io::ErrorKind::TimedOut;
        assert!(
            matches!(&answer, ServeError::Io(error) if timed_out(error)),
            "{answer:?}"
        );
        drop(all);
        files.blocking(|_, _| DONE).await.unwrap();
    }

    #[tokio::test]
    async fn work_hears_that_nobody_waits_for_it() {
        let files = files().await;
        let (started, starts) = mpsc::channel();
        let (told, tells) = mpsc::channel();
        let mut work = Box::pin(files.blocking(move |_, stopped| {
            started.send(()).unwrap();
            while !stopped() {
                std::thread::yield_now();
            }
            told.send(()).unwrap();
            DONE
        }));
        while starts.try_recv().is_err() {
            assert!(is_pending(work.as_mut()).await);
        }
        assert_eq!(files.options.jobs.available_permits(), MAX_FILE_JOBS - 1);
        drop(work);
        tells.recv().unwrap();
        while files.options.jobs.available_permits() < MAX_FILE_JOBS {
            yield_now().await;
        }
    }

    /// Polls once; tells whether it is to be polled again.
    async fn is_pending<F: Future + Unpin>(mut work: F) -> bool {
        let polled = std::future::poll_fn(|cx| {
            std::task::Poll::Ready(std::pin::Pin::new(&mut work).poll(cx).is_pending())
        });
        polled.await
    }
}
