//! How messages are read: tags anywhere, nothing buffered, nothing lost, bounds.

use std::hint::black_box;

use acp_protocol::lenient::{self, Forgiven};
use acp_protocol::rpc::RequestId;
use acp_protocol::v1::{
    AuthMethodTerminal, CancelRequestNotification, ContentBlock, ElicitationAcceptAction,
    EnvVariable, HttpHeader, ListSessionsRequest, LoadSessionResponse, McpServer, McpServerHttp,
    NewSessionRequest, Plan, SessionInfoUpdate, SessionNotification, SessionUpdate, ToolCall,
    ToolCallLocation, ToolCallUpdate,
};
use acp_protocol::{Meta, Patch, RawJson};
use allocation_counter::measure;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const TAG_FIRST: &str = r#"{"sessionId":"session-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello, Ada."}}}"#;
const TAG_LAST: &str = r#"{"update":{"content":{"text":"Hello, Ada.","type":"text"},"sessionUpdate":"agent_message_chunk"},"sessionId":"session-1"}"#;

fn chunk() -> SessionNotification {
    SessionUpdate::agent_text("Hello, Ada.").for_session("session-1")
}

#[test]
fn place_of_the_tag_does_not_matter() {
    for line in [TAG_FIRST, TAG_LAST] {
        assert_eq!(
            serde_json::from_str::<SessionNotification>(line).unwrap(),
            chunk()
        );
    }
    assert_eq!(serde_json::to_string(&chunk()).unwrap(), TAG_FIRST);
}

#[test]
fn chunk_costs_one_allocation_for_each_string() {
    let read = measure(|| {
        black_box(serde_json::from_slice::<SessionNotification>(TAG_FIRST.as_bytes()).unwrap());
    });
    assert_eq!(read.count_total, 2, "{read:?}"); // the session id and the text
    // Members before a tag are kept as slices: one list for the update, one for the block.
    let read = measure(|| {
        black_box(serde_json::from_slice::<SessionNotification>(TAG_LAST.as_bytes()).unwrap());
    });
    assert_eq!(read.count_total, 4, "{read:?}");
    let value = chunk();
    let mut buffer = Vec::with_capacity(1024);
    let written = measure(|| serde_json::to_writer(&mut buffer, &value).unwrap());
    assert_eq!(written.count_total, 0, "{written:?}");
}

#[test]
fn frequent_types_are_small() {
    assert!(
        size_of::<ContentBlock>() <= 48,
        "{}",
        size_of::<ContentBlock>()
    );
    assert!(
        size_of::<SessionUpdate>() <= 72,
        "{}",
        size_of::<SessionUpdate>()
    );
    assert!(
        size_of::<SessionNotification>() <= 96,
        "{}",
        size_of::<SessionNotification>()
    );
    assert_eq!(size_of::<RequestId>(), 24);
}

#[test]
fn unknown_update_is_written_back_as_it_came() {
    let line = r#"{"sessionId":"session-1","update":{"z":1.0,"sessionUpdate":"_weather","a":{"b":[2e3, 18446744073709551616]},"a":"\u00e4"}}"#;
    let read: SessionNotification = serde_json::from_str(line).unwrap();
    let SessionUpdate::Unrecognized(other) = &read.update else {
        panic!("{read:?}");
    };
    assert_eq!(other.tag(), "_weather");
    let update = line
        .strip_prefix(r#"{"sessionId":"session-1","update":"#)
        .unwrap();
    assert_eq!(other.raw().as_str(), update.strip_suffix('}').unwrap());
    assert_eq!(serde_json::to_string(&read).unwrap(), line);
}

#[test]
fn last_of_two_members_wins() {
    let read: Plan = serde_json::from_str(r#"{"entries":[1],"entries":[]}"#).unwrap();
    assert_eq!(read, Plan::new([]));
    let twice = r#"{"toolCallId":"a","title":"one","toolCallId":"b","title":"two"}"#;
    assert_eq!(
        serde_json::from_str::<ToolCall>(twice).unwrap(),
        ToolCall::new("b", "two")
    );
}

#[test]
fn members_before_a_tag_are_bounded() {
    let members = |count: usize| {
        let members: String = (0..count).map(|place| format!("\"m{place}\":0,")).collect();
        format!("{{{members}\"type\":\"text\",\"text\":\"Hello\"}}")
    };
    assert_eq!(
        serde_json::from_str::<ContentBlock>(&members(1024)).unwrap(),
        ContentBlock::text("Hello")
    );
    let error = serde_json::from_str::<ContentBlock>(&members(1025)).unwrap_err();
    assert!(
        error.to_string().contains("too many unknown members"),
        "{error}"
    );
}

#[test]
fn raw_json_nests_as_deep_as_it_likes() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let line = format!(r#"{{"toolCallId":"call-1","rawOutput":{deep}}}"#);
    let read: ToolCallUpdate = serde_json::from_str(&line).unwrap();
    let raw = read.raw_output.as_ref().unwrap();
    assert_eq!(raw.as_str(), deep);
    assert_eq!(raw.to_value(), Value::Null);
    assert_eq!(serde_json::to_string(&read).unwrap(), line);
}

#[test]
fn types_live_inside_of_others() {
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    #[serde(untagged)]
    enum Buffered {
        Update { update: SessionUpdate, raw: RawJson },
        Call(ToolCall),
    }

    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct Flattened {
        number: u32,
        #[serde(flatten)]
        call: ToolCall,
    }

    // serde buffers these before our types see them, so there is no text to slice.
    let call = ToolCall::new("call-1", "Read").with_raw_input(json!({"a": [1, null]}));
    let outer = Flattened {
        number: 1,
        call: call.clone(),
    };
    let text = serde_json::to_string(&outer).unwrap();
    assert_eq!(
        text,
        r#"{"number":1,"toolCallId":"call-1","title":"Read","rawInput":{"a":[1,null]}}"#
    );
    assert_eq!(serde_json::from_str::<Flattened>(&text).unwrap(), outer);
    let text = serde_json::to_string(&call).unwrap();
    assert_eq!(
        serde_json::from_str::<Buffered>(&text).unwrap(),
        Buffered::Call(call)
    );
    let text = r#"{"update":{"content":{"a":1.5,"type":"_b"},"sessionUpdate":"agent_thought_chunk"},"raw":{"a":[true]}}"#;
    let read: Buffered = serde_json::from_str(text).unwrap();
    assert_eq!(
        serde_json::to_value(&read).unwrap(),
        serde_json::from_str::<Value>(text).unwrap()
    );
}

#[test]
fn null_is_an_object_without_members_where_none_is_required() {
    assert_eq!(
        serde_json::from_str::<LoadSessionResponse>("null").unwrap(),
        LoadSessionResponse::new()
    );
    assert_eq!(
        serde_json::from_str::<ListSessionsRequest>("null").unwrap(),
        ListSessionsRequest::new()
    );
    assert!(serde_json::from_str::<NewSessionRequest>("null").is_err());
}

#[test]
fn notes_say_where_and_not_what() {
    let line = r#"{"toolCallId":"call-1","title":7,"kind":{"a":"canary"},"locations":[{"path":"/a"},"canary"]}"#;
    let before = lenient::total();
    let (read, notes) = lenient::collect(|| serde_json::from_str::<ToolCallUpdate>(line));
    assert_eq!(read.unwrap().locations.unwrap().len(), 1);
    let texts: Vec<String> = notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "ToolCallUpdate.title: unusable value ignored",
            "ToolCallUpdate.kind: unusable value ignored",
            "ToolCallUpdate.locations: unusable element left out",
        ]
    );
    assert!(lenient::total() >= before + 3);
    assert_eq!(notes[0].forgiven, Forgiven::Value);
}

#[test]
fn halves_of_surrogate_pairs_are_replaced() {
    let title = |escaped: &str| {
        let line = format!(r#"{{"toolCallId":"call-1","title":"{escaped}"}}"#);
        lenient::decode::<ToolCall>(line.as_bytes()).map(|call| call.title)
    };
    let whole = "\u{1f600}";
    assert_eq!(title(r"a\ud83d").unwrap(), "a\u{fffd}");
    assert_eq!(title(r"\uDE00a").unwrap(), "\u{fffd}a");
    assert_eq!(title(r"\ud83d\ude00").unwrap(), whole);
    assert_eq!(
        title(r"\ud83d\ud83d\ude00\ude00").unwrap(),
        format!("\u{fffd}{whole}\u{fffd}")
    );
    assert_eq!(title(r"\\ud83d\ud83d").unwrap(), "\\ud83d\u{fffd}");
    assert_eq!(title(r"\ud83d\n").unwrap(), "\u{fffd}\n");
    assert!(title(r"\ud83").is_err());
    assert!(title(r"\ud83d\").is_err());
    let (_, notes) = lenient::collect(|| title(r"\ud83d"));
    assert_eq!(
        notes[0].to_string(),
        "message.text: half a surrogate pair replaced"
    );
    let (_, notes) = lenient::collect(|| title(r"\ud83d\ude00"));
    assert_eq!(notes, []);
}

#[test]
fn number_that_no_type_holds_is_forgiven() {
    let line = r#"{"path":"/notes.md","line":1e999}"#;
    let (read, notes) = lenient::collect(|| serde_json::from_str::<ToolCallLocation>(line));
    assert_eq!(read.unwrap(), ToolCallLocation::new("/notes.md"));
    assert_eq!(notes.len(), 1);
}

#[test]
fn collections_of_notes_nest_and_are_bounded() {
    let wrong = format!(r#"{{"entries":[{}1]}}"#, "1,".repeat(999));
    let ((inner, inner_notes), notes) = lenient::collect(|| {
        let bad: SessionInfoUpdate = serde_json::from_str(r#"{"title":1}"#).unwrap();
        assert_eq!(bad.title, Patch::Keep);
        lenient::collect(|| serde_json::from_str::<Plan>(&wrong).unwrap())
    });
    assert_eq!(inner, Plan::new([]));
    assert_eq!(inner_notes.len(), lenient::MAX_NOTES);
    assert_eq!(notes.len(), 1);
    let ((), after) = lenient::collect(|| ());
    assert_eq!(after, []);
}

#[test]
fn collection_survives_a_panic() {
    let ((), notes) = lenient::collect(|| {
        let caught = std::panic::catch_unwind(|| lenient::collect(|| panic!("on purpose")));
        assert!(caught.is_err());
        let _: SessionInfoUpdate = serde_json::from_str(r#"{"updatedAt":[]}"#).unwrap();
    });
    assert_eq!(notes.len(), 1);
}

#[test]
fn secrets_are_not_shown() {
    let env = EnvVariable::new("API_KEY", "canary");
    let header = HttpHeader::new("Authorization", "canary");
    let server = McpServer::from(McpServerHttp::new("tools", "https://example.com", [header]));
    let login = AuthMethodTerminal::new("login", "Log in").with_env([("API_KEY", "canary")]);
    let answer = ElicitationAcceptAction::new().with_content([("name", "canary")]);
    let unknown: McpServer =
        serde_json::from_str(r#"{"type":"_pipe","env":[{"name":"API_KEY","value":"canary"}]}"#)
            .unwrap();
    let all = format!("{env:?} {server:?} {login:?} {answer:?} {unknown:?} {unknown:#?}");
    assert!(!all.contains("canary"), "{all}");
    assert!(
        all.contains(r#"EnvVariable { name: "API_KEY", value: ***"#),
        "{all}"
    );
    assert!(all.contains("_pipe"), "{all}");
    let call = NewSessionRequest::new("/home/ada", [server]);
    assert!(serde_json::to_string(&call).unwrap().contains("canary"));
}

#[test]
fn patch_tells_null_from_absent() {
    let read = |text: &str| serde_json::from_str::<SessionInfoUpdate>(text).unwrap();
    let update = read(r#"{"title":null}"#);
    assert_eq!(
        (&update.title, &update.updated_at),
        (&Patch::Clear, &Patch::Keep)
    );
    assert_eq!(serde_json::to_string(&update).unwrap(), r#"{"title":null}"#);
    let update = SessionInfoUpdate::new()
        .with_title("Notes")
        .with_updated_at(Patch::Clear);
    let text = r#"{"title":"Notes","updatedAt":null}"#;
    assert_eq!(serde_json::to_string(&update).unwrap(), text);
    assert_eq!(read(text), update);
}

#[test]
fn ids_of_requests_keep_their_kind() {
    let cancel = |id: &str| {
        let text = format!(r#"{{"requestId":{id}}}"#);
        serde_json::from_str::<CancelRequestNotification>(&text)
            .unwrap()
            .request_id
    };
    assert_eq!(cancel("7"), RequestId::Number(7));
    assert_eq!(cancel("\"7\""), RequestId::from("7"));
    assert_ne!(cancel("7"), cancel("\"7\""));
}

#[test]
fn meta_is_any_object() {
    let mut meta = Meta::new();
    meta.insert("example.com/trace".into(), json!({"id": [1, 2.5, null]}));
    let plan = Plan::new([]).with_meta(meta);
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
}
