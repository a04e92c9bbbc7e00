//! What the command line and a profile may say, and the exit codes.

use crate::{Folder, HELLO, PROGRAM, check};

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
