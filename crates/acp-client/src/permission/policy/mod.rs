//! Answers to permission requests when nobody is there to ask.

use std::path::{Path, PathBuf};

use acp_protocol::v1::{PermissionOption, PermissionOptionKind, ToolKind};

use super::{Decision, Reason, ToolCallState, Workspace};

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
    /// Everything, also what says nothing about itself.
    All,
}

/// Decides by what the agent says about the tool, and answers by the *kind* of the
/// offered options.
///
/// What is allowed gets the one `allow_once`; an option that allows for ever is picked
/// only where [`with_always`](Self::with_always) says so. What is not allowed gets the
/// first `reject_once`, else the first `reject_always`, else `cancelled`.
///
/// Some agents ask their questions by offering several `allow_once` options. No policy
/// can know the answer: such a request is refused.
#[derive(Debug, Clone)]
pub struct Policy {
    rule: Rule,
    also: Vec<ToolKind>,
    never: Vec<ToolKind>,
    always: bool,
}

#[derive(Debug, Clone)]
enum Rule {
    Nothing,
    Kinds(Vec<ToolKind>),
    Posture(Allow, Workspace),
    Everything,
}

impl Policy {
    /// Creates a policy that allows as much as `allow` says, for a session that works
    /// in `cwd`.
    #[must_use]
    pub fn new(allow: Allow, cwd: impl Into<PathBuf>) -> Self {
        Self::of(match allow {
            Allow::None => Rule::Nothing,
            Allow::All => Rule::Everything,
            Allow::Reads | Allow::Edits => Rule::Posture(allow, Workspace::new(cwd)),
        })
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

    /// Creates a policy that allows everything, also what says nothing about itself.
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
        }
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

    /// Decides about one tool call.
    ///
    /// At the level [`Allow::Edits`] it looks at the file system to follow links,
    /// which may block for as long as that takes; otherwise it only computes.
    #[must_use]
    pub fn decide(&self, tool: &ToolCallState, options: &[PermissionOption]) -> Decision {
        if of_kind(options, &PermissionOptionKind::AllowOnce).count() > 1 {
            return Decision::reject(options, Reason::AskedAsChoice);
        }
        match self.judge(tool) {
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

    /// Tells whether deciding may look at the file system.
    pub(super) fn may_block(&self) -> bool {
        matches!(self.rule, Rule::Posture(Allow::Edits, _))
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
            let kind = kind_of(tool)?;
            if self.never.contains(kind) {
                return Err(Reason::KindNotAllowed(kind.clone()));
            }
        }
        self.judge_by_rule(tool)
            .or_else(|refused| match kind_of(tool) {
                Ok(kind) if self.also.contains(kind) => Ok(Reason::KindAllowed(kind.clone())),
                _ => Err(refused),
            })
    }

    fn judge_by_rule(&self, tool: &ToolCallState) -> Result<Reason, Reason> {
        match &self.rule {
            Rule::Nothing => Err(Reason::NothingAllowed),
            Rule::Everything => Ok(Reason::EverythingAllowed),
            Rule::Kinds(kinds) => {
                let kind = kind_of(tool)?;
                if kinds.contains(kind) {
                    Ok(Reason::KindAllowed(kind.clone()))
                } else {
                    Err(Reason::KindNotAllowed(kind.clone()))
                }
            }
            Rule::Posture(allow, workspace) => match kind_of(tool)? {
                kind @ (ToolKind::Read | ToolKind::Search) => Ok(Reason::KindAllowed(kind.clone())),
                kind @ (ToolKind::Edit | ToolKind::Delete | ToolKind::Move)
                    if *allow == Allow::Edits =>
                {
                    judge_change(kind, tool, workspace)
                }
                kind => Err(Reason::KindNotAllowed(kind.clone())),
            },
        }
    }
}

/// Returns the kind of a tool that says one and carries nothing else: changes belong
/// to tools that change, terminals to those that execute.
fn kind_of(tool: &ToolCallState) -> Result<&ToolKind, Reason> {
    let kind = tool.kind.as_ref().ok_or(Reason::KindMissing)?;
    let changes = matches!(kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move);
    let executes = *kind == ToolKind::Execute;
    if (tool.has_diff && !changes) || (tool.has_terminal && !executes) {
        return Err(Reason::Contradiction(kind.clone()));
    }
    Ok(kind)
}

fn judge_change(
    kind: &ToolKind,
    tool: &ToolCallState,
    workspace: &Workspace,
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
        .find(|path| !workspace.holds(path))
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
