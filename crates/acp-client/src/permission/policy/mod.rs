//! Answers to permission requests when nobody is there to ask.

use std::path::Path;

use acp_conversation::limits::MAX_TOOL_KINDS;
use acp_protocol::v1::{PermissionOption, PermissionOptionKind, ToolKind};

use super::request::is_ambiguous;
use super::{Decision, PermissionRequest, Reason, ToolCallState, Workspace};
use crate::folders::SessionFolders;
use crate::protected::{ProtectedPath, ProtectedPaths};

/// How much is allowed without asking a person.
///
/// Each level allows what the one before it allows, and more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Allow {
    /// Nothing.
    #[default]
    None,
    /// Tools that say they read or search.
    Reads,
    /// And tools that say they edit, delete or move, when every path they name
    /// lies inside the working folder, and they name one.
    Edits,
    /// Everything, also what says nothing about itself; but no change of a path that is
    /// [protected](crate::protected).
    All,
}

/// Decides by what the agent says about the tool, and answers by the *kind* of the
/// offered options.
///
/// What is allowed gets the one `allow_once`; an option that allows for ever is picked
/// only where [`with_always`](Self::with_always) says so. What is not allowed gets the
/// first `reject_once`, else the first `reject_always`, else `cancelled`.
///
/// A tool that was announced as one kind and is asked for as another is allowed only where
/// both are. No policy allows a change of a path that is [protected](crate::protected): a
/// person has to. Two options of different kinds that share an id are answered
/// `cancelled`: nobody can tell which of them would be picked.
///
/// Some agents ask their questions by offering several `allow_once` options. No policy
/// can know the answer: such a request is refused.
#[derive(Debug, Clone)]
pub struct Policy {
    rule: Rule,
    also: Vec<ToolKind>,
    never: Vec<ToolKind>,
    always: bool,
    protected: ProtectedPaths,
    /// `None` stands for the folders of the session that asks.
    workspace: Option<Workspace>,
}

#[derive(Debug, Clone)]
enum Rule {
    Nothing,
    Kinds(Vec<ToolKind>),
    Posture(Allow),
    Everything,
}

impl Policy {
    /// Creates a policy that allows as much as `allow` says, in the folders of the session
    /// that asks: its working directory and all others it was given.
    ///
    /// One policy serves all sessions of a client. Where it is asked without a session
    /// ([`decide`](Self::decide)), give it folders first ([`within`](Self::within)); without
    /// any, no path is inside.
    #[must_use]
    pub fn allow(allow: Allow) -> Self {
        Self::of(match allow {
            Allow::None => Rule::Nothing,
            Allow::All => Rule::Everything,
            Allow::Reads | Allow::Edits => Rule::Posture(allow),
        })
    }

    /// Creates a policy that allows as much as `allow` says, in these folders alone,
    /// whatever session asks. A path is one.
    #[must_use]
    pub fn new(allow: Allow, folders: impl Into<SessionFolders>) -> Self {
        Self::allow(allow).within(folders)
    }

    /// Creates a policy that allows nothing.
    #[must_use]
    pub fn reject_all() -> Self {
        Self::of(Rule::Nothing)
    }

    /// Creates a policy that allows tools of these kinds, wherever they act.
    ///
    /// A tool that says nothing of its kind is of none, not even of
    /// [`ToolKind::Other`].
    #[must_use]
    pub fn allow_kinds(kinds: impl IntoIterator<Item = ToolKind>) -> Self {
        Self::of(Rule::Kinds(kinds.into_iter().collect()))
    }

    /// Creates a policy that allows everything, also what says nothing about itself; but
    /// no change of a path that is [protected](crate::protected).
    #[must_use]
    pub fn approve_all() -> Self {
        Self::of(Rule::Everything)
    }

    fn of(rule: Rule) -> Self {
        Self {
            rule,
            also: Vec::new(),
            never: Vec::new(),
            always: false,
            protected: ProtectedPaths::new(),
            workspace: None,
        }
    }

    /// Holds it to these folders, whatever session asks. Relative paths begin in the first.
    #[must_use]
    pub fn within(mut self, folders: impl Into<SessionFolders>) -> Self {
        self.workspace = Some(Workspace::new(folders));
        self
    }

    /// Sets which paths are protected, whatever else allows them.
    #[must_use]
    pub fn with_protected_paths(mut self, protected: ProtectedPaths) -> Self {
        self.protected = protected;
        self
    }

    /// Allows tools of these kinds too, wherever they act.
    #[must_use]
    pub fn also_allowing(mut self, kinds: impl IntoIterator<Item = ToolKind>) -> Self {
        self.also.extend(kinds);
        self
    }

    /// Refuses tools of these kinds, whatever else allows them. What says nothing of its
    /// kind, or carries what does not belong to it, may be of any, and is refused too.
    #[must_use]
    pub fn never_allowing(mut self, kinds: impl IntoIterator<Item = ToolKind>) -> Self {
        self.never.extend(kinds);
        self
    }

    /// Lets it pick the option that allows for ever, where exactly one is offered.
    ///
    /// The agent then no longer asks about what it takes for the same thing, in this
    /// session or, with some agents, in later ones too.
    #[must_use]
    pub fn with_always(mut self) -> Self {
        self.always = true;
        self
    }

    /// Returns the policy as it is for a session that works in these folders.
    pub(super) fn of_session(&self, folders: &SessionFolders) -> Self {
        let mut policy = self.clone();
        let workspace = || Workspace::new(folders.clone());
        policy.workspace.get_or_insert_with(workspace);
        policy
    }

    /// Decides about what a session asks, by its folders where the policy has none of its
    /// own. It may block, as [`decide`](Self::decide).
    #[must_use]
    pub fn decide_request(&self, ask: &PermissionRequest) -> Decision {
        let policy = self.of_session(ask.folders());
        policy.decide(ask.tool(), ask.options())
    }

    /// Decides about one tool call.
    ///
    /// Where a tool that may change something names paths, it looks at the file system to
    /// follow links, which may block for as long as that takes; otherwise it only computes.
    #[must_use]
    pub fn decide(&self, tool: &ToolCallState, options: &[PermissionOption]) -> Decision {
        if is_ambiguous(options) {
            return Decision::reject(options, Reason::AmbiguousOptions);
        }
        if of_kind(options, &PermissionOptionKind::AllowOnce).count() > 1 {
            return Decision::reject(options, Reason::AskedAsChoice);
        }
        let judged = self.judge(tool);
        let judged = judged.and_then(|reason| self.check_protected(tool).map(|()| reason));
        match judged {
            Ok(reason) => match self.pick(options) {
                Some(option) => Decision {
                    allowed: true,
                    option: Some(option.clone()),
                    reason,
                },
                None => Decision::reject(options, Reason::NoAllowOnce),
            },
            Err(reason) => Decision::reject(options, reason),
        }
    }

    /// Finds a protected path that a tool names and may change. Whoever asks a person shows
    /// it to them. Looks at the file system to follow links, and so may block.
    #[must_use]
    pub fn find_protected(&self, tool: &ToolCallState) -> Option<ProtectedPath> {
        if only_reads(tool) {
            return None;
        }
        let workspace = self.workspace.as_ref();
        let cwd = workspace.map(|workspace| workspace.folders().cwd());
        let named = tool.paths.iter().map(String::as_str);
        let inputs = tool.input_names().filter(|_| input_counts(tool));
        let paths = named.chain(inputs).map(Path::new);
        self.protected.find_any(paths, cwd)
    }

    /// Tells whether deciding may look at the file system.
    pub(super) fn may_block(&self, tool: &ToolCallState) -> bool {
        let allows_nothing = matches!(self.rule, Rule::Nothing) && self.also.is_empty();
        let names_none = tool.paths.is_empty() && tool.input_names().next().is_none();
        !(allows_nothing || names_none || only_reads(tool))
    }

    fn pick<'a>(&self, options: &'a [PermissionOption]) -> Option<&'a PermissionOption> {
        let mut always = of_kind(options, &PermissionOptionKind::AllowAlways);
        match (always.next(), always.next()) {
            // Two of them reach differently far, and we cannot tell which is which.
            (Some(only), None) if self.always => Some(only),
            _ => of_kind(options, &PermissionOptionKind::AllowOnce).next(),
        }
    }

    fn judge(&self, tool: &ToolCallState) -> Result<Reason, Reason> {
        if !self.never.is_empty() {
            let mut kinds = kinds_of(tool)?.iter();
            if let Some(kind) = kinds.find(|kind| self.never.contains(kind)) {
                return Err(Reason::KindNotAllowed(kind.clone()));
            }
        }
        if matches!(self.rule, Rule::Everything) {
            return Ok(Reason::EverythingAllowed);
        }
        let kinds = match kinds_of(tool) {
            Ok(kinds) => kinds,
            Err(_) if matches!(self.rule, Rule::Nothing) => return Err(Reason::NothingAllowed),
            Err(reason) => return Err(reason),
        };
        // The newest kind gives the reason, and each that the tool ever had must be allowed.
        let mut allowed = Reason::NothingAllowed;
        for kind in kinds {
            let reason = self.judge_kind(kind, tool)?;
            if tool.kind.as_ref() == Some(kind) {
                allowed = reason;
            }
        }
        Ok(allowed)
    }

    fn judge_kind(&self, kind: &ToolKind, tool: &ToolCallState) -> Result<Reason, Reason> {
        let by_rule = match &self.rule {
            Rule::Nothing => Err(Reason::NothingAllowed),
            Rule::Everything => Ok(Reason::EverythingAllowed),
            Rule::Kinds(kinds) if kinds.contains(kind) => Ok(Reason::KindAllowed(kind.clone())),
            Rule::Posture(allow) => match kind {
                ToolKind::Read | ToolKind::Search => Ok(Reason::KindAllowed(kind.clone())),
                _ if changes(kind) && *allow == Allow::Edits => {
                    judge_change(kind, tool, self.workspace.as_ref())
                }
                _ => Err(Reason::KindNotAllowed(kind.clone())),
            },
            Rule::Kinds(_) => Err(Reason::KindNotAllowed(kind.clone())),
        };
        by_rule.or_else(|refused| match self.also.contains(kind) {
            true => Ok(Reason::KindAllowed(kind.clone())),
            false => Err(refused),
        })
    }

    /// Refuses what may change a protected path, by the paths that the tool names.
    fn check_protected(&self, tool: &ToolCallState) -> Result<(), Reason> {
        let names_more = tool.has_more_paths || (tool.has_more_input_names() && input_counts(tool));
        match self.find_protected(tool) {
            Some(found) => Err(Reason::Protected(found)),
            None if names_more && !only_reads(tool) => Err(Reason::TooManyPaths),
            None => Ok(()),
        }
    }
}

/// Whether a tool only ever said that it reads, and carries no change.
fn only_reads(tool: &ToolCallState) -> bool {
    let reads = |kind: &ToolKind| matches!(kind, ToolKind::Read | ToolKind::Search);
    !tool.kinds.is_empty() && tool.kinds.iter().all(reads) && !tool.has_diff
}

/// Whether the texts of a tool's input are taken for paths: not where every kind that it
/// said takes other texts, such as commands and addresses.
fn input_counts(tool: &ToolCallState) -> bool {
    let takes_others = |kind: &ToolKind| {
        matches!(
            kind,
            ToolKind::Read
                | ToolKind::Search
                | ToolKind::Execute
                | ToolKind::Fetch
                | ToolKind::Think
                | ToolKind::SwitchMode
        )
    };
    tool.kinds.is_empty() || tool.has_diff || !tool.kinds.iter().all(takes_others)
}

fn changes(kind: &ToolKind) -> bool {
    matches!(kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move)
}

/// Returns the kinds of a tool that says one and carries nothing else: changes belong
/// to tools that change, terminals to those that execute.
fn kinds_of(tool: &ToolCallState) -> Result<&[ToolKind], Reason> {
    let newest = tool.kind.as_ref().ok_or(Reason::KindMissing)?;
    let changes = tool.kinds.iter().any(changes);
    let executes = tool.kinds.contains(&ToolKind::Execute);
    let contradicts = (tool.has_diff && !changes) || (tool.has_terminal && !executes);
    match contradicts || tool.kinds.len() >= MAX_TOOL_KINDS {
        true => Err(Reason::Contradiction(newest.clone())),
        false => Ok(&tool.kinds),
    }
}

fn judge_change(
    kind: &ToolKind,
    tool: &ToolCallState,
    workspace: Option<&Workspace>,
) -> Result<Reason, Reason> {
    if tool.has_more_paths {
        return Err(Reason::TooManyPaths);
    }
    if tool.paths.is_empty() {
        return Err(Reason::NoPaths(kind.clone()));
    }
    match tool
        .paths
        .iter()
        .map(Path::new)
        .find(|path| !workspace.is_some_and(|workspace| workspace.holds(path)))
    {
        Some(path) => Err(Reason::Outside(path.to_owned())),
        None => Ok(Reason::InsideWorkspace(kind.clone())),
    }
}

fn of_kind<'a>(
    options: &'a [PermissionOption],
    kind: &PermissionOptionKind,
) -> impl Iterator<Item = &'a PermissionOption> {
    options.iter().filter(move |option| option.kind == *kind)
}

#[cfg(test)]
mod tests;
