//! The facts of a session of the kit.

use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::{
        Arc, LazyLock, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::SystemTime,
};

use acp_host::{
    CatalogEntry, ConfigChange, ConfigOption, ConfigValue, EventBody, HostError, HostEvent, LoopId,
    SessionId, SessionInfo, Setup, SlashCommand,
};

use super::gates::OpenGates;
use crate::kit::history::{SharedHistory, StoredSession};

/// The facts that a turn knows of its session.
#[derive(Debug)]
pub(in crate::kit) struct SessionFacts {
    pub(in crate::kit) id: SessionId,
    pub(in crate::kit) setup: Setup,
    pub(in crate::kit) loop_id: LoopId,
    pub(in crate::kit) gates: OpenGates,
    pub(in crate::kit) history: Option<SharedHistory>,
    commands: Arc<[SlashCommand]>,
    options: Mutex<Vec<ConfigOption>>,
    title: Mutex<Option<String>>,
    /// An option was set, and sending that failed.
    has_unreported_options: AtomicBool,
    /// Held while facts are written, so that the last ones are written last.
    writing: tokio::sync::Mutex<()>,
    /// The number of the next event of the session as a whole.
    next: AtomicU64,
}

/// The loop that answers the user; each session has one.
static MAIN: LazyLock<LoopId> = LazyLock::new(|| LoopId::from("main"));

impl SessionFacts {
    pub(in crate::kit) fn new(
        id: SessionId,
        setup: Setup,
        history: Option<SharedHistory>,
        commands: Arc<[SlashCommand]>,
        options: Vec<ConfigOption>,
    ) -> Self {
        Self {
            id,
            setup,
            loop_id: MAIN.clone(),
            gates: OpenGates::default(),
            history,
            commands,
            options: Mutex::new(options),
            title: Mutex::default(),
            has_unreported_options: AtomicBool::new(false),
            writing: tokio::sync::Mutex::default(),
            next: AtomicU64::new(0),
        }
    }

    /// The title and the options that it had before. What cannot be set any
    /// more is not.
    pub(in crate::kit) fn with_stored(mut self, stored: StoredSession) -> Self {
        self.title = Mutex::new(stored.entry.title);
        // Events that were reported before have other names.
        self.next = AtomicU64::new(first_number());
        let mut values = stored.options;
        for option in &mut *self.options.lock() {
            if let Some(value) = values.remove(&option.id) {
                option.set(value);
            }
        }
        self
    }

    /// The first events of the session.
    pub(in crate::kit) fn first_events(&self) -> Vec<EventBody> {
        let mut events = Vec::new();
        if !self.commands.is_empty() {
            events.push(EventBody::CommandsChanged(self.commands.to_vec()));
        }
        if let Some(title) = &*self.title.lock() {
            let info = SessionInfo::new().with_title(title.as_str());
            events.push(EventBody::InfoChanged(info));
        }
        events
    }

    pub(in crate::kit) fn event(&self, body: EventBody) -> HostEvent {
        HostEvent::of_session(self.next.fetch_add(1, Ordering::Relaxed), body)
    }

    pub(in crate::kit) fn options(&self) -> Vec<ConfigOption> {
        self.options.lock().clone()
    }

    pub(in crate::kit) fn option(&self, id: &str) -> Option<ConfigValue> {
        let options = self.options.lock();
        let option = options.iter().find(|option| option.id == id)?;
        Some(option.value())
    }

    /// Sets an option, and returns all of them. Nothing has changed if that
    /// fails.
    pub(in crate::kit) async fn set_option(
        &self,
        change: ConfigChange,
    ) -> Result<Vec<ConfigOption>, HostError> {
        let _writing = self.writing.lock().await;
        let mut options = self.options();
        let option = options.iter_mut().find(|option| option.id == change.option);
        if !option.is_some_and(|option| option.set(change.value)) {
            return Err(HostError::public("the option cannot be set to this"));
        }
        let title = self.title.lock().clone();
        self.update(self.stored(title, &options)).await?;
        self.options.lock().clone_from(&options);
        Ok(options)
    }

    /// Takes note of the title, for the history.
    pub(in crate::kit) async fn set_title(&self, title: String) -> Result<(), HostError> {
        let _writing = self.writing.lock().await;
        let stored = self.stored(Some(title.clone()), &self.options());
        self.update(stored).await?;
        *self.title.lock() = Some(title);
        Ok(())
    }

    /// The subject of the session.
    pub(in crate::kit) fn info(&self) -> SessionInfo {
        let mut info = SessionInfo::new();
        info.title.clone_from(&self.title.lock());
        info
    }

    /// Takes note whether the client has been sent the options as they are.
    pub(in crate::kit) fn note_options(&self, are_reported: bool) {
        self.has_unreported_options
            .store(!are_reported, Ordering::Relaxed);
    }

    /// Whether the client has not been sent the options as they are; says so once.
    pub(in crate::kit) fn takes_unreported_options(&self) -> bool {
        self.has_unreported_options.swap(false, Ordering::Relaxed)
    }

    /// Has the history begin the session.
    pub(in crate::kit) async fn create(&self) -> Result<(), HostError> {
        match &self.history {
            Some(history) => Ok(history.0.create(self.stored(None, &self.options())).await?),
            None => Ok(()),
        }
    }

    /// Has the history take note of how the session was taken up.
    pub(in crate::kit) async fn take_up(&self) -> Result<(), HostError> {
        let title = self.title.lock().clone();
        self.update(self.stored(title, &self.options())).await
    }

    async fn update(&self, stored: StoredSession) -> Result<(), HostError> {
        match &self.history {
            Some(history) => Ok(history.0.update(stored).await?),
            None => Ok(()),
        }
    }

    fn stored(&self, title: Option<String>, options: &[ConfigOption]) -> StoredSession {
        let directories = self.setup.additional_directories.clone();
        let mut entry = CatalogEntry::new(self.id.clone())
            .with_cwd(self.setup.cwd.clone())
            .with_additional_directories(directories);
        entry.title = title;
        let options = options.iter();
        let options = options.map(|option| (option.id.clone(), option.value()));
        StoredSession::new(entry).with_options(options.collect())
    }
}

/// A number that no event of a session had before it was taken up again: the
/// microseconds that have passed since 1970.
fn first_number() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let micros = since.map_or(0, |since| since.as_micros());
    u64::try_from(micros).unwrap_or_default()
}

/// The sessions of a kit that are live, by their ids. Bounded by the agent's
/// sessions: those that have ended are swept out as new ones begin.
#[derive(Debug, Default)]
pub(in crate::kit) struct KitSessions(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    sessions: HashMap<SessionId, Weak<SessionFacts>>,
    /// So many are swept: twice as many as were left by the last time, so that
    /// each session pays for one look.
    sweep_at: usize,
}

impl KitSessions {
    pub(in crate::kit) fn insert(&self, facts: &Arc<SessionFacts>) {
        let mut known = self.0.lock();
        if known.sessions.len() >= known.sweep_at {
            known.sessions.retain(|_, facts| facts.strong_count() > 0);
            known.sweep_at = 2 * known.sessions.len() + 1;
        }
        known
            .sessions
            .insert(facts.id.clone(), Arc::downgrade(facts));
    }

    pub(in crate::kit) fn get(&self, id: &SessionId) -> Option<Arc<SessionFacts>> {
        self.0.lock().sessions.get(id)?.upgrade()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_that_ended_are_swept_out() {
        let live = KitSessions::default();
        let begin = |name: String| {
            let id = SessionId::new(name).expect("it names a session");
            let setup = Setup::new("/");
            let facts = Arc::new(SessionFacts::new(
                id,
                setup,
                None,
                Arc::default(),
                Vec::new(),
            ));
            live.insert(&facts);
            facts
        };
        let stays = begin("stays".to_owned());
        for number in 0..1000 {
            drop(begin(number.to_string()));
        }
        assert!(live.get(&stays.id).is_some());
        assert!(live.0.lock().sessions.len() < 10, "one of them lives");
    }
}
