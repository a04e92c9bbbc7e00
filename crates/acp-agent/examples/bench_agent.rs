//! The agent under the load generator: `cargo xtask bench`.
//!
//! The first word of a prompt is a workload: `PING`, `STREAM updates bytes`,
//! `BIG updates bytes`, `CALLBACK reads`. Everything goes through the public
//! API, on the default runtime.

use acp_agent::{
    AgentBuilder, AgentLimits,
    kit::{Kit, Prompt, Turn, TurnEnd, TurnError, TurnHandler},
};

struct Workloads;

impl TurnHandler for Workloads {
    async fn turn(&self, turn: &mut Turn, prompt: Prompt) -> Result<TurnEnd, TurnError> {
        let text = prompt.text();
        let mut words = text.split(' ');
        let workload = words.next().unwrap_or_default();
        let mut number = || -> Result<usize, TurnError> {
            Ok(words.next().unwrap_or_default().parse::<usize>()?)
        };
        match workload {
            "PING" => turn.text("pong").await?,
            "STREAM" | "BIG" => {
                let updates = number()?;
                let text = sentence(number()?);
                for _ in 0..updates {
                    turn.text(text.as_str()).await?;
                }
            }
            "CALLBACK" => {
                for _ in 0..number()? {
                    turn.read_text_file("/bench/file.txt").await?;
                }
            }
            _ => {}
        }
        Ok(TurnEnd::Done)
    }
}

/// So many bytes of text.
fn sentence(bytes: usize) -> String {
    "The quick brown fox jumps over the lazy dog.\n"
        .chars()
        .cycle()
        .take(bytes)
        .collect()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut limits = AgentLimits::default();
    limits.live_sessions = 1_000_000;
    let agent = AgentBuilder::new(Kit::new(Workloads))
        .info("bench-agent", env!("CARGO_PKG_VERSION"))
        .limits(limits)
        .build()?;
    tokio::spawn(async move { agent.serve_stdio().await }).await??;
    Ok(())
}
