//! What arrives does not depend on the chunks it arrives in: streams of
//! messages of all kinds, cut in all ways.

#[path = "checks/chunks.rs"]
mod chunks;
#[path = "checks/intake.rs"]
mod intake;

use acp_protocol::rpc::ConnectionRole;
use chunks::Chunking;
use proptest::prelude::*;

/// Lines a peer may send, good and bad.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let session = prop_oneof![Just("a"), Just("b"), Just("\\u0063"), Just("")];
    let id = prop_oneof![
        Just("1"),
        Just("4294967296"),
        Just("\"1\""),
        Just("\"\""),
        Just("null"),
        Just("1.5"),
        Just("{}")
    ];
    let method = prop_oneof![
        Just("session/prompt"),
        Just("session\\/update"),
        Just("$/cancel_request"),
        Just("_x/y"),
        Just("")
    ];
    let text = prop_oneof![
        8 => "[a-z \\u{e4}\\u{4e2d}]{0,60}",
        1 => Just("x".repeat(intake::MAX_MESSAGE)),
        1 => Just("{[".repeat(70)),
    ];
    prop_oneof![
        4 => (session.clone(), text.clone()).prop_map(|(session, text)| format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{{"text":"{text}"}}}}}}"#
        )),
        // Begins like an update, and is none.
        1 => (session.clone(), text.clone()).prop_map(|(session, text)| format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{{"text":"{text}"}}}},"id":7}}"#
        )),
        1 => (session, text.clone()).prop_map(|(session, text)| format!(
            r#"{{"params": {{"update": {{"text": "{text}"}}, "sessionId": "{session}"}}, "method": "session/update", "jsonrpc": "2.0"}}"#
        )),
        1 => Just(r#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{"a":{}}}}"#.to_owned()),
        2 => (id.clone(), method.clone(), text.clone()).prop_map(|(id, method, text)| format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"text":"{text}"}}}}"#
        )),
        1 => method.prop_map(|method| format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#)),
        2 => (id.clone(), text.clone()).prop_map(|(id, text)| format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"text":"{text}"}}}}"#
        )),
        1 => id.prop_map(|id| format!(
            r#"{{"id":{id},"error":{{"code":-32603,"message":"no"}},"jsonrpc":"2.0"}}"#
        )),
        1 => text.prop_map(|text| format!("log: {text}")),
        1 => prop_oneof![Just(""), Just("  \t "), Just("[]"), Just("{}"), Just("{}{}")].prop_map(str::to_owned),
    ]
    .prop_map(String::into_bytes)
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let terminator = prop_oneof![
        6 => Just(&b"\n"[..]),
        2 => Just(&b"\r\n"[..]),
        1 => Just(&b"\n\n"[..]),
        1 => Just(&b"\0\n"[..]),
        1 => Just(&b"\xff\n"[..]),
    ];
    let start = prop_oneof![4 => Just(&b""[..]), 1 => Just(&b"\xef\xbb\xbf"[..])];
    let end = prop_oneof![Just(false), Just(true)];
    (
        start,
        prop::collection::vec((line(), terminator), 0..20),
        line(),
        end,
        any::<prop::sample::Index>(),
    )
        .prop_map(|(start, lines, last, whole, cut)| {
            let mut stream = start.to_vec();
            for (line, terminator) in lines {
                stream.extend(line);
                stream.extend(terminator);
            }
            let kept = if whole {
                last.len()
            } else {
                cut.index(last.len() + 1)
            };
            stream.extend(&last[..kept]);
            stream
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn chunks_do_not_decide_what_arrives(stream in stream()) {
        intake::check(&stream);
    }
}

#[test]
fn a_line_without_its_end_is_told_or_read_when_it_is_whole() {
    let arrives =
        |stream: &str| intake::arrivals(ConnectionRole::Agent, stream.as_bytes(), Chunking::Whole);
    let too_long = "x".repeat(intake::MAX_MESSAGE + 1);
    for (stream, expected) in [
        ("{}\n  \n", "Refused"),
        ("{\"jsonrpc\"", "Truncated { read: 10, "),
        (r#"{"jsonrpc":"2.0","method":"m"}"#, "Notification"),
        (&*too_long, "TooLarge"),
    ] {
        let [arrived] = &arrives(stream)[..] else {
            panic!("not one thing: {:?}", arrives(stream))
        };
        assert!(arrived.contains(expected), "{arrived}");
    }
}
