//! The rows at the bottom of a terminal that are drawn again and again.
//!
//! The cursor always stands where the next text or line goes: at the end of the text
//! that has come so far, or at the beginning of an empty row. The live rows are drawn
//! from there downwards and the cursor goes back, so that one "erase below" takes them
//! away, however the window was resized meanwhile, and nothing above the cursor is ever
//! touched. The cursor is never hidden, and no drawing leaves a colour or a mode behind:
//! a program that is killed leaves a terminal that works.

use std::time::{Duration, Instant};

use acp_text::{ScreenText, TerminalCommand};

/// The least time between two drawings.
const GAP: Duration = Duration::from_millis(80);

/// How long text must have paused in the middle of a row before live rows are drawn
/// below it; until then the text itself shows that something goes on.
const PAUSE: Duration = Duration::from_millis(600);

/// What is drawn below the cursor, and when.
#[derive(Debug, Default)]
pub(super) struct Live {
    is_up: bool,
    drawn: Option<Instant>,
    text: Option<Instant>,
    /// Where the row of text ends, when the cursor is in the middle of one.
    column: usize,
}

impl Live {
    /// What is over in a moment shows no rows at all: they would only flash.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            drawn: Some(now),
            ..Self::default()
        }
    }

    /// Text was written, and its last row ends in this column; 0 is an empty row.
    pub(super) fn text(&mut self, column: usize, now: Instant) {
        self.text = Some(now);
        self.column = column;
    }

    /// The cursor is at the beginning of an empty row.
    pub(super) fn at_line_start(&mut self) {
        self.column = 0;
        self.text = None;
    }

    /// Tells whether enough time has passed since the last drawing.
    pub(super) fn is_time(&self, now: Instant) -> bool {
        self.drawn
            .is_none_or(|then| now.saturating_duration_since(then) >= GAP)
    }

    /// Tells whether rows may stand below the cursor now.
    pub(super) fn has_room(&self, columns: usize, now: Instant) -> bool {
        // Streaming text is not to be followed by rows that come and go.
        let is_streaming = self
            .text
            .is_some_and(|then| now.saturating_duration_since(then) < PAUSE);
        // At the edge terminals differ in where the cursor is.
        let is_clear =
            self.column == 0 || (1..columns.saturating_sub(1)).contains(&(self.column % columns));
        is_clear && !is_streaming
    }

    /// What was drawn is not ours any more.
    pub(super) fn forget(&mut self) {
        self.is_up = false;
    }

    pub(super) fn is_up(&self) -> bool {
        self.is_up
    }

    /// Appends what takes the rows away.
    pub(super) fn erase(&mut self, into: &mut ScreenText) {
        if std::mem::take(&mut self.is_up) {
            if self.column == 0 {
                into.command(TerminalCommand::Return);
            }
            into.command(TerminalCommand::EraseBelow);
        }
    }

    /// Appends what draws these rows over the ones before. None of them is as wide as
    /// the window.
    pub(super) fn draw(&mut self, rows: &[ScreenText], now: Instant, into: &mut ScreenText) {
        self.drawn = Some(now);
        if rows.is_empty() {
            return self.erase(into);
        }
        self.is_up = true;
        let count = rows.len();
        // No wrapping, for where a terminal takes more columns than we count.
        into.command(TerminalCommand::WrapOff);
        if self.column == 0 {
            into.command(TerminalCommand::Return);
            self.rows(rows, into);
            into.command(TerminalCommand::Up(count - 1));
            into.command(TerminalCommand::Return);
        } else {
            // Vertical tabs go down and scroll, and keep the column: now there is room,
            // and the place that is saved stays true.
            into.command(TerminalCommand::Down(count));
            into.command(TerminalCommand::Up(count));
            into.command(TerminalCommand::SaveCursor);
            into.command(TerminalCommand::Return);
            into.end_line();
            self.rows(rows, into);
            into.command(TerminalCommand::RestoreCursor);
        }
        into.command(TerminalCommand::WrapOn);
    }

    fn rows(&self, rows: &[ScreenText], into: &mut ScreenText) {
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                into.command(TerminalCommand::Return);
                into.end_line();
            }
            into.append(row);
            into.command(TerminalCommand::EraseRow);
        }
        into.command(TerminalCommand::EraseBelow);
    }
}
