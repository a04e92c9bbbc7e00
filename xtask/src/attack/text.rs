//! Text with generators: `<<20MiB * x>>` is twenty mebibytes of `x`, and is never held as a
//! whole. The attacker's own memory counts in the tree that is measured.
//!
//! | written | stands for |
//! |---|---|
//! | `<<name>>` | a variable or a part; a part may hold generators itself |
//! | `<<64KiB * text>>` | the text again and again, up to this size |
//! | `<<1000 * text>>` | the text this many times |
//! | `<<300000 of name>>` | the part this many times with commas between, `<<i>>` counting |

use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::{Context, Result, bail};

use super::units;

/// Parts may name parts; a ring of them would never end.
const MAX_DEPTH: usize = 8;

/// The names that a text may use.
#[derive(Debug, Default, Clone)]
pub(super) struct Names {
    /// Texts as they stand.
    variables: BTreeMap<String, String>,
    /// Texts that may hold generators.
    parts: BTreeMap<String, String>,
}

impl Names {
    /// Takes the parts of a data file.
    pub(super) fn new(parts: BTreeMap<String, String>) -> Self {
        Self {
            variables: BTreeMap::new(),
            parts,
        }
    }

    /// Sets a variable.
    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.variables.insert(name.to_owned(), value.into());
    }

    /// Writes a text with everything generated.
    ///
    /// # Errors
    ///
    /// Fails when the text cannot be understood, or cannot be written.
    pub(super) fn write(&self, text: &str, out: &mut dyn Write) -> Result<()> {
        self.write_at(text, None, 0, out)
    }

    /// Returns a text with everything generated, where it is known to be small.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub(super) fn fill(&self, text: &str) -> Result<String> {
        self.fill_at(text, 0)
    }

    fn fill_at(&self, text: &str, depth: usize) -> Result<String> {
        let mut bytes = Vec::new();
        self.write_at(text, None, depth, &mut bytes)?;
        String::from_utf8(bytes).context("a generated text is not UTF-8")
    }

    fn write_at(
        &self,
        text: &str,
        count: Option<u64>,
        depth: usize,
        out: &mut dyn Write,
    ) -> Result<()> {
        if depth > MAX_DEPTH {
            bail!("parts name each other in a ring");
        }
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("<<") {
            let (inner, after) = behind
                .split_once(">>")
                .with_context(|| format!("`<<` without `>>` in {behind:.40}"))?;
            out.write_all(before.as_bytes())?;
            self.generate(inner, count, depth, out)?;
            rest = after;
        }
        out.write_all(rest.as_bytes())?;
        Ok(())
    }

    fn generate(
        &self,
        inner: &str,
        count: Option<u64>,
        depth: usize,
        out: &mut dyn Write,
    ) -> Result<()> {
        if let Some((amount, text)) = inner.split_once(" * ") {
            let text = match self.parts.get(text) {
                Some(part) => self.fill_at(part, depth + 1)?,
                None => text.to_owned(),
            };
            match amount.parse() {
                Ok(times) => repeat(&text, times, out)?,
                Err(_) => fill_up(&text, units::bytes(amount)?, out)?,
            }
            return Ok(());
        }
        if let Some((times, name)) = inner.split_once(" of ") {
            let times: u64 = times
                .parse()
                .with_context(|| format!("{times:?} is no number of parts"))?;
            let part = self.part(name)?;
            for number in 0..times {
                if number > 0 {
                    out.write_all(b",")?;
                }
                self.write_at(part, Some(number), depth + 1, out)?;
            }
            return Ok(());
        }
        match (inner, count) {
            ("i", Some(number)) => Ok(write!(out, "{number}")?),
            _ => match self.variables.get(inner) {
                Some(value) => Ok(out.write_all(value.as_bytes())?),
                None => self.write_at(self.part(inner)?, count, depth + 1, out),
            },
        }
    }

    fn part(&self, name: &str) -> Result<&str> {
        let part = self.parts.get(name);
        part.map(String::as_str)
            .with_context(|| format!("nothing is called `<<{name}>>`"))
    }
}

fn repeat(text: &str, times: u64, out: &mut dyn Write) -> io::Result<()> {
    for _ in 0..times {
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// Writes a text again and again; the last one is left out where it does not fit.
fn fill_up(text: &str, size: u64, out: &mut dyn Write) -> io::Result<()> {
    // Blocks, since one call a byte is slow where nothing is optimised.
    let block = text.repeat((8192 / text.len().max(1)).max(1));
    let (block_size, text_size) = (block.len() as u64, text.len().max(1) as u64);
    let mut left = size;
    while left >= block_size {
        out.write_all(block.as_bytes())?;
        left -= block_size;
    }
    repeat(text, left / text_size, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let parts = [
            ("field", r#""f<<i>>":{"title":"<<name>>"}"#),
            ("name", "<<4B * x>>"),
            ("ring", "<<ring>>"),
            ("ring-of-sizes", "<<4B * ring-of-sizes>>"),
        ];
        let parts = parts.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let mut names = Names::new(parts.into());
        names.set("id", "7");
        names
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(names().fill(text).expect("a text"), expected);
    }

    #[test]
    fn texts_are_generated() {
        check("plain {\"a\":1}", "plain {\"a\":1}");
        check("<<id>>, <<id>>", "7, 7");
        check("<<3 * []>>", "[][][]");
        check("<<7B * abc>>", "abcabc");
        check("<<2 * name>>", "xxxxxxxx");
        check(
            "{<<2 of field>>}",
            r#"{"f0":{"title":"xxxx"},"f1":{"title":"xxxx"}}"#,
        );
    }

    #[test]
    fn a_size_is_kept_whatever_the_text() {
        for text in ["x", "abcde", "\u{202e}"] {
            let mut out = Vec::new();
            let generator = format!("<<1MiB * {text}>>");
            names().write(&generator, &mut out).expect("a text");
            let most = 1 << 20;
            assert!(
                (most - text.len() + 1..=most).contains(&out.len()),
                "{text}"
            );
        }
    }

    #[test]
    fn texts_that_make_no_sense_are_refused() {
        let error = |text: &str| {
            let error = names().fill(text).expect_err("it makes no sense");
            format!("{error:#}")
        };
        assert_eq!(error("<<nobody>>"), "nothing is called `<<nobody>>`");
        assert_eq!(error("a <<id"), "`<<` without `>>` in id");
        assert_eq!(error("<<ring>>"), "parts name each other in a ring");
        let ring = error("<<ring-of-sizes>>");
        assert_eq!(ring, "parts name each other in a ring");
        assert_eq!(
            error("<<many of field>>"),
            "\"many\" is no number of parts: invalid digit found in string"
        );
    }
}
