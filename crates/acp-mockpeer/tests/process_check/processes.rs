//! The processes of a program, and the folders it is given.

#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::{Folder, HELLO, PROGRAM, check};

/// Counts the processes that have this as their command line.
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

#[test]
fn interrupted_it_ends_in_good_order() {
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

/// An agent that opens a session in every folder that is there, and notes which.
const OPENS_WHAT_IS_THERE: &str = r#"
read ask
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
for id in 2 3; do
  read ask
  folder=${ask#*\"cwd\":\"}
  folder=${folder%%\"*}
  echo "$folder" >> folders
  test -d "$folder" || exit 1
  echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"sessionId\":\"$id\"}}"
done
"#;

#[test]
fn there_is_a_second_folder_as_long_as_it_is_needed() {
    let scenario = format!(
        "{HELLO}-> session/new {{\"cwd\": \"$cwd\"}} as one\n<- result of one\n\
         -> session/new {{\"cwd\": \"$elsewhere\"}} as two\n<- result of two\n"
    );
    let folder = Folder::new(&[("two.acpt", &scenario)]);
    let agent = ["/bin/sh", "-c", OPENS_WHAT_IS_THERE];
    check(&folder, &["--scenario", "two.acpt"], &agent).ends_with(0);
    let folders = folder.read("folders");
    let [one, two] = folders.lines().collect::<Vec<_>>()[..] else {
        panic!("{folders}");
    };
    assert_ne!(one, two);
    let beside = |folder: &str| Path::new(folder).parent().map(Path::to_path_buf);
    assert_eq!(beside(one), beside(two));
    assert!(!Path::new(one).exists() && !Path::new(two).exists());
}
