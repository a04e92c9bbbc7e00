//! Held against `serde_json`, which says what is right.

use std::collections::BTreeMap;
use std::fmt::Debug;

use proptest::prelude::*;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Reader;
use crate::json::any_tree::any_tree;
use crate::json::{Later, Slice};
use crate::v1::SessionUpdate;

fn ours<'de, T: Deserialize<'de>>(text: &'de str) -> Option<T> {
    let mut reader = Reader::new(text);
    let value = T::deserialize(&mut reader).ok()?;
    reader.end().ok().map(|()| value)
}

/// Makes sure that both read the same, or both nothing.
#[track_caller]
fn check<T: DeserializeOwned + Debug + PartialEq>(text: &str) {
    assert_eq!(ours::<T>(text), serde_json::from_str(text).ok(), "{text}");
}

/// Makes sure of it for every way to read a value of any kind.
#[track_caller]
fn check_all(text: &str) {
    check::<Value>(text);
    check::<Option<Value>>(text);
    check::<String>(text);
    let raw = |raw: &RawValue| raw.get().to_owned();
    let theirs = serde_json::from_str::<&RawValue>(text).ok().map(raw);
    assert_eq!(ours::<&RawValue>(text).map(raw), theirs, "{text}");
    let ignored = ours::<IgnoredAny>(text).is_some();
    assert_eq!(ignored, theirs.is_some(), "{text}");
    // What is read later is seen through by then.
    let later = ours::<Later<'_>>(text).and_then(|Later(slice)| slice.parse::<Value>().ok());
    assert_eq!(later, serde_json::from_str(text).ok(), "{text}");
}

/// Text of which much is escaped, so that every distance between two escapes, and from
/// the ends, occurs.
fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        8 => proptest::char::range('a', 'z'),
        2 => proptest::char::range('\0', '\u{ff}'),
        1 => proptest::sample::select(vec!['"', '\\', '\n', '/', ' ', '\u{7f}', '𝄞']),
        1 => any::<char>(),
    ];
    proptest::collection::vec(character, 0..80).prop_map(String::from_iter)
}

/// Writes everything beyond ASCII, and some of it, as escapes of UTF-16.
fn with_units(json: &str, some: char) -> String {
    let mut out = String::new();
    for character in json.chars() {
        if character.is_ascii() && !(character == some && character.is_alphabetic()) {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04X}"));
        }
    }
    out
}

proptest! {
    #[test]
    fn texts(text in text(), some in proptest::char::range('a', 'z')) {
        let json = Value::from(text).to_string();
        check_all(&json);
        check_all(&with_units(&json, some));
    }

    #[test]
    fn trees(tree in any_tree(text), pretty in any::<bool>()) {
        let json = if pretty { format!("{tree:#}") } else { tree.to_string() };
        check_all(&json);
    }

    /// A byte is lost, doubled or changed: mostly it is no JSON any more.
    #[test]
    fn broken_trees(
        tree in any_tree(text),
        place in any::<proptest::sample::Index>(),
        other in proptest::sample::select(br#"{}[]",:\u0e+-.5tfn "#.to_vec()),
        how in 0..3,
    ) {
        let mut json = tree.to_string().into_bytes();
        let place = place.index(json.len());
        match how {
            0 => _ = json.remove(place),
            1 => json.insert(place, other),
            _ => json[place] = other,
        }
        if let Ok(json) = String::from_utf8(json) {
            check_all(&json);
        }
    }

    #[test]
    fn cut_trees(tree in any_tree(text), place in any::<proptest::sample::Index>()) {
        let json = tree.to_string();
        let place = place.index(json.len() + 1);
        if let Some(json) = json.get(..place) {
            check_all(json);
        }
    }
}

#[test]
fn every_byte_at_every_place() {
    for length in 0..40 {
        for place in 0..length {
            for byte in 0..0x80u8 {
                let mut text = vec![b'x'; length];
                text[place] = byte;
                let text = String::from_utf8(text).expect("below 0x80 all is ASCII");
                check::<String>(&format!("\"{text}\""));
                check::<String>(&format!("\"\\n{text}\""));
                check::<String>(&Value::from(text).to_string());
            }
        }
    }
}

#[test]
fn every_escape() {
    for byte in 0..0x80u8 {
        check_all(&format!("\"\\{}\"", char::from(byte)));
        check_all(&format!("\"\\u00{}0\"", char::from(byte)));
    }
    for end in [
        r"\ud83d",
        r"\ude00",
        r"\ud83d\ude00",
        r"\ud83d\ud83d",
        r"\ud83dx",
        r"\ud83",
    ] {
        check_all(&format!("\"{end}\""));
        check_all(&format!("\"x{end}x\""));
        check_all(&format!("\"a long text before it {end} and behind it\""));
    }
    for length in 0..20 {
        check_all(&format!("\"{}\"", "\\".repeat(length)));
        check_all(&format!("[\"{}\",\"\"]", "\\".repeat(length)));
    }
}

#[test]
fn numbers() {
    for number in [
        "0",
        "-0",
        "00",
        "-",
        "+1",
        "1.",
        ".1",
        "1.0",
        "-1.5e3",
        "1e",
        "1e+",
        "1E-2",
        "1e400",
        "0x1",
        "123456789012345678",
        "1234567890123456789",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "-00",
        "1 2",
        "1a",
        "18446744073709551616",
        "0.1",
        "5e-324",
        "-123456789012345678",
        "2.2250738585072014e-308",
    ] {
        check_all(number);
        check_all(&format!("[{number},1]"));
        check::<u8>(number);
        check::<i64>(number);
        check::<u64>(number);
        check::<f64>(number);
    }
}

#[test]
fn other_kinds() {
    for json in [
        "true",
        "null",
        "\"c\"",
        "[1,2]",
        "{}",
        "[]",
        "{\"a\":1}",
        "tru",
        "nul",
        "",
    ] {
        check::<bool>(json);
        check::<()>(json);
        check::<char>(json);
        check::<(u8, u8)>(json);
        check::<Vec<u8>>(json);
        check::<BTreeMap<String, u8>>(json);
        check::<Option<bool>>(json);
    }
}

/// What is refused here is read by `serde_json` afterwards, never read wrong.
#[test]
fn rare_kinds_are_refused() {
    #[derive(Debug, Deserialize, PartialEq)]
    enum Word {
        Some,
    }
    assert_eq!(ours::<Word>("\"Some\""), None);
    assert_eq!(ours::<BTreeMap<u8, u8>>(r#"{"1":1}"#), None);
    check::<i128>("1");
}

#[test]
fn nesting_has_the_same_end() {
    for depth in 120..135 {
        check::<Value>(&("[".repeat(depth) + &"]".repeat(depth)));
        check::<Value>(&("{\"a\":".repeat(depth) + "1" + &"}".repeat(depth)));
    }
    // What nobody reads may be deeper there, and is refused here.
    let deep = "[".repeat(200) + &"]".repeat(200);
    assert!(ours::<IgnoredAny>(&deep).is_none());
    assert!(ours::<Later<'_>>(&deep).is_some());
}

#[test]
fn a_string_without_escapes_is_lent() {
    let json = "\"The quick brown fox\"";
    assert_eq!(ours::<&str>(json), Some(&json[1..json.len() - 1]));
    assert_eq!(ours::<&str>("\"quick\\n\""), None);
}

#[test]
fn escapes_leave_no_room_behind() {
    let text = "\\u0041".repeat(1000);
    let read: String = ours(&format!("\"{text}\"")).expect("it is a string");
    assert_eq!(read, "A".repeat(1000));
    assert!(read.capacity() < 1200, "{}", read.capacity());
}

/// Members before the one that tells the kind are found before they are read.
#[test]
fn updates_with_the_tag_at_any_place() {
    let members = [
        r#""sessionUpdate":"agent_message_chunk""#,
        r#""content":{"text":"a \"long\" text\nwith } and ]","type":"text","x":[{"y":"\\"}]}"#,
        r#""other" : -1.5e3 "#,
        r#""_meta":{"eventId":"1"}"#,
    ];
    for first in 0..4 {
        let mut order = members.to_vec();
        order.rotate_left(first);
        let json = format!("{{{}}}", order.join(","));
        let read = ours::<SessionUpdate>(&json).expect("it is read");
        assert_eq!(read, serde_json::from_str(&json).expect("it is an update"));
        // An invalid escape, wherever it is, is seen.
        for place in json.match_indices('l').map(|(place, _)| place) {
            let broken = format!("{}\\q{}", &json[..place], &json[place..]);
            assert_eq!(ours::<SessionUpdate>(&broken), None, "{broken}");
        }
    }
}

#[test]
fn kept_text_is_given_as_it_stands() {
    let json = r#"{ "a" : [ 1 , "}" ] }"#;
    let Some(Later(Slice::Unread(text))) = ours(json) else {
        panic!("it is lent");
    };
    assert_eq!(text, json);
}
