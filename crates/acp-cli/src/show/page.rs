//! Where a turn is written: text of the agent, lines of ours, and the rows below them
//! that are drawn again and again.

use std::io::{self, Write};
use std::time::Instant;

use super::ask::AskText;
use super::line::{Line, shown};
use super::live::Live;
use super::style::{ASCII, Style, Tone, UNICODE};
use super::terminal::Window;
use crate::outcome::Failure;
use acp_text::{Clean, Cleaner, ScreenText, ScreenWriter, clean, width};

/// Bytes of lines that wait for the next drawing.
const MAX_WAITING: usize = 16 << 10;

/// Blanks before a line of ours on a terminal, so that the agent's text stands out.
pub(super) const INDENT: usize = 2;

/// Blanks before what stands below such a line.
pub(super) const INDENT_BELOW: usize = 4;

/// Columns from one tab stop of a terminal to the next.
const TAB: usize = 8;

/// What the two streams are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Standard output is a terminal: no command may get there.
    pub(super) out_is_terminal: bool,
    /// Both are the same terminal.
    pub(super) together: bool,
    /// Standard error is a terminal that knows signs, and lines are made for its width.
    pub(super) drawn: bool,
    /// Rows may be drawn again and again.
    pub(super) live: bool,
    pub(super) colour: bool,
    pub(super) unicode: bool,
}

/// Finds out how large the window is.
pub(super) type Look = Box<dyn Fn() -> Option<Window> + Send>;

/// How a line that does not fit is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// What is behind the edge is left out.
    Cut,
    /// It goes on in the next row.
    Wrap,
}

/// Text goes to `out`, everything else to `err`.
pub(super) struct Page<O, E> {
    out: ScreenWriter<O>,
    err: ScreenWriter<E>,
    facts: Facts,
    look: Look,
    now: Instant,
    cleaner: Cleaner,
    end: TextEnd,
    live: Live,
    /// Somebody is typing an answer, where the rows would be.
    is_asking: bool,
    /// Lines that are not yet written.
    waiting: ScreenText,
}

impl<O: Write, E: Write> Page<O, E> {
    pub(super) fn new(
        out: ScreenWriter<O>,
        err: ScreenWriter<E>,
        facts: Facts,
        look: Look,
        now: Instant,
    ) -> Self {
        Self {
            out,
            err,
            facts,
            look,
            now,
            cleaner: Cleaner::default(),
            end: TextEnd::default(),
            live: Live::new(now),
            is_asking: false,
            waiting: ScreenText::new(),
        }
    }

    pub(super) fn facts(&self) -> Facts {
        self.facts
    }

    pub(super) fn now(&self) -> Instant {
        self.now
    }

    /// It is this late.
    pub(super) fn at(&mut self, now: Instant) {
        self.now = now;
    }

    /// Returns how lines look that stand behind so many blanks.
    pub(super) fn style(&self, indent: usize) -> Style {
        let window = self.facts.drawn.then(|| (self.look)()).flatten();
        // The last column stays free: behind it terminals differ in where the cursor is.
        let width = window.map(|window| window.columns.saturating_sub(indent + 1));
        Style {
            width: width.filter(|_| self.facts.drawn),
            colour: self.facts.colour,
            signs: if self.facts.unicode { &UNICODE } else { &ASCII },
        }
    }

    /// Tells whether rows are on the screen that have to be taken away.
    pub(super) fn is_up(&self) -> bool {
        self.live.is_up()
    }

    /// Writes text of the agent.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        if !self.facts.out_is_terminal {
            self.end.add(text);
            self.out.pass_on(text)?;
            return self.out.flush();
        }
        let text = self.cleaner.clean(text);
        if text.is_empty() {
            return Ok(());
        }
        self.end.add(text.as_str());
        self.make_way();
        if self.facts.together {
            self.live.text(self.end.column, self.now);
        }
        self.out.write(&ScreenText::from(text))?;
        self.out.flush()
    }

    /// Ends the line of the text, if there is one.
    pub(super) fn end_text_line(&mut self) -> io::Result<()> {
        if self.end.column == 0 {
            return Ok(());
        }
        self.make_way();
        self.end = TextEnd::default();
        self.out.write(&ScreenText::from(clean!("\n")))?;
        self.out.flush()
    }

    /// Writes a question, which is answered by what is typed behind it.
    pub(super) fn ask(&mut self, text: &AskText) -> io::Result<()> {
        self.is_asking = true;
        self.make_way();
        if self.facts.together {
            self.end_text_line()?;
        }
        let columns = (self.look)().map(|window| window.columns);
        let columns = columns.filter(|columns| *columns > 0);
        self.err.write(&text.laid_out(columns))?;
        self.err.flush()
    }

    /// The answer is there.
    pub(super) fn answered(&mut self) {
        self.is_asking = false;
    }

    /// Adds a line of ours and what stands below it. It is written now or with the next
    /// drawing.
    pub(super) fn push(&mut self, head: Line, fit: Fit, body: &[Line]) -> io::Result<()> {
        let ended = match self.facts.together {
            // Both streams meet on the screen: leave the unfinished line alone.
            true => self.end_text_line(),
            false => Ok(()),
        };
        self.live.at_line_start();
        let indent = if self.facts.drawn { INDENT } else { 0 };
        let style = self.style(0);
        let line = Line::new().with_blanks(indent).and(head);
        match fit {
            Fit::Cut => line.render(&style, &mut self.waiting),
            Fit::Wrap => line.render_wrapped(&style, INDENT_BELOW, &mut self.waiting),
        }
        self.waiting.end_line();
        for line in body {
            let line = Line::new().with_blanks(INDENT_BELOW).and(line.clone());
            line.render(&style, &mut self.waiting);
            self.waiting.end_line();
        }
        if !self.facts.live || self.is_asking || self.waiting.len() > MAX_WAITING {
            self.make_way();
        }
        ended
    }

    /// Writes what went wrong, and what to do about it.
    pub(super) fn fail(&mut self, failure: &Failure) -> io::Result<()> {
        self.make_way();
        let style = self.style(0);
        let mut text = ScreenText::new();
        let mut line = |indent: usize, tone, words: &Clean<'_>| {
            let line = Line::new().with_blanks(indent).with(tone, words);
            line.render_wrapped(&style, INDENT_BELOW, &mut text);
            text.end_line();
        };
        let message = Clean::line(&failure.message);
        line(0, Tone::Strong, &clean!("acp: {}", message));
        // Some list what there is to choose from.
        for hint in failure.hint.iter().flat_map(|hint| hint.lines()) {
            line(INDENT, Tone::Plain, &Clean::new(hint));
        }
        if let Some(words) = &failure.last_words {
            line(INDENT, Tone::Plain, &clean!("the agent wrote last:"));
            for words in words.lines() {
                line(INDENT, Tone::Faint, &clean!("| {}", shown(words)));
            }
        }
        if let Some(noise) = &failure.noise {
            let words = clean!("its standard output has a line that is no message:");
            line(INDENT, Tone::Plain, &words);
            line(INDENT, Tone::Faint, &clean!("| {}", shown(noise)));
        }
        self.err.write(&text)
    }

    /// Writes what waits, and takes the rows away that are drawn again and again.
    pub(super) fn make_way(&mut self) {
        let mut text = ScreenText::new();
        self.live.erase(&mut text);
        text.append(&std::mem::take(&mut self.waiting));
        self.write(&text);
    }

    /// Tells whether it is time to draw.
    pub(super) fn is_time(&self) -> bool {
        self.facts.live && !self.is_asking && self.live.is_time(self.now)
    }

    /// Writes what waits and draws the rows, made by `rows` for the height it is given.
    pub(super) fn draw(&mut self, rows: impl FnOnce(usize, &Style) -> Vec<Line>) {
        let window = (self.look)().filter(|window| window.is_ours && window.columns > 0);
        let Some(window) = window else {
            // Whoever has the terminal now has drawn over it.
            self.live.forget();
            return self.make_way();
        };
        let mut text = ScreenText::new();
        if !self.waiting.is_empty() {
            self.live.erase(&mut text);
            text.append(&std::mem::take(&mut self.waiting));
        }
        if self.live.has_room(window.columns, self.now) {
            let style = self.style(0);
            // Half of the window stays for what was said.
            let lines = rows(window.rows / 2, &self.style(INDENT));
            let rows: Vec<ScreenText> = lines
                .into_iter()
                .map(|line| {
                    let mut row = ScreenText::new();
                    let line = Line::new().with_blanks(INDENT).and(line);
                    line.render(&style, &mut row);
                    row
                })
                .collect();
            self.live.draw(&rows, self.now, &mut text);
        } else {
            self.live.erase(&mut text);
        }
        self.write(&text);
    }

    fn write(&mut self, text: &ScreenText) {
        if !text.is_empty() {
            // A standard error that nobody reads is no reason to stop.
            let _ = self.err.write(text);
        }
    }
}

/// Where the text of the agent ends.
#[derive(Debug, Default)]
struct TextEnd {
    /// Columns of the last line; 0 at its beginning.
    column: usize,
}

impl TextEnd {
    fn add(&mut self, text: &str) {
        let last = match text.rsplit_once('\n') {
            Some((_, last)) => {
                self.column = 0;
                last
            }
            None => text,
        };
        for (at, part) in last.split('\t').enumerate() {
            if at > 0 {
                self.column += TAB - self.column % TAB;
            }
            self.column += width(part);
        }
        // Characters without a width are on the line all the same.
        if !last.is_empty() {
            self.column = self.column.max(1);
        }
    }
}
