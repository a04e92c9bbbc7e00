//! Drives any agent of the Agent Client Protocol, and never hangs on one.
//!
//! * A [`Client`] starts an agent and ends it again, with everything it started.
//! * A [`Session`] runs one [`Turn`] at a time. A turn is one stream: what happens, in
//!   wire order, and then its end.
//! * Every wait has a bound, and every call ends: answered, refused, timed out or with
//!   the agent's death, told with its exit status.
//! * Nothing is allowed that nobody allowed: see [`permission`]. What an agent wants to
//!   know goes to the user, and back only as far as it fits: see [`elicitation`].
//! * Paths that grant rights or run code are written only when a person allows it: see
//!   [`protected`].
//! * Files are served below the folders of a session ([`WorkspaceFiles`]), and of the
//!   commands that an agent runs nothing is left ([`LocalTerminals`]).
//!
//! | you want to | take |
//! |---|---|
//! | open a session | [`Client::new_session`] |
//! | go on with one | [`Client::resume_session`], or [`Client::load_session`] with its history |
//! | find one | [`Client::list_sessions`] |
//! | run a turn | [`Session::prompt`], then [`Turn::next`] and [`Turn::end`] |
//! | cancel, or change the mode or an option meanwhile | [`Session::control`] |
//! | hear what comes between turns | [`Session::updates`] |
//! | fewer and larger pieces of text | [`Turn::next_merged`] |
//! | the newest alone | [`Flow::DropOldest`] |
//! | no session that waits for another one's reader | [`Flow::Spill`] |
//! | log in and out | [`Client::authenticate`], [`Client::logout`] |
//! | know what was lost | [`Client::counters`], [`TurnEvent::Gap`] |
//!
//! # Examples
//!
//! ```
//! use acp_client::{Client, ClientOptions, Launch, TurnEvent};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), acp_client::ClientError> {
//! # // An agent in a line of shell: it answers whatever it is asked, in order.
//! # let script = r#"ok() { read -r line; printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$(expr "$line" : '.*"id":\([0-9]*\)')" "$1"; }
//! # ok '{"protocolVersion":1}'; ok '{"sessionId":"s"}'; ok '{"stopReason":"end_turn"}'"#;
//! # let agent = Launch::new("/bin/sh").with_args(["-c", script]).with_inherited_env();
//! let client = Client::new(agent, ClientOptions::new());
//! client.dial().await?;
//! let mut session = client.new_session("/home/ada/project").await?;
//! let mut turn = session.prompt("What does this project do?").await?;
//! while let Some(event) = turn.next().await {
//!     if let TurnEvent::Update(update) = event {
//!         println!("{:?}", update.update);
//!     }
//! }
//! println!("{:?}", turn.end().await?.stop_reason);
//! client.close().await;
//! # Ok(())
//! # }
//! ```

// Rooms, each built on those below it and on no other:
//
//   client                            an agent to start, and what is asked of it
//   serve, turn                       what the agent asks; prompts and their streams
//   session                           the sessions of one connection, their state
//   options                           what a client serves, and how long it waits
//   connection                        one peer, its process, and how both end
//   permission, elicitation           what a person is asked, and who answers
//   files, terminal                   what an agent reads, writes and runs
//   protected                         paths that no policy lets an agent write
//   folders, gate, pending            opened folders, the turn gate, one answer
//   error, bounds, limits             used by all

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod bounds;
mod client;
mod connection;
pub mod elicitation;
mod error;
mod files;
mod folders;
mod gate;
pub mod limits;
mod options;
mod pending;
pub mod permission;
pub mod protected;
mod serve;
mod session;
mod terminal;
mod turn;

pub use acp_connection::rpc::{CallFacts, ErrorCode, Fault, Flow};
pub use acp_connection::{RawLine, Update};
pub use acp_process::{Environment, Exit, ExitStatus, Launch, OsSandbox, SandboxError};
pub use client::{Activity, Client, ClientEnd, SessionList, SessionPage};
pub use connection::ClientTimeouts;
pub use elicitation::{
    AnswerQuestions, ElicitationAnswer, ElicitationModes, Headless, PendingQuestion, Question,
    QuestionKind,
};
pub use error::{AgentDeath, ClientError, ServeError, StartStage};
pub use files::{FolderFiles, MissingFiles, OpenFiles, ReadFiles, WorkspaceFiles, WriteFiles};
pub use folders::SessionFolders;
pub use options::ClientOptions;
pub use pending::{AgentQuestion, Pending};
pub use permission::{
    Allow, AnswerPermissions, AskUser, Decided, DecidedBy, Decision, DecisionLog,
    PendingPermission, PermissionRequest, Policy, Reason, ToolCallState,
};
pub use protected::{
    AllowProtected, ProtectedPath, ProtectedPaths, ProtectedPatternError, ProtectedWrite,
};
pub use session::{
    LoadedSession, Loading, Session, SessionControl, SessionCounters, SessionSetup, SetModelProof,
    TurnEvent,
};
pub use terminal::{
    CommandRequest, LocalTerminals, OpenTerminals, ServeTerminals, SessionTerminals, ShellLines,
};
pub use turn::{
    PromptBlocks, PromptResult, SessionEnd, SessionEndCause, Steered, Steering, SteeringError,
    SteeringFailure, SteeringOutcome, SteeringPrompt, Turn, Updates,
};
