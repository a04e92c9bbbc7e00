//! The texts of a tool's input that may name files.
//!
//! Each agent has its own members for the paths of its tools, so no list of members holds
//! them all. A path is a text of one line; and of a patch, a path stands behind its marks.

use std::fmt;

use acp_protocol::RawJson;
use indexmap::IndexSet;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::limits::{MAX_INPUT_NAMES, MAX_INPUT_NAMES_BYTES, MAX_PATH, MAX_READ_INPUT};

/// How often JSON may stand in a text of JSON.
const MAX_LEVEL: u8 = 2;

/// Texts that may be paths, without two that are the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct InputNames {
    pub(crate) texts: IndexSet<String>,
    bytes: usize,
    /// There were more, or an input could not be read.
    pub(crate) has_more: bool,
}

impl InputNames {
    /// Adds those of an input.
    pub(crate) fn learn(&mut self, input: &RawJson) {
        let json = input.as_str();
        if json.len() > MAX_READ_INPUT {
            self.has_more = true;
            return;
        }
        // Half a surrogate, a number beyond all bounds or deep nesting: what stands behind
        // it is not known.
        self.has_more |= !self.read(json, 0);
    }

    /// Drops all of them, and knows that there were some.
    pub(crate) fn strip(&mut self) {
        self.has_more |= !std::mem::take(&mut self.texts).is_empty();
        self.bytes = 0;
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes + self.texts.len() * size_of::<[usize; 5]>()
    }

    /// Reads JSON, and tells whether it could.
    fn read(&mut self, json: &str, level: u8) -> bool {
        let mut reader = serde_json::Deserializer::from_str(json);
        let texts = Texts { names: self, level };
        texts.deserialize(&mut reader).is_ok()
    }

    fn text(&mut self, text: &str, level: u8) {
        // Some agents pass on what their model wrote as the arguments of a tool.
        if level < MAX_LEVEL && text.trim_start().starts_with(['{', '[', '"']) {
            self.read(text, level + 1);
        }
        let text = text.trim_end_matches(['\n', '\r']);
        if !text.contains('\n') {
            self.add(text);
        }
        for line in text.lines() {
            if let Some(path) = patched(line) {
                self.add(path);
                let sides = ["a/", "b/"].into_iter();
                for path in sides.filter_map(|side| path.strip_prefix(side)) {
                    self.add(path);
                }
            }
        }
    }

    fn add(&mut self, text: &str) {
        // A longer one is no path.
        if text.is_empty() || text.len() > MAX_PATH || self.texts.contains(text) {
            return;
        }
        let has_room =
            self.texts.len() < MAX_INPUT_NAMES && self.bytes + text.len() <= MAX_INPUT_NAMES_BYTES;
        if has_room {
            self.bytes += text.len();
            self.texts.insert(text.to_owned());
        }
        self.has_more |= !has_room;
    }
}

/// Returns the path that a line of a patch names: of a unified diff, of git, or of the
/// format that some agents' tools take.
fn patched(line: &str) -> Option<&str> {
    const MARKS: &[&str] = &[
        "+++ ",
        "--- ",
        "rename from ",
        "rename to ",
        "copy to ",
        "*** Add File: ",
        "*** Update File: ",
        "*** Delete File: ",
        "*** Move to: ",
    ];
    let line = line.trim_start();
    let path = MARKS.iter().find_map(|mark| line.strip_prefix(mark))?;
    // A time stands behind a tab, and names with odd characters are quoted.
    let path = path.split('\t').next().unwrap_or_default();
    Some(path.trim().trim_matches('"'))
}

/// Reads any value, and keeps its texts alone: keys too, since some inputs are maps by path.
struct Texts<'a> {
    names: &'a mut InputNames,
    level: u8,
}

impl Texts<'_> {
    fn again(&mut self) -> Texts<'_> {
        Texts {
            names: &mut *self.names,
            level: self.level,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Texts<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Texts<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.names.text(text, self.level);
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut values: A) -> Result<(), A::Error> {
        while values.next_element_seed(self.again())?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        while members.next_key_seed(self.again())?.is_some() {
            members.next_value_seed(self.again())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(json: &str) -> InputNames {
        let mut names = InputNames::default();
        names.learn(&serde_json::from_str(json).unwrap());
        names
    }

    #[track_caller]
    fn check(json: &str, expected: &[&str]) {
        let names = names(json);
        let texts: Vec<&str> = names.texts.iter().map(String::as_str).collect();
        assert_eq!((&texts[..], names.has_more), (expected, false), "{json}");
    }

    #[test]
    fn texts_of_one_line_may_be_paths() {
        check(r#"".git/config""#, &[".git/config"]);
        check(
            r#"{"file":"/p/a","edits":[{"old":"x\ny","new":"z\n"}],"n":1,"on":true,"no":null,"f":1.5}"#,
            &[
                "file", "/p/a", "edits", "old", "new", "z", "n", "on", "no", "f",
            ],
        );
        check(
            r#"{"/p/.env\u0072c":{"type":"add"}}"#,
            &["/p/.envrc", "type", "add"],
        );
        check(r#"{"a":"b","a":"c"}"#, &["a", "b", "c"]);
        check("[]", &[]);
        let (inner, all) = (r#"{"path":".git/x"}"#, r#""{\"path\":\".git/x\"}""#);
        check(all, &["path", ".git/x", inner]);
    }

    #[test]
    fn a_patch_names_its_files() {
        check(
            r#""*** Begin Patch\n*** Update File: .git/config\n+x\n*** Move to: y\n""#,
            &[".git/config", "y"],
        );
        check(
            r#""--- a/one\t2026\n+++ \"b/two\"\n@@\n-x\nrename to three\n""#,
            &["a/one", "one", "b/two", "two", "three"],
        );
        check(r#""no\n+ patch\n***""#, &[]);
    }

    #[test]
    fn what_is_not_looked_at_is_told() {
        for odd in [
            r#"["\ud800",".git"]"#.to_owned(),
            r#"[1e999,".git"]"#.to_owned(),
            format!("{}{}", "[".repeat(200), "]".repeat(200)),
            format!("\"{}\"", "x\\n".repeat(MAX_READ_INPUT / 3)),
        ] {
            assert!(names(&odd).has_more, "{odd:.40}");
        }
        let many: Vec<String> = (0..=MAX_INPUT_NAMES).map(|n| n.to_string()).collect();
        let many = names(&serde_json::to_string(&many).unwrap());
        assert!(many.has_more && many.texts.len() == MAX_INPUT_NAMES);
        let long: Vec<String> = (0..100).map(|n| format!("{n:04000}")).collect();
        let long = names(&serde_json::to_string(&long).unwrap());
        assert!(long.has_more && long.bytes() <= MAX_INPUT_NAMES_BYTES + (4 << 10));
        let text = "x".repeat(MAX_PATH + 1);
        assert_eq!(names(&format!("\"{text}\"")), InputNames::default());
    }
}
