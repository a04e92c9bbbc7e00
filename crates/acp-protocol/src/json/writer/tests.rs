//! Held against `serde_json`, which says what is right.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::json::{Word, any_tree::any_tree};

#[track_caller]
fn check(value: &(impl Serialize + ?Sized)) {
    let mut written = Vec::new();
    let ours = super::write(&mut written, value).map_err(|error| error.to_string());
    let theirs = serde_json::to_string(value).map_err(|error| error.to_string());
    let ours = ours.map(|()| String::from_utf8(written).expect("JSON is text"));
    // Where JSON lets two characters stand that end a line for some readers.
    let theirs = theirs.map(|text| {
        text.replace('\u{2028}', "\\u2028")
            .replace('\u{2029}', "\\u2029")
    });
    assert_eq!(ours, theirs);
}

/// Text of which much has to be escaped, so that every distance between two such
/// bytes, and from the ends, occurs.
fn text() -> impl Strategy<Value = String> {
    text_of(0..80)
}

fn text_of(length: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let character = prop_oneof![
        8 => proptest::char::range('a', 'z'),
        2 => proptest::char::range('\0', '\u{ff}'),
        1 => proptest::sample::select(vec!['"', '\\', '\n', '\u{1f}', ' ', '!', '\u{7f}']),
        1 => any::<char>(),
        1 => proptest::sample::select(vec!['\u{2028}', '\u{2029}', '\u{2027}', '\u{2500}']),
    ];
    proptest::collection::vec(character, length).prop_map(String::from_iter)
}

proptest! {
    #[test]
    fn texts(text in text()) {
        check(&text);
    }

    #[test]
    fn long_texts(text in text_of(200..3000)) {
        check(&text);
    }

    #[test]
    fn trees(tree in any_tree(text)) {
        check(&tree);
    }

    #[test]
    fn raw_values(tree in any_tree(text)) {
        let raw = serde_json::value::to_raw_value(&tree).expect("a tree has string keys");
        check(&BTreeMap::from([("raw", &raw)]));
    }
}

#[test]
fn a_separator_at_every_place() {
    for length in (0..50).chain(250..330) {
        for place in 0..length {
            for character in ['\u{2028}', '\u{2029}', '\u{202a}', '\u{2014}'] {
                let mut text = vec!['x'; length];
                text[place] = character;
                check(&String::from_iter(text));
            }
        }
    }
}

#[test]
fn every_byte_at_every_place() {
    for length in 0..50 {
        for place in 0..length {
            for byte in 0..0x80u8 {
                let mut text = vec![b'x'; length];
                text[place] = byte;
                check(&String::from_utf8(text).expect("below 0x80 all is ASCII"));
            }
        }
    }
}

#[test]
fn every_byte_at_every_place_of_a_long_text() {
    for place in 0..400 {
        for byte in 0..0x80u8 {
            let mut text = vec![b'x'; 400];
            text[place] = byte;
            check(&String::from_utf8(text).expect("below 0x80 all is ASCII"));
        }
    }
    // As much longer as a text becomes.
    check(&"\u{1}".repeat(5000));
    check(&"\u{1}\"".repeat(5000));
}

#[derive(Serialize)]
struct Unit;
#[derive(Serialize)]
struct Wrapped<T>(T);
#[derive(Serialize)]
struct Pair(u8, char);
#[derive(Serialize)]
struct Object {
    text: &'static str,
    none: Option<u8>,
    some: Option<f32>,
}
#[derive(Serialize)]
enum Variants {
    Unit,
    Wrapped(i8),
    Pair(u16, bool),
    Object { first: (), second: [u8; 2] },
}
#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Unit,
    Wrapped(u8),
}

struct Bytes;

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(b"\x00\xff")
    }
}

#[test]
fn every_kind_of_value() {
    check(&(true, false, (), Unit, 'ß', '"', Bytes));
    check(&(i8::MIN, i16::MIN, i32::MIN, i64::MIN, i128::MIN));
    check(&(u8::MAX, u16::MAX, u32::MAX, u64::MAX, u128::MAX));
    check(&(0.1f32, 1e300, -0.0, f64::NAN, f32::INFINITY, 5e-324));
    check(&(Wrapped(7), Pair(1, 'x'), Wrapped(Wrapped("in"))));
    check(&Object {
        text: "a\nb",
        none: None,
        some: Some(1.5),
    });
    check(&[
        Variants::Unit,
        Variants::Wrapped(-1),
        Variants::Pair(2, true),
    ]);
    check(&Variants::Object {
        first: (),
        second: [1, 2],
    });
    check(&format_args!("{} said {:?}", "she", "no\n"));
    check(&[(); 0]);
    check(&BTreeMap::<String, u8>::new());
}

#[test]
fn every_kind_of_name() {
    fn name<K: Serialize + Ord>(key: K) {
        check(&BTreeMap::from([(key, 1)]));
    }
    name("a\"b");
    name('\\');
    name(true);
    name(i8::MIN);
    name(u128::MAX);
    name(Some("some"));
    name(Name::Unit);
    // These have no form.
    name(Name::Wrapped(1));
    name(());
    name(None::<u8>);
    name([1, 2]);
    name((1, "a"));
    name(BTreeMap::from([("a", 1)]));
}

#[test]
fn words_of_the_protocol() {
    struct Words;
    impl Serialize for Words {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map([(Word("type"), Word("text"))])
        }
    }
    check(&Words);
}

/// They are written without a look: nothing in them may need one.
#[test]
fn no_word_is_to_be_escaped() {
    let generated = include_str!("../../v1/generated.rs");
    let literals = generated.lines().flat_map(|line| {
        let code = line.split("//").next().unwrap_or_default();
        code.split('"').skip(1).step_by(2)
    });
    for word in literals {
        assert!(!word.contains(['\\', '"']), "{word}");
        assert!(!word.contains(char::is_control), "{word}");
    }
}

#[test]
fn raw_text_stands_for_itself() {
    let raw = "{\"spaces\" : [1.0e2, \"\\u0041 \u{2014}\u{2028}\"]}";
    let raw: &RawValue = serde_json::from_str(raw).expect("it is JSON");
    check(raw);
    check(&[raw, raw]);
}
