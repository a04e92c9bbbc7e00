//! `acp check` over our own demo agent: it keeps every rule of the suite that a
//! scenario can find broken, and survives chaos.

use std::path::Path;
use std::process::{Command, Output, Stdio};

const ACP: &str = env!("CARGO_BIN_EXE_acp");

/// Runs `acp check`, in a folder where nothing is that could be meant.
fn check(args: &[&str], agent: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(ACP)
        .arg("check")
        .args(args)
        .args(["--", ACP])
        .args(agent)
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[track_caller]
fn passes(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{said}\n{told}", output.status);
    said.into_owned()
}

/// Returns how many scenarios came out so, as the summary says.
fn count(said: &str, state: &str) -> u32 {
    let summary = said.lines().rev().nth(2).unwrap_or_default();
    assert!(summary.contains(" scenarios in "), "{said}");
    let parts = summary.split([':', ',']);
    let number =
        |part: &str| -> Option<u32> { part.trim().strip_suffix(state)?.trim().parse().ok() };
    parts.filter_map(number).next().unwrap_or(0)
}

#[test]
fn the_demo_agent_keeps_every_rule() {
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/expected/demo-agent.toml");
    let known = known.to_str().unwrap();
    // What is known and not so any more is an error, so is a list of nothing.
    let mut args = vec!["--jobs", "4"];
    if Path::new(known).exists() {
        args.extend(["--expected", known]);
    }
    let said = passes(&check(&args, &["demo-agent"]));
    // A suite that is skipped proves nothing.
    assert!(count(&said, "passed") >= 80, "{said}");
    let left_out = count(&said, "skipped") + count(&said, "not exercised");
    assert!(left_out <= 10, "{said}");
}

/// With the login that the profile names, an agent that wants one is asked everything.
#[test]
fn the_demo_agent_is_logged_in_to() {
    let args = ["--jobs", "4", "--set", "login=knock"];
    let said = passes(&check(&args, &["demo-agent", "--login"]));
    assert!(count(&said, "passed") >= 80, "{said}");
    assert_eq!(count(&said, "skipped"), 0, "{said}");
}

#[test]
fn the_demo_agent_keeps_the_rules_of_logins_too() {
    let args = [
        "--filter",
        "login",
        "--filter",
        "logout",
        "--filter",
        "initialize",
    ];
    passes(&check(&args, &["demo-agent", "--login"]));
}

#[test]
fn the_demo_agent_survives_chaos() {
    let said = passes(&check(
        &["--chaos", "20261130", "--rounds", "40"],
        &["demo-agent"],
    ));
    assert!(said.contains(": 40 passed\n"), "{said}");
}
