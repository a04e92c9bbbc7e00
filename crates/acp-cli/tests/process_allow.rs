//! `--allow`: what is answered to which request, and that it is shown.
#![cfg(target_os = "linux")]

mod support;

use support::acp;

/// Asks for a tool call described like this, offering every kind of option, and tells
/// the answer as its text.
fn asking(tool: &str) -> String {
    format!(
        r#"start; prompt=$id; tool='{{"toolCallId":"t","title":"T"{tool}}}'
        say "{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/request_permission\",\"params\":{{\"sessionId\":\"s\",\"toolCall\":$tool,\"options\":[{{\"optionId\":\"aa\",\"name\":\"A\",\"kind\":\"allow_always\"}},{{\"optionId\":\"ao\",\"name\":\"A\",\"kind\":\"allow_once\"}},{{\"optionId\":\"ra\",\"name\":\"R\",\"kind\":\"reject_always\"}},{{\"optionId\":\"ro\",\"name\":\"R\",\"kind\":\"reject_once\"}}]}}}}"
        hear; text "$(expr "$line" : '.*"optionId":"\([a-z]*\)')"; id=$prompt; end end_turn; hear"#
    )
}

#[test]
fn each_level_allows_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let inside = format!(
        r#","locations":[{{"path":"{}/new/file"}}]"#,
        folder.path().canonicalize().unwrap().display()
    );
    let outside = r#","locations":[{"path":"/etc/passwd"}]"#.to_owned();
    let both = inside.replace(']', r#",{"path":"/etc/passwd"}]"#);
    let diff = r#","content":[{"type":"diff","path":"/etc/passwd","newText":"x"}]"#;
    let kind = |kind: &str, more: &str| format!(r#","kind":"{kind}"{more}"#);
    // The tool, and whether none, reads, edits and all allow it.
    let cases = [
        (kind("read", ""), [false, true, true, true]),
        (kind("search", &outside), [false, true, true, true]),
        (kind("read", diff), [false, false, false, true]),
        (kind("edit", &inside), [false, false, true, true]),
        (
            kind("edit", &format!("{inside}{diff}")),
            [false, false, false, true],
        ),
        (kind("delete", &inside), [false, false, true, true]),
        (kind("move", &inside), [false, false, true, true]),
        (kind("move", &both), [false, false, false, true]),
        (kind("edit", &outside), [false, false, false, true]),
        // Nothing but a person allows a change of these.
        (
            kind("edit", &inside.replace("new/file", ".git/config")),
            [false; 4],
        ),
        (
            kind("edit", &inside.replace("new/file", ".VSCode/tasks.json")),
            [false; 4],
        ),
        (kind("edit", ""), [false, false, false, true]),
        (kind("execute", &inside), [false, false, false, true]),
        (kind("other", &inside), [false, false, false, true]),
        (kind("brand_new", &inside), [false, false, false, true]),
        (inside.clone(), [false, false, false, true]),
    ];
    for (tool, allowed) in &cases {
        for (level, allowed) in ["none", "reads", "edits", "all"].into_iter().zip(allowed) {
            let run = acp(&["--allow", level, "x"], &asking(tool)).in_folder(folder.path());
            let ended = run.end();
            let (option, word) = if *allowed {
                ("ao", "allowed")
            } else {
                ("ro", "refused")
            };
            assert_eq!(
                ended.out,
                format!("{option}\n"),
                "{level}: {tool}: {}",
                ended.err
            );
            assert!(
                ended.err.contains(&format!(" T: {word} (")),
                "{level}: {tool}: {}",
                ended.err
            );
            assert_eq!(ended.code, Some(0));
        }
    }
}

#[test]
fn the_kind_may_be_known_from_the_announcement() {
    let announced = r#"start; prompt=$id
        update '{"sessionUpdate":"tool_call","toolCallId":"t","title":"Announced","kind":"read"}'
        say '{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"ao","name":"A","kind":"allow_once"}]}}'
        hear; text "$(expr "$line" : '.*"optionId":"\([a-z]*\)')"; id=$prompt; end end_turn; hear"#;
    let ended = acp(&["--allow", "reads", "x"], announced).end();
    assert_eq!(ended.out, "ao\n");
    assert_eq!(
        ended.err,
        "[asks] read Announced: allowed (read tools are allowed)\n[tool] read Announced: not finished\n"
    );
}

#[test]
fn no_level_answers_a_question_in_disguise() {
    let question = r#"start; prompt=$id
        say '{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t","title":"Tea or coffee?","kind":"read"},"options":[{"optionId":"tea","name":"Tea","kind":"allow_once"},{"optionId":"coffee","name":"Coffee","kind":"allow_once"},{"optionId":"no","name":"Neither","kind":"reject_once"}]}}'
        hear; text "$(expr "$line" : '.*"optionId":"\([a-z]*\)')"; id=$prompt; end end_turn; hear"#;
    for level in ["none", "reads", "edits", "all"] {
        let ended = acp(&["--allow", level, "x"], question).end();
        assert_eq!(ended.out, "no\n", "{level}");
        assert_eq!(
            ended.err,
            "[asks] read Tea or coffee?: refused (it is a question in the shape of a permission request)\n",
            "{level}"
        );
        assert_eq!(ended.code, Some(0), "{level}");
    }
}

#[test]
fn a_link_out_of_the_folder_is_outside() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    std::os::unix::fs::symlink("/etc", real.join("link")).unwrap();
    let tool = format!(
        r#","kind":"edit","locations":[{{"path":"{}/link/passwd"}}]"#,
        real.display()
    );
    let ended = acp(&["--allow", "edits", "x"], &asking(&tool))
        .in_folder(&real)
        .end();
    assert_eq!(ended.out, "ro\n");
    assert!(
        ended
            .err
            .contains("/link/passwd is outside the working folder"),
        "{}",
        ended.err
    );
}

#[test]
fn json_shows_what_was_decided_in_its_place() {
    let ended = acp(
        &["--json", "--allow", "all", "x"],
        &asking(r#","kind":"execute""#),
    )
    .end();
    let events: Vec<serde_json::Value> = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<&str> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["session", "permission", "update", "end"]);
    assert_eq!(
        events[1],
        serde_json::json!({
            "v": 1, "event": "permission", "toolCallId": "t", "title": "T", "kind": "execute", "allowed": true,
            "optionId": "ao", "optionKind": "allow_once", "by": "policy", "reason": "everything is allowed",
        })
    );
    assert_eq!(ended.err, "");
}
