//! The two traits that every host implements.

pub(crate) mod auth;
pub(crate) mod catalog;
pub mod dynamic;
pub(crate) mod setup;

use crate::{Block, Cancel, ClientLink, CommandId, GateResponse, HostError, SessionId, Setup};

/// Makes sessions; the one trait without which there is no agent.
///
/// Implement it with plain `async fn`s.
///
/// # How a host is called
///
/// * Methods of one session may run at the same time, and those of different
///   sessions do. None may block its thread (`spawn_blocking` is for that).
/// * Each future may be dropped at any point: the client cancelled the request,
///   a bound was reached, or the connection ended.
/// * A panic is caught; the client reads that the agent failed, and everything
///   else goes on.
#[auto_impl::auto_impl(Arc)]
pub trait SessionHost: Send + Sync + 'static {
    /// What a running session is; `Arc<T>` is one where `T` is.
    type Session: LiveSession;

    /// Starts a session.
    ///
    /// If the future is dropped, or the facade finds that the session cannot be
    /// used after all, [`shutdown`](LiveSession::shutdown) follows where there
    /// is a session.
    ///
    /// # Errors
    ///
    /// [`HostError`]; only its public text reaches the client.
    fn new_session(
        &self,
        setup: Setup,
    ) -> impl Future<Output = Result<Self::Session, HostError>> + Send;

    /// Whether its sessions implement [`LiveSession::compact`]. An agent that offers
    /// the command for it is not built if they do not.
    fn compacts(&self) -> bool {
        true
    }
}

/// A running session.
///
/// The facade submits a prompt and then waits for events, which the session
/// reports through its [`ClientLink`]: the session replies to the submission (a
/// turn [started](crate::EventBody::TurnStarted), or the submission was folded,
/// cancelled or rejected), and the turn ends with one of the three events that
/// [end turns](crate::EventBody::ends_turn). The answer to the prompt leaves
/// behind everything reported before that event.
#[auto_impl::auto_impl(Arc)]
pub trait LiveSession: Send + Sync + 'static {
    /// The session's id; always the same, and unique among the host's sessions.
    fn id(&self) -> &SessionId;

    /// Takes the way to the client. Called once, before anything is submitted;
    /// from when it returns, no event may be missed.
    ///
    /// # Errors
    ///
    /// [`HostError`]; the session is shut down then.
    fn attach(&self, link: ClientLink) -> impl Future<Output = Result<(), HostError>> + Send;

    /// Takes a prompt.
    ///
    /// It may return as soon as the prompt is accepted, and run the turn
    /// elsewhere; or it may run the turn itself: the facade drives the future
    /// until it is ready or the turn has ended, and drops it then.
    ///
    /// # Errors
    ///
    /// [`HostError`] if the prompt was not accepted; no turn may follow then.
    fn submit(&self, submission: Submission) -> impl Future<Output = Result<(), HostError>> + Send;

    /// Takes the answer to a gate.
    ///
    /// # Errors
    ///
    /// [`HostError`] if the gate is not open (any more); nothing may change then.
    fn respond_gate(
        &self,
        response: GateResponse,
    ) -> impl Future<Output = Result<(), HostError>> + Send;

    /// Interrupts what runs, and returns whether something did.
    ///
    /// Harmless when nothing runs. It need not wait for the end of the turn,
    /// which its event reports.
    fn interrupt(&self) -> impl Future<Output = bool> + Send;

    /// Shortens the conversation, as the user asked. Called only if the agent
    /// was built with the command for it.
    ///
    /// It may return as soon as the work has begun. The end is reported by
    /// [`CompactDone`](crate::EventBody::CompactDone) or
    /// [`CompactRejected`](crate::EventBody::CompactRejected), which name the
    /// command.
    ///
    /// # Errors
    ///
    /// [`HostError`] if it was not accepted. That is what a session says that
    /// does not implement it.
    fn compact(
        &self,
        command: CommandId,
        cancel: Cancel,
    ) -> impl Future<Output = Result<(), HostError>> + Send {
        drop((command, cancel));
        std::future::ready(Err(HostError::public(
            "this session cannot shorten its conversation",
        )))
    }

    /// Lets go of the session's resources; what was written stays.
    ///
    /// May be called twice, and has five seconds.
    fn shutdown(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

/// A prompt on its way into a session.
#[derive(Clone, Debug)]
pub struct Submission {
    /// Names the submission; the session's replies name it again.
    pub command: CommandId,
    /// The prompt. Never empty.
    pub content: Vec<Block>,
    /// Fires when the client no longer wants the turn. For hosts that run the
    /// turn where they can listen; [`interrupt`](LiveSession::interrupt) is
    /// called all the same.
    pub cancel: Cancel,
}

impl Submission {
    /// Names a prompt.
    pub fn new(command: CommandId, content: Vec<Block>, cancel: Cancel) -> Self {
        Self {
            command,
            content,
            cancel,
        }
    }
}
