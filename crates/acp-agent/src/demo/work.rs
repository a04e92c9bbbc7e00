//! How the demo agent works: plans, tools, permissions, a sub-agent.

use std::path::PathBuf;

use acp_host::{
    ConfigOption, Diff, PlanEntry, PlanPriority, PlanStatus, ToolContent, ToolKind, ToolLocation,
};
use serde_json::json;

use super::{ACT, DemoAgent};
use crate::kit::{RunningTool, Turn, TurnError};

/// The steps of the plan it makes.
const STEPS: [&str; 3] = ["Read the note", "Add a line to it", "Say what was done"];

/// What its note says before it is changed. The note is in memory only: no
/// file is read or written.
pub(super) const NOTE: &str = "# Notes\n\n- water the plants\n";

/// The line it adds.
const LINE: &str = "- try the Agent Client Protocol\n";

/// A tool of each kind, and what it is used for.
const TOOLS: [(ToolKind, &str, &str); 10] = [
    (ToolKind::Read, "read_file", "Read notes.md"),
    (ToolKind::Edit, "edit_file", "Change notes.md"),
    (ToolKind::Delete, "delete_file", "Delete old.md"),
    (ToolKind::Move, "move_file", "Move notes.md to plants.md"),
    (ToolKind::Search, "search", "Search for plants"),
    (ToolKind::Execute, "run", "Run the watering"),
    (ToolKind::Think, "reason", "Think about water"),
    (ToolKind::Fetch, "fetch", "Fetch the weather"),
    (ToolKind::SwitchMode, "switch_mode", "Go over to acting"),
    (ToolKind::Other, "sing", "Sing a song"),
];

impl DemoAgent {
    /// Asks for permission, and changes the note if it may. Who asks is the turn
    /// or a sub-agent of it; the turn says what came of it.
    pub(super) async fn change_note(&self, turn: &Turn, asker: &Turn) -> Result<(), TurnError> {
        let path: PathBuf = turn.setup().cwd.join("notes.md");
        let changed = format!("{NOTE}{LINE}");
        let edit = asker
            .tool("edit_note", "Add a line to notes.md")
            .kind(ToolKind::Edit)
            .location(&path)
            .input(&json!({ "path": path, "line": LINE.trim_end() }))?
            .diff(Diff::new(&path, &changed).with_old_text(NOTE))
            .announce()
            .await?;
        if !self.may(turn, asker, &edit).await? {
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

    /// Whether a tool may run: the mode says so, or the user is asked. Who
    /// allows it always goes over to the mode in which nobody is asked.
    pub(super) async fn may(
        &self,
        turn: &Turn,
        asker: &Turn,
        tool: &RunningTool<'_>,
    ) -> Result<bool, TurnError> {
        if turn.mode().as_deref() == Some(ACT) {
            return Ok(true);
        }
        let permission = asker.ask_permission(tool).await?;
        if permission == crate::kit::Permission::AllowedAlways {
            turn.set_option(
                ConfigOption::MODE,
                acp_host::ConfigValue::Choice(ACT.into()),
            )
            .await?;
        }
        Ok(permission.is_allowed())
    }

    /// Has a sub-agent change the note, behind a permission.
    pub(super) async fn delegate(&self, turn: &Turn) -> Result<(), TurnError> {
        self.say(turn, "I let a helper do it.\n\n").await?;
        let helper = turn.sub_agent("helper");
        helper.text("Nobody sees what I say.").await?;
        self.change_note(turn, &helper).await
    }

    /// Works through a plan.
    pub(super) async fn work_by_plan(&self, turn: &Turn) -> Result<(), TurnError> {
        for done in 0..=STEPS.len() {
            turn.plan(plan(done)).await?;
            self.rest(turn, 10).await?;
        }
        self.say(turn, "Every step of the plan is done.\n").await
    }

    /// Uses a tool of each kind, each with all that can be said of it.
    pub(super) async fn use_tools(&self, turn: &Turn) -> Result<(), TurnError> {
        let path = turn.setup().cwd.join("notes.md");
        let last = TOOLS.len() - 1;
        for (at, (kind, name, title)) in TOOLS.into_iter().enumerate() {
            let tool = turn
                .tool(name, title)
                .kind(kind)
                .at(ToolLocation::new(&path).with_line(3))
                .input(&json!({ "path": path }))?
                .start()
                .await?;
            tool.show(vec![ToolContent::text("half done")]).await?;
            self.rest(turn, 5).await?;
            if at == last {
                tool.fail("I cannot sing").await?;
            } else {
                let done = vec![ToolContent::text("done")];
                tool.complete_with(done, &json!({ "ok": true })).await?;
            }
        }
        self.say(turn, "I used every tool I have.\n").await
    }

    /// Shows a new file and a changed one, as the work of a tool that needs no
    /// permission.
    pub(super) async fn show_diffs(&self, turn: &Turn) -> Result<(), TurnError> {
        let cwd = &turn.setup().cwd;
        let (notes, plants) = (cwd.join("notes.md"), cwd.join("plants.md"));
        let tool = turn
            .tool("preview", "Look at what would change")
            .kind(ToolKind::Read)
            .location(&notes)
            .location(&plants)
            .start()
            .await?;
        self.rest(turn, 5).await?;
        let changed = Diff::new(notes, format!("{NOTE}{LINE}")).with_old_text(NOTE);
        let new = Diff::new(plants, "# Plants\n\n- fern\n- ivy\n");
        let shown = vec![ToolContent::Diff(changed), ToolContent::Diff(new)];
        tool.complete(shown).await?;
        self.say(turn, "One file would change, one would be new.\n")
            .await
    }
}

/// The plan when so many of its steps are done.
pub(super) fn plan(done: usize) -> impl Iterator<Item = PlanEntry> {
    let priorities = [PlanPriority::High, PlanPriority::Medium, PlanPriority::Low];
    let steps = STEPS.into_iter().zip(priorities).enumerate();
    steps.map(move |(at, (step, priority))| {
        let status = match at.cmp(&done) {
            std::cmp::Ordering::Less => PlanStatus::Completed,
            std::cmp::Ordering::Equal => PlanStatus::InProgress,
            std::cmp::Ordering::Greater => PlanStatus::Pending,
        };
        PlanEntry::new(step)
            .with_status(status)
            .with_priority(priority)
    })
}
