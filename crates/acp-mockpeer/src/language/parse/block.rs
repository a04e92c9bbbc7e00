//! Reads blocks: `either`, `optional`, `repeat`, `any order`, `whenever`.

use std::sync::Arc;

use super::below::below;
use super::units::nearest;
use super::{Reader, act, message, pattern, units};
use crate::language::cursor::Parsed;
use crate::language::names::{Remembered, Request};
use crate::language::pattern::name_at_start;
use crate::language::step::{self, Act, Count, Item, Step, Whenever};

const WORDS: [&str; 6] = ["either", "optional", "repeat", "any", "whenever", "not"];

/// Blocks may lie this deep in each other; more is a slip of the pen.
const DEEPEST: usize = 32;

/// Reads to the end of the file.
pub(super) fn top_level(reader: &mut Reader<'_>) -> Parsed<Vec<Item>> {
    let (items, end) = items(reader, 0)?;
    match end {
        End::File => Ok(items),
        End::Word(word) => Err(reader
            .cursor
            .error(format!("no block is open that `{word}` belongs to"))),
    }
}

/// What ended a run of items; the cursor stands before the word.
enum End {
    File,
    Word(&'static str),
}

fn items(reader: &mut Reader<'_>, depth: usize) -> Parsed<(Vec<Item>, End)> {
    let mut all = Vec::new();
    loop {
        reader.cursor.skip_all_space();
        if reader.cursor.at_end() {
            return Ok((all, End::File));
        }
        for word in ["or", "end"] {
            if reader.cursor.peek_word() == word {
                return Ok((all, End::Word(word)));
            }
        }
        all.push(item(reader, depth)?);
    }
}

fn item(reader: &mut Reader<'_>, depth: usize) -> Parsed<Item> {
    if reader.cursor.rest().starts_with(['-', '<']) {
        return Ok(Item::Step(Arc::new(act::step(reader)?)));
    }
    let start = reader.cursor.offset();
    let word = reader.cursor.peek_word();
    if depth >= DEEPEST && WORDS.contains(&word) {
        return Err(reader.cursor.error(match depth {
            DEEPEST => "blocks lie too deep in each other",
            // Only `any order` is read as if it lay deeper.
            _ => "only messages can come in any order",
        }));
    }
    match word {
        "either" => either(reader, depth),
        "optional" => optional(reader, depth),
        "repeat" => repeat(reader, depth),
        "any" => any_order(reader),
        "whenever" => whenever(reader, depth),
        "not" => not_exercised(reader),
        _ => {
            reader.cursor.go_to(start);
            Err(match nearest(word, WORDS) {
                Some("any") | None => reader
                    .cursor
                    .expected("a step (`->` the client, `<-` the agent) or a block"),
                Some("not") => reader.cursor.expected("`not exercised`"),
                Some(hint) => reader
                    .cursor
                    .error(format!("there is no `{word}`; did you mean `{hint}`?")),
            })
        }
    }
}

/// Reads to `end`.
fn body(reader: &mut Reader<'_>, opened_in: usize, what: &str, depth: usize) -> Parsed<Vec<Item>> {
    let at = reader.cursor.offset();
    let (items, end) = items(reader, depth + 1)?;
    match end {
        End::Word("end") => {
            reader.cursor.word("`end`")?;
            reader.cursor.end_of_line("the end of the line")?;
        }
        End::Word(_) => {
            return Err(reader.cursor.error(format!(
                "expected `end` of the `{what}` of line {opened_in}, found `or`"
            )));
        }
        End::File => return Err(no_end(reader, opened_in, what)),
    }
    if items.is_empty() {
        return Err(reader
            .cursor
            .error_at(at, format!("the `{what}` of line {opened_in} is empty")));
    }
    Ok(items)
}

fn no_end(reader: &Reader<'_>, opened_in: usize, what: &str) -> super::ParseError {
    reader
        .cursor
        .error(format!("the `{what}` of line {opened_in} has no `end`"))
}

fn either(reader: &mut Reader<'_>, depth: usize) -> Parsed<Item> {
    let opened_in = reader.cursor.line();
    let at = reader.cursor.offset();
    reader.cursor.word("`either`")?;
    reader.cursor.end_of_line("the end of the line")?;
    let before = reader.names.remember();
    let mut branches: Vec<Vec<Item>> = Vec::new();
    // The branches that go on behind it: what they answered, what they asked.
    let mut ends: Vec<(Remembered, Vec<Request>)> = Vec::new();
    loop {
        reader.names.begin_block();
        let (items, end) = items(reader, depth + 1)?;
        let asked = reader.names.end_block();
        if !matches!(items.last(), Some(Item::NotExercised { .. })) {
            ends.push((reader.names.remember(), asked));
        }
        reader.names.restore(&before);
        if items.is_empty() {
            return Err(reader.cursor.error(format!(
                "this branch of the `either` of line {opened_in} is empty; `optional` is the \
                 word for what may be left out"
            )));
        }
        branches.push(items);
        match end {
            End::File => return Err(no_end(reader, opened_in, "either")),
            End::Word(word) => {
                reader.cursor.word("`or` or `end`")?;
                reader.cursor.end_of_line("the end of the line")?;
                if word == "end" {
                    break;
                }
            }
        }
    }
    let (answered, mut asked): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
    if !answered.is_empty() {
        reader.names.join(&answered);
    }
    // Where only one branch goes on, it is the one that the rest is about.
    if let ([_], Some(asked)) = (answered.as_slice(), asked.pop()) {
        reader.names.reopen(asked);
    }
    if branches.len() < 2 {
        return Err(reader.cursor.error_at(at, "this `either` has no `or`"));
    }
    same_first_side(reader, at, &branches)?;
    Ok(Item::Either(branches))
}

/// The branch is chosen by who speaks first: that has to be one side.
fn same_first_side(reader: &Reader<'_>, at: usize, branches: &[Vec<Item>]) -> Parsed<()> {
    let mut firsts = branches.iter().map(|branch| step::first_side(branch));
    let first = firsts.next().flatten();
    if first.is_some() && firsts.all(|side| side == first) {
        return Ok(());
    }
    Err(reader.cursor.error_at(
        at,
        "every branch has to begin with a step of the same side: who begins, chooses",
    ))
}

fn optional(reader: &mut Reader<'_>, depth: usize) -> Parsed<Item> {
    let opened_in = reader.cursor.line();
    let at = reader.cursor.offset();
    reader.cursor.word("`optional`")?;
    reader.cursor.end_of_line("the end of the line")?;
    let before = reader.names.remember();
    reader.names.begin_block();
    let items = body(reader, opened_in, "optional", depth)?;
    reader.names.end_block();
    // It may have been left out: nothing is sure to be answered.
    reader.names.restore(&before);
    if step::first_side(&items).is_none() {
        return Err(reader
            .cursor
            .error_at(at, "an `optional` block has to begin with a message"));
    }
    Ok(Item::Either(vec![items, Vec::new()]))
}

fn repeat(reader: &mut Reader<'_>, depth: usize) -> Parsed<Item> {
    let opened_in = reader.cursor.line();
    reader.cursor.word("`repeat`")?;
    let times = reader.cursor.count()?;
    let counter = if reader.cursor.eat_word("as") {
        reader.cursor.skip_blanks();
        let name = reader.cursor.rest().strip_prefix('$').map(name_at_start);
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Err(reader.cursor.expected("a name such as `$i`"));
        };
        reader.cursor.advance(1 + name.len());
        Some(Arc::from(name))
    } else {
        None
    };
    reader
        .cursor
        .end_of_line("`as $NAME` or the end of the line")?;
    reader.names.begin_block();
    let items = body(reader, opened_in, "repeat", depth)?;
    reader.names.end_block();
    Ok(Item::Repeat {
        times,
        counter,
        items,
    })
}

fn any_order(reader: &mut Reader<'_>) -> Parsed<Item> {
    let opened_in = reader.cursor.line();
    let at = reader.cursor.offset();
    reader.cursor.word("`any`")?;
    if !reader.cursor.eat_word("order") {
        reader.cursor.skip_blanks();
        return Err(reader.cursor.expected("`order` after `any`"));
    }
    reader.cursor.end_of_line("the end of the line")?;
    // Blocks do not lie in it, so their names stay.
    let items = body(reader, opened_in, "any order", DEEPEST)?;
    let mut steps = Vec::new();
    for item in items {
        match item {
            Item::Step(step) if matches!(step.act, Act::Message(_)) => steps.push(step),
            _ => {
                return Err(reader
                    .cursor
                    .error_at(at, "only messages can come in any order"));
            }
        }
    }
    // A bit of a word each, when it is played.
    if steps.len() > 64 {
        return Err(reader
            .cursor
            .error_at(at, "at most 64 messages can come in any order"));
    }
    if steps.iter().any(|step| step.from != steps[0].from) {
        return Err(reader
            .cursor
            .error_at(at, "messages in any order have to be of one side"));
    }
    Ok(Item::AnyOrder(steps))
}

fn whenever(reader: &mut Reader<'_>, depth: usize) -> Parsed<Item> {
    let opened_in = reader.cursor.line();
    reader.cursor.word("`whenever`")?;
    reader.cursor.skip_blanks();
    let at = reader.cursor.offset();
    let Some(from) = units::arrow(&mut reader.cursor) else {
        return Err(reader
            .cursor
            .expected("`->` or `<-` and the message that is meant"));
    };
    let before = reader.names.remember();
    reader.names.begin_block();
    let (message, rules) = message::message(reader, from, opened_in)?;
    reader.cursor.end_of_line("the end of the line")?;
    if message.count != Count::One {
        return Err(reader
            .cursor
            .error_at(at, "`whenever` means every time already"));
    }
    let mut trigger = Step {
        rules,
        ..Step::new(opened_in, from, Act::Message(message))
    };
    below(reader, &mut trigger)?;
    let items = body(reader, opened_in, "whenever", depth)?;
    reader.names.end_block();
    reader.names.restore(&before);
    Ok(Item::Whenever(Arc::new(Whenever {
        trigger: Arc::new(trigger),
        items,
    })))
}

fn not_exercised(reader: &mut Reader<'_>) -> Parsed<Item> {
    let line = reader.cursor.line();
    reader.cursor.word("`not`")?;
    if !reader.cursor.eat_word("exercised") {
        reader.cursor.skip_blanks();
        return Err(reader.cursor.expected("`exercised` after `not`"));
    }
    reader.cursor.skip_blanks();
    let reason = pattern::string(&mut reader.cursor)?;
    reader.cursor.end_of_line("the end of the line")?;
    Ok(Item::NotExercised { line, reason })
}
