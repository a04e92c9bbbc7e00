//! Finds the strings of a JSON text where they stand, with what they are under.

use std::ops::Range;

/// A string of a JSON text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct JsonString<'a> {
    /// Where its inside stands, without the quotes.
    pub(super) range: Range<usize>,
    /// The keys above it; arrays add nothing.
    pub(super) keys: &'a [String],
    /// It names a member.
    pub(super) is_key: bool,
}

/// Calls `each` with every string, in order.
///
/// Returns `false` when the text is no JSON; what was found until then was told.
pub(super) fn each(text: &str, mut each: impl FnMut(JsonString<'_>)) -> bool {
    let mut walk = Walk {
        text: text.as_bytes(),
        at: 0,
        keys: Vec::new(),
    };
    let valid = serde_json::from_str::<serde_json::Value>(text).is_ok();
    if valid {
        walk.value(&mut each);
    }
    valid
}

/// Walks over a text that is known to be JSON.
struct Walk<'a> {
    text: &'a [u8],
    at: usize,
    keys: Vec<String>,
}

impl Walk<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    /// Walks over one value; serde_json bounds how deep they lie.
    fn value(&mut self, each: &mut impl FnMut(JsonString<'_>)) {
        match self.peek() {
            Some(b'{') => {
                self.at += 1;
                while let Some(b'"' | b',') = self.peek() {
                    if self.text[self.at] == b',' {
                        self.at += 1;
                        continue;
                    }
                    let range = self.string();
                    each(JsonString {
                        range: range.clone(),
                        keys: &self.keys,
                        is_key: true,
                    });
                    let key = String::from_utf8_lossy(&self.text[range]).into_owned();
                    self.keys.push(key);
                    // The colon.
                    self.peek();
                    self.at += 1;
                    self.value(each);
                    self.keys.pop();
                }
                self.at += 1;
            }
            Some(b'[') => {
                self.at += 1;
                while let Some(next) = self.peek() {
                    match next {
                        b']' => break,
                        b',' => self.at += 1,
                        _ => self.value(each),
                    }
                }
                self.at += 1;
            }
            Some(b'"') => {
                let range = self.string();
                each(JsonString {
                    range,
                    keys: &self.keys,
                    is_key: false,
                });
            }
            _ => {
                let rest = &self.text[self.at..];
                let ends = |byte: &u8| b",]} \t\r\n".contains(byte);
                self.at += rest.iter().position(ends).unwrap_or(rest.len());
            }
        }
    }

    /// Walks over a string and returns where its inside is.
    fn string(&mut self) -> Range<usize> {
        self.at += 1;
        let start = self.at;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        let range = start..self.at.min(self.text.len());
        self.at += 1;
        range
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_with_their_keys() {
        let text =
            r#"{"a": "x", "b": [1, {"c": "y\"z"}, "w"], "d": {}, "e": [], "f": -1.5e3, "g": true}"#;
        let mut found = Vec::new();
        assert!(each(text, |string| {
            let mark = if string.is_key { "key " } else { "" };
            found.push(format!(
                "{mark}{} < {}",
                &text[string.range.clone()],
                string.keys.join(".")
            ));
        }));
        let expected = [
            "key a < ",
            "x < a",
            "key b < ",
            "key c < b",
            "y\\\"z < b.c",
            "w < b",
            "key d < ",
            "key e < ",
            "key f < ",
            "key g < ",
        ];
        assert_eq!(found, expected);
        assert!(!each("{\"a\": ", |_| ()));
    }
}
