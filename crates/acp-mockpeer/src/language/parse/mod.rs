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

use super::cursor::{Cursor, Parsed};
use super::names::Names;
use super::{ParseError, Scenario};

/// Reads a whole file.
pub(super) fn scenario(file: &str, text: &str) -> Result<Scenario, ParseError> {
    let file: Arc<str> = file.into();
    let mut reader = Reader {
        cursor: Cursor::new(file.clone(), text),
        names: Names::default(),
    };
    let header = header::header(&mut reader.cursor)?;
    let items = block::top_level(&mut reader)?;
    if items.is_empty() {
        return Err(reader.cursor.expected("a step such as `-> initialize`"));
    }
    Ok(Scenario {
        file,
        source: text.into(),
        header,
        items: items.into(),
    })
}

/// Reads a pattern that stands alone.
pub(crate) fn lone_pattern(text: &str) -> Parsed<super::pattern::Pattern> {
    let mut cursor = Cursor::new("pattern".into(), text);
    let pattern = pattern::pattern(&mut cursor)?;
    cursor.end_of_line("the end")?;
    Ok(pattern)
}

/// What the reading of steps needs.
struct Reader<'a> {
    cursor: Cursor<'a>,
    names: Names,
}
