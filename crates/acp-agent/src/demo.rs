//! The demo agent: no model, no network, always the same.
//!
//! It shows what an agent can do, so that a client has something to talk to,
//! and it is written with nothing but the [`kit`](crate::kit): its source is an
//! example. The first word of a prompt chooses what it shows ([`WORDS`]);
//! any other prompt shows everything.

use std::{path::PathBuf, time::Duration};

use acp_host::{Diff, PlanEntry, PlanStatus, ToolContent, ToolKind};
use tokio::time::sleep;

use crate::{
    Agent, AgentBuilder, BuildError,
    kit::{Kit, Prompt, Turn, TurnEnd, TurnError, TurnHandler},
};

/// The words with which a prompt may begin, and what they show.
pub const WORDS: &[(&str, &str)] = &[
    ("ask", "asks for permission, and changes a note if it may"),
    ("plan", "makes a plan and works through it"),
    ("slow", "counts to sixty, twice a second, to be cancelled"),
];

/// The steps of the plan it makes.
const STEPS: [&str; 3] = ["Read the note", "Add a line to it", "Say what was done"];

/// What its note says before it is changed. The note is in memory only: no
/// file is read or written.
const NOTE: &str = "# Notes\n\n- water the plants\n";

/// The line it adds.
const LINE: &str = "- try the Agent Client Protocol\n";

/// An agent that shows what an agent can do.
#[derive(Clone, Debug)]
pub struct DemoAgent {
    pace: Duration,
}

impl Default for DemoAgent {
    /// Speaks at a pace that can be read: a word each 20 ms.
    fn default() -> Self {
        Self {
            pace: Duration::from_millis(20),
        }
    }
}

impl DemoAgent {
    /// Sets how long it rests behind each word.
    #[must_use]
    pub fn with_pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// Makes an agent of it, ready to serve.
    ///
    /// # Errors
    ///
    /// None today; the signature is that of
    /// [`AgentBuilder::build`].
    pub fn into_agent(self) -> Result<Agent, BuildError> {
        AgentBuilder::new(Kit::new(self))
            .info("acp-demo-agent", env!("CARGO_PKG_VERSION"))
            .title("Demo agent")
            .build()
    }

    /// Shows everything: thought, plan, text, a tool behind a permission.
    async fn show_all(&self, turn: &Turn) -> Result<(), TurnError> {
        turn.thought("Someone wants to see what I can do. ").await?;
        turn.thought("A plan, a note, a question: that will do.")
            .await?;
        turn.plan(plan(0)).await?;
        self.say(
            turn,
            "Hello! I am the demo agent. I have no model, but I can show you a turn.\n\n",
        )
        .await?;
        turn.plan(plan(1)).await?;
        self.say(turn, "I would like to add a line to a note.\n\n")
            .await?;
        self.change_note(turn).await?;
        turn.plan(plan(2)).await?;
        self.say(turn, "That was all. Begin a prompt with ").await?;
        let words: Vec<_> = WORDS
            .iter()
            .map(|(word, _)| format!("\"{word}\""))
            .collect();
        self.say(
            turn,
            &format!("{} to see one thing alone.\n", words.join(" or ")),
        )
        .await?;
        turn.plan(plan(3)).await
    }

    /// Asks for permission, and changes the note if it may.
    async fn change_note(&self, turn: &Turn) -> Result<(), TurnError> {
        let path: PathBuf = turn.setup().cwd.join("notes.md");
        let changed = format!("{NOTE}{LINE}");
        let edit = turn
            .tool("edit_note", "Add a line to notes.md")
            .kind(ToolKind::Edit)
            .location(&path)
            .input(&serde_json::json!({ "path": path, "line": LINE.trim_end() }))?
            .diff(Diff::new(&path, &changed).with_old_text(NOTE))
            .announce()
            .await?;
        if !turn.ask_permission(&edit).await?.is_allowed() {
            edit.fail("not allowed").await?;
            return self
                .say(
                    turn,
                    "You did not allow it, so I left the note as it was.\n\n",
                )
                .await;
        }
        edit.start().await?;
        self.rest(turn, 10).await?;
        let shown = Diff::new(&path, changed).with_old_text(NOTE);
        edit.complete(vec![ToolContent::Diff(shown)]).await?;
        self.say(
            turn,
            "The note has its line (in memory: no file was touched).\n\n",
        )
        .await
    }

    /// Works through a plan.
    async fn show_plan(&self, turn: &Turn) -> Result<(), TurnError> {
        for done in 0..=STEPS.len() {
            turn.plan(plan(done)).await?;
            self.rest(turn, 10).await?;
        }
        self.say(turn, "Every step of the plan is done.\n").await
    }

    /// Counts until it is cancelled, or comes to the end.
    async fn count(&self, turn: &Turn) -> Result<(), TurnError> {
        for number in 1..=60 {
            turn.text(format!("{number} ")).await?;
            turn.run_until_cancelled(sleep(Duration::from_millis(500)))
                .await?;
        }
        turn.text("Nobody cancelled me.\n").await
    }

    /// Says a text word by word.
    async fn say(&self, turn: &Turn, text: &str) -> Result<(), TurnError> {
        for word in text.split_inclusive(' ') {
            turn.text(word).await?;
            self.rest(turn, 1).await?;
        }
        Ok(())
    }

    async fn rest(&self, turn: &Turn, words: u32) -> Result<(), TurnError> {
        if self.pace.is_zero() {
            return Ok(());
        }
        turn.run_until_cancelled(sleep(self.pace * words)).await
    }
}

impl TurnHandler for DemoAgent {
    async fn turn(&self, turn: &mut Turn, prompt: Prompt) -> Result<TurnEnd, TurnError> {
        match prompt.text().split_whitespace().next() {
            Some("ask") => self.change_note(turn).await?,
            Some("plan") => self.show_plan(turn).await?,
            Some("slow") => self.count(turn).await?,
            _ => self.show_all(turn).await?,
        }
        Ok(TurnEnd::Done)
    }
}

/// The plan when so many of its steps are done.
fn plan(done: usize) -> impl Iterator<Item = PlanEntry> {
    STEPS.into_iter().enumerate().map(move |(at, step)| {
        PlanEntry::new(step).with_status(match at.cmp(&done) {
            std::cmp::Ordering::Less => PlanStatus::Completed,
            std::cmp::Ordering::Equal => PlanStatus::InProgress,
            std::cmp::Ordering::Greater => PlanStatus::Pending,
        })
    })
}
