//! Reports of plays in memory, reviewed like code.

use std::time::{Duration, SystemTime};

use acp_process::Launch;
use expect_test::expect_file;
use serde_json::Value;

use super::{Format, Report, ReportLook};
use crate::judge::verdict::{Judged, ScenarioState};
use crate::judge::{Expected, Judge, Profile};
use crate::language::Scenario;
use crate::player::Play;
use acp_recording::PeerSide;

const HELLO: &str = "-> initialize\n<- result {\"protocolVersion\": 1}\n";

/// What would break a page, a terminal or a log if it were let.
const HOSTILE: &str = r#"<- notify _x {"a": "</script><script>alert(1)</script><img src=x onerror=alert(1)> \u001b[2J \u202e ' & ]]> https://example.com/x.js", "api_key": "sk-abcdefghijklmnopqrstuv"}"#;

fn judge(strict: bool) -> Judge {
    let launch = Launch::new("/opt/agents/ada").with_args(["--mode", "it's <fast>"]);
    let mut judge = Judge::new(PeerSide::Agent, launch, Profile::default()).unwrap();
    judge.strict = strict;
    judge
}

/// Plays a scenario of ours against an agent of a script.
fn judged(judge: &Judge, name: &str, scenario: &str, agent: &str) -> Judged {
    let scenario = Scenario::parse(&format!("suite/{name}.acpt"), scenario).unwrap();
    let agent = Scenario::parse("agent.acpt", agent).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    let outcome = runtime.block_on(async {
        let (a, b) = tokio::io::duplex(4096);
        let (agent_reads, agent_writes) = tokio::io::split(a);
        let (client_reads, client_writes) = tokio::io::split(b);
        let (outcome, _) = tokio::join!(
            Play::client(&scenario).over(client_reads, client_writes),
            Play::agent(&agent).over(agent_reads, agent_writes),
        );
        outcome
    });
    judge.outcome(&scenario, &outcome)
}

/// One scenario for each thing that can come of one.
fn everything(judge: &Judge) -> Report {
    let agent = &format!(
        "{HELLO}-> session/new\n{HOSTILE}\n<- raw result {{\"sessionId\": 7}}\n-> close\n"
    );
    let hello = &format!("# An agent says hello.\nproves: R027\n{HELLO}");
    let mut failed = judged(
        judge,
        "session",
        &format!(
            "# Sessions have names.\nproves: R058\ntck: ACP-SESSION-NEW-001\n{HELLO}\
             <- ignore notify _x\n-> session/new\n<- result {{\"sessionId\": \"$s\"}}\n"
        ),
        agent,
    );
    failed.stderr = "panicked at <b>src/main.rs</b>:\n  out of names".to_owned();
    failed.ended = Some("exit code 101".to_owned());
    failed.notes = vec!["it left a process behind: sleep 600".to_owned()];
    let mut known = judged(
        judge,
        "known",
        &format!("# A known failure.\nproves: R090\n{HELLO}-> session/new\n<- error -32000\n"),
        &format!("{HELLO}-> session/new\n<- error -32602\n"),
    );
    known.ended = Some("exit code 0".to_owned());
    let warned = judged(
        judge,
        "warned",
        &format!(
            "# It should be so.\nproves: R029\n{HELLO}  for R029 {{\"agentInfo\": {{\"name\": \"a\" | any string, \"version\": \"1\"}}}}\n"
        ),
        HELLO,
    );
    let skipped = judged(
        judge,
        "list",
        &format!("# Lists.\nproves: R090\nneeds: agent sessionCapabilities.list\n{HELLO}"),
        HELLO,
    );
    let not_exercised = judged(
        judge,
        "race",
        &format!("# A race.\nproves: R120\n{HELLO}not exercised \"nothing was to be cancelled\"\n"),
        HELLO,
    );
    let broken = judged(
        judge,
        "broken",
        "# Wrong.\n-> initialize {\"a\": any}\n",
        HELLO,
    );
    let scenario = Scenario::parse("suite/late.acpt", hello).unwrap();
    let late = Judged::because(
        &scenario,
        ScenarioState::NotRun,
        "everything took longer than 30m",
    );
    let all = vec![
        judged(judge, "hello", hello, HELLO),
        failed,
        known,
        warned,
        skipped,
        not_exercised,
        broken,
        late,
    ];
    let scenarios: Vec<Scenario> = all.iter().map(|one| one.scenario.clone()).collect();
    let began = SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_031_180);
    let expected = Expected::parse(
        "ada.toml",
        "[[expected]]\nscenario = \"suite/known\"\nreason = \"reported <upstream>\"\n\n\
         [[expected]]\nscenario = \"hello\"\nrule = \"R027\"\nreason = \"was so once\"\n",
    );
    Report::new(judge, all, began, Duration::from_millis(1234))
        .with_expected(&expected.unwrap(), &scenarios)
}

#[test]
fn states_are_what_they_should_be() {
    let states: Vec<_> = everything(&judge(false))
        .judged
        .iter()
        .map(|one| format!("{} {} {}", one.name, one.state, one.is_a_problem()))
        .collect();
    assert_eq!(
        states,
        [
            "suite/hello passed false",
            "suite/session failed true",
            "suite/known failed false",
            "suite/warned warned false",
            "suite/list skipped false",
            "suite/race not exercised false",
            "suite/broken broken true",
            "suite/late not run true",
        ]
    );
    let strict = everything(&judge(true));
    assert_eq!(strict.judged[3].state, ScenarioState::Failed);
}

#[test]
fn every_format_is_reviewed_like_code() {
    let report = everything(&judge(false));
    let render = |format| report.render(format, ReportLook::default());
    expect_file!["snapshots/report.txt"].assert_eq(&render(Format::Human));
    expect_file!["snapshots/report.json"].assert_eq(&render(Format::Json));
    expect_file!["snapshots/report.xml"].assert_eq(&render(Format::Junit));
    // The style is a file of its own.
    let page = render(Format::Html);
    let (head, rest) = page.split_once("<style>").unwrap();
    let (_, body) = rest.split_once("</style>").unwrap();
    expect_file!["snapshots/report.html"].assert_eq(&format!("{head}<style>…</style>{body}"));
}

#[test]
fn json_is_as_its_schema_says() {
    let schema: Value = serde_json::from_str(include_str!("../../../report.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let text = everything(&judge(false)).render(Format::Json, ReportLook::default());
    let report: Value = serde_json::from_str(&text).unwrap();
    let errors: Vec<_> = validator
        .iter_errors(&report)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, [""; 0]);
    // The schema says something: what is missing or unknown is found.
    for (path, value) in [("version", 2.into()), ("scenarios", Value::Null)] {
        let mut wrong = report.clone();
        wrong[path] = value;
        assert!(!validator.is_valid(&wrong), "{path}");
    }
    let mut wrong = report.clone();
    wrong["scenarios"][1]["state"] = "odd".into();
    assert!(!validator.is_valid(&wrong));
}

/// Walks over tags and tells which are not closed in order.
#[track_caller]
fn well_formed(text: &str, empty: &[&str]) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("every tag ends");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if tag.starts_with(['!', '?']) || tag.ends_with('/') {
            continue;
        }
        let name = tag
            .trim_start_matches('/')
            .split_whitespace()
            .next()
            .unwrap();
        if tag.starts_with('/') {
            assert_eq!(
                open.pop(),
                Some(name),
                "before {:?}",
                &rest[..rest.len().min(80)]
            );
        } else if !empty.contains(&name) {
            open.push(name);
        }
    }
    assert_eq!(open, [""; 0]);
}

#[test]
fn a_page_fetches_nothing_and_lets_no_stranger_speak() {
    let page = everything(&judge(false)).render(Format::Html, ReportLook::default());
    well_formed(&page, &["meta", "input"]);
    let (head, _) = page.split_once("</style>").unwrap();
    for word in [
        "src=", "url(", "@import", "<script", "<link", "<img", "http:", "https:",
    ] {
        assert!(!head.contains(word), "{word}");
    }
    for word in [
        "<script",
        "<img",
        "<iframe",
        "<b>src",
        "<fast>",
        "<upstream>",
        "<link",
        "<object",
    ] {
        assert!(!page.contains(word), "{word}");
    }
    // What is an address in the page leads to a place in it.
    for address in page.split("href=\"").skip(1) {
        assert!(address.starts_with("#scenario-"), "{}", &address[..40]);
    }
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

#[test]
fn links_lead_somewhere() {
    let page = everything(&judge(false)).render(Format::Html, ReportLook::default());
    let mut count = 0;
    for link in page.split("href=\"#").skip(1) {
        let (id, _) = link.split_once('"').unwrap();
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
        count += 1;
    }
    assert!(count > 4);
}

#[test]
fn junit_is_xml_that_counts_right() {
    let xml = everything(&judge(false)).render(Format::Junit, ReportLook::default());
    well_formed(&xml, &[]);
    let count = |tag: &str| xml.matches(tag).count().to_string();
    let (head, _) = xml.split_once("<properties>").unwrap();
    for (attribute, tag) in [
        ("tests", "<testcase "),
        ("failures", "<failure "),
        ("errors", "<error "),
        ("skipped", "<skipped "),
    ] {
        assert!(
            head.contains(&format!(" {attribute}=\"{}\"", count(tag))),
            "{attribute}: {head}"
        );
    }
}

#[test]
fn no_format_shows_a_secret_or_moves_a_cursor() {
    let report = everything(&judge(false));
    for format in [Format::Human, Format::Json, Format::Junit, Format::Html] {
        let text = report.render(format, ReportLook::default());
        assert!(!text.contains("sk-abcdefghijklmnopqrstuv"), "{format:?}");
        assert!(!text.contains('\u{1b}'), "{format:?}");
        // JSON is read on terminals too, where nobody takes it apart.
        assert!(format != Format::Json || !text.contains('\u{202e}'));
    }
    let colours = ReportLook { colours: true };
    let text = report.render(Format::Human, colours);
    // Colours, and nothing else.
    for code in text.split('\u{1b}').skip(1) {
        let (code, _) = code.split_once('m').unwrap();
        assert!(
            ["[1;31", "[33", "[32", "[2", "[1", "[0"].contains(&code),
            "{code}"
        );
    }
}
