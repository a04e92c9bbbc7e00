//! What is kept of a session.

#[cfg(test)]
mod tests;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use acp_harness::transcript::{Speaker, Transcript};
use acp_protocol::v1::SessionId;
use acp_text::{clean, cut_bytes, one_line};
use serde::{Deserialize, Serialize};

use super::key::{AgentId, SessionKey, SessionName};
use super::limits::{MAX_FORMER, MAX_KEPT, MAX_PROMPT, MAX_REPORT, MAX_TITLE, MAX_TURNS};
use super::wishes::{Offers, RememberedSettings};

/// What is kept of a session, in one file.
///
/// Under one name the agent may have had several sessions, one after the other: what was
/// begun anew on purpose is another *chapter*, and what the agent forgot goes on in the
/// same one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    /// The format: [`FORMAT`].
    version: u32,
    pub(crate) name: SessionName,
    /// The folder it belongs to.
    pub(crate) folder: String,
    pub(crate) agent: AgentId,
    /// The folder the agent works in.
    pub(crate) cwd: String,
    /// What the agent calls it; `None` before there was one, and after it was closed.
    #[serde(default)]
    pub(crate) session_id: Option<SessionId>,
    #[serde(default)]
    pub(crate) title: Option<String>,
    /// Seconds since 1970, as all times.
    pub(crate) created: u64,
    pub(crate) used: u64,
    #[serde(default)]
    pub(crate) closed: Option<u64>,
    #[serde(default)]
    pub(crate) chapter: u32,
    /// Sessions of the agent that this one was before, the oldest first.
    #[serde(default)]
    pub(crate) former: Vec<Former>,
    /// What it is set to before each turn.
    #[serde(default)]
    pub(crate) wishes: RememberedSettings,
    /// What the agent had to choose from when it was last asked.
    #[serde(default)]
    pub(crate) offers: Offers,
    /// The oldest first.
    #[serde(default)]
    pub(crate) turns: Vec<Turn>,
    /// Turns that were left out because there were too many.
    #[serde(default)]
    pub(crate) left_out: u64,
}

/// A session of the agent that was gone on with in another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Former {
    pub(crate) session_id: SessionId,
    pub(crate) chapter: u32,
    /// When it was left.
    pub(crate) left: u64,
}

/// A turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Turn {
    #[serde(default)]
    pub(crate) chapter: u32,
    pub(crate) begun: u64,
    #[serde(default)]
    pub(crate) ended: Option<u64>,
    pub(crate) prompt: Said,
    /// What the agent was told while it worked.
    #[serde(default)]
    pub(crate) added: Vec<Said>,
    /// Its last message.
    #[serde(default)]
    pub(crate) report: Said,
    /// Why it ended, in the words of the agent; `None` while it runs, and of a turn that
    /// did not come to its end.
    #[serde(default)]
    pub(crate) stop_reason: Option<String>,
}

/// A text, or the beginning of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Said {
    pub(crate) text: String,
    /// Whether there was more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cut: bool,
}

/// How a turn ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TurnEnded {
    pub(crate) report: String,
    pub(crate) stop_reason: Option<String>,
}

/// The format that is written.
const FORMAT: u32 = 1;

/// Why a file is no record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoRecord {
    /// A newer program wrote it.
    Newer,
    /// It makes no sense.
    Damaged,
}

impl Record {
    /// Begins the record of a session that has none.
    pub(crate) fn new(key: &SessionKey, cwd: &str) -> Self {
        let now = now();
        Self {
            version: FORMAT,
            name: key.name.clone(),
            folder: key.folder.clone(),
            agent: key.agent.clone(),
            cwd: cwd.to_owned(),
            session_id: None,
            title: None,
            created: now,
            used: now,
            closed: None,
            chapter: 0,
            former: Vec::new(),
            wishes: RememberedSettings::default(),
            offers: Offers::default(),
            turns: Vec::new(),
            left_out: 0,
        }
    }

    /// Reads a record.
    pub(super) fn read(content: &[u8]) -> Result<Self, NoRecord> {
        #[derive(Deserialize)]
        struct Head {
            version: u32,
        }
        let head: Head = serde_json::from_slice(content).map_err(|_| NoRecord::Damaged)?;
        if head.version > FORMAT {
            return Err(NoRecord::Newer);
        }
        serde_json::from_slice(content).map_err(|_| NoRecord::Damaged)
    }

    /// Returns where it belongs.
    pub(crate) fn key(&self) -> SessionKey {
        SessionKey {
            folder: self.folder.clone(),
            agent: self.agent.clone(),
            name: self.name.clone(),
        }
    }

    /// Goes on in another session of the agent; the one before is kept among the former.
    pub(crate) fn go_on_in(&mut self, session: SessionId) {
        self.leave();
        self.session_id = Some(session);
        self.closed = None;
        self.used = now();
    }

    /// Begins another chapter: what was said before is no part of it.
    pub(crate) fn begin_anew(&mut self) {
        self.leave();
        self.chapter += 1;
        self.title = None;
        self.wishes = RememberedSettings::default();
    }

    /// Closes it.
    pub(crate) fn close(&mut self) {
        self.begin_anew();
        self.closed = Some(now());
    }

    fn leave(&mut self) {
        if let Some(session_id) = self.session_id.take() {
            self.former.retain(|former| former.session_id != session_id);
            self.former.push(Former {
                session_id,
                chapter: self.chapter,
                left: now(),
            });
            let surplus = self.former.len().saturating_sub(MAX_FORMER);
            self.former.drain(..surplus);
        }
    }

    /// Takes up a session of the agent by its id: one that was here before goes on where it
    /// was, any other one begins a chapter.
    pub(crate) fn take_up(&mut self, session: &SessionId) {
        if self.session_id.as_ref() == Some(session) {
            return;
        }
        let before = self.former.iter().find(|it| it.session_id == *session);
        let chapter = before.map(|before| before.chapter);
        if chapter != Some(self.chapter) {
            let newest = self.former.iter().map(|it| it.chapter).max();
            let newest = newest.unwrap_or_default().max(self.chapter);
            self.leave();
            self.title = None;
            self.chapter = chapter.unwrap_or(newest + 1);
        }
        self.go_on_in(session.clone());
        self.former.retain(|it| it.session_id != *session);
    }

    /// Returns the ids of all sessions of the agent that are known, the current one first.
    pub(crate) fn session_ids(&self) -> impl Iterator<Item = &SessionId> {
        let former = self.former.iter().rev().map(|former| &former.session_id);
        self.session_id.iter().chain(former)
    }

    /// Notes that a turn begins.
    pub(crate) fn begin_turn(&mut self, prompt: &str) {
        self.used = now();
        self.closed = None;
        self.turns.push(Turn {
            chapter: self.chapter,
            begun: self.used,
            ended: None,
            prompt: Said::new(prompt, MAX_PROMPT),
            added: Vec::new(),
            report: Said::default(),
            stop_reason: None,
        });
        self.make_room();
    }

    /// Notes what the agent was told while its turn runs.
    pub(crate) fn add(&mut self, prompt: &str) {
        if let Some(turn) = self.turns.last_mut() {
            turn.added.push(Said::new(prompt, MAX_PROMPT));
            self.make_room();
        }
    }

    /// Notes that the turn has ended.
    pub(crate) fn end_turn(&mut self, end: &TurnEnded) {
        self.used = now();
        let used = self.used;
        if let Some(turn) = self.turns.last_mut() {
            turn.ended = Some(used);
            turn.report = Said::new(&end.report, MAX_REPORT);
            turn.stop_reason = end.stop_reason.clone();
            self.make_room();
        }
    }

    /// Notes the title that the agent gave it.
    pub(crate) fn set_title(&mut self, title: &str) {
        let title = one_line(title, MAX_TITLE);
        self.title = (!title.is_empty()).then_some(title);
    }

    /// Returns what was said in this chapter, to be handed on to a session that does not
    /// know it.
    pub(crate) fn transcript(&self) -> Transcript {
        let mut said = Transcript::new();
        for turn in self.turns_of_chapter() {
            said.push(Speaker::User, &turn.prompt.text);
            for added in &turn.added {
                said.push(Speaker::User, &added.text);
            }
            said.push(Speaker::Agent, &turn.report.text);
        }
        said
    }

    fn turns_of_chapter(&self) -> impl Iterator<Item = &Turn> {
        self.turns
            .iter()
            .filter(|turn| turn.chapter == self.chapter)
    }

    /// Returns how many turns there were.
    pub(crate) fn count(&self) -> u64 {
        self.left_out + self.turns.len() as u64
    }

    /// What the session is about, in a line: its title, or how its first prompt begins.
    pub(crate) fn about(&self) -> &str {
        match (&self.title, self.turns_of_chapter().next()) {
            (Some(title), _) => title,
            (None, Some(first)) => first.prompt.text.trim(),
            (None, None) => "",
        }
    }

    /// Lets the oldest turns go until the bounds are kept; the newest one stays.
    fn make_room(&mut self) {
        let mut bytes: usize = self.turns.iter().map(Turn::bytes).sum();
        let mut gone = 0;
        while self.turns.len() - gone > 1
            && (bytes > MAX_KEPT || self.turns.len() - gone > MAX_TURNS)
        {
            bytes -= self.turns[gone].bytes();
            gone += 1;
        }
        self.turns.drain(..gone);
        self.left_out += gone as u64;
        // Somebody tells the agent more and more in one turn: the newest of it counts.
        if let Some(turn) = self.turns.last_mut() {
            while turn.bytes() > MAX_KEPT && !turn.added.is_empty() {
                turn.added.remove(0);
            }
        }
    }
}

impl Turn {
    fn bytes(&self) -> usize {
        let added: usize = self.added.iter().map(|added| added.text.len()).sum();
        self.prompt.text.len() + added + self.report.text.len()
    }

    /// Why it ended, in a word; `interrupted` when its end was not seen.
    pub(crate) fn end(&self) -> &str {
        match (&self.stop_reason, self.ended) {
            (Some(reason), _) => reason,
            (None, Some(_)) => "failed",
            (None, None) => "interrupted",
        }
    }
}

impl Said {
    fn new(text: &str, max: usize) -> Self {
        let kept = cut_bytes(text, max);
        Self {
            cut: kept.len() < text.len(),
            text: clean(kept).into_owned(),
        }
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or(Duration::ZERO).as_secs()
}
