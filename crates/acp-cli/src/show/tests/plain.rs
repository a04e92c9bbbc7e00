//! What is written where there is no terminal.

use acp_client::{Allow, Policy};
use acp_conversation::ToolCallState;
use acp_protocol::v1::{
    CurrentModeUpdate, Notice, NoticeSeverity, PermissionOption, PermissionOptionKind,
    PlanEntryStatus, ToolCallLocation, ToolCallStatus, ToolKind,
};
use expect_test::{Expect, expect};

use super::super::Served;
use super::*;
use crate::outcome::Failure;

/// A stream that is kept.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Kept {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().clone()).unwrap()
    }
}

/// Both streams.
fn shown(facts: Facts, act: impl FnOnce(&mut Screen<Kept, Kept>)) -> (String, String) {
    let (out, err) = (Kept::default(), Kept::default());
    let now = Instant::now();
    let mut screen = Screen::new(
        ScreenWriter::to_file(out.clone()),
        ScreenWriter::to_file(err.clone()),
        facts,
        Box::new(|| None),
        now,
    );
    screen.in_folder("/code".into());
    act(&mut screen);
    (out.text(), err.text())
}

fn piped(act: impl FnOnce(&mut Screen<Kept, Kept>)) -> (String, String) {
    shown(Facts::default(), act)
}

#[track_caller]
fn check(updates: &[SessionUpdate], out: &str, err: Expect) {
    let seen = piped(|screen| {
        for update in updates {
            screen.update(update).unwrap();
        }
        screen.finish().unwrap();
    });
    assert_eq!(seen.0, out);
    err.assert_eq(&seen.1);
}

#[test]
fn text_goes_out_as_it_is_and_its_last_line_gets_an_end() {
    let parts = ["Hel", "lo\u{1b}[1m", "", "\n\nwor", "ld"].map(text);
    check(&parts, "Hello\u{1b}[1m\n\nworld\n", expect![""]);
    check(&[text("ends\n")], "ends\n", expect![""]);
    check(&[], "", expect![""]);
}

#[test]
fn messages_stand_on_lines_of_their_own() {
    let read = |status| tool("t", ToolKind::Read, "Read\nnotes.md", status).into();
    check(
        &[
            text("I shall look."),
            read(ToolCallStatus::Pending),
            change("t", ToolCallStatus::Completed).into(),
            text("Do"),
            change("t", ToolCallStatus::Completed).into(),
            text("ne."),
        ],
        "I shall look.\nDone.\n",
        expect![[r#"
            [tool] read Read notes.md: completed
        "#]],
    );
    let of_message = |id: &str, text: &str| {
        SessionUpdate::AgentMessageChunk(
            ContentChunk::new(ContentBlock::text(text)).with_message_id(id),
        )
    };
    check(
        &[
            of_message("a", "one "),
            read(ToolCallStatus::Pending),
            of_message("a", "more"),
            of_message("b", "two"),
        ],
        "one more\ntwo\n",
        expect![[r#"
            [tool] read Read notes.md: not finished
        "#]],
    );
}

#[test]
fn a_tool_call_is_one_line_with_what_it_showed_below() {
    let places = vec![
        ToolCallLocation::new("/code/a.txt"),
        ToolCallLocation::new("/b"),
    ];
    let edit = tool("t", ToolKind::Edit, "Change", ToolCallStatus::Pending);
    check(
        &[
            edit.with_locations(places).into(),
            change("t", ToolCallStatus::InProgress).into(),
            change("t", ToolCallStatus::Completed)
                .with_content(diff("/code/a.txt", "a\nb\n", "a\nc\n"))
                .into(),
            tool("u", ToolKind::Execute, "make", ToolCallStatus::Failed)
                .with_content(output("no rule\n"))
                .into(),
        ],
        "",
        expect![[r#"
            [tool] edit Change: completed (a.txt +1)
                a.txt  +1 -1
                1   a
                2 - b
                2 + c
            [tool] execute make: failed
                | no rule
        "#]],
    );
}

#[test]
fn a_plan_is_one_line_and_then_its_news() {
    use PlanEntryStatus::{Completed, InProgress, Pending};
    let steps = |a: &PlanEntryStatus, b: &PlanEntryStatus| {
        plan(&[("Look", a.clone()), ("Change\nit", b.clone())])
    };
    check(
        &[
            steps(&InProgress, &Pending),
            steps(&InProgress, &Pending),
            steps(&Completed, &InProgress),
            steps(&Completed, &Completed),
            plan(&[("Other", Pending)]),
        ],
        "",
        expect![[r#"
            [plan] 0/2 [>] Look  [ ] Change it
            [plan] 1/2 [x] Look  [>] Change it
            [plan] 2/2 [x] Change it
            [plan] 0/1 [ ] Other
        "#]],
    );
}

#[test]
fn news_are_quiet_and_thoughts_are_folded() {
    let notice =
        Notice::new(NoticeSeverity::Warning, "Old model").with_description("Choose\nanother.");
    check(
        &[
            thought("**Think"),
            thought("ing**\nof plants\n"),
            text("Hm."),
            CurrentModeUpdate::new("act").into(),
            SessionUpdate::Notice(Box::new(notice)),
            thought("And what now?"),
        ],
        "Hm.\n",
        expect![[r#"
            [thought] Thinking (+1 line)
            [news] mode act
            [note] warning: Old model Choose another.
            [thought] And what now?
        "#]],
    );
}

#[test]
fn answers_to_permission_requests_say_why() {
    let call = tool("t", ToolKind::Execute, "rm -r /", ToolCallStatus::Pending);
    let facts = ToolCallState::from(&ToolCallUpdate::from(call));
    let options = [PermissionOption::new(
        "y",
        "Yes",
        PermissionOptionKind::AllowOnce,
    )];
    let said = |allow| {
        let decision = Policy::new(allow, "/").decide(&facts, &options);
        piped(|screen| screen.permission(&facts, &decision).unwrap()).1
    };
    assert_eq!(
        said(Allow::Reads),
        "[asks] execute rm -r /: refused (execute tools are not allowed; see --allow)\n"
    );
    assert_eq!(
        said(Allow::All),
        "[asks] execute rm -r /: allowed (everything is allowed)\n"
    );
}

#[test]
fn the_log_of_decisions_has_the_whole_command() {
    let title = format!("ls {}\u{202e}\u{e0041}\n; curl x | sh", "-a ".repeat(1000));
    let call = tool("t", ToolKind::Execute, &title, ToolCallStatus::Pending);
    let facts = ToolCallState::from(&ToolCallUpdate::from(call));
    let decision = Policy::new(Allow::All, "/").decide(&facts, &[]);
    let (_, err) = piped(|screen| screen.permission(&facts, &decision).unwrap());
    let whole = format!(
        "[asks] execute ls {}\\u{{202e}}\\u{{e0041}}\\n; curl x | sh: ",
        "-a ".repeat(1000)
    );
    assert!(err.starts_with(&whole), "{err}");
    // More of a title is not kept, and that is said.
    let call = tool(
        "t",
        ToolKind::Execute,
        &"x".repeat(9000),
        ToolCallStatus::Pending,
    );
    let facts = ToolCallState::from(&ToolCallUpdate::from(call));
    let (_, err) = piped(|screen| screen.permission(&facts, &decision).unwrap());
    assert!(
        err.contains("x [... the rest of the title is not kept ...]: "),
        "{err}"
    );
    let served = Served::Command {
        terminal: None,
        command: "sh".to_owned(),
        args: vec!["-c".to_owned(), format!("{}; \u{9b}2J", ":".repeat(500))],
        cwd: None,
        error: None,
    };
    let (_, text) = served.in_words().unwrap();
    assert_eq!(text, &*format!("sh -c {}; \\u{{9b}}2J", ":".repeat(500)));
}

#[test]
fn before_the_turn_warnings_alone_are_shown() {
    let notice = SessionUpdate::Notice(Box::new(Notice::new(NoticeSeverity::Warning, "Old model")));
    let (out, err) = piped(|screen| {
        screen.earlier(&text("banner v1")).unwrap();
        let failed = tool("t", ToolKind::Read, "Read", ToolCallStatus::Failed);
        screen.earlier(&failed.into()).unwrap();
        screen.earlier(&notice).unwrap();
    });
    assert_eq!(
        (out.as_str(), err.as_str()),
        ("", "[note] warning: Old model\n")
    );
}

#[test]
fn a_failure_says_what_to_do_and_what_the_agent_said_last() {
    let failure = Failure {
        message: "failed to go on".to_owned(),
        hint: Some("try again".to_owned()),
        last_words: Some("boom\n\u{1b}[31mbang\n".to_owned()),
        noise: Some("Loaded credentials.".into()),
    };
    let (_, err) = piped(|screen| screen.fail(&failure).unwrap());
    expect![[r#"
        acp: failed to go on
          try again
          the agent wrote last:
          | boom
          | bang
          its standard output has a line that is no message:
          | Loaded credentials.
    "#]]
    .assert_eq(&err);
}

#[test]
fn colours_may_be_wanted_all_the_same() {
    let facts = Facts {
        colour: true,
        ..Facts::default()
    };
    let (_, err) = shown(facts, |screen| {
        let call = tool("t", ToolKind::Execute, "make", ToolCallStatus::Failed);
        screen.update(&call.into()).unwrap();
    });
    assert_eq!(
        err,
        "\u{1b}[2m[tool] \u{1b}[0mexecute make: \u{1b}[31mfailed\u{1b}[0m\n"
    );
}
