//! Files, sessions and records for the tests.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use acp_agent::{
    host::{Block, CatalogEntry, SessionId},
    kit::{History, HistoryError, Record, RecordBody, StoredSession},
};
use acp_store::{SqliteHistory, StoreError};
use tempfile::TempDir;

/// A folder of its own, and a file that is not there yet.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) file: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sessions.db");
        Self { folder, file }
    }

    pub(crate) fn open(&self) -> SqliteHistory {
        SqliteHistory::open(&self.file).unwrap()
    }

    /// Opens it, with one session `s` in which these texts were said.
    pub(crate) async fn open_with(&self, texts: &[&str]) -> SqliteHistory {
        let history = self.open();
        history.create(session("s")).await.unwrap();
        history.append(&id("s"), 0, said("t", texts)).await.unwrap();
        history
    }

    /// The log beside the file.
    pub(crate) fn log(&self) -> PathBuf {
        beside(&self.file, "-wal")
    }

    /// A copy of the file and its log, as a kill at this moment would leave them.
    pub(crate) fn killed(&self) -> Self {
        let copy = Self::new();
        for end in ["", "-wal"] {
            fs::copy(beside(&self.file, end), beside(&copy.file, end)).unwrap();
        }
        copy
    }

    /// Waits until neither the file nor its log holds a text.
    pub(crate) async fn is_rid_of(&self, text: &str) {
        let rid = async {
            while self.holds(text) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), rid)
            .await
            .unwrap();
    }

    /// The names of all files.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Whether the file or its log holds a text.
    pub(crate) fn holds(&self, text: &str) -> bool {
        [self.file.clone(), self.log()].iter().any(|file| {
            let bytes = fs::read(file).unwrap_or_default();
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        })
    }
}

fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    name.into()
}

pub(crate) fn id(text: &str) -> SessionId {
    SessionId::new(text).unwrap()
}

pub(crate) fn session(name: &str) -> StoredSession {
    StoredSession::new(CatalogEntry::new(id(name)).with_cwd("/home/ada"))
}

/// Records of a turn that says these texts, numbered from 0.
pub(crate) fn said(turn: &str, texts: &[&str]) -> Vec<Record> {
    let said = texts.iter().zip(0..).map(|(text, number)| {
        Record::new(turn.into(), number, RecordBody::Said(Block::text(*text)))
    });
    said.collect()
}

/// All records of a session, page by page.
pub(crate) async fn read_all(
    history: &SqliteHistory,
    name: &str,
) -> Result<Vec<Record>, HistoryError> {
    let (mut all, mut from) = (Vec::new(), 0);
    loop {
        let page = history.read(&id(name), from).await?;
        if page.records.is_empty() {
            assert_eq!(page.next, from);
            return Ok(all);
        }
        assert_eq!(page.next, from + page.records.len() as u64);
        all.extend(page.records);
        from = page.next;
    }
}

/// The texts that were said in a session.
pub(crate) async fn texts(history: &SqliteHistory, name: &str) -> Vec<String> {
    let records = read_all(history, name).await.unwrap();
    let texts = records.into_iter().map(|record| match record.body {
        RecordBody::Said(Block::Text(text)) => text,
        other => panic!("{other:?}"),
    });
    texts.collect()
}

/// RecordBody the client reads of a failure, and its cause.
#[track_caller]
pub(crate) fn failure(error: &HistoryError) -> (Option<&str>, &StoreError) {
    let HistoryError::Failed(error) = error else {
        panic!("{error:?}")
    };
    let cause = error.private_cause().unwrap().downcast_ref();
    (error.public_text(), cause.unwrap())
}
