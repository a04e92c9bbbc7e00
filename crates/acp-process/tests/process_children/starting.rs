//! What a child gets, and what is said when it cannot be started.

use std::error::Error;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;

use acp_process::{Environment, Launch, OrphanGuard, SpawnError};

use crate::helper;
use crate::support::{Folder, Lines, field_of_stat, sh, within};

async fn output(launch: &Launch) -> String {
    let mut child = launch.spawn().unwrap();
    let output = Lines::of(&mut child).rest().await;
    let exit = within("the exit", child.handle().wait()).await;
    assert!(exit.success(), "{exit:?}: {}", exit.stderr_tail());
    output
}

#[tokio::test]
async fn the_environment_is_what_was_listed_and_nothing_else() {
    assert!(std::env::var_os("PATH").is_some());
    let env = Launch::new("/usr/bin/env").with_args(["-0"]);
    assert_eq!(output(&env).await, "");

    let listed = Environment::exactly([("B", "2"), ("A", "1"), ("f%%", "() {\n x=y\n}")]).unwrap();
    let launch = env.clone().with_environment(listed);
    assert_eq!(output(&launch).await, "A=1\0B=2\0f%%=() {\n x=y\n}\0");

    let launch = env
        .clone()
        .with_environment(Environment::inherited(["PATH"]))
        .with_env("LANG", "C");
    let path = std::env::var("PATH").unwrap();
    assert_eq!(output(&launch).await, format!("LANG=C\0PATH={path}\0"));

    let all = output(&env.with_inherited_env()).await;
    assert!(all.split('\0').any(|entry| entry == format!("PATH={path}")));
}

#[tokio::test]
async fn arguments_are_passed_as_they_are() {
    let script = sh("printf '%s|' \"$@\"").with_args(["sh", "a b", "", "$HOME; echo x", "'\"\\"]);
    assert_eq!(output(&script).await, "a b||$HOME; echo x|'\"\\|");
}

#[tokio::test]
async fn the_directory_is_the_one_named() {
    let folder = Folder::new();
    let launch = sh("pwd -P").with_cwd(folder.path());
    let expected = folder.path().canonicalize().unwrap();
    assert_eq!(output(&launch).await.trim_end(), expected.to_str().unwrap());
}

#[tokio::test]
async fn a_child_leads_its_group_and_a_session_if_asked() {
    const GROUP: usize = 4;
    const SESSION: usize = 5;
    let own_session = field_of_stat(std::process::id(), SESSION);
    for new_session in [false, true] {
        let mut launch = sh("echo ready; read _");
        if new_session {
            launch = launch.with_new_session();
        }
        let mut child = launch.spawn().unwrap();
        assert_eq!(Lines::of(&mut child).next().await, "ready");
        let pid = child.pid();
        assert_eq!(field_of_stat(pid, GROUP), pid.to_string());
        let session = field_of_stat(pid, SESSION);
        assert_eq!(session == pid.to_string(), new_session);
        assert_eq!(session == own_session, !new_session);
        within("the exit", child.handle().close_and_wait()).await;
    }
}

#[tokio::test]
async fn no_open_file_gets_into_the_child() {
    let folder = Folder::new();
    let path = folder.path().join("open");
    let file = std::fs::File::create(&path).unwrap();
    // As a C library would leave it.
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
    let open = output(&sh("readlink /proc/$$/fd/* || :")).await;
    assert!(!open.contains(path.to_str().unwrap()), "{open}");
    assert!(
        open.lines()
            .filter(|target| target.starts_with("pipe:"))
            .count()
            == 3
    );
}

#[tokio::test]
async fn what_cannot_be_started_is_explained() {
    let folder = Folder::new();
    let file = |name: &str, content: &str, mode: u32| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        path
    };
    let missing = folder.path().join("missing");
    let script = file("script", "#!/no/such/interpreter -x\n", 0o755);
    let plain = file("plain", "hello", 0o644);

    let error = Launch::new(&missing).spawn().unwrap_err();
    let SpawnError::Program { program, source } = &error else {
        panic!("{error:?}");
    };
    assert_eq!((program, source.kind()), (&missing, ErrorKind::NotFound));
    assert!(error.source().is_some());
    assert_eq!(error.to_string(), format!("start {missing:?}"));

    let error = Launch::new(&script).spawn().unwrap_err();
    let expected = format!("start {script:?}: find its interpreter \"/no/such/interpreter\"");
    assert_eq!(error.to_string(), expected);

    let error = Launch::new(&plain).spawn().unwrap_err();
    let SpawnError::Program { source, .. } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(source.kind(), ErrorKind::PermissionDenied);

    for (cwd, kind) in [
        (&missing, ErrorKind::NotFound),
        (&plain, ErrorKind::NotADirectory),
    ] {
        let error = sh("exit 0").with_cwd(cwd).spawn().unwrap_err();
        let SpawnError::WorkingDirectory { source, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(source.kind(), kind);
    }

    let error = Launch::new("sh").spawn().unwrap_err();
    assert_eq!(
        error.to_string(),
        "use program for a child: it is not an absolute path"
    );
}

#[tokio::test]
async fn a_file_without_an_interpreter_is_a_script_of_the_shell() {
    let folder = Folder::new();
    let script = folder.path().join("script");
    std::fs::write(&script, "echo \"$0 $1\"\n").unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    for guard in [OrphanGuard::Descendants, OrphanGuard::Group] {
        let launch = Launch::new(&script)
            .with_args(["a"])
            .with_orphan_guard(guard);
        let expected = format!("{} a\n", script.display());
        assert_eq!(output(&launch).await, expected);
    }
}

#[tokio::test]
async fn arguments_that_are_too_long_are_told_as_such() {
    let long = "x".repeat(8 * 1024 * 1024);
    for guard in [OrphanGuard::Descendants, OrphanGuard::Group] {
        let launch = Launch::new("/bin/true")
            .with_args([long.as_str()])
            .with_orphan_guard(guard);
        let error = launch.spawn().unwrap_err();
        let SpawnError::Program { source, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(source.kind(), ErrorKind::ArgumentListTooLong);
    }
}

#[test]
fn without_a_runtime_nothing_is_started() {
    let error = sh("exit 0").spawn().unwrap_err();
    assert!(matches!(error, SpawnError::NoRuntime { .. }), "{error:?}");
}

/// Tells which signals a child ignores, as a mask.
#[test]
#[ignore = "a helper"]
fn helper_that_ignores_signals() {
    if !helper::is_called("starting::helper_that_ignores_signals") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let ignored = runtime.block_on(async {
        let launch = Launch::new("/bin/grep").with_args(["SigIgn", "/proc/self/status"]);
        output(&launch.with_orphan_guard(OrphanGuard::None)).await
    });
    helper::say(&format!("child {ignored}"));
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    let own = own.lines().find(|line| line.starts_with("SigIgn")).unwrap();
    helper::say(&format!("own {own}"));
    std::process::exit(0);
}

#[test]
fn a_child_can_be_interrupted_though_we_cannot() {
    const INT_AND_TERM: u64 = 1 << 1 | 1 << 14;
    let said = helper::run_ignoring("INT,TERM", "starting::helper_that_ignores_signals");
    let mask = |who: &str| {
        let line = said.lines().find(|line| line.starts_with(who)).unwrap();
        u64::from_str_radix(line.split_whitespace().last().unwrap(), 16).unwrap()
    };
    assert_eq!(mask("own") & INT_AND_TERM, INT_AND_TERM, "{said}");
    assert_eq!(mask("child") & INT_AND_TERM, 0, "{said}");
}
