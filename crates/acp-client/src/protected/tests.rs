//! Which paths are protected, however they are spelled and reached.

use super::*;

#[track_caller]
fn protected(path: &str, is: bool) {
    let found = ProtectedPaths::new().find_spelled(Path::new(path));
    assert_eq!(found.is_some(), is, "{path}: {found:?}");
}

#[test]
fn what_grants_rights_is_protected_and_source_is_not() {
    for path in [
        "/p/.git/config",
        "/p/.git",
        "/p/.git/hooks/pre-commit",
        "/p/sub/.git/x",
        "/p/.acp.toml",
        "/p/.envrc",
        "/p/.vscode/tasks.json",
        "/p/.idea/workspace.xml",
        "/p/.husky/pre-push",
        "/p/.github/workflows/ci.yml",
        "/p/.claude/settings.json",
        "/p/team.code-workspace",
        "/p/fake/HEAD",
        "/home/ada/.bashrc",
        "/home/ada/.ssh/authorized_keys",
        "/home/ada/.config/autostart/x.desktop",
        "/home/ada/.local/state/acp/sessions/x.json",
        "/home/ada/.cargo/config.toml",
        ".git/config",
    ] {
        protected(path, true);
    }
    for path in [
        "/p/src/main.rs",
        "/p/package.json",
        "/p/Makefile",
        "/p/build.rs",
        "/p/.gitignore",
        "/p/.github/ISSUE_TEMPLATE.md",
        "/p/src/hooks/use_it.ts",
        "/p/git/config",
        "/p/head/main.c",
        "/p/.claude/worktrees/a/src/main.rs",
        "/p/.docker/Dockerfile",
        "/",
        "",
    ] {
        protected(path, false);
    }
}

#[test]
fn other_spellings_name_the_same_file() {
    for path in [
        "/p/.GIT/config",
        "/p/.Git",
        "/p/.git/",
        "/p/.git.",
        "/p/.git .. ",
        "/p/.git::$INDEX_ALLOCATION/config",
        "/p/.git:x",
        "/p/GIT~1/config",
        "/p/.g\u{200c}it/config",
        "/p/.\u{feff}git",
        "/p/.\u{17f}sh/config",
        "/p/src/../.git/config",
        "/p/./.git//config",
        "/p/.EnvRC",
        "/p/ENVRC~1",
        "/p/.GitHub/WORKFLOWS/x.yml",
        "/p/jenkinsfile",
    ] {
        protected(path, true);
    }
    protected("/p/.git/../src/main.rs", false);
    protected("/p/git~x/config", false);
}

#[test]
fn names_can_be_added_and_must_be_names() {
    let mut all = ProtectedPaths::new();
    for pattern in ["infra/prod", "*.tfstate", "Secrets.toml/", "only$"] {
        all = all.with(pattern).unwrap();
    }
    let found = |path: &str| all.find_spelled(Path::new(path)).is_some();
    for path in [
        "/p/infra/prod/main.tf",
        "/p/x/INFRA/Prod",
        "/p/a.tfstate",
        "/p/secrets.TOML",
        "/p/only",
        "/p/.git",
    ] {
        assert!(found(path), "{path}");
    }
    for path in ["/p/infra/x/prod", "/p/a.tfstate2", "/p/only/below"] {
        assert!(!found(path), "{path}");
    }
    for bad in [
        "",
        "/",
        "/etc/passwd",
        "a/../b",
        "..",
        "*",
        "~",
        "a//b",
        "$",
        ".",
    ] {
        let refused = ProtectedPaths::new().with(bad);
        assert_eq!(
            refused.unwrap_err(),
            ProtectedPatternError::NotNames,
            "{bad}"
        );
    }
    let long = "x".repeat(MAX_PROTECTED_NAME + 1);
    let refused = ProtectedPaths::new().with(&long).unwrap_err();
    assert_eq!(refused, ProtectedPatternError::TooLong);
    let mut many = ProtectedPaths::new();
    for n in 0..MAX_PROTECTED {
        many = many.with(&format!("n{n}")).unwrap();
    }
    assert_eq!(many.with("x").unwrap_err(), ProtectedPatternError::TooMany);
    assert!(all.patterns().any(|(pattern, _)| pattern == "infra/prod"));
    assert!(all.patterns().any(|(pattern, _)| pattern == "HEAD$"));
}

#[cfg(unix)]
#[test]
fn links_lead_to_what_they_lead_to() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let at = |name: &str| top.join(name);
    std::fs::create_dir_all(at(".git/hooks")).unwrap();
    std::fs::create_dir(at("plain")).unwrap();
    symlink(".git", at("innocent")).unwrap();
    symlink(at("innocent"), at("again")).unwrap();
    symlink(at(".git/hooks/pre-commit"), at("dangling")).unwrap();
    symlink(at("plain"), at(".vscode")).unwrap();
    symlink(at(".vscode"), at("detour")).unwrap();
    symlink("loop", at("loop")).unwrap();
    let all = ProtectedPaths::new();
    let found = |name: &str| all.find(&at(name), None);
    for name in [
        "innocent",
        "innocent/config",
        "again/config",
        "dangling",
        "plain/../innocent/x",
        "detour/tasks.json",
        ".vscode/tasks.json",
    ] {
        assert!(found(name).is_some(), "{name}");
    }
    for name in ["plain/tasks.json", "loop", "none", "innocent/../plain/x"] {
        assert_eq!(found(name), None, "{name}");
    }
    let found = found("innocent/config").unwrap();
    assert_eq!(found.target.as_deref(), Some(&*at(".git/config")));
    let relative = all.find(Path::new("innocent/config"), Some(&top)).unwrap();
    assert_eq!(relative.path, Path::new("innocent/config"));
}

#[cfg(unix)]
#[test]
fn another_name_of_a_protected_file_is_protected() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    std::fs::create_dir_all(top.join("sub/.git/hooks")).unwrap();
    std::fs::write(top.join(".acp.toml"), "").unwrap();
    std::fs::write(top.join("sub/.git/hooks/pre-commit"), "").unwrap();
    std::fs::write(top.join("plain"), "").unwrap();
    std::fs::hard_link(top.join(".acp.toml"), top.join("notes.md")).unwrap();
    std::fs::hard_link(top.join("sub/.git/hooks/pre-commit"), top.join("sub/x")).unwrap();
    std::fs::hard_link(top.join("plain"), top.join("twin")).unwrap();
    let all = ProtectedPaths::new();
    let found = |name: &str| all.find(&top.join(name), Some(&top));
    let notes = found("notes.md").unwrap();
    assert_eq!(notes.target.as_deref(), Some(&*top.join(".acp.toml")));
    assert!(found("sub/x").is_some());
    assert_eq!(found("twin"), None);
}
