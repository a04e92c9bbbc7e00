//! `acp-mockpeer check`: agents and clients that are right, and others whose faults
//! have to be understood from what it writes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_acp-mockpeer");

const HELLO: &str = "-> initialize\n<- result {\"protocolVersion\": 1}\n";

/// A folder with files in it, which is gone when the test is over.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            std::fs::write(folder.path(name), text).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }
}

/// What came of a run.
#[derive(Debug)]
struct Came {
    code: Option<i32>,
    said: String,
    told: String,
}

impl Came {
    #[track_caller]
    fn says(&self, all: &[&str]) -> &Self {
        for text in all {
            assert!(
                self.said.contains(text),
                "{text:?} is not in\n{}\n{}",
                self.said,
                self.told
            );
        }
        self
    }

    #[track_caller]
    fn ends_with(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.said, self.told);
        self
    }
}

fn check(folder: &Folder, args: &[&str], command: &[&str]) -> Came {
    let output = Command::new(PROGRAM)
        .arg("check")
        .args(args)
        .arg("--")
        .args(command)
        .current_dir(folder.0.path())
        .env("ACP_SUITE_API_KEY", "t0ps3cret-of-the-suite")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Came {
        code: output.status.code(),
        said: text(output.stdout),
        told: text(output.stderr),
    }
}

const SESSION: &str = "\
# A session has a name.
proves: R058

-> initialize
<- result {\"protocolVersion\": 1}
-> session/new
<- result {\"sessionId\": \"$s\"}
";

/// It names its session by a number, and tells secrets.
const BAD: &str = "\
-> initialize
<- result {\"protocolVersion\": 1, \"agentInfo\": {\"name\": \"bad\", \"version\": \"0.1\"}}
-> session/new
<- stderr \"\\u001b[31mno name, but t0ps3cret-of-the-suite\\u001b[0m\\n\"
<- raw result {\"sessionId\": 7}
-> close
";

#[test]
fn a_failure_is_understood_from_what_is_written() {
    let folder = Folder::new(&[
        ("session.acpt", SESSION),
        ("hello.acpt", &format!("# Hello.\nproves: R027\n{HELLO}")),
        ("bad.txt", BAD),
    ]);
    let came = check(
        &folder,
        &[
            "--scenario",
            ".",
            "--output",
            "r.html",
            "--output",
            "r.json",
            "--output",
            "r.xml",
        ],
        &[PROGRAM, "agent", "--script", "bad.txt"],
    );
    came.ends_with(1).says(&[
        "as agent, which says it is bad 0.1\n",
        "FAILED  ./session",
        "  A session has a name.\n",
        "  R058 MUST  Answer with a unique sessionId\n",
        "at result.sessionId: 7 is not of type \"string\"",
        "expected  the result of session/new {\"sessionId\": \"$s\"} (line 7)",
        "got  {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessionId\":7}}",
        "line 7  <- result {\"sessionId\": \"$s\"}",
        "the conversation, as our client saw it",
        "\"method\":\"session/new\"",
        "the end of its stderr\n    no name, but [redacted]\n",
        "2 scenarios in ",
        ": 1 passed, 1 failed\n",
        "2 rules: 1 failed (R058), 1 passed\n",
        "One scenario needs a look.\n",
    ]);
    let json: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    assert_eq!(json["passed"], false);
    assert_eq!(json["scenarios"][1]["faults"][0]["rules"][0], "R058");
    assert!(folder.read("r.xml").contains("failures=\"1\""));
    let page = folder.read("r.html");
    assert!(page.contains("bad 0.1 as agent"));
    for text in [
        &came.said,
        &page,
        &folder.read("r.json"),
        &folder.read("r.xml"),
    ] {
        assert!(!text.contains("t0ps3cret") && !text.contains('\u{1b}'));
    }
}

#[test]
fn what_is_expected_is_expected_exactly() {
    let folder = Folder::new(&[
        ("session.acpt", SESSION),
        ("hello.acpt", &format!("# Hello.\nproves: R027\n{HELLO}")),
        ("bad.txt", BAD),
        (
            "right.toml",
            "[[expected]]\nscenario = \"session\"\nrule = \"R058\"\nreason = \"old\"\n",
        ),
        (
            "stale.toml",
            "[[expected]]\nrule = \"R058\"\nreason = \"old\"\n\n\
             [[expected]]\nscenario = \"hello\"\nreason = \"was so\"\n\n\
             [[expected]]\nrule = \"R999\"\nreason = \"never was\"\n\n\
             [[expected]]\nscenario = \"helo\"\nreason = \"never was\"\n",
        ),
        ("empty.toml", ""),
        (
            "wrong.toml",
            "[[expected]]\nscenario = \"session\"\nreason = \" \"\n",
        ),
    ]);
    let with = |file: &str| {
        let args = ["--scenario", ".", "--expected", file];
        check(&folder, &args, &[PROGRAM, "agent", "--script", "bad.txt"])
    };
    with("right.toml").ends_with(0).says(&[
        "failed as expected\n  ./session: old\n",
        "1 passed, 1 failed as expected\n",
    ]);
    with("stale.toml").ends_with(1).says(&[
        "the list of expected failures\n",
        "stale.toml:5: hello passes now; remove this entry\n",
        "stale.toml:9: there is no rule `R999`\n",
        "stale.toml:13: there is no scenario `helo`\n",
    ]);
    with("empty.toml").ends_with(1).says(&["FAILED  ./session"]);
    let came = with("wrong.toml");
    assert!(
        came.told.contains("wrong.toml:1: an entry says its reason"),
        "{came:?}"
    );
    came.ends_with(2);
    // What was not played says nothing about what is expected of it.
    let args = [
        "--scenario",
        ".",
        "--expected",
        "right.toml",
        "--filter",
        "hello",
    ];
    check(&folder, &args, &[PROGRAM, "agent"]).ends_with(0);
}

#[test]
fn exit_codes() {
    let broken = "# Wrong itself.\n-> initialize {\"protocolVersion\": any}\n";
    let folder = Folder::new(&[
        ("hello.acpt", HELLO),
        ("broken.txt", broken),
        ("parse.txt", "-> initialise\n"),
        ("profile.toml", "patience = \"soon\"\n"),
    ]);
    let mock = [PROGRAM, "agent"];
    let hello = ["--scenario", "hello.acpt"];
    check(&folder, &hello, &mock).ends_with(0);
    check(&folder, &hello, &["no-such-program-at-all"]).ends_with(3);
    check(&folder, &hello, &["/dev/null"])
        .ends_with(3)
        .says(&["could not be started"]);
    check(&folder, &["--scenario", "broken.txt"], &mock)
        .ends_with(78)
        .says(&[
            "BROKEN  broken.txt",
            "line 2: -> initialize {\"protocolVersion\": any}",
        ]);
    check(&folder, &["--scenario", "parse.txt"], &mock).ends_with(78);
    for wrong in [
        &["--scenario", "hello.acpt", "--jobs", "0"][..],
        &["--scenario", "hello.acpt", "--jobs", "9"],
        &["--scenario", "hello.acpt", "--set", "x"],
        &["--scenario", "hello.acpt", "--spawn"],
        &[
            "--scenario",
            "hello.acpt",
            "--filter",
            "nothing of the kind",
        ],
        &["--scenario", "hello.acpt", "--output", "r.pdf"],
        &["--scenario", "hello.acpt", "--format", "yaml"],
        &["--scenario", "hello.acpt", "--role", "judge"],
        &["--scenario", "hello.acpt", "--profile", "profile.toml"],
        &["--scenario", "hello.acpt", "--profile", "nowhere.toml"],
        &["--scenario", "hello.acpt", "--chaos", "1"],
        &["--rounds", "3"],
        &["--nonsense"],
    ] {
        let came = check(&folder, wrong, &mock);
        assert!(!came.told.is_empty(), "{wrong:?}");
        came.ends_with(2);
    }
    check(&folder, &hello, &[]).ends_with(2);
}

#[test]
fn scenarios_are_chosen_and_listed() {
    let folder = Folder::new(&[]);
    let came = check(&folder, &["--list", "--filter", "R058"], &[]);
    came.ends_with(0).says(&["agent/", "R058"]);
    let all = check(&folder, &["--list"], &[]);
    assert!(all.said.lines().count() > came.said.lines().count());
}

#[test]
fn a_profile_says_what_is_known_of_a_program() {
    let said = "\
# It is spoken to in its words.
-> initialize
<- result
-> session/new
<- result {\"sessionId\": \"$s\"}
-> session/prompt {\"sessionId\": \"$s\", \"prompt\": [{\"type\": \"text\", \"text\": \"$say_slow\"}]}
<- session/update {\"update\": {\"content\": {\"text\": \"$heard\"}}}
<- result
";
    let agent = "\
-> initialize
<- text \"noise\\n\"
<- result
-> session/new
<- result {\"sessionId\": \"$s\"}
-> session/prompt {\"prompt\": [{\"text\": \"be slow, please\"}]}
<- session/update {\"sessionId\": \"$s\", \"update\": {\"sessionUpdate\": \"agent_message_chunk\", \"content\": {\"type\": \"text\", \"text\": \"as you like\"}}}
<- result {\"stopReason\": \"end_turn\"}
";
    let folder = Folder::new(&[
        ("said.acpt", said),
        ("agent.txt", agent),
        (
            "profile.toml",
            "allow = [\"noise\"]\n[env]\nACP_MOCK_SCRIPT = \"agent.txt\"\n[say]\nslow = \"be slow, please\"\n",
        ),
    ]);
    let args = [
        "--scenario",
        "said.acpt",
        "--profile",
        "profile.toml",
        "--set",
        "heard=as you like",
    ];
    check(&folder, &args, &[PROGRAM, "agent"]).ends_with(0);
    let other = [
        "--scenario",
        "said.acpt",
        "--profile",
        "profile.toml",
        "--set",
        "heard=no",
    ];
    check(&folder, &other, &[PROGRAM, "agent"]).ends_with(1);
}

/// Counts the processes that have this as their command line.
#[cfg(target_os = "linux")]
fn running(command: &[&str]) -> usize {
    let mut line = command.join("\0").into_bytes();
    line.push(0);
    let processes = std::fs::read_dir("/proc").unwrap();
    let same = |entry: std::io::Result<std::fs::DirEntry>| {
        let found = std::fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        (found == line).then_some(())
    };
    processes.filter_map(same).count()
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_left_behind_and_that_is_told() {
    let folder = Folder::new(&[("hello.acpt", HELLO)]);
    // It leaves its group and its session: nobody else would find it.
    let script = format!("setsid sleep 86222 >/dev/null 2>&1 </dev/null & exec {PROGRAM} agent");
    check(
        &folder,
        &["--scenario", "hello.acpt", "--format", "json"],
        &["/bin/sh", "-c", &script],
    )
    .ends_with(0)
    .says(&["it left a process behind: sleep 86222"]);
    assert_eq!(running(&["sleep", "86222"]), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn who_hangs_is_ended_in_its_time() {
    let folder = Folder::new(&[("hello.acpt", &format!("patience: 300ms\n{HELLO}"))]);
    // It hears nothing, no polite signal either.
    let script = "trap '' INT TERM HUP; sleep 86223; sleep 86223";
    check(
        &folder,
        &["--scenario", "hello.acpt"],
        &["/bin/sh", "-c", script],
    )
    .ends_with(1)
    .says(&["it did not come within 300ms"]);
    assert_eq!(running(&["sleep", "86223"]), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn interrupted_it_ends_in_good_order() {
    use rustix::process::{Pid, Signal, kill_process};
    use std::io::{BufRead, BufReader};

    let folder = Folder::new(&[
        ("a.acpt", "patience: 60s\n<- close\n"),
        ("b.acpt", "patience: 60s\n<- close\n"),
    ]);
    let script = "echo here >&3; exec sleep 86224";
    let place = folder.path("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&place)
            .status()
            .unwrap()
            .success()
    );
    let line = format!("exec 3> {}; {script}", place.display());
    let mut judge = Command::new(PROGRAM)
        .args([
            "check",
            "--jobs",
            "1",
            "--scenario",
            ".",
            "--",
            "/bin/sh",
            "-c",
            &line,
        ])
        .current_dir(folder.0.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The first is under way.
    let mut here = String::new();
    BufReader::new(std::fs::File::open(&place).unwrap())
        .read_line(&mut here)
        .unwrap();
    assert_eq!(here, "here\n");
    let pid = Pid::from_raw(i32::try_from(judge.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let output = judge.stdout.take().unwrap();
    let said = std::io::read_to_string(output).unwrap();
    assert_eq!(judge.wait().unwrap().code(), Some(130), "{said}");
    assert!(
        said.contains("not run\n  it was interrupted: ./a, ./b\n"),
        "{said}"
    );
    assert!(said.ends_with("Stopped before the end.\n"), "{said}");
    assert_eq!(running(&["sleep", "86224"]), 0);
}

/// A client on its own stdin and stdout that does what it is told, as far as it can.
const CLIENT: &str = r#"
case "$ACP_CHECK_TASK" in *logout*) exit 75;; esac
echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}'
read answer
echo "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/new\",\"params\":{\"cwd\":\"$ACP_CHECK_CWD\",\"mcpServers\":[]}}"
read answer
"#;

#[test]
fn a_client_is_judged_on_its_own_stdio() {
    let right = "task: [\"new\"]\n-> initialize\n<- result\n-> session/new {\"cwd\": \"$cwd\"}\n<- result {\"sessionId\": \"s\"}\n-> close\n";
    let wrong = "task: [\"new\"]\n-> initialize\n<- result\n-> session/new {\"cwd\": \"/else\"}\n<- result {\"sessionId\": \"s\"}\n";
    let cannot = "task: [\"logout\"]\n-> initialize\n<- result\n-> logout\n<- result\n";
    let folder = Folder::new(&[
        ("right.acpt", right),
        ("wrong.acpt", wrong),
        ("cannot.acpt", cannot),
    ]);
    check(
        &folder,
        &["--role", "client", "--scenario", "."],
        &["/bin/sh", "-c", CLIENT],
    )
    .ends_with(1)
    .says(&[
        "FAILED  ./wrong",
        "at params.cwd: expected \"/else\"",
        "the client cannot do the task (exit code 75): ./cannot",
        "1 passed, 1 failed, 1 skipped",
    ]);
}

/// Starts the agent it is told, as the mock client.
fn spawning(script: &Path) -> String {
    format!(
        "set -- $(printf %s \"$ACP_CHECK_AGENT\" | tr -d '[]\"' | tr , ' ')\n\
         exec {PROGRAM} client --script {} --cwd \"$ACP_CHECK_CWD\" -- \"$@\"",
        script.display()
    )
}

#[cfg(unix)]
#[test]
fn a_client_starts_the_agent_itself() {
    let scenario = "-> initialize\n<- result {\"protocolVersion\": 1}\n-> session/new {\"cwd\": \"$cwd\"}\n<- result {\"sessionId\": \"s\"}\n<- exit 7\n";
    let mine = "-> initialize\n<- result {\"protocolVersion\": 1}\n-> session/new\n<- result {\"sessionId\": \"s\"}\n<- exit 7\n";
    let other = "-> initialize\n<- result {\"protocolVersion\": 1}\n-> session/list\n<- result\n";
    let folder = Folder::new(&[
        ("scenario.acpt", scenario),
        ("mine.txt", mine),
        ("other.txt", &format!("allow: unadvertised\n{other}")),
    ]);
    let args = ["--role", "client", "--spawn", "--scenario", "scenario.acpt"];
    let command = spawning(&folder.path("mine.txt"));
    check(&folder, &args, &["/bin/sh", "-c", &command]).ends_with(0);
    let command = spawning(&folder.path("other.txt"));
    check(&folder, &args, &["/bin/sh", "-c", &command])
        .ends_with(1)
        .says(&["R088 MUST"]);
    check(&folder, &args, &["/bin/sh", "-c", "exit 3"])
        .ends_with(1)
        .says(&["the client never started the agent of ACP_CHECK_AGENT: it ended (exit code 3)"]);
    // A second agent finds the door closed, and says so.
    let twice = format!(
        "{command}\n",
        command = spawning(&folder.path("mine.txt")).replace("exec ", "")
    );
    let twice = format!("{twice}\"$@\" </dev/null; echo \"second: $?\" >&2; exit 0");
    check(
        &folder,
        &[&args[..], &["--format", "json"]].concat(),
        &["/bin/sh", "-c", &twice],
    )
    .ends_with(0);
}

#[test]
fn chaos_is_survived_or_told() {
    let folder = Folder::new(&[]);
    let chaos = |rounds: &str, command: &[&str]| {
        check(&folder, &["--chaos", "3", "--rounds", rounds], command)
    };
    chaos("8", &[PROGRAM, "agent"])
        .ends_with(0)
        .says(&["8 scenarios", "8 passed"]);
    // One that says what it must not, and one that does not end.
    let sings = format!("echo \"$ACP_CHECK_CANARY_TOKEN\"; exec {PROGRAM} agent");
    chaos("1", &["/bin/sh", "-c", &sings])
        .ends_with(1)
        .says(&["it said what stands in its environment (ACP_CHECK_CANARY_TOKEN)"]);
    let crashes = "read line; kill -SEGV $$";
    chaos("1", &["/bin/sh", "-c", crashes])
        .ends_with(1)
        .says(&["it crashed: ended by SIGSEGV"]);
    let panics = "read line; echo \"thread 'main' panicked at src/main.rs:1:1:\" >&2; exit 101";
    chaos("1", &["/bin/sh", "-c", panics])
        .ends_with(1)
        .says(&["it crashed: exit code 101"]);
}

#[test]
fn a_round_of_chaos_can_be_repeated_alone() {
    let folder = Folder::new(&[]);
    let lines = |args: &[&str]| {
        let args = [args, &["--output", "r.html"]].concat();
        // It fails, so that all of it is written.
        let crashes = "read line; kill -SEGV $$";
        check(&folder, &args, &["/bin/sh", "-c", crashes]).ends_with(1);
        let page = folder.read("r.html");
        let (_, script) = page
            .split_once("# Round 5 of the chaos with seed 3.")
            .unwrap();
        let (script, _) = script.split_once("</pre>").unwrap();
        script.to_owned()
    };
    let all = lines(&["--chaos", "3", "--rounds", "5", "--jobs", "1"]);
    let alone = lines(&["--chaos", "3", "--round", "5"]);
    assert_eq!(all, alone);
    assert!(!all.trim().is_empty());
}
