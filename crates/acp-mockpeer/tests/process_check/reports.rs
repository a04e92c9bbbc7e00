//! What is written of failures, and what is expected of them.

use serde_json::Value;

use crate::{Folder, HELLO, PROGRAM, SESSION, check};

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
