//! An agent around a model behind an OpenAI-style chat API; see README.md.

use std::error::Error;

use chat_agent::{ChatAgent, Config};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let config = Config::from_env()?;
    let agent = ChatAgent::new(config)?.into_agent()?;
    // On a worker, where the connection is.
    tokio::spawn(async move { agent.serve_stdio().await }).await??;
    Ok(())
}
