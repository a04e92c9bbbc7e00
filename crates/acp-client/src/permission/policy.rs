//! Answers to permission requests when nobody is there to ask.

use std::path::PathBuf;

use acp_protocol::v1::{PermissionOption, PermissionOptionKind, ToolKind};

use super::{Decision, Reason, ToolFacts, Workspace};

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
            always: false,
        }
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
    pub fn decide(&self, tool: &ToolFacts, options: &[PermissionOption]) -> Decision {
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

    fn judge(&self, tool: &ToolFacts) -> Result<Reason, Reason> {
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
fn kind_of(tool: &ToolFacts) -> Result<&ToolKind, Reason> {
    let kind = tool.kind().ok_or(Reason::KindMissing)?;
    let changes = matches!(kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move);
    let executes = *kind == ToolKind::Execute;
    if (tool.has_diff() && !changes) || (tool.has_terminal() && !executes) {
        return Err(Reason::Contradiction(kind.clone()));
    }
    Ok(kind)
}

fn judge_change(
    kind: &ToolKind,
    tool: &ToolFacts,
    workspace: &Workspace,
) -> Result<Reason, Reason> {
    if tool.has_too_many_paths() {
        return Err(Reason::TooManyPaths);
    }
    if tool.paths().is_empty() {
        return Err(Reason::NoPaths(kind.clone()));
    }
    match tool.paths().iter().find(|path| !workspace.holds(path)) {
        Some(path) => Err(Reason::Outside(path.clone())),
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
mod tests {
    use super::*;
    use acp_protocol::v1::{
        Diff, RequestPermissionOutcome, Terminal, ToolCallContent, ToolCallLocation, ToolCallUpdate,
    };

    const ALL_OPTIONS: &[&str] = &["allow_always", "reject_always", "allow_once", "reject_once"];

    fn options(kinds: &[&str]) -> Vec<PermissionOption> {
        kinds
            .iter()
            .enumerate()
            .map(|(at, kind)| {
                PermissionOption::new(
                    format!("{kind}-{at}"),
                    *kind,
                    PermissionOptionKind::from(*kind),
                )
            })
            .collect()
    }

    /// A tool of this kind that names these paths.
    fn tool(kind: &str, paths: &[&str]) -> ToolFacts {
        let locations: Vec<_> = paths
            .iter()
            .map(|path| ToolCallLocation::new(*path))
            .collect();
        let mut update = ToolCallUpdate::new("t").with_locations(locations);
        if !kind.is_empty() {
            update = update.with_kind(ToolKind::from(kind));
        }
        let mut facts = ToolFacts::new("t".into());
        facts.learn_update(&update);
        facts
    }

    #[track_caller]
    fn check(decision: &Decision, expected: &str) {
        let option = decision
            .option
            .as_ref()
            .map_or("cancelled", |option| option.option_id.as_str());
        assert_eq!(format!("{option}: {}", decision.reason), expected);
        assert_eq!(decision.allowed, option.starts_with("allow_once"));
    }

    #[track_caller]
    fn decide(allow: Allow, kind: &str, paths: &[&str], expected: &str) {
        let decision = Policy::new(allow, "/").decide(&tool(kind, paths), &options(ALL_OPTIONS));
        check(&decision, expected);
    }

    #[test]
    fn nothing_is_allowed_at_none() {
        for kind in ["", "read", "search", "edit", "execute", "other", "new_kind"] {
            decide(
                Allow::None,
                kind,
                &["/x"],
                "reject_once-3: nothing is allowed",
            );
        }
    }

    #[test]
    fn everything_is_allowed_at_all() {
        for kind in ["", "read", "edit", "execute", "other", "new_kind"] {
            decide(Allow::All, kind, &[], "allow_once-2: everything is allowed");
        }
    }

    #[test]
    fn reads_allows_read_and_search_alone() {
        decide(
            Allow::Reads,
            "read",
            &[],
            "allow_once-2: read tools are allowed",
        );
        decide(
            Allow::Reads,
            "search",
            &["/etc"],
            "allow_once-2: search tools are allowed",
        );
        for kind in [
            "edit",
            "delete",
            "move",
            "execute",
            "think",
            "fetch",
            "switch_mode",
            "other",
            "new_kind",
        ] {
            decide(
                Allow::Reads,
                kind,
                &["/x"],
                &format!("reject_once-3: {kind} tools are not allowed"),
            );
        }
        decide(
            Allow::Reads,
            "",
            &["/x"],
            "reject_once-3: the agent does not say what kind of tool it is",
        );
    }

    #[test]
    fn edits_allows_changes_where_every_path_is_inside() {
        decide(
            Allow::Edits,
            "read",
            &[],
            "allow_once-2: read tools are allowed",
        );
        for kind in ["edit", "delete", "move"] {
            let allowed =
                format!("allow_once-2: {kind} tools are allowed inside the working folder");
            decide(
                Allow::Edits,
                kind,
                &["/no/such/file", "/no/such/other"],
                &allowed,
            );
            let nowhere = format!("reject_once-3: the {kind} names no path");
            decide(Allow::Edits, kind, &[], &nowhere);
            let relative = "reject_once-3: b is outside the working folder";
            decide(Allow::Edits, kind, &["/no/such/file", "b"], relative);
            let dots = "reject_once-3: /a/../b is outside the working folder";
            decide(Allow::Edits, kind, &["/a/../b"], dots);
        }
        for kind in [
            "execute",
            "fetch",
            "think",
            "switch_mode",
            "other",
            "new_kind",
        ] {
            decide(
                Allow::Edits,
                kind,
                &["/x"],
                &format!("reject_once-3: {kind} tools are not allowed"),
            );
        }
        decide(
            Allow::Edits,
            "",
            &["/x"],
            "reject_once-3: the agent does not say what kind of tool it is",
        );
    }

    #[test]
    fn paths_of_diffs_count_like_locations() {
        let dir = tempfile::tempdir().unwrap();
        let inside = dir.path().join("a").to_str().unwrap().to_owned();
        let policy = Policy::new(Allow::Edits, dir.path());
        let with_diff = |path: &str| {
            let mut facts = tool("edit", &[&inside]);
            let content = vec![ToolCallContent::Diff(Box::new(Diff::new(path, "new")))];
            facts.learn_update(&ToolCallUpdate::new("t").with_content(content));
            policy.decide(&facts, &options(ALL_OPTIONS))
        };
        check(
            &with_diff(&inside),
            "allow_once-2: edit tools are allowed inside the working folder",
        );
        check(
            &with_diff("/etc/hosts"),
            "reject_once-3: /etc/hosts is outside the working folder",
        );
    }

    #[test]
    fn a_call_that_carries_what_its_kind_does_not_is_refused() {
        let carrying = |kind: &str, content: ToolCallContent| {
            let mut facts = tool(kind, &["/no/such/file"]);
            facts.learn_update(&ToolCallUpdate::new("t").with_content(vec![content]));
            facts
        };
        let diff = ToolCallContent::Diff(Box::new(Diff::new("/no/such/file", "new")));
        let terminal = ToolCallContent::Terminal(Terminal::new("term"));
        for (kind, content) in [
            ("read", diff),
            ("search", terminal.clone()),
            ("edit", terminal),
        ] {
            let decision = Policy::new(Allow::Edits, "/")
                .decide(&carrying(kind, content), &options(ALL_OPTIONS));
            check(
                &decision,
                &format!("reject_once-3: it calls itself {kind} but carries something else"),
            );
        }
    }

    #[test]
    fn too_many_paths_are_not_agreed_to() {
        let paths: Vec<String> = (0..=crate::limits::MAX_TOOL_PATHS)
            .map(|n| format!("/no/such/{n}"))
            .collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        decide(
            Allow::Edits,
            "edit",
            &paths,
            "reject_once-3: it names too many paths to look at",
        );
    }

    #[test]
    fn the_answer_goes_by_the_kind_of_the_options() {
        let read = tool("read", &[]);
        let check = |allow, kinds: &[&str], expected: &str| {
            check(
                &Policy::new(allow, "/").decide(&read, &options(kinds)),
                expected,
            );
        };
        check(
            Allow::All,
            &["reject_once", "allow_once", "allow_always", "allow_always"],
            "allow_once-1: everything is allowed",
        );
        let no_once = "no option allows it for this once";
        check(
            Allow::All,
            &["allow_always", "reject_once"],
            &format!("reject_once-1: {no_once}"),
        );
        check(
            Allow::All,
            &["allow_always"],
            &format!("cancelled: {no_once}"),
        );
        check(
            Allow::All,
            &["brand_new_kind"],
            &format!("cancelled: {no_once}"),
        );
        check(Allow::All, &[], &format!("cancelled: {no_once}"));
        check(
            Allow::None,
            &["allow_once", "reject_always"],
            "reject_always-1: nothing is allowed",
        );
        check(
            Allow::None,
            &["allow_once", "allow_always"],
            "cancelled: nothing is allowed",
        );
    }

    #[test]
    fn a_question_in_the_shape_of_a_permission_is_not_answered() {
        let several = options(&["allow_once", "reject_once", "allow_once", "allow_always"]);
        let policies = [
            Policy::reject_all(),
            Policy::allow_kinds([ToolKind::Read]),
            Policy::new(Allow::Reads, "/"),
            Policy::new(Allow::Edits, "/"),
            Policy::approve_all(),
            Policy::approve_all().with_always(),
        ];
        for policy in policies {
            check(
                &policy.decide(&tool("read", &[]), &several),
                "reject_once-1: it is a question in the shape of a permission request",
            );
        }
        let unkind = options(&["allow_once", "allow_once"]);
        check(
            &Policy::approve_all().decide(&tool("read", &[]), &unkind),
            "cancelled: it is a question in the shape of a permission request",
        );
    }

    #[test]
    fn kinds_are_allowed_by_their_name_alone() {
        let policy = Policy::allow_kinds([ToolKind::Fetch, ToolKind::Other, "brew".into()]);
        let says = |kind: &str| {
            let decision = policy.decide(&tool(kind, &["/etc/passwd"]), &options(ALL_OPTIONS));
            format!("{}", decision.reason)
        };
        assert_eq!(says("fetch"), "fetch tools are allowed");
        assert_eq!(says("other"), "other tools are allowed");
        assert_eq!(says("brew"), "brew tools are allowed");
        assert_eq!(says("read"), "read tools are not allowed");
        assert_eq!(says("bre"), "bre tools are not allowed");
        assert_eq!(says(""), "the agent does not say what kind of tool it is");
    }

    #[test]
    fn always_is_picked_only_when_told_and_unmistakable() {
        let read = tool("read", &[]);
        let picked = |policy: Policy, kinds: &[&str]| {
            let decision = policy.decide(&read, &options(kinds));
            decision.option.map(|option| option.option_id.to_string())
        };
        let always = || Policy::allow_kinds([ToolKind::Read]).with_always();
        let id = |id: &str| Some(id.to_owned());
        assert_eq!(picked(always(), ALL_OPTIONS), id("allow_always-0"));
        assert_eq!(picked(always(), &["allow_always"]), id("allow_always-0"));
        assert_eq!(picked(always(), &["allow_once"]), id("allow_once-0"));
        assert_eq!(
            picked(always(), &["allow_always", "allow_always", "allow_once"]),
            id("allow_once-2")
        );
        assert_eq!(picked(always(), &["allow_always", "allow_always"]), None);
        assert_eq!(picked(Policy::approve_all(), &["allow_always"]), None);
        assert_eq!(
            picked(Policy::reject_all().with_always(), ALL_OPTIONS),
            id("reject_once-3"),
            "what is refused is refused once"
        );
    }

    #[test]
    fn the_wire_gets_the_option_or_cancelled() {
        let picked =
            Policy::new(Allow::All, "/").decide(&tool("read", &[]), &options(&["allow_once"]));
        assert!(
            matches!(picked.outcome(), RequestPermissionOutcome::Selected(selected) if selected.option_id == *"allow_once-0")
        );
        let none = Policy::new(Allow::None, "/").decide(&tool("read", &[]), &[]);
        assert!(matches!(
            none.outcome(),
            RequestPermissionOutcome::Cancelled
        ));
    }
}
