//! Homes, and what is refused as one.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use tempfile::TempDir;

fn root() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o700)).unwrap();
    dir
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[track_caller]
fn refused(isolation: &Isolation, user: &str, agent: &str, expected: &str) {
    let error = isolation.home(user, agent).unwrap_err().to_string();
    assert!(error.ends_with(expected), "{error}");
}

#[test]
fn a_home_has_all_its_folders_for_us_alone() {
    let dir = root();
    let homes = dir.path().join("deep/homes");
    let home = Isolation::new(&homes)
        .home("ada@example.com", "codex")
        .unwrap();
    let parts: Vec<_> = home.path().strip_prefix(&homes).unwrap().iter().collect();
    assert_eq!(
        (parts.len(), parts[0].len(), parts[1]),
        (2, 32, "codex".as_ref())
    );
    let shown: Vec<_> = home
        .variables()
        .map(|(name, path)| {
            assert!(path.is_dir(), "{}", path.display());
            let path = path.strip_prefix(home.path()).unwrap().to_owned();
            format!("{name}={}", path.display())
        })
        .collect();
    assert_eq!(
        shown,
        [
            "HOME=",
            "XDG_CACHE_HOME=.cache",
            "XDG_CONFIG_HOME=.config",
            "XDG_DATA_HOME=.local/share",
            "XDG_STATE_HOME=.local/state"
        ]
    );
    for path in [
        &*homes,
        home.path().parent().unwrap(),
        home.path(),
        &home.sessions(),
    ] {
        assert_eq!(mode(path), 0o700, "{}", path.display());
    }
    assert_eq!(home.login_marker(), home.path().join("login.json"));
}

#[test]
fn a_home_is_found_again_and_belongs_to_one_pair() {
    let dir = root();
    let isolation = Isolation::new(dir.path());
    let home = isolation.home("ada", "codex").unwrap();
    fs::write(home.path().join("note"), "kept").unwrap();
    assert_eq!(isolation.home("ada", "codex").unwrap(), home);
    assert!(home.path().join("note").exists());
    let others = [
        isolation.home("eve", "codex").unwrap(),
        isolation.home("ada", "gemini").unwrap(),
        isolation.home("ada ", "codex").unwrap(),
    ];
    for other in others {
        assert_ne!(other, home);
    }
}

#[test]
fn no_id_leads_elsewhere() {
    let dir = root();
    let isolation = Isolation::new(dir.path());
    for user in [
        "../eve",
        "/etc",
        "..",
        ".",
        "a/b",
        "\0",
        "ä\n",
        &"x".repeat(9999),
    ] {
        let home = isolation.home(user, "codex").unwrap();
        let inside = home.path().strip_prefix(dir.path()).unwrap();
        assert_eq!(inside.components().count(), 2, "{user:?}");
    }
    refused(&isolation, "", "codex", "the user has no id");
    for agent in ["", "..", "a/b", "Codex", ".ssh"] {
        refused(&isolation, "ada", agent, "this is no name");
    }
    refused(
        &Isolation::new("homes"),
        "ada",
        "codex",
        "an absolute path is wanted",
    );
}

#[test]
fn links_are_refused_wherever_they_are() {
    let elsewhere = root();
    let told = "it is a link, or no folder";

    let dir = root();
    let link = dir.path().join("homes");
    symlink(elsewhere.path(), &link).unwrap();
    refused(&Isolation::new(&link), "ada", "codex", told);
    let dangling = dir.path().join("dangling");
    symlink("/no/such/place", &dangling).unwrap();
    refused(&Isolation::new(&dangling), "ada", "codex", told);

    for depth in [
        "",
        "codex",
        "codex/.config",
        "codex/.local/share",
        "codex/sessions",
    ] {
        let dir = root();
        let isolation = Isolation::new(dir.path());
        let home = isolation.home("ada", "codex").unwrap();
        let path = home.path().parent().unwrap().join(depth);
        fs::remove_dir_all(&path).unwrap();
        let path = path.to_str().unwrap().trim_end_matches('/');
        symlink(elsewhere.path(), path).unwrap();
        refused(&isolation, "ada", "codex", told);
    }
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);

    let dir = root();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    refused(&Isolation::new(&file), "ada", "codex", told);
}

#[test]
fn others_are_kept_out() {
    let dir = root();
    let isolation = Isolation::new(dir.path());
    let home = isolation.home("ada", "codex").unwrap();
    // What they were given meanwhile is taken from them.
    let open = PermissionsExt::from_mode(0o755);
    fs::set_permissions(home.path(), open).unwrap();
    isolation.home("ada", "codex").unwrap();
    assert_eq!(mode(home.path()), 0o700);
    // A folder of homes that they may write to is none.
    fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o777)).unwrap();
    refused(
        &isolation,
        "ada",
        "codex",
        "others own it, or may write to it",
    );
}
