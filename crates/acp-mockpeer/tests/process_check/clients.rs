//! Clients, on their own pipes and with the agent that they start.

use std::path::Path;

use crate::{Folder, PROGRAM, check};

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
