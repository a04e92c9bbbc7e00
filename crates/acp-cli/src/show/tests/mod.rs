//! Turns on a terminal that exists in memory, and where there is none.

mod bounds;
mod plain;
mod rows;
mod text;

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use acp_protocol::v1::{
    Content, ContentBlock, ContentChunk, Diff, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus,
    SessionUpdate, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolKind,
};
use acp_text::{ScreenWriter, clean};
use parking_lot::Mutex;

use super::human::Screen;
use super::page::Facts;
use super::terminal::Window;

/// A terminal and what is written on it.
struct Desk {
    screen: Screen<Tty, Tty>,
    tty: Tty,
    start: Instant,
    millis: u64,
}

/// A terminal with line discipline.
#[derive(Clone)]
struct Tty(Arc<Mutex<Inner>>);

struct Inner {
    parser: vt100::Parser,
    window: Window,
    writes: usize,
    bytes: usize,
}

impl Write for Tty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut inner = self.0.lock();
        inner.writes += 1;
        inner.bytes += bytes.len();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        inner.parser.process(text.replace('\n', "\r\n").as_bytes());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Both streams on one terminal, in a language that has all signs.
const TERMINAL: Facts = Facts {
    out_is_terminal: true,
    together: true,
    drawn: true,
    live: true,
    colour: false,
    unicode: true,
};

impl Desk {
    fn new(columns: u16, rows: u16) -> Self {
        Self::with(TERMINAL, columns, rows)
    }

    fn with(facts: Facts, columns: u16, rows: u16) -> Self {
        let tty = Tty(Arc::new(Mutex::new(Inner {
            parser: vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 1000),
            window: Window {
                columns: columns.into(),
                rows: rows.into(),
                is_ours: true,
            },
            writes: 0,
            bytes: 0,
        })));
        let start = Instant::now();
        let seen = tty.clone();
        let look = Box::new(move || Some(seen.0.lock().window));
        let mut screen = Screen::new(
            ScreenWriter::to_terminal(tty.clone()),
            ScreenWriter::to_terminal(tty.clone()),
            facts,
            look,
            start,
        );
        screen.in_folder("/code".into());
        screen.status(&clean!("working"));
        Self {
            screen,
            tty,
            start,
            millis: 0,
        }
    }

    /// Lets time pass, with a look at the clock each tenth of a second.
    fn wait(&mut self, millis: u64) -> &mut Self {
        for _ in 0..millis / 100 {
            self.millis += 100;
            let now = self.start + Duration::from_millis(self.millis);
            self.screen.at(now).settle();
        }
        self
    }

    fn update(&mut self, update: impl Into<SessionUpdate>) -> &mut Self {
        self.screen.update(&update.into()).unwrap();
        self
    }

    fn finish(&mut self) -> &mut Self {
        self.screen.finish().unwrap();
        self
    }

    /// What is seen, behind the left edge of the window, without empty rows below.
    fn seen(&self) -> String {
        let inner = self.tty.0.lock();
        let screen = inner.parser.screen();
        let (_, columns) = screen.size();
        let rows = screen.rows(0, columns.get());
        let rows: Vec<String> = rows
            .map(|row| format!("|{row}").trim_end().to_owned())
            .collect();
        let used = rows
            .iter()
            .rposition(|row| row != "|")
            .map_or(0, |at| at + 1);
        rows[..used].iter().map(|row| format!("{row}\n")).collect()
    }

    fn writes(&self) -> usize {
        self.tty.0.lock().writes
    }

    fn cursor(&self) -> (u16, u16) {
        self.tty.0.lock().parser.screen().cursor_position()
    }
}

fn text(text: &str) -> SessionUpdate {
    SessionUpdate::AgentMessageChunk(ContentChunk::new(ContentBlock::text(text)))
}

fn thought(text: &str) -> SessionUpdate {
    SessionUpdate::AgentThoughtChunk(ContentChunk::new(ContentBlock::text(text)))
}

fn tool(id: &str, kind: ToolKind, title: &str, status: ToolCallStatus) -> ToolCall {
    ToolCall::new(id, title).with_kind(kind).with_status(status)
}

fn change(id: &str, status: ToolCallStatus) -> ToolCallUpdate {
    ToolCallUpdate::new(id).with_status(status)
}

fn output(text: &str) -> Vec<ToolCallContent> {
    vec![Content::new(ContentBlock::text(text)).into()]
}

fn diff(path: &str, old: &str, new: &str) -> Vec<ToolCallContent> {
    vec![Diff::new(path, new).with_old_text(old).into()]
}

fn plan(steps: &[(&str, PlanEntryStatus)]) -> SessionUpdate {
    SessionUpdate::Plan(Plan::new(steps.iter().map(|(step, status)| {
        PlanEntry::new(*step, PlanEntryPriority::Medium, status.clone())
    })))
}
