//! Reads what stands before the first step.

use super::pattern;
use super::units::nearest;
use crate::language::cursor::{Cursor, Parsed};
use crate::language::pattern::{Element, Pattern};
use crate::language::{Header, Need};
use crate::rules::Check;
use acp_recording::Side;

const FIELDS: [&str; 9] = [
    "proves", "tck", "side", "needs", "allow", "patience", "limit", "task", "level",
];

/// Reads comments, blank lines and `field: value` lines.
pub(super) fn header(cursor: &mut Cursor<'_>) -> Parsed<Header> {
    let mut header = Header::default();
    loop {
        let start = cursor.offset();
        cursor.skip_blanks();
        match cursor.peek() {
            None => return Ok(header),
            Some('\n' | '\r') => cursor.end_of_line("the end of the line")?,
            Some('#') => {
                let text = cursor.rest().lines().next().unwrap_or_default();
                let text = text.trim_start_matches('#').trim();
                if header.title.is_empty() {
                    text.clone_into(&mut header.title);
                }
                cursor.end_of_line("the end of the line")?;
            }
            Some(_) => {
                let Some(field) = cursor.peek_word().strip_suffix(':') else {
                    cursor.go_to(start);
                    return Ok(header);
                };
                read_field(cursor, field, &mut header)?;
            }
        }
    }
}

fn read_field(cursor: &mut Cursor<'_>, field: &str, header: &mut Header) -> Parsed<()> {
    let known = FIELDS.into_iter().find(|known| *known == field);
    let Some(known) = known else {
        let hint = nearest(field, FIELDS);
        return Err(cursor.error(match hint {
            Some(hint) => format!("there is no field `{field}`; did you mean `{hint}`?"),
            None => format!(
                "there is no field `{field}`; there are {}",
                FIELDS.join(", ")
            ),
        }));
    };
    cursor.advance(field.len() + 1);
    match known {
        "proves" => header.proves.extend(ids(cursor)?),
        "tck" => header.tck.extend(ids(cursor)?),
        "side" => header.side = Some(side(cursor)?),
        "needs" => header.needs.extend(needs(cursor)?),
        "allow" => header.allow.extend(checks(cursor)?),
        "level" => header.advisory = level(cursor)?,
        "task" => header.tasks.extend(tasks(cursor)?),
        "patience" => header.patience = cursor.duration()?,
        _ => header.limit = cursor.duration()?,
    }
    cursor.end_of_line("the end of the line")
}

/// Reads words between blanks or commas, at least one.
fn list<'a, T>(
    cursor: &mut Cursor<'a>,
    what: &str,
    mut one: impl FnMut(&mut Cursor<'a>) -> Parsed<T>,
) -> Parsed<Vec<T>> {
    let mut all = Vec::new();
    loop {
        cursor.skip_blanks();
        match cursor.peek() {
            None | Some('\n' | '\r' | '#') if all.is_empty() => return Err(cursor.expected(what)),
            None | Some('\n' | '\r' | '#') => return Ok(all),
            Some(',') if !all.is_empty() => cursor.advance(1),
            Some(_) => all.push(one(cursor)?),
        }
    }
}

fn ids(cursor: &mut Cursor<'_>) -> Parsed<Vec<String>> {
    const WHAT: &str = "ids of requirements, such as `R117 R120`";
    list(cursor, WHAT, |cursor| Ok(cursor.word(WHAT)?.to_owned()))
}

fn side(cursor: &mut Cursor<'_>) -> Parsed<Side> {
    const WHAT: &str = "`agent` or `client`: the only side this scenario tests";
    let side = Side::named(cursor.peek_word()).ok_or_else(|| {
        cursor.skip_blanks();
        cursor.expected(WHAT)
    })?;
    cursor.word(WHAT)?;
    Ok(side)
}

fn needs(cursor: &mut Cursor<'_>) -> Parsed<Vec<Need>> {
    const WHAT: &str = "a side and a capability of it, such as `agent sessionCapabilities.list`";
    list(cursor, WHAT, |cursor| {
        let side = Side::named(cursor.peek_word()).ok_or_else(|| cursor.expected(WHAT))?;
        cursor.word(WHAT)?;
        let at = cursor.offset();
        let path = cursor.word(WHAT)?.to_owned();
        if !crate::schema::is_capability(side, &path) {
            cursor.go_to(at);
            cursor.skip_blanks();
            return Err(cursor.error(format!(
                "the pinned schema knows no capability `{path}` of the {side}"
            )));
        }
        Ok(Need { side, path })
    })
}

/// Reads how much a scenario demands that no rule stands behind.
fn level(cursor: &mut Cursor<'_>) -> Parsed<bool> {
    for (word, advisory) in [("MUST", false), ("SHOULD", true)] {
        if cursor.eat_word(word) {
            return Ok(advisory);
        }
    }
    cursor.skip_blanks();
    Err(cursor.expected("`MUST` or `SHOULD`: whether who fails it is at fault"))
}

/// Reads what a client under test is told to do: `["prompt", "hello"]`.
fn tasks(cursor: &mut Cursor<'_>) -> Parsed<Vec<Pattern>> {
    const WHAT: &str = "a task such as `[\"prompt\", \"hello\"]`";
    list(cursor, WHAT, |cursor| {
        let at = cursor.offset();
        let task = pattern::pattern(cursor)?;
        let named = matches!(
            &task,
            Pattern::Array(all) if matches!(all.first(), Some(Element::One(Pattern::Text(_))))
        );
        match named && task.vague().is_none() {
            true => Ok(task),
            false => Err(cursor.error_at(at, format!("this is no task; expected {WHAT}"))),
        }
    })
}

fn checks(cursor: &mut Cursor<'_>) -> Parsed<Vec<Check>> {
    list(cursor, "names of checks", |cursor| {
        let word = cursor.peek_word();
        let check = Check::named(word).ok_or_else(|| {
            let names = Check::ALL.map(Check::name);
            match nearest(word, names) {
                Some(hint) => cursor.error(format!(
                    "there is no check `{word}`; did you mean `{hint}`?"
                )),
                None => cursor.error(format!(
                    "there is no check `{word}`; there are {}",
                    names.join(", ")
                )),
            }
        })?;
        cursor.word("the name of a check")?;
        Ok(check)
    })
}
