//! Reads the words behind a message: its name, its id, its time, its form.

use std::sync::Arc;
use std::time::Duration;

use super::pattern;
use super::units::rules;
use crate::language::cursor::{Cursor, Parsed};
use crate::language::pattern::Pattern;
use crate::language::step::{Ending, Split, Writing};
use crate::rules::Rule;
use acp_recording::Side;

/// The words behind a message.
#[derive(Default)]
pub(super) struct Tail {
    pub(super) name: Option<Arc<str>>,
    pub(super) id: Option<Pattern>,
    pub(super) within: Option<Duration>,
    pub(super) writing: Writing,
    pub(super) rules: Vec<&'static Rule>,
}

/// Reads them, up to what it does not know.
pub(super) fn tail(cursor: &mut Cursor<'_>, from: Side) -> Parsed<Tail> {
    let mut tail = Tail::default();
    loop {
        if cursor.eat_word("as") {
            tail.name = Some(cursor.word("a name for the request")?.into());
        } else if cursor.eat_word("with") {
            if !cursor.eat_word("id") {
                cursor.skip_blanks();
                return Err(cursor.expected("`id` after `with`"));
            }
            tail.id = Some(pattern::pattern(cursor)?);
        } else if cursor.eat_word("within") {
            tail.within = Some(cursor.duration()?);
        } else if cursor.eat_word("for") {
            tail.rules = rules(cursor, from)?;
        } else if cursor.eat_word("split") {
            tail.writing.split = split(cursor)?;
        } else if cursor.eat_word("pausing") {
            tail.writing.pausing = cursor.duration()?;
        } else if cursor.eat_word("ended") {
            tail.writing.ending = ending(cursor)?;
        } else if cursor.eat_word("after") {
            if !cursor.eat_word("bom") {
                cursor.skip_blanks();
                return Err(cursor.expected("`bom` after `after`"));
            }
            tail.writing.bom = true;
        } else if cursor.eat_word("padded") {
            if !cursor.eat_word("to") {
                cursor.skip_blanks();
                return Err(cursor.expected("`to` and a size: `padded to 40MiB`"));
            }
            tail.writing.padded_to = cursor.size()?;
        } else {
            return Ok(tail);
        }
    }
}

fn split(cursor: &mut Cursor<'_>) -> Parsed<Split> {
    if cursor.eat_word("every") {
        return Ok(Split::Every(cursor.size()?.max(1)));
    }
    if !cursor.eat_word("at") {
        cursor.skip_blanks();
        return Err(cursor.expected("`at` or `every` after `split`"));
    }
    let mut places = vec![cursor.size()?];
    loop {
        let before = cursor.offset();
        cursor.skip_blanks();
        if !cursor.eat(",") {
            cursor.go_to(before);
            break;
        }
        places.push(cursor.size()?);
    }
    places.sort_unstable();
    Ok(Split::At(places))
}

fn ending(cursor: &mut Cursor<'_>) -> Parsed<Ending> {
    if cursor.eat_word("by") {
        for (word, ending) in [
            ("crlf", Ending::CrLf),
            ("lf", Ending::LineFeed),
            ("nothing", Ending::Nothing),
        ] {
            if cursor.eat_word(word) {
                return Ok(ending);
            }
        }
    }
    cursor.skip_blanks();
    Err(cursor.expected("`by crlf`, `by lf` or `by nothing` after `ended`"))
}
