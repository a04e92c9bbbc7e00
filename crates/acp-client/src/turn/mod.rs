//! A turn: a prompt, the stream of what happens until its answer, and what can be said
//! meanwhile.

mod prompt;
mod steering;
#[expect(
    clippy::module_inception,
    reason = "the room is named after its main noun"
)]
mod turn;
mod updates;

pub use prompt::PromptBlocks;
pub use steering::{
    Steered, Steering, SteeringError, SteeringFailure, SteeringOutcome, SteeringPrompt,
};
pub use turn::{PromptResult, Turn};
pub use updates::{SessionEnd, SessionEndCause, Updates};
