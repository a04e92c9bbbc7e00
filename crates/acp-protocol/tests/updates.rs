//! The message that flows most: chunks of an answer.

use acp_protocol::rpc::UpdateDecoder;
use acp_protocol::v1::{ContentBlock, SessionNotification, SessionUpdate};

const TAG_FIRST: &str = r#"{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello"}}}"#;
const TAG_LAST: &str = r#"{"update":{"content":{"text":"Hello","type":"text"},"sessionUpdate":"agent_message_chunk"},"sessionId":"s-1"}"#;

#[test]
fn place_of_the_tag_does_not_matter() {
    let expected = SessionUpdate::agent_text("Hello").for_session("s-1");
    for line in [TAG_FIRST, TAG_LAST] {
        assert_eq!(
            serde_json::from_str::<SessionNotification>(line).unwrap(),
            expected
        );
        assert_eq!(
            serde_json::from_slice::<SessionNotification>(line.as_bytes()).unwrap(),
            expected
        );
        assert_eq!(
            serde_json::from_reader::<_, SessionNotification>(line.as_bytes()).unwrap(),
            expected
        );
        let tree: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(
            serde_json::from_value::<SessionNotification>(tree).unwrap(),
            expected
        );
    }
    assert_eq!(serde_json::to_string(&expected).unwrap(), TAG_FIRST);
}

#[test]
fn unknown_update_is_written_back() {
    let line =
        r#"{"sessionId":"s-1","update":{"z":1.0,"sessionUpdate":"_weather","a":{"b":[2e3]}}}"#;
    let read: SessionNotification = serde_json::from_str(line).unwrap();
    let SessionUpdate::Unrecognized(other) = &read.update else {
        panic!("{read:?}")
    };
    assert_eq!(other.tag(), "_weather");
    assert_eq!(
        other.raw().as_str(),
        r#"{"z":1.0,"sessionUpdate":"_weather","a":{"b":[2e3]}}"#
    );
    assert_eq!(serde_json::to_string(&read).unwrap(), line);
}

#[test]
fn updates_stay_small() {
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
}

/// A decoder remembers how lines begin, and is told from one that does not by
/// nothing.
#[test]
fn what_came_before_decides_nothing() {
    let line =
        |params: &str| format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}"#);
    let first = line(&format!("{TAG_FIRST}}}"));
    let last = line(&format!("{TAG_LAST}}}"));
    let spaced =
        format!(r#"{{ "method" : "session/update", "params" : {TAG_FIRST}, "jsonrpc" : "2.0" }}"#);
    let hides = line(&format!(r#"{TAG_FIRST},"params":{TAG_LAST}}}"#));
    let other = line(r#"{"sessionId":7}}"#);
    let long = format!(r#"{{"jsonrpc":"2.0","_":"{}"}}"#, "x".repeat(500));
    let lines = [
        &first, &first, &spaced, &first, &hides, &first, &other, &last, &long, &first,
    ];
    let mut decoder = UpdateDecoder::default();
    for line in lines {
        let told = |mut decoder: UpdateDecoder| {
            let decoded = decoder.decode::<SessionNotification>(line.as_bytes());
            (decoded.map_err(|error| error.to_string()), decoder)
        };
        let (alone, _) = told(UpdateDecoder::default());
        let (after, kept) = told(std::mem::take(&mut decoder));
        assert_eq!(alone, after, "{line}");
        decoder = kept;
    }
}
