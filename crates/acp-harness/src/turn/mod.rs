//! One headless turn on any agent: from its name and a prompt to its report.
//!
//! [`Harness::run`] does it all: it looks the agent up, builds its environment, starts it,
//! opens its session (the one the conversation went on in, if there is one), logs in where
//! the agent insists, chooses the model, asks, reads until the agent has answered, and ends
//! the process. [`call`](crate::call()) is the short way to it.
//!
//! * **A turn ends.** Every wait has a bound: the start, the session, the login, the silence
//!   of the agent ([`TurnRequest::with_idle_timeout`]), its time to stop, its death.
//! * **No process is left**, however it ends: also when the future is dropped.
//! * **What was said is kept.** A turn that fails after there was output is an outcome that
//!   says so ([`TurnEnding`]), with the report so far; one that fails before is an error.
//! * **A session is gone on in where that can be**: it is resumed, or else loaded, and only
//!   when the agent refuses both a new one is opened, with the history at the head of its
//!   first prompt. An agent that dies meanwhile has refused nothing.
//! * **Logging in is lazy**: only an agent that refuses a session for want of a login is
//!   logged in to, by methods that need nobody, and its session is asked for once more.
//!
//! ```no_run
//! use acp_client::Policy;
//! use acp_harness::model::{Demand, SessionSettings};
//! use acp_harness::record::SessionRecords;
//! use acp_harness::turn::{Harness, AccessProfile, TurnRequest};
//! use acp_protocol::v1::ToolKind;
//!
//! # async fn example() -> Result<(), acp_harness::turn::HarnessError> {
//! let harness = Harness::new();
//! let request = TurnRequest::new("codex", "Which tests fail?", "/home/ada/project")
//!     .in_conversation(SessionRecords::in_folder("/home/ada/.ada/sessions"), "ticket 17")
//!     .with_settings(SessionSettings::new().with_effort("low", Demand::Prefer))
//!     .with_permissions(Policy::allow_kinds([ToolKind::Read, ToolKind::Execute]))
//!     .with_profile(AccessProfile::Workspace);
//! let outcome = harness.run(request).await?;
//! println!("{} ({})", outcome.report, outcome.stop_reason());
//! # Ok(())
//! # }
//! ```

mod driver;
mod ending;
mod error;
mod harness;
mod idle;
mod ladder;
mod opening;
mod outcome;
mod progress;
mod prompting;
mod reading;
mod request;
mod running;
mod sign_in;
mod steering;
mod stop;

pub use driver::{DrivenTurn, DriverEvent, StopCause, TurnBounds, TurnDriver};
pub use error::{AuthRequired, HarnessError, TimeLimit};
pub use harness::Harness;
pub use ladder::{Reopened, reopen};
pub use opening::{Opening, Ready, set};
pub use outcome::{Opened, TurnEnding, TurnOutcome};
pub use progress::{ProgressReceiver, ProgressSender, TurnProgress, progress};
pub use request::{AccessProfile, TurnRequest};
pub use steering::{SteerAsks, SteerHandle, SteerOutcome, can_steer, steering, steering_prompt};
pub use stop::StopHandle;

/// Somebody who is told what happens, in order, where the turn is read.
pub type Observer<'a> = dyn FnMut(TurnProgress) + Send + 'a;
