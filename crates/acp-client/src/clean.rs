//! Words of an agent, made fit for a log or a line on a screen.

use std::fmt;

use acp_protocol::RawJson;
use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::limits::MAX_STEERING_TEXT;

/// Cleans a text: what is no UTF-8 is replaced, control characters other than the tab
/// become blanks, and what is too long is cut between two characters.
pub(crate) fn clean(text: &[u8]) -> String {
    let mut clean = String::new();
    for chunk in text.utf8_chunks() {
        let invalid = (!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
        for c in chunk.valid().chars().chain(invalid) {
            let c = if c.is_control() && c != '\t' { ' ' } else { c };
            if clean.len() + c.len_utf8() > MAX_STEERING_TEXT {
                return clean;
            }
            clean.push(c);
        }
    }
    clean
}

/// Cleans a text as it stands in JSON; `None` when it is no text. Half a surrogate,
/// which JSON can write and a string cannot hold, is replaced.
pub(crate) fn clean_json(json: &RawJson) -> Option<String> {
    let Bytes(text) = json.parse().ok()?;
    Some(clean(&text))
}

/// The bytes of a JSON string.
struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;

        impl Visitor<'_> for Visit {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }

        deserializer.deserialize_bytes(Visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_characters_become_blanks() {
        assert_eq!(clean(b"a\nb\r\x1b[31mc\td\x7f"), "a b  [31mc\td ");
        assert_eq!(clean("a\u{85}b".as_bytes()), "a b");
        assert_eq!(clean(b"\xffa\xc3"), "\u{fffd}a\u{fffd}");
        assert_eq!(clean(b""), "");
    }

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        let long = "é".repeat(MAX_STEERING_TEXT);
        assert_eq!(clean(long.as_bytes()).len(), MAX_STEERING_TEXT);
        assert_eq!(
            clean(format!("x{long}").as_bytes()).len(),
            MAX_STEERING_TEXT - 1
        );
    }

    #[test]
    fn text_is_taken_out_of_json() {
        let of = |json: &str| clean_json(&serde_json::from_str(json).unwrap());
        assert_eq!(of(r#""a\nb""#).as_deref(), Some("a b"));
        assert_eq!(of(r#""\ud83d\ude00""#).as_deref(), Some("😀"));
        let halved = of(r#""a\ud800b""#).unwrap();
        assert!(halved.starts_with('a') && halved.ends_with('b'));
        assert!(halved.contains(char::REPLACEMENT_CHARACTER));
        for other in ["null", "7", "[1, 2]", r#"["a"]"#, "{}", "true"] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_is_clean_and_as_long_as_it_may_be(
            text in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..3000),
                "\\PC{0,700}".prop_map(String::into_bytes),
                ".{0,700}".prop_map(String::into_bytes),
            ]
        ) {
            let cleaned = clean(&text);
            prop_assert!(cleaned.len() <= MAX_STEERING_TEXT);
            prop_assert!(!cleaned.contains(|c: char| c.is_control() && c != '\t'));
            // It is the beginning of the whole, and all of it that fits.
            let whole: String = String::from_utf8_lossy(&text)
                .chars()
                .map(|c| if c.is_control() && c != '\t' { ' ' } else { c })
                .collect();
            prop_assert!(whole.starts_with(&cleaned));
            let next = whole[cleaned.len()..].chars().next();
            prop_assert!(next.is_none_or(|c| cleaned.len() + c.len_utf8() > MAX_STEERING_TEXT));
        }
    }
}
