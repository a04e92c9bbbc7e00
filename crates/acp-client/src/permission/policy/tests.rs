//! What each policy allows.

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
fn tool(kind: &str, paths: &[&str]) -> ToolCallState {
    carrying(kind, paths, Vec::new())
}

/// The same, with this content.
fn carrying(kind: &str, paths: &[&str], content: Vec<ToolCallContent>) -> ToolCallState {
    let locations: Vec<_> = paths
        .iter()
        .map(|path| ToolCallLocation::new(*path))
        .collect();
    let mut update = ToolCallUpdate::new("t")
        .with_locations(locations)
        .with_content(content);
    if !kind.is_empty() {
        update = update.with_kind(ToolKind::from(kind));
    }
    ToolCallState::from(&update)
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
        let allowed = format!("allow_once-2: {kind} tools are allowed inside the working folder");
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
        let content = vec![ToolCallContent::Diff(Box::new(Diff::new(path, "new")))];
        let call = carrying("edit", &[&inside], content);
        policy.decide(&call, &options(ALL_OPTIONS))
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
    let diff = ToolCallContent::Diff(Box::new(Diff::new("/no/such/file", "new")));
    let terminal = ToolCallContent::Terminal(Terminal::new("term"));
    for (kind, content) in [
        ("read", diff),
        ("search", terminal.clone()),
        ("edit", terminal),
    ] {
        let call = carrying(kind, &["/no/such/file"], vec![content]);
        let decision = Policy::new(Allow::Edits, "/").decide(&call, &options(ALL_OPTIONS));
        check(
            &decision,
            &format!("reject_once-3: it calls itself {kind} but carries something else"),
        );
    }
}

#[test]
fn too_many_paths_are_not_agreed_to() {
    let paths: Vec<String> = (0..=acp_conversation::limits::MAX_TOOL_PATHS)
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
    let picked = Policy::new(Allow::All, "/").decide(&tool("read", &[]), &options(&["allow_once"]));
    assert!(
        matches!(picked.outcome(), RequestPermissionOutcome::Selected(selected) if selected.option_id == *"allow_once-0")
    );
    let none = Policy::new(Allow::None, "/").decide(&tool("read", &[]), &[]);
    assert!(matches!(
        none.outcome(),
        RequestPermissionOutcome::Cancelled
    ));
}

#[test]
fn no_policy_lets_a_protected_path_be_changed() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let path = top.join(".git/config").to_str().unwrap().to_owned();
    let policies = [
        Policy::new(Allow::Edits, &top),
        Policy::new(Allow::All, &top),
        Policy::approve_all(),
        Policy::approve_all().with_always(),
        Policy::allow_kinds([ToolKind::Edit, ToolKind::Delete, ToolKind::Move]),
        Policy::reject_all().also_allowing([ToolKind::Edit, ToolKind::Delete, ToolKind::Move]),
    ];
    let reason = format!(
        "reject_once-3: {path} is protected: version control runs commands and hooks that are \
         named there"
    );
    for policy in policies {
        for kind in ["edit", "delete", "move"] {
            let plain = top.join("a").to_str().unwrap().to_owned();
            let decision = policy.decide(&tool(kind, &[&plain, &path]), &options(ALL_OPTIONS));
            check(&decision, &reason);
        }
        let diff = ToolCallContent::Diff(Box::new(Diff::new(&*path, "new")));
        let decision = policy.decide(&carrying("edit", &[], vec![diff]), &options(ALL_OPTIONS));
        check(&decision, &reason);
    }
    let all = Policy::new(Allow::All, &top);
    for kind in ["", "execute", "other"] {
        check(
            &all.decide(&tool(kind, &[&path]), &options(ALL_OPTIONS)),
            &reason,
        );
    }
    let relative = all.decide(&tool("edit", &[".git/config"]), &options(ALL_OPTIONS));
    assert!(
        matches!(relative.reason, Reason::Protected(_)),
        "{relative:?}"
    );
    // To read it is another thing.
    for policy in [Policy::new(Allow::Reads, &top), Policy::approve_all()] {
        assert!(
            policy
                .decide(&tool("read", &[&path]), &options(ALL_OPTIONS))
                .allowed
        );
    }
    let added = ProtectedPaths::new().with("infra").unwrap();
    let infra = top.join("infra/x").to_str().unwrap().to_owned();
    let policy = Policy::approve_all();
    assert!(
        policy
            .decide(&tool("edit", &[&infra]), &options(ALL_OPTIONS))
            .allowed
    );
    let policy = policy.with_protected_paths(added);
    assert!(
        !policy
            .decide(&tool("edit", &[&infra]), &options(ALL_OPTIONS))
            .allowed
    );
}

/// A tool of this kind that names a plain file, and this as its raw input.
fn with_input(kind: &str, top: &Path, input: &str) -> ToolCallState {
    let plain = top.join("a").to_str().unwrap().to_owned();
    let mut update = ToolCallUpdate::new("t")
        .with_locations(vec![ToolCallLocation::new(plain)])
        .with_raw_input(serde_json::from_str::<acp_protocol::RawJson>(input).unwrap());
    if !kind.is_empty() {
        update = update.with_kind(ToolKind::from(kind));
    }
    ToolCallState::from(&update)
}

#[test]
fn a_protected_path_does_not_hide_in_the_input() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    #[cfg(unix)]
    {
        std::fs::create_dir(top.join(".git")).unwrap();
        std::fs::write(top.join(".git/config"), "").unwrap();
        std::os::unix::fs::symlink(".git", top.join("innocent")).unwrap();
        std::fs::hard_link(top.join(".git/config"), top.join("twin")).unwrap();
    }
    let path = top.join(".git/config");
    let path = path.to_str().unwrap();
    let mut inputs = vec![
        format!(r#"{{"file_path":"{path}","old_string":"a","new_string":"b"}}"#),
        r#"{"path":".git/config"}"#.to_owned(),
        r#"{"edits":[{"anything":{"else":[".GIT/config"]}}]}"#.to_owned(),
        format!(r#"{{"changes":{{"{path}":{{"type":"add"}}}}}}"#),
        format!(r#"{{"uri":"file://{path}"}}"#),
        r#"{"uri":"file:///p/.g%69t/config"}"#.to_owned(),
        r#"{"path":"C:\\p\\.git\\config"}"#.to_owned(),
        r#"{"p\u0061th":"\u002egit/config"}"#.to_owned(),
        r#""*** Begin Patch\n*** Update File: .git/config\n@@\n""#.to_owned(),
        r#"{"arguments":"{\"path\":\".git/config\"}"}"#.to_owned(),
        r#"{"path":"HEAD"}"#.to_owned(),
    ];
    if cfg!(unix) {
        inputs.push(r#"{"path":"innocent/config"}"#.to_owned());
        inputs.push(r#"{"path":"twin"}"#.to_owned());
    }
    let policies = [
        Policy::new(Allow::Edits, &top),
        Policy::new(Allow::All, &top),
        Policy::new(Allow::None, &top).also_allowing([ToolKind::Edit]),
    ];
    let decide =
        |policy: &Policy, tool: &ToolCallState| policy.decide(tool, &options(ALL_OPTIONS)).reason;
    for policy in &policies {
        for input in &inputs {
            let reason = decide(policy, &with_input("edit", &top, input));
            assert!(
                matches!(reason, Reason::Protected(_)),
                "{input}: {reason:?}"
            );
        }
        let plain = r#"{"file_path":"src/a","new_string":"see .git/config for it\nx"}"#;
        let reason = decide(policy, &with_input("edit", &top, plain));
        assert!(!matches!(reason, Reason::Protected(_)), "{reason:?}");
        let unread = format!(r#"{{"x":"{}","path":".git/config"}}"#, "x".repeat(1 << 20));
        for unread in [&unread, r#"["\ud800",".git/config"]"#] {
            let reason = decide(policy, &with_input("edit", &top, unread));
            assert_eq!(reason, Reason::TooManyPaths);
        }
    }
    let all = &policies[1];
    for kind in ["", "other", "new_kind"] {
        let reason = decide(all, &with_input(kind, &top, &inputs[1]));
        assert!(matches!(reason, Reason::Protected(_)), "{kind}: {reason:?}");
    }
    // Commands and addresses are other texts, and to read is another thing.
    for kind in ["execute", "fetch", "read"] {
        let reason = decide(all, &with_input(kind, &top, r#"["git","show","HEAD"]"#));
        assert_eq!(reason, Reason::EverythingAllowed, "{kind}");
    }
}

#[test]
fn what_an_earlier_update_named_counts() {
    let mut calls = acp_conversation::ToolCalls::default();
    let input = serde_json::from_str::<acp_protocol::RawJson>(r#"{"path":".envrc"}"#).unwrap();
    calls.ask(&ToolCallUpdate::new("t").with_raw_input(input));
    let asked = ToolCallUpdate::new("t")
        .with_kind(ToolKind::Edit)
        .with_locations(vec![ToolCallLocation::new("/p/a")]);
    let decision = Policy::approve_all().decide(&calls.overlaid(&asked), &options(ALL_OPTIONS));
    assert!(
        matches!(decision.reason, Reason::Protected(_)),
        "{decision:?}"
    );
}

#[test]
fn a_protected_path_does_not_hide_behind_many() {
    let many: Vec<String> = (0..acp_conversation::limits::MAX_TOOL_PATHS)
        .map(|n| format!("/no/such/{n}"))
        .chain(["/no/such/.git/config".to_owned()])
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let decision = Policy::approve_all().decide(&tool("edit", &many), &options(ALL_OPTIONS));
    check(
        &decision,
        "reject_once-3: it names too many paths to look at",
    );
}

#[test]
fn every_kind_that_a_tool_ever_said_must_be_allowed() {
    let said = |kinds: &[&str]| {
        let mut calls = acp_conversation::ToolCalls::default();
        for kind in kinds {
            let update = ToolCallUpdate::new("t").with_kind(ToolKind::from(*kind));
            calls.ask(&update);
        }
        calls.get(&"t".into()).unwrap().clone()
    };
    let reads = Policy::new(Allow::Reads, "/");
    let reason = |policy: &Policy, kinds: &[&str]| {
        policy
            .decide(&said(kinds), &options(ALL_OPTIONS))
            .reason
            .to_string()
    };
    assert_eq!(reason(&reads, &["read"]), "read tools are allowed");
    assert_eq!(
        reason(&reads, &["search", "read"]),
        "read tools are allowed"
    );
    assert_eq!(
        reason(&reads, &["execute", "read"]),
        "execute tools are not allowed"
    );
    assert_eq!(
        reason(&reads, &["read", "execute", "read"]),
        "execute tools are not allowed"
    );
    let never = Policy::approve_all().never_allowing([ToolKind::Execute]);
    assert_eq!(
        reason(&never, &["execute", "read"]),
        "execute tools are not allowed"
    );
    let kinds = Policy::allow_kinds([ToolKind::Read]).also_allowing([ToolKind::Execute]);
    assert_eq!(
        reason(&kinds, &["execute", "read"]),
        "read tools are allowed"
    );
    let many = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "read"];
    let names = many.map(ToolKind::from);
    let odd = "it calls itself read but carries something else";
    assert_eq!(reason(&Policy::allow_kinds(names), &many), odd);
}

#[test]
fn an_id_of_two_kinds_is_cancelled() {
    let shared = |kinds: [&str; 2]| {
        let option =
            |kind: &str| PermissionOption::new("same", kind, PermissionOptionKind::from(kind));
        [option(kinds[0]), option(kinds[1])]
    };
    for kinds in [
        ["allow_once", "reject_once"],
        ["reject_once", "allow_once"],
        ["allow_once", "allow_always"],
    ] {
        for policy in [Policy::approve_all(), Policy::reject_all()] {
            let decision = policy.decide(&tool("read", &[]), &shared(kinds));
            check(
                &decision,
                "cancelled: options of different kinds have the same id",
            );
        }
    }
}
