//! What the agent may do, and who answers when it asks.

use acp_client::{
    ClientOptions, Decision, ElicitationModes, Headless, PermissionRequest, Policy, ProtectedPath,
    ProtectedPaths, Reason, SessionFolders,
};
use acp_protocol::v1::ToolKind;
use tokio::task::spawn_blocking;

use super::args::{AnswerHow, ConsentArgs};
use crate::config::AllowLevel;

/// The rules by which permissions and questions are answered without a person.
#[derive(Debug)]
pub(super) struct Consent {
    policy: Policy,
    never: Vec<ToolKind>,
    pub(super) headless: Headless,
}

impl Consent {
    /// Understands what is allowed in the folders of the session: this much, and what the command line says
    /// besides.
    pub(super) fn new(
        args: &ConsentArgs,
        level: AllowLevel,
        protected: &ProtectedPaths,
        folders: SessionFolders,
    ) -> Self {
        let kinds = |names: &[String]| -> Vec<ToolKind> {
            names.iter().map(|name| ToolKind::from(&**name)).collect()
        };
        let never = kinds(&args.deny_tool);
        Self {
            policy: Policy::new(level.into(), folders)
                .with_protected_paths(protected.clone())
                .also_allowing(kinds(&args.allow_tool))
                .never_allowing(never.iter().cloned()),
            never,
            headless: match args.answer {
                Some(AnswerHow::Defaults) => Headless::UseDefaults,
                _ => Headless::DeclineAll,
            },
        }
    }

    /// Decides by the rules alone. Files are looked at on another thread, for as long as that
    /// takes: the task that waits keeps the time.
    pub(super) async fn decide(&self, ask: &PermissionRequest) -> Decision {
        let (policy, asked) = (self.policy.clone(), ask.clone());
        let decided = spawn_blocking(move || policy.decide(asked.tool(), asked.options()));
        // Where it panicked, nobody knows what it would have been.
        let refused = |_| Decision::reject(ask.options(), Reason::NothingAllowed);
        decided.await.unwrap_or_else(refused)
    }

    /// Tells whether a person may decide otherwise about what the rules refuse.
    pub(super) fn leaves_open(&self, ask: &PermissionRequest, decision: &Decision) -> bool {
        let mut kinds = ask.tool().kinds.iter();
        // Whatever they picked, the agent could take it for something else.
        let is_ambiguous = decision.reason == Reason::AmbiguousOptions;
        !is_ambiguous && !kinds.any(|kind| self.never.contains(kind))
    }

    /// Finds a protected path of which a person should be warned. Files are looked at on another
    /// thread.
    pub(super) async fn protected(&self, ask: &PermissionRequest) -> Option<ProtectedPath> {
        let (policy, asked) = (self.policy.clone(), ask.clone());
        let found = spawn_blocking(move || policy.find_protected(asked.tool()));
        found.await.ok().flatten()
    }
}

/// Lets the agent ask questions, as far as somebody answers them.
pub(super) fn offer(args: &ConsentArgs, options: ClientOptions) -> ClientOptions {
    let options = options.with_permissions_in_stream();
    match args.answer {
        _ if args.ask => {
            options.with_elicitation_in_stream(ElicitationModes::BOTH, Headless::DeclineAll)
        }
        None | Some(AnswerHow::None) => options,
        Some(AnswerHow::Decline) => {
            options.with_elicitation_in_stream(ElicitationModes::FORM, Headless::DeclineAll)
        }
        Some(AnswerHow::Defaults) => {
            options.with_elicitation_in_stream(ElicitationModes::FORM, Headless::UseDefaults)
        }
    }
}
