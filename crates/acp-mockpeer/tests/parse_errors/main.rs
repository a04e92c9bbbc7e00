//! What is said of texts that are no scenarios: file, line, and what was expected.

mod blocks;
mod headers;
mod patterns;
mod rules;
mod steps;

use acp_mockpeer::Scenario;
use expect_test::{Expect, expect};

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
fn check(text: &str, expected: Expect) {
    let error = match Scenario::parse("bad.acpt", text) {
        Ok(_) => "it was read without complaint".to_owned(),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&error);
}

#[test]
fn places_are_counted_in_characters() {
    check(
        "-> session/prompt {\"prompt\": [\"größe\", ü]}\n",
        expect![[r#"
            bad.acpt:1:40: expected a value or a pattern, found `ü`
              1 | -> session/prompt {"prompt": ["größe", ü]}
                |                                        ^"#]],
    );
    check(
        "-> session/prompt {\n  \"prompt\": [ # the blocks\n    {\"type\": \"text\", \"text\": oops}\n  ]\n}\n",
        expect![[r#"
            bad.acpt:3:30: expected a value or a pattern, found `oops`
              3 |     {"type": "text", "text": oops}
                |                              ^"#]],
    );
}

/// Whatever is cut off or missing, it is told and not tripped over.
#[test]
fn texts_that_are_cut_or_miss_a_letter() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/scenarios");
    let mut read = 0_u32;
    for side in ["agent", "client"] {
        for file in std::fs::read_dir(format!("{folder}/{side}")).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            for (at, c) in text.char_indices().step_by(7) {
                let _ = Scenario::parse("cut", &text[..at]).map_err(|error| error.to_string());
                let missing = format!("{}{}", &text[..at], &text[at + c.len_utf8()..]);
                let _ = Scenario::parse("missing", &missing).map_err(|error| error.to_string());
                read += 2;
            }
        }
    }
    assert!(read > 5_000, "only {read} texts were read");
}
