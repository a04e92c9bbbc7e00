//! Reads what stands before the first step.

use super::pattern;
use crate::language::pattern::{Element, Pattern};
use crate::language::reader::{Parsed, Reader};
use crate::language::{Header, Need};
use crate::rules::Check;
use acp_recording::PeerSide;

const FIELDS: [&str; 9] = [
    "proves", "tck", "side", "needs", "allow", "patience", "limit", "task", "level",
];

/// Reads comments, blank lines and `field: value` lines.
pub(super) fn header(reader: &mut Reader<'_>) -> Parsed<Header> {
    let mut header = Header::default();
    loop {
        let start = reader.offset();
        reader.skip_blanks();
        match reader.peek() {
            None => return Ok(header),
            Some('\n' | '\r') => reader.end()?,
            Some('#') => {
                let text = reader.rest().lines().next().unwrap_or_default();
                let text = text.trim_start_matches('#').trim();
                if header.title.is_empty() {
                    text.clone_into(&mut header.title);
                }
                reader.end()?;
            }
            Some(_) => {
                let Some(field) = reader.peek_word().strip_suffix(':') else {
                    reader.go_to(start);
                    return Ok(header);
                };
                read_field(reader, field, &mut header)?;
            }
        }
    }
}

fn read_field(reader: &mut Reader<'_>, field: &str, header: &mut Header) -> Parsed<()> {
    let at = reader.offset();
    reader.advance(field.len() + 1);
    match field {
        "proves" => header.proves.extend(ids(reader)?),
        "tck" => header.tck.extend(ids(reader)?),
        "side" => header.side = Some(side(reader)?),
        "needs" => header.needs.extend(needs(reader)?),
        "allow" => header.allow.extend(checks(reader)?),
        "level" => {
            let level = reader.one_of([("MUST", false), ("SHOULD", true)]);
            header.advisory = level.ok_or_else(|| {
                reader.expected("`MUST` or `SHOULD`: whether who fails it is at fault")
            })?;
        }
        "task" => header.tasks.extend(tasks(reader)?),
        "patience" => header.patience = reader.duration()?,
        "limit" => header.limit = reader.duration()?,
        _ => return Err(reader.unknown(at, "field ", field, FIELDS)),
    }
    reader.end()
}

/// Reads words between blanks or commas, at least one.
fn list<'a, T>(
    reader: &mut Reader<'a>,
    what: &str,
    mut one: impl FnMut(&mut Reader<'a>) -> Parsed<T>,
) -> Parsed<Vec<T>> {
    let mut all = Vec::new();
    loop {
        reader.skip_blanks();
        match reader.peek() {
            None | Some('\n' | '\r' | '#') if all.is_empty() => return Err(reader.expected(what)),
            None | Some('\n' | '\r' | '#') => return Ok(all),
            Some(',') if !all.is_empty() => reader.advance(1),
            Some(_) => all.push(one(reader)?),
        }
    }
}

fn ids(reader: &mut Reader<'_>) -> Parsed<Vec<String>> {
    const WHAT: &str = "ids of requirements, such as `R117 R120`";
    list(reader, WHAT, |reader| Ok(reader.word(WHAT)?.to_owned()))
}

fn side(reader: &mut Reader<'_>) -> Parsed<PeerSide> {
    let sides = [PeerSide::Agent, PeerSide::Client].map(|side| (side.name(), side));
    let side = reader.one_of(sides);
    side.ok_or_else(|| reader.expected("`agent` or `client`: the only side this scenario tests"))
}

fn needs(reader: &mut Reader<'_>) -> Parsed<Vec<Need>> {
    const WHAT: &str = "a side and a capability of it, such as `agent sessionCapabilities.list`";
    list(reader, WHAT, |reader| {
        let side = PeerSide::named(reader.peek_word()).ok_or_else(|| reader.expected(WHAT))?;
        reader.word(WHAT)?;
        let at = reader.mark();
        let path = reader.word(WHAT)?.to_owned();
        if !crate::schema::is_capability(side, &path) {
            let why = format!("the pinned schema knows no capability `{path}` of the {side}");
            return Err(reader.error_at(at, why));
        }
        Ok(Need { side, path })
    })
}

/// Reads what a client under test is told to do: `["prompt", "hello"]`.
fn tasks(reader: &mut Reader<'_>) -> Parsed<Vec<Pattern>> {
    const WHAT: &str = "a task such as `[\"prompt\", \"hello\"]`";
    list(reader, WHAT, |reader| {
        let at = reader.offset();
        let task = pattern::pattern(reader)?;
        let named = matches!(
            &task,
            Pattern::Array(all) if matches!(all.first(), Some(Element::One(Pattern::Text(_))))
        );
        match named && task.vague().is_none() {
            true => Ok(task),
            false => Err(reader.error_at(at, format!("this is no task; expected {WHAT}"))),
        }
    })
}

fn checks(reader: &mut Reader<'_>) -> Parsed<Vec<Check>> {
    list(reader, "names of checks", |reader| {
        let at = reader.offset();
        let word = reader.word("the name of a check")?;
        let names = Check::ALL.iter().map(|check| check.name());
        Check::named(word).ok_or_else(|| reader.unknown(at, "check ", word, names))
    })
}
