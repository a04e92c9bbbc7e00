//! Chaos: who survives it, who does not, and the least that it takes.

use crate::{Came, Folder, PROGRAM, check};

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

/// Answers every request, until it hears of something that it does not survive.
const FRAIL: &str = r#"
while IFS= read -r line; do
  case "$line" in *_chaos/unknown*) kill -SEGV $$;; esac
  # A shell takes very long to cut a very long line.
  test ${#line} -gt 4000 && continue
  case "$line" in *\"method\"*) ;; *) continue;; esac
  rest=${line#*\"id\":}
  test "$rest" = "$line" && continue
  echo "{\"jsonrpc\":\"2.0\",\"id\":${rest%%[,\}]*},\"result\":{\"sessionId\":\"s\"}}"
done
"#;

/// Returns the options of the command line by which the smallest failure is repeated.
fn repeated(came: &Came, begins: &str) -> Vec<String> {
    let line = came
        .said
        .lines()
        .find(|line| line.trim().starts_with(begins));
    let line = line.unwrap_or_else(|| panic!("no `{begins}` in\n{}", came.said));
    let options = line.trim().strip_prefix("acp-mockpeer check ").unwrap();
    let (options, program) = options.split_once(" -- ").unwrap();
    assert!(program.starts_with("/bin/sh -c '"), "{program}");
    options.split(' ').map(str::to_owned).collect()
}

#[test]
fn a_failure_is_made_small_and_can_be_repeated() {
    let folder = Folder::new(&[]);
    let frail = ["/bin/sh", "-c", FRAIL];
    let came = check(&folder, &["--chaos", "3", "--rounds", "6"], &frail);
    came.ends_with(1).says(&[
        "it crashed: ended by SIGSEGV",
        "the smallest that fails so, of ",
        " played: 1 of its ",
        " lines, with 0 of ",
    ]);
    let options = repeated(&came, "acp-mockpeer check --chaos 3 --round ");
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let again = check(&folder, &options, &frail);
    again.ends_with(1).says(&["it crashed: ended by SIGSEGV"]);
    assert!(!again.said.contains("the smallest"), "{}", again.said);
    let without = [&options[..options.len() - 1], &["none"]].concat();
    check(&folder, &without, &frail).ends_with(0);
    let wrong = [&options[..options.len() - 1], &["first"]].concat();
    let came = check(&folder, &wrong, &frail);
    assert!(
        came.told.contains("`first` is no line of a round"),
        "{came:?}"
    );
    came.ends_with(2);
}

/// A client that makes itself known and hears what comes before its answer.
const FRAIL_CLIENT: &str = r#"
echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}'
while IFS= read -r line; do
  case "$line" in *_chaos/unknown*) kill -SEGV $$;; esac
  case "$line" in '{"id":1,'*'}' | '{"jsonrpc":"2.0","id":1,'*'}') exit 0;; esac
done
"#;

#[test]
fn a_failure_of_a_client_is_made_small_too() {
    let folder = Folder::new(&[]);
    let frail = ["/bin/sh", "-c", FRAIL_CLIENT];
    let args = ["--role", "client", "--chaos", "5", "--rounds", "4"];
    let came = check(&folder, &args, &frail);
    came.ends_with(1).says(&["it crashed: ended by SIGSEGV"]);
    let begins = "acp-mockpeer check --role client --chaos 5 --round ";
    let options = repeated(&came, begins);
    assert!(options.last().unwrap().starts_with("1."), "{options:?}");
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    check(&folder, &options, &frail).ends_with(1);
}
