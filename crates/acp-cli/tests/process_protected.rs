//! Writes to protected files: no level allows one, and a person has to, by its name. A
//! project's file that is not trusted only tightens.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::path::Path;

use support::{acp, acp_command};

/// Writes this file of the folder by way of the client, and says what came of it.
fn writing(folder: &Path, file: &str) -> String {
    let path = folder.join(file);
    format!(
        r#"start; prompt=$id
        say '{{"jsonrpc":"2.0","id":7,"method":"fs/write_text_file","params":{{"sessionId":"s","path":"{}","content":"evil"}}}}'
        hear; case $line in *'"code"'*) text "$(expr "$line" : '.*"code":\([-0-9]*\)')";; *) text written;; esac
        id=$prompt; end end_turn; hear"#,
        path.display()
    )
}

fn project() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().canonicalize().unwrap();
    fs::create_dir(folder.join(".git")).unwrap();
    fs::write(folder.join(".git/config"), "mine").unwrap();
    (dir, folder)
}

#[test]
fn nothing_protected_is_written_without_a_person() {
    let (_dir, folder) = project();
    std::os::unix::fs::symlink(".git", folder.join("innocent")).unwrap();
    let args = ["--files", "write", "--allow", "all", "x"];
    for file in [
        ".git/config",
        ".GIT/config",
        "innocent/config",
        ".acp.toml",
        ".envrc",
    ] {
        let run = acp(&args, &writing(&folder, file)).in_folder(&folder);
        let ended = run.end();
        assert!(ended.out.contains("-32600"), "{file}: {ended:?}");
        let why = "it is protected, and only a person can allow it";
        assert!(ended.err.contains(why), "{file}: {ended:?}");
    }
    assert_eq!(
        fs::read_to_string(folder.join(".git/config")).unwrap(),
        "mine"
    );
    assert!(!folder.join(".acp.toml").exists() && !folder.join(".envrc").exists());
    let run = acp(&args, &writing(&folder, "plain")).in_folder(&folder);
    assert!(run.end().out.contains("written"));
    // More can be protected, by anybody's file.
    fs::write(folder.join(".acp.toml"), "protect = [\"plain\"]\n").unwrap();
    let run = acp(&args, &writing(&folder, "plain")).in_folder(&folder);
    let ended = run.end();
    assert!(ended.out.contains("-32600"), "{ended:?}");
    assert!(ended.err.contains("sets its own `protect`"), "{ended:?}");
}

#[test]
fn a_project_tightens_until_its_file_is_trusted() {
    let (_dir, folder) = project();
    let home = tempfile::tempdir().unwrap();
    let file = folder.join(".acp.toml");
    fs::write(&file, "allow = \"all\"\nidle_timeout = \"20m\"\n").unwrap();
    let acp = |args: &[&str]| {
        acp_command(args)
            .with_env("HOME", home.path())
            .without_env("XDG_CONFIG_HOME")
            .without_env("XDG_STATE_HOME")
            .in_folder(&folder)
            .end()
    };
    let run = || acp(&["run", "--agent", "demo", "hello"]).err;
    let untrusted = run();
    assert!(
        untrusted.contains("sets idle_timeout = 1200"),
        "{untrusted}"
    );
    assert!(untrusted.contains("`allow` of"), "{untrusted}");
    assert!(untrusted.contains("run `acp config trust`"), "{untrusted}");
    let trusted = acp(&["config", "trust"]);
    assert_eq!(trusted.code, Some(0), "{trusted:?}");
    assert!(
        trusted.out.contains("it sets idle_timeout, allow"),
        "{trusted:?}"
    );
    let said = run();
    assert!(
        said.contains("sets idle_timeout = 1200, allow = \"all\""),
        "{said}"
    );
    assert!(!said.contains("is ignored"), "{said}");
    let events = acp(&["run", "--agent", "demo", "--json", "hello"]).out;
    let told = events.lines().any(|line| {
        line.contains(r#""event":"notice""#) && line.contains("sets idle_timeout = 1200")
    });
    assert!(told, "{events}");
    fs::write(&file, "allow = \"all\"\nidle_timeout = \"none\"\n").unwrap();
    let changed = run();
    assert!(
        changed.contains("is not trusted any more: its text has changed"),
        "{changed}"
    );
    assert_eq!(acp(&["config", "untrust"]).code, Some(0));
    assert!(run().contains("if you trust"));
}

#[test]
fn a_folder_of_state_that_others_can_change_is_refused() {
    use std::os::unix::fs::PermissionsExt;

    let home = tempfile::tempdir().unwrap();
    let state = home.path().join("acp");
    fs::create_dir_all(state.join("sessions")).unwrap();
    for (open, folder) in [(0o777, "sessions"), (0o770, "sessions"), (0o777, "")] {
        let folder = state.join(folder);
        fs::set_permissions(&folder, PermissionsExt::from_mode(open)).unwrap();
        for args in [
            &["run", "--agent", "demo", "--session", "x", "hello"][..],
            &["sessions"],
        ] {
            let run = acp_command(args).with_env("XDG_STATE_HOME", home.path());
            let ended = run.in_folder(home.path()).end();
            assert_ne!(ended.code, Some(0), "{ended:?}");
            assert!(
                ended.err.contains("other users may write to it"),
                "{ended:?}"
            );
        }
        fs::set_permissions(&folder, PermissionsExt::from_mode(0o700)).unwrap();
    }
    assert_eq!(fs::read_dir(state.join("sessions")).unwrap().count(), 0);
}
