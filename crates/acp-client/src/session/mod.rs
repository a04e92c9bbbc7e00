//! A session: opened, loaded or resumed, its state, and the stream of what happens in it.

mod control;
mod counters;
mod dedup;
mod loading;
mod merge;
mod model;
mod opening;
mod reader;
mod registry;
mod served;
#[expect(
    clippy::module_inception,
    reason = "the room is named after its main noun"
)]
mod session;
mod set_option;
mod settings;
mod setup;
mod state;
mod turn_gate;
mod waiting;

pub use control::SessionControl;
pub use counters::SessionCounters;
pub use loading::{Loaded, Loading};
pub use merge::Merge;
pub use model::SetModelProof;
pub use session::Session;
pub use setup::SessionSetup;

pub(crate) use counters::CounterBook;
pub(crate) use opening::{open, resume};
pub(crate) use reader::{Happening, Reader};
pub(crate) use registry::Registry;
pub(crate) use setup::path_text;
pub(crate) use state::SessionState;
pub(crate) use turn_gate::{Slot, change};
pub(crate) use waiting::Ask;
