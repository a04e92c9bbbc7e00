//! What outlives a connection: books, options, who is logged in.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::SystemTime,
};

use acp_agent::{
    Agent, AgentBuilder, BuildError,
    host::{
        AuthMethod, Authenticator, Block, CatalogEntry, CatalogQuery, ConfigCatalog, ConfigChange,
        ConfigChoice, ConfigController, ConfigOption, ConfigValue, EventBody, HostError,
        HostErrorKind, HostEvent, LogoutHandler, McpAcceptance, PromptContent, RestoredSession,
        SessionCatalog, SessionDeleter, SessionHost, SessionId, SessionLoader, SessionResumer,
        Setup, TurnOrigin,
    },
};
use parking_lot::{Mutex, MutexGuard};

use super::desk::Desk;

/// All that an agent of a library can do.
pub(crate) trait Serves:
    SessionHost
    + SessionResumer
    + SessionLoader
    + SessionCatalog
    + SessionDeleter
    + ConfigController
    + Authenticator
    + LogoutHandler
    + Clone
{
}

impl Serves for Library {}

/// Makes an agent of a library.
pub(crate) fn agent(library: &Library) -> Result<Agent, BuildError> {
    builder(library).build()
}

/// Registers each thing that a library can do, and by that advertises it.
pub(crate) fn builder(library: &impl Serves) -> AgentBuilder {
    let key = AuthMethod::new("card", "Library card").with_description("Everybody has one.");
    AgentBuilder::new(library.clone())
        .info("library", env!("CARGO_PKG_VERSION"))
        .resumer(library.clone())
        .loader(library.clone())
        .catalog(library.clone())
        .deleter(library.clone())
        .config(library.clone())
        .authenticator(library.clone(), [key])
        .logout(library.clone())
        .prompt_content(PromptContent::new().with_resource())
        .mcp(McpAcceptance::default().with_http())
        .additional_directories()
        .compact_command()
}

/// All books; cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Library(Arc<Rooms>);

/// The books, by the ids of the sessions that write them.
#[derive(Default)]
struct Rooms {
    books: Mutex<BTreeMap<SessionId, Book>>,
    next: AtomicU64,
    has_card: AtomicBool,
}

/// What one session wrote.
pub(crate) struct Book {
    cwd: PathBuf,
    touched: SystemTime,
    pub(crate) lines: Vec<Line>,
    mode: ConfigOption,
    numbers: ConfigOption,
}

/// One line, and the turn that wrote it.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) turn: String,
    pub(crate) text: String,
}

impl Book {
    fn new(cwd: PathBuf) -> Self {
        let choices = vec![
            ConfigChoice::new("ask", "Ask first").with_description("Asks before it writes."),
            ConfigChoice::new("write", "Write").with_description("Writes without asking."),
        ];
        Self {
            cwd,
            touched: SystemTime::now(),
            lines: Vec::new(),
            mode: ConfigOption::mode("ask", choices),
            numbers: ConfigOption::switch("numbers", "Numbers", false)
                .with_description("Numbers the lines when the book is read."),
        }
    }

    /// What can be set.
    fn options(&self) -> Vec<ConfigOption> {
        vec![self.mode.clone(), self.numbers.clone()]
    }

    /// The whole text.
    pub(crate) fn read(&self) -> String {
        let is_numbered = self.numbers.value() == ConfigValue::Switch(true);
        let lines = self.lines.iter().zip(1..).map(|(line, number)| {
            if is_numbered {
                format!("{number} {}", line.text)
            } else {
                line.text.clone()
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn write(&mut self, line: Line) {
        self.lines.push(line);
        self.touched = SystemTime::now();
    }

    /// Whether a line is written only when the user allows it.
    pub(crate) fn asks_first(&self) -> bool {
        self.mode.value() == ConfigValue::Choice("ask".into())
    }

    /// The title of a book is its first line.
    pub(crate) fn title(&self) -> Option<&str> {
        self.lines.first().map(|line| line.text.as_str())
    }

    /// The events of the turns that wrote it, with the numbers that they had.
    fn journal(&self) -> Vec<HostEvent> {
        let events = self.lines.iter().flat_map(|line| {
            let origin = Arc::new(TurnOrigin::new("main", line.turn.as_str()));
            let command = None;
            [
                (0, EventBody::TurnStarted { command, index: 0 }),
                (1, EventBody::UserMessage(vec![Block::text(&*line.text)])),
                (
                    2,
                    EventBody::StepDone(vec![Block::text(written(&line.text))]),
                ),
                (3, EventBody::TurnDone),
            ]
            .map(|(number, body)| HostEvent::new(Arc::clone(&origin), number, body))
        });
        events.collect()
    }
}

/// What a session says when it wrote a line.
pub(crate) fn written(text: &str) -> String {
    format!("I wrote: {text}")
}

impl Library {
    /// Works on a book.
    pub(crate) fn book<T>(
        &self,
        id: &SessionId,
        work: impl FnOnce(&mut Book) -> T,
    ) -> Result<T, HostError> {
        let no_book = || HostError::public("no such book").with_kind(HostErrorKind::NotFound);
        self.books().get_mut(id).map(work).ok_or_else(no_book)
    }

    /// Lets a book be written without asking, and gives its options.
    pub(crate) fn write_without_asking(
        &self,
        id: &SessionId,
    ) -> Result<Vec<ConfigOption>, HostError> {
        self.book(id, |book| {
            book.mode.set(ConfigValue::Choice("write".into()));
            book.options()
        })
    }

    fn books(&self) -> MutexGuard<'_, BTreeMap<SessionId, Book>> {
        self.0.books.lock()
    }
}

impl SessionHost for Library {
    type Session = Desk;

    async fn new_session(&self, setup: Setup) -> Result<Desk, HostError> {
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        let id = SessionId::new(format!("book-{number}")).map_err(HostError::internal)?;
        self.books().insert(id.clone(), Book::new(setup.cwd));
        Ok(Desk::new(id, self.clone()))
    }
}

impl SessionResumer for Library {
    type Session = Desk;

    async fn resume_session(&self, id: SessionId, setup: Setup) -> Result<Desk, HostError> {
        self.book(&id, |book| book.cwd = setup.cwd)?;
        Ok(Desk::new(id, self.clone()))
    }
}

impl SessionLoader for Library {
    type Session = Desk;

    async fn load_session(
        &self,
        id: SessionId,
        setup: Setup,
    ) -> Result<RestoredSession<Desk>, HostError> {
        let journal = self.book(&id, |book| book.journal())?;
        let desk = self.resume_session(id, setup).await?;
        Ok(RestoredSession::new(desk, journal.into_iter()))
    }
}

impl SessionCatalog for Library {
    async fn list(&self, _query: CatalogQuery) -> Result<Vec<CatalogEntry>, HostError> {
        // A small catalog gives all it has; the facade filters, sorts and cuts.
        let entry = |(id, book): (&SessionId, &Book)| {
            let mut entry = CatalogEntry::new(id.clone())
                .with_cwd(&book.cwd)
                .with_updated_at(book.touched);
            entry.title = book.title().map(ToOwned::to_owned);
            entry
        };
        Ok(self.books().iter().map(entry).collect())
    }
}

impl SessionDeleter for Library {
    async fn delete(&self, id: &SessionId) -> Result<(), HostError> {
        self.books().remove(id);
        Ok(())
    }
}

impl ConfigCatalog for Library {
    async fn options(&self, session: &SessionId) -> Result<Vec<ConfigOption>, HostError> {
        self.book(session, |book| book.options())
    }
}

impl ConfigController for Library {
    async fn set(
        &self,
        session: &SessionId,
        change: ConfigChange,
    ) -> Result<Vec<ConfigOption>, HostError> {
        self.book(session, |book| {
            // The facade has checked that the option can be set to this.
            let options = [&mut book.mode, &mut book.numbers];
            for option in options
                .into_iter()
                .filter(|known| known.id == change.option)
            {
                option.set(change.value.clone());
            }
            book.options()
        })
    }
}

impl Authenticator for Library {
    async fn authenticate(&self, _method: &str) -> Result<(), HostError> {
        self.0.has_card.store(true, Ordering::Relaxed);
        Ok(())
    }

    async fn is_logged_in(&self) -> bool {
        self.0.has_card.load(Ordering::Relaxed)
    }
}

impl LogoutHandler for Library {
    async fn logout(&self) -> Result<(), HostError> {
        self.0.has_card.store(false, Ordering::Relaxed);
        Ok(())
    }
}
