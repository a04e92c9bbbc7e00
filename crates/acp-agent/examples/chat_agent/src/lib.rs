//! An agent around a model behind an OpenAI-style chat API.
//!
//! | file | holds |
//! |---|---|
//! | `agent.rs` | the turn: ask the model, run the tools it calls, ask again |
//! | `config.rs` | what the environment says |
//! | `conversation.rs` | what the model is told: instructions, history, prompt |
//! | `model.rs` | one call of the API |
//! | `answer.rs` | the streamed answer: text, thoughts, calls of tools |
//! | `sse.rs` | events out of a stream of bytes |
//! | `tools.rs` | what the model can do, and who is asked before |
//! | `workspace.rs` | files and commands, of the client or of this machine |

mod agent;
mod answer;
mod config;
mod conversation;
mod model;
mod sse;
mod tools;
mod workspace;

pub use agent::ChatAgent;
pub use config::{Config, ConfigError};
