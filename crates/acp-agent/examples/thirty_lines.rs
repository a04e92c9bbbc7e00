//! An agent in thirty lines: it waters the plants, if it may.

use acp_agent::AgentBuilder;
use acp_agent::host::{ToolContent, ToolKind};
use acp_agent::kit::{Kit, Prompt, Turn, TurnEnd, TurnError, TurnHandler};

/// Waters the plants, if it may.
pub struct Gardener;

impl TurnHandler for Gardener {
    async fn turn(&self, turn: &mut Turn, prompt: Prompt) -> Result<TurnEnd, TurnError> {
        turn.text(format!("You said: {}\n", prompt.text())).await?;
        let draft = turn.tool("water", "Water the plants");
        let water = draft.kind(ToolKind::Execute).announce().await?;
        if turn.ask_permission(&water).await?.is_allowed() {
            water.start().await?;
            water
                .complete(vec![ToolContent::text("two litres")])
                .await?;
        } else {
            water.fail("not allowed").await?;
        }
        turn.text("Done for today.").await?;
        Ok(TurnEnd::Done)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = AgentBuilder::new(Kit::new(Gardener))
        .info("gardener", "0.1.0")
        .build()?;
    tokio::spawn(async move { agent.serve_stdio().await }).await??;
    Ok(())
}
