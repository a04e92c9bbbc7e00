//! What is run, and what comes back.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use acp_client::{CommandRequest, Environment, LocalTerminals, ServeError, ShellLines};
use acp_protocol::v1::EnvVariable;
use parking_lot::Mutex;

use crate::support::{Place, command, sh, within};

#[tokio::test]
async fn a_command_writes_and_exits() {
    let place = Place::new();
    let terminals = place.terminals().await;
    let (output, exit) = terminals
        .run("echo one; echo two >&2; echo three; exit 7")
        .await;
    assert_eq!((output.as_str(), exit.as_str()), ("one\ntwo\nthree\n", "7"));
    assert_eq!(terminals.run("").await, (String::new(), "0".to_owned()));
    assert_eq!(terminals.run("kill -9 $$").await.1, "SIGKILL");
    assert_eq!(terminals.run("kill -10 $$").await.1, "signal 10");
    assert_eq!(
        terminals.run("read line; echo $?").await.0,
        "1\n",
        "nothing to read"
    );
    let (output, _) = terminals.run("printf 'a\\377b\\303'").await;
    assert_eq!(output, "a\u{fffd}b\u{fffd}");
    place.wait_until_none_runs().await;
}

#[tokio::test]
async fn arguments_come_as_they_are() {
    let place = Place::new();
    let terminals = place.terminals().await;
    let args = ["%s|", "a b", "", "$HOME", "*", "'", "ö\n"].map(str::to_owned);
    let id = terminals
        .create(command("printf").with_args(args))
        .await
        .unwrap();
    terminals.wait(&id).await;
    assert_eq!(terminals.output(&id).await.0, "a b||$HOME|*|'|ö\n|");
}

/// B100.
#[tokio::test]
async fn shell_lines_need_a_policy() {
    let place = Place::new();
    let line = command("echo a && echo b | tr b c");
    let terminals = place.terminals().await;
    let refused = terminals.create(line.clone()).await.unwrap_err();
    assert!(matches!(refused, ServeError::ShellLine), "{refused:?}");
    let allowed = place.options().with_shell_lines(ShellLines::Allow);
    let terminals = place.terminals_by(allowed).await;
    let id = terminals.create(line).await.unwrap();
    assert_eq!(terminals.wait(&id).await, "0");
    assert_eq!(terminals.output(&id).await.0, "a\nc\n");
}

#[tokio::test]
async fn what_is_not_there_is_told_and_takes_no_place() {
    let place = Place::new();
    let options = place.options().with_max_terminals(1);
    let terminals = place.terminals_by(options).await;
    for _ in 0..3 {
        let missing = terminals.create(command("no-such-tool")).await.unwrap_err();
        assert!(
            matches!(missing, ServeError::NoSuchProgram { .. }),
            "{missing:?}"
        );
    }
    let script = place.path().join("script");
    fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    make_executable(&script);
    let broken = terminals.create(command("./script")).await.unwrap_err();
    assert!(matches!(broken, ServeError::Spawn(_)), "{broken:?}");
    let torn = sh("x").with_args(vec!["a\0b".to_owned()]);
    let torn = terminals.create(torn).await.unwrap_err();
    assert!(matches!(torn, ServeError::Spawn(_)), "{torn:?}");
    let unset = sh("x").with_env(vec![EnvVariable::new("A=B", "1")]);
    let unset = terminals.create(unset).await.unwrap_err();
    assert!(matches!(unset, ServeError::Environment), "{unset:?}");
    assert_eq!(
        terminals.run("echo there is room").await.0,
        "there is room\n"
    );
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn a_command_starts_inside_the_folders() {
    let place = Place::new();
    let inside = place.path().join("src");
    fs::create_dir(&inside).unwrap();
    symlink("src", place.path().join("in")).unwrap();
    symlink("/", place.path().join("out")).unwrap();
    let terminals = place.terminals().await;
    let starts = async |cwd: Option<&str>| {
        let mut request = sh("pwd -P");
        request.cwd = cwd.map(|cwd| place.path().join(cwd).to_str().unwrap().to_owned());
        let id = terminals.create(request).await?;
        terminals.wait(&id).await;
        let output = terminals.output(&id).await.0;
        terminals.release(&id).await;
        Ok::<_, ServeError>(output.trim_end().to_owned())
    };
    assert_eq!(starts(None).await.unwrap(), place.path().to_str().unwrap());
    assert_eq!(
        starts(Some("")).await.unwrap(),
        place.path().to_str().unwrap()
    );
    for cwd in ["src", "in"] {
        assert_eq!(starts(Some(cwd)).await.unwrap(), inside.to_str().unwrap());
    }
    for cwd in ["/", "/etc", "out", "out/etc"] {
        let refused = starts(Some(cwd)).await.unwrap_err();
        assert!(
            matches!(refused, ServeError::OutsideRoots { .. }),
            "{cwd} {refused:?}"
        );
    }
    let missing = starts(Some("none")).await.unwrap_err();
    assert!(
        matches!(missing, ServeError::NotFound { .. }),
        "{missing:?}"
    );
}

/// B045: values hold whatever they hold.
#[tokio::test]
async fn the_environment_is_what_is_configured_and_what_the_agent_adds() {
    let place = Place::new();
    let mut base = place.environment();
    base.set("BASE", "base").unwrap();
    base.set("BOTH", "base").unwrap();
    let terminals = place
        .terminals_by(LocalTerminals::new().with_environment(base))
        .await;
    let more = [
        ("BOTH", "agent"),
        ("MORE", "() {\n}"),
        ("BASH_FUNC_x%%", "() { :; }"),
    ];
    let more: Vec<_> = more
        .iter()
        .map(|(name, value)| EnvVariable::new(*name, *value))
        .collect();
    let request = command("env")
        .with_args(vec!["-0".to_owned()])
        .with_env(more);
    let id = terminals.create(request).await.unwrap();
    terminals.wait(&id).await;
    let output = terminals.output(&id).await.0;
    let got: HashSet<_> = output.split_terminator('\0').collect();
    for variable in [
        "BASE=base",
        "BOTH=agent",
        "MORE=() {\n}",
        "BASH_FUNC_x%%=() { :; }",
    ] {
        assert!(got.contains(variable), "{variable} in {got:?}");
    }
    assert_eq!(got.len(), 6, "with PATH and the mark: {got:?}");
}

#[tokio::test]
async fn keys_are_not_passed_on_unasked() {
    let place = Place::new();
    let terminals = place.terminals_by(LocalTerminals::new()).await;
    let id = terminals.create(command("env")).await.unwrap();
    terminals.wait(&id).await;
    let output = terminals.output(&id).await.0;
    let names = output
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0));
    let known = |name: &str| {
        [
            "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
        ]
        .contains(&name)
            || name.starts_with("LANG")
            || name.starts_with("LC_")
    };
    // The test program itself has more: cargo puts it there.
    assert!(std::env::vars().any(|(name, _)| !known(&name)));
    let unknown: Vec<_> = names.filter(|name| !known(name)).collect();
    assert_eq!(unknown, [""; 0]);
}

#[tokio::test]
async fn the_program_is_looked_for_where_the_command_will_look() {
    let place = Place::new();
    let tool = place.path().join("tool");
    fs::write(&tool, "#!/bin/sh\necho mine\n").unwrap();
    make_executable(&tool);
    let terminals = place.terminals().await;
    let path = place.path().to_str().unwrap().to_owned();
    let request = command("tool").with_env(vec![EnvVariable::new("PATH", path)]);
    let id = terminals.create(request).await.unwrap();
    terminals.wait(&id).await;
    assert_eq!(terminals.output(&id).await.0, "mine\n");
    let id = terminals.create(command("./tool")).await.unwrap();
    terminals.wait(&id).await;
    assert_eq!(terminals.output(&id).await.0, "mine\n");
}

/// B102.
#[tokio::test]
async fn of_a_long_output_the_end_is_kept() {
    let place = Place::new();
    let terminals = place
        .terminals_by(place.options().with_max_output(1000))
        .await;
    let flood = "i=0; while [ $i -lt 500 ]; do echo €$i; i=$((i+1)); done";
    for (asked, kept) in [
        (None, 1000),
        (Some(50), 50),
        (Some(u64::MAX), 1000),
        (Some(0), 0),
    ] {
        let mut request = sh(flood);
        request.output_byte_limit = asked;
        let id = terminals.create(request).await.unwrap();
        terminals.wait(&id).await;
        let (output, cut, _) = terminals.output(&id).await;
        assert!(cut, "{asked:?}");
        assert!(
            output.len() <= kept && output.len() + 3 >= kept,
            "{asked:?} {}",
            output.len()
        );
        let whole: String = (0..500).map(|number| format!("€{number}\n")).collect();
        assert!(whole.ends_with(&output));
        terminals.release(&id).await;
    }
}

#[tokio::test]
async fn a_flood_does_not_fill_the_memory_nor_stop_the_rest() {
    let place = Place::new();
    let terminals = place
        .terminals_by(place.options().with_max_output(4096))
        .await;
    let flood = terminals
        .sh("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done")
        .await;
    terminals.line(&flood).await;
    assert_eq!(terminals.run("echo calm").await.0, "calm\n");
    while !terminals.output(&flood).await.1 {
        tokio::task::yield_now().await;
    }
    assert!(terminals.output(&flood).await.0.len() <= 4096);
    terminals.release(&flood).await;
    place.wait_until_none_runs().await;
}

#[tokio::test]
async fn ids_are_not_to_be_guessed() {
    let place = Place::new();
    let terminals = place.terminals().await;
    let mut ids = HashSet::new();
    for _ in 0..8 {
        let id = terminals.sh(":").await;
        assert_eq!(id.as_str().len(), "term-".len() + 32);
        assert!(ids.insert(id));
    }
}

#[tokio::test]
async fn a_session_has_so_many_terminals_and_no_more() {
    let place = Place::new();
    let terminals = place.terminals().await;
    let mut ids = Vec::new();
    for _ in 0..16 {
        ids.push(terminals.sh("exec sleep 1000").await);
    }
    let refused = terminals.create(sh(":")).await.unwrap_err();
    assert!(
        matches!(refused, ServeError::TooManyTerminals { limit: 16 }),
        "{refused:?}"
    );
    // One that has ended counts until it is released.
    terminals.kill(&ids[3]).await;
    terminals.create(sh(":")).await.unwrap_err();
    terminals.release(&ids[3]).await;
    terminals.create(sh(":")).await.unwrap();
    drop(terminals);
    place.wait_until_none_runs().await;
}

#[tokio::test]
async fn consent_is_asked_about_what_runs() {
    let place = Place::new();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&asked);
    let options = place.options().with_consent(move |ask: CommandRequest| {
        let allowed = ask.args.iter().all(|arg| arg != "rm");
        notes.lock().push(ask);
        async move { allowed }
    });
    let terminals = place.terminals_by(options).await;
    let refused = command("env").with_args(["rm", "x"].map(str::to_owned));
    let refused = terminals.create(refused).await.unwrap_err();
    assert!(matches!(refused, ServeError::Denied), "{refused:?}");
    let more = vec![EnvVariable::new("TOKEN", "s3cret")];
    let id = terminals
        .create(sh("echo s3cret").with_env(more))
        .await
        .unwrap();
    terminals.wait(&id).await;
    assert_eq!(terminals.output(&id).await.0, "s3cret\n");
    // What cannot run is not asked about.
    terminals.create(command("no-such-tool")).await.unwrap_err();
    let asked = asked.lock();
    let [first, second] = asked.as_slice() else {
        panic!("{asked:?}");
    };
    assert!(first.program.is_absolute() && first.program.ends_with("env"));
    assert_eq!(second.program, std::path::Path::new("/bin/sh"));
    assert_eq!(second.args, ["-c", "echo s3cret"]);
    assert_eq!(second.cwd, place.path());
    assert_eq!(second.session_id.as_str(), "s");
    assert_eq!(second.environment.get("TOKEN").unwrap(), "s3cret");
    assert!(!format!("{second:?}").contains("s3cret"), "{second:?}");
}

#[tokio::test]
async fn what_was_asked_about_runs_in_the_folder_that_was_shown() {
    let place = Place::new();
    let folder = place.path().join("folder");
    fs::create_dir(&folder).unwrap();
    let (shown, moved) = (folder.clone(), place.path().join("moved"));
    let away = moved.clone();
    let options = place.options().with_consent(move |_| {
        fs::rename(&shown, &away).unwrap();
        symlink("/", &shown).unwrap();
        async { true }
    });
    let terminals = place.terminals_by(options).await;
    let request = sh("pwd -P").with_cwd(folder.to_str().unwrap());
    let id = within("the start", terminals.create(request))
        .await
        .unwrap();
    terminals.wait(&id).await;
    assert_eq!(
        terminals.output(&id).await.0.trim_end(),
        moved.to_str().unwrap()
    );
}

#[tokio::test]
async fn an_environment_can_be_all_there_is() {
    let place = Place::new();
    let options = LocalTerminals::new().with_environment(Environment::inherited_all());
    let terminals = place.terminals_by(options).await;
    let id = terminals.create(command("env")).await.unwrap();
    terminals.wait(&id).await;
    let output = terminals.output(&id).await.0;
    for (name, _) in std::env::vars() {
        assert!(output.contains(&format!("{name}=")), "{name}");
    }
}
