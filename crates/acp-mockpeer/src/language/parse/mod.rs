//! Reads a scenario from text.

mod act;
mod below;
mod block;
mod header;
mod message;
mod pattern;
mod tail;
mod units;

use std::sync::Arc;

use super::pattern::Pattern;
use super::reader::{Parsed, Reader};
use super::{ParseError, Scenario};

/// Reads a whole file.
pub(super) fn scenario(file: &str, text: &str) -> Result<Scenario, ParseError> {
    let file: Arc<str> = file.into();
    let mut reader = Reader::new(file.clone(), text);
    let header = header::header(&mut reader)?;
    let items = block::top_level(&mut reader)?;
    if items.is_empty() {
        return Err(reader.expected("a step such as `-> initialize`"));
    }
    Ok(Scenario {
        file,
        source: text.into(),
        header,
        items: items.into(),
    })
}

/// Reads a pattern that stands alone.
pub(crate) fn lone_pattern(text: &str) -> Parsed<Pattern> {
    let mut reader = Reader::new("pattern".into(), text);
    let pattern = pattern::pattern(&mut reader)?;
    reader.end_of_line("the end")?;
    Ok(pattern)
}
