//! `acp agents`, `acp login`, `acp logout` and `acp doctor` with an agent of the user's
//! own, in a home of its own.

#![cfg(unix)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use acp_process::{Launch, TerminalSize};
use rustix::process::Signal;
use serde_json::Value;
use support::{Ended, PRELUDE, Run, acp_command};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// An agent that lets nobody in who has neither logged in nor a key. It writes down the
/// prompts it gets.
const ADA: &str = r#"
case "$1" in
    --version) echo 'ada 1.2.3'; exit ;;
    code)
        echo 'Open https://ada.example/device and enter ABCD-1234'
        touch "$HOME/in"
        exit ;;
    here)
        printf 'word: '
        read -r word
        [ "$word" = sesame ] || exit 1
        touch "$HOME/in"
        exit ;;
esac
methods='[{"id":"chat","name":"Chat"},{"id":"tty","name":"Here","type":"terminal","args":["here"]}]'
while hear; do
    case "$line" in
        *'"initialize"'*) answer "{\"protocolVersion\":1,\"agentInfo\":{\"name\":\"ada\",\"version\":\"1.2.3\"},\"agentCapabilities\":{\"auth\":{\"logout\":{}}},\"authMethods\":$methods}" ;;
        *'"session/new"'*)
            printf '%s' "$ADA_KEY" > "$HOME/key"
            if [ -e "$HOME/in" ] || [ -n "$ADA_KEY" ]; then
                answer '{"sessionId":"s","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"}]}}'
            else
                refuse '{"code":-32000,"message":"Authentication required"}'
            fi ;;
        *'"authenticate"'*) touch "$HOME/in"; answer '{}' ;;
        *'"logout"'*) rm "$HOME/in"; answer '{}' ;;
        *'"session/prompt"'*) touch "$HOME/prompted"; end end_turn ;;
    esac
done
"#;

/// A home with a configuration, in which the agent `ada` does what a script says.
struct Home(TempDir);

impl Home {
    fn with(script: &str) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        let program = home.path("ada");
        fs::write(&program, format!("#!/bin/sh\n{PRELUDE}{script}")).unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let folder = home.path(".config/acp");
        fs::create_dir_all(&folder).unwrap();
        let config = format!(
            "agent = \"ada\"\n[agents.ada]\ncommand = \"{}\"\ninstall = \"get ada\"\n\
             [agents.ada.login]\nhint = \"ada login\"\nkeys = [\"ADA_KEY\"]\n\
             device = [\"{}\", \"code\"]\n",
            program.display(),
            program.display()
        );
        fs::write(folder.join("config.toml"), config).unwrap();
        home
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(path)
    }

    fn acp(&self, args: &[&str]) -> Run {
        acp_command(args)
            .without_env("ADA_KEY")
            .without_env("XDG_CONFIG_HOME")
            .without_env("XDG_DATA_HOME")
            .with_env("HOME", self.path(""))
            .in_folder(self.0.path())
    }

    fn run(&self, args: &[&str]) -> Ended {
        self.acp(args).end()
    }

    fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

#[test]
fn agents_are_listed_with_what_can_be_known() {
    let home = Home::with(ADA);
    let ended = home.run(&["agents"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let line = ended.out.lines().find(|line| line.starts_with("ada*"));
    let words: Vec<_> = line.unwrap().split_whitespace().collect();
    assert_eq!(words[1], "1.2.3");

    let agents = json(
        &home
            .acp(&["agents", "--json"])
            .with_env("ADA_KEY", "s3cret")
            .end(),
    );
    let all = agents["agents"].as_array().unwrap();
    let ada = all.iter().find(|agent| agent["name"] == "ada").unwrap();
    assert_eq!(ada["installed"], true);
    assert_eq!(ada["version"]["version"], "1.2.3");
    assert_eq!(ada["login"]["variable"], "ADA_KEY");
    assert!(!agents.to_string().contains("s3cret"));
    assert!(all.len() > 20);

    let one = home.run(&["agents", "ada"]);
    assert!(one.out.contains("to log in   ada login"), "{one:?}");
    let unknown = home.run(&["agents", "adda"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("did you mean `ada`?"), "{unknown:?}");
}

#[test]
fn an_agent_that_does_not_tell_its_version_keeps_nobody_waiting() {
    let home = Home::with("trap '' TERM; exec sleep 600\n");
    let ended = home.run(&["agents", "ada", "--json"]);
    assert_eq!(json(&ended)["version"]["state"], "silent");
    assert!(ended.took < Duration::from_secs(20), "{ended:?}");
}

#[test]
fn the_doctor_sends_no_prompt_and_says_what_to_do() {
    let home = Home::with(ADA);
    let ill = home.run(&["doctor"]);
    assert_eq!(ill.code, Some(4), "{ill:?}");
    assert!(ill.out.contains("-> acp login ada"), "{ill:?}");
    let login = home.run(&["login", "--method", "chat"]);
    assert_eq!(login.code, Some(0), "{login:?}");
    assert_eq!(login.out, "logged in to ada: a session opens\n");
    let well = home.run(&["doctor", "--json"]);
    assert_eq!(well.code, Some(0), "{well:?}");
    let told = json(&well);
    assert_eq!(told["ok"], true);
    assert_eq!(told["agent"]["login"], "not_asked");
    assert_eq!(told["agent"]["info"]["version"], "1.2.3");
    assert_eq!(told["agent"]["modes"]["currentModeId"], "ask");
    assert!(!home.has("prompted"));
    let out = home.run(&["logout"]);
    assert_eq!(out.out, "ada has logged out\n", "{out:?}");
    let told = json(&home.run(&["doctor", "--json"]));
    assert_eq!(told["agent"]["login"], "required");
    assert_eq!(told["exitCode"], 4);
}

#[test]
fn the_doctor_tells_each_failure_from_the_others() {
    let told = |script: &str| {
        let ended = Home::with(script).run(&["doctor", "--json"]);
        let told = json(&ended);
        assert_eq!(told["exitCode"].as_i64(), ended.code.map(i64::from));
        assert_eq!(told["agent"]["login"], "unknown", "{told:#}");
        ended.code.unwrap()
    };
    assert_eq!(told("echo wrong flag >&2; exit 1\n"), 5);
    assert_eq!(told("hear; answer '{\"protocolVersion\":7}'; hear\n"), 6);
    let refuses = "hear; answer '{\"protocolVersion\":1}'; hear; refuse '{\"code\":-32603,\"message\":\"no\"}'; hear\n";
    assert_eq!(told(refuses), 10);
    // One that is not there.
    let home = Home::with(ADA);
    fs::remove_file(home.path("ada")).unwrap();
    let ended = home.run(&["doctor"]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.out.contains("-> get ada"), "{ended:?}");
    // And a configuration that makes no sense, with an agent that is well all the same.
    let home = Home::with(ADA);
    fs::write(home.path(".acp.toml"), "modle = 1\n").unwrap();
    let ended = home.run(&["doctor"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.out.contains("did you mean `model`?"), "{ended:?}");
}

#[test]
fn a_bare_machine_is_well() {
    let home = tempfile::tempdir().unwrap();
    let ended = acp_command(&["doctor", "--json"])
        .with_env("HOME", home.path())
        .without_env("XDG_CONFIG_HOME")
        .with_env("PATH", home.path())
        .in_folder(home.path())
        .end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(json(&ended)["agent"]["name"], "demo");
}

#[test]
fn an_interrupted_doctor_leaves_no_agent() {
    let home = Home::with("hear; touch \"$HOME/asked\"; exec sleep 600\n");
    let mut running = home.acp(&["doctor"]).start();
    running.wait_until(|| home.has("asked"));
    running.signal(Signal::INT);
    let mark = running.mark().to_owned();
    assert_eq!(running.end_unread(), Some(130));
    support::wait_until_gone(&mark);
}

#[test]
fn a_key_is_read_from_standard_input_and_shown_nowhere() {
    let home = Home::with(ADA);
    let stored = home.acp(&["login", "--key"]).end_with_input("s3cret\n");
    assert_eq!(stored.code, Some(0), "{stored:?}");
    assert!(home.has(".local/share/acp/keys/ada"));
    let well = home.run(&["doctor"]);
    assert_eq!(well.code, Some(0), "{well:?}");
    assert_eq!(fs::read_to_string(home.path("key")).unwrap(), "s3cret");
    let shown = home.run(&["config", "show", "--json"]);
    for ended in [&stored, &well, &shown] {
        assert!(!format!("{ended:?}").contains("s3cret"), "{ended:?}");
    }
    // A variable of this call comes first.
    home.acp(&["doctor"]).with_env("ADA_KEY", "other").end();
    assert_eq!(fs::read_to_string(home.path("key")).unwrap(), "other");
    fs::write(home.path("in"), "").unwrap();
    let out = home.run(&["logout"]);
    assert_eq!(
        out.out,
        "the stored key of ada is forgotten\nada has logged out\n"
    );
    assert!(!home.has(".local/share/acp/keys/ada"));
    let empty = home.acp(&["login", "--key"]).end_with_input("\n");
    assert_eq!(empty.code, Some(2), "{empty:?}");
}

#[test]
fn a_code_is_shown_and_waited_for() {
    let home = Home::with(ADA);
    let ended = home.run(&["login", "ada", "--device-code"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended
            .err
            .contains("open https://ada.example/device and enter ABCD-1234"),
        "{ended:?}"
    );
    assert!(home.has("in"));
}

#[test]
fn several_ways_are_listed_where_nobody_can_choose() {
    let home = Home::with(ADA);
    let ended = home.run(&["login"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended.err.contains("acp login ada --method chat"),
        "{ended:?}"
    );
    let listed = home.run(&["login", "--list"]);
    assert_eq!(listed.code, Some(0));
    assert!(
        listed.out.contains("acp login ada --device-code"),
        "{listed:?}"
    );
    let terminal = home.run(&["login", "--method", "tty"]);
    assert_eq!(terminal.code, Some(2), "{terminal:?}");
    assert!(terminal.err.contains("needs a terminal"), "{terminal:?}");
    assert!(!home.has("in"));
}

/// What is typed into the terminal of acp goes to the agent's own program.
#[tokio::test]
async fn a_login_on_a_terminal_goes_through() {
    let home = Home::with(ADA);
    let launch = Launch::new(env!("CARGO_BIN_EXE_acp"))
        .with_args(["login", "ada"])
        .with_inherited_env()
        .with_env("HOME", home.path(""))
        .with_env("XDG_CONFIG_HOME", "")
        .with_env("XDG_DATA_HOME", "")
        .with_env("ADA_KEY", "")
        .with_cwd(home.0.path().canonicalize().unwrap())
        .with_terminal(TerminalSize::new(80, 24));
    let mut child = launch.spawn().unwrap();
    let (mut stdin, mut stdout) = (child.take_stdin().unwrap(), child.take_stdout().unwrap());
    let mut shown = Vec::new();
    let talk = async {
        wait_for(&mut stdout, &mut shown, "number: ").await;
        stdin.write_all(b"2\n").await.unwrap();
        wait_for(&mut stdout, &mut shown, "word: ").await;
        stdin.write_all(b"sesame\n").await.unwrap();
        wait_for(&mut stdout, &mut shown, "a session opens").await;
    };
    let talked = tokio::time::timeout(Duration::from_secs(30), talk).await;
    let shown = String::from_utf8_lossy(&shown).into_owned();
    assert!(talked.is_ok(), "{shown}");
    assert!(home.has("in"), "{shown}");
    child.handle().close_and_wait().await;
}

async fn wait_for(out: &mut (impl AsyncReadExt + Unpin), shown: &mut Vec<u8>, text: &str) {
    while !String::from_utf8_lossy(shown).contains(text) {
        let mut chunk = [0; 1024];
        let read = out.read(&mut chunk).await.unwrap_or(0);
        assert!(read > 0, "it ended: {}", String::from_utf8_lossy(shown));
        shown.extend_from_slice(&chunk[..read]);
    }
}

#[test]
fn a_configuration_is_written_once_and_shown() {
    let dir = tempfile::tempdir().unwrap();
    let acp = |args: &[&str]| {
        acp_command(args)
            .with_env("HOME", dir.path())
            .without_env("XDG_CONFIG_HOME")
            .in_folder(dir.path())
            .end()
    };
    let written = acp(&["config", "init"]);
    assert_eq!(written.code, Some(0), "{written:?}");
    let again = acp(&["config", "init"]);
    assert_eq!(again.code, Some(2), "{again:?}");
    assert!(again.err.contains("it is there already"), "{again:?}");
    assert_eq!(acp(&["config", "init", "--project"]).code, Some(0));
    fs::write(dir.path().join(".acp.toml"), "allow = \"all\"\n").unwrap();
    let shown = json(&acp(&["config", "show", "--json"]));
    assert_eq!(shown["settings"]["allow"]["value"], "none");
    assert_eq!(shown["ignored"][0]["setting"], "allow");
    assert_eq!(shown["files"]["project"]["trusted"], false);
    let project = shown["files"]["project"]["path"].as_str().unwrap();
    assert!(project.ends_with("/.acp.toml"), "{project}");
}
