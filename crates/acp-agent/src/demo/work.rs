//! How the demo agent works: plans, tools, permissions, a sub-agent.

use std::path::PathBuf;

use acp_host::{Diff, PlanEntry, PlanPriority, PlanStatus, ToolContent, ToolKind, ToolLocation};
use serde_json::json;

use super::{ACT, DemoAgent};
use crate::kit::{Permission, RunningTool, Turn, TurnError};

/// The steps of the plan it makes.
const STEPS: [&str; 3] = ["Read the note", "Add a line to it", "Say what was done"];

/// The text of its note. The note is in memory only: no file is read or
/// written.
pub(super) const NOTE: &str = "# Notes\n\n- water the plants\n";

/// The line it adds.
const LINE: &str = "- try the Agent Client Protocol\n";

/// A tool of each kind: its name, and the title of a call.
const TOOLS: [(ToolKind, &str, &str); 10] = [
    (ToolKind::Read, "read_file", "Read notes.md"),
    (ToolKind::Edit, "edit_file", "Change notes.md"),
    (ToolKind::Delete, "delete_file", "Delete old.md"),
    (ToolKind::Move, "move_file", "Move notes.md to plants.md"),
    (ToolKind::Search, "search", "Search for plants"),
    (ToolKind::Execute, "run", "Run the watering"),
    (ToolKind::Think, "reason", "Think about water"),
    (ToolKind::Fetch, "fetch", "Fetch the weather"),
    (
        ToolKind::SwitchMode,
        "switch_mode",
        "Switch to the mode `act`",
    ),
    (ToolKind::Other, "sing", "Sing a song"),
];

impl DemoAgent {
    /// Asks for permission, and changes the note if it may. The turn or a
    /// sub-agent of it asks; the turn reports the outcome.
    pub(super) async fn change_note(&self, turn: &Turn, asker: &Turn) -> Result<String, TurnError> {
        let path: PathBuf = turn.setup().cwd.join("notes.md");
        let change = Diff::new(&path, format!("{NOTE}{LINE}")).with_old_text(NOTE);
        let edit = asker
            .tool("edit_note", "Add a line to notes.md")
            .kind(ToolKind::Edit)
            .location(&path)
            .input(&json!({ "path": path, "line": LINE.trim_end() }))?
            .diff(change.clone())
            .announce()
            .await?;
        if !self.may(turn, asker, &edit).await? {
            edit.fail("not allowed").await?;
            return Ok("You did not allow it, so I left the note as it was.\n".to_owned());
        }
        edit.start().await?;
        self.rest(turn, 10).await?;
        edit.complete(vec![ToolContent::Diff(change)]).await?;
        Ok("The note has its line (in memory: no file was touched).\n".to_owned())
    }

    /// Whether a tool may run: the mode allows it, or the user is asked. "Always
    /// allow" switches to the mode that does not ask.
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
        if permission == Permission::AllowedAlways {
            turn.set_mode(ACT).await?;
        }
        Ok(permission.is_allowed())
    }

    /// Has a sub-agent change the note, behind a permission.
    pub(super) async fn delegate(&self, turn: &Turn) -> Result<String, TurnError> {
        self.say(turn, "A sub-agent does the work.\n\n").await?;
        let helper = turn.sub_agent("helper");
        helper.text("The client does not see this.").await?;
        self.change_note(turn, &helper).await
    }

    /// Works through a plan.
    pub(super) async fn work_by_plan(&self, turn: &Turn) -> Result<String, TurnError> {
        for done in 0..=STEPS.len() {
            turn.plan(plan(done)).await?;
            self.rest(turn, 10).await?;
        }
        Ok("Every step of the plan is done.\n".to_owned())
    }

    /// Calls a tool of each kind, each with every member it can have.
    pub(super) async fn use_tools(&self, turn: &Turn) -> Result<String, TurnError> {
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
        Ok("I called every tool I have.\n".to_owned())
    }

    /// Shows a new file and a changed one, as the content of a tool call that
    /// needs no permission.
    pub(super) async fn show_diffs(&self, turn: &Turn) -> Result<String, TurnError> {
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
        Ok("One file would change, one would be new.\n".to_owned())
    }
}

/// The plan with this many steps done.
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
