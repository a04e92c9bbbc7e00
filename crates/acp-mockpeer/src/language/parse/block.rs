//! Reads blocks: `either`, `optional`, `repeat`, `any order`, `whenever`.

use std::sync::Arc;

use super::below::below;
use super::{ParseError, act, message, pattern};
use crate::language::names::{Remembered, Request};
use crate::language::pattern::name_at_start;
use crate::language::reader::{Parsed, Reader, nearest};
use crate::language::step::{self, Act, Count, Item, Step, Whenever};

const WORDS: [&str; 6] = ["either", "optional", "repeat", "any", "whenever", "not"];

/// Blocks may lie this deep in each other; more is a slip of the pen.
const DEEPEST: usize = 32;

/// Reads to the end of the file.
pub(super) fn top_level(reader: &mut Reader<'_>) -> Parsed<Vec<Item>> {
    let (items, end) = items(reader, 0)?;
    match end {
        None => Ok(items),
        Some(word) => Err(reader.error(format!("no block is open that `{word}` belongs to"))),
    }
}

/// A block of which the first word was read.
#[derive(Clone, Copy)]
struct Block {
    what: &'static str,
    line: usize,
    at: usize,
    depth: usize,
}

/// Reads items up to the word that ends them, which is left, or to the end of the file.
fn items(reader: &mut Reader<'_>, depth: usize) -> Parsed<(Vec<Item>, Option<&'static str>)> {
    let mut all = Vec::new();
    loop {
        reader.skip_all_space();
        if reader.at_end() {
            return Ok((all, None));
        }
        if let Some(end) = ["or", "end"]
            .into_iter()
            .find(|word| reader.peek_word() == *word)
        {
            return Ok((all, Some(end)));
        }
        all.push(item(reader, depth)?);
    }
}

fn item(reader: &mut Reader<'_>, depth: usize) -> Parsed<Item> {
    if reader.rest().starts_with(['-', '<']) {
        return Ok(Item::Step(Arc::new(act::step(reader)?)));
    }
    let word = reader.peek_word();
    let Some(what) = WORDS.into_iter().find(|known| *known == word) else {
        return Err(match nearest(word, WORDS) {
            Some("any") | None => {
                reader.expected("a step (`->` the client, `<-` the agent) or a block")
            }
            Some("not") => reader.expected("`not exercised`"),
            Some(hint) => reader.error(format!("there is no `{word}`; did you mean `{hint}`?")),
        });
    };
    if depth >= DEEPEST {
        return Err(reader.error(match depth {
            DEEPEST => "blocks lie too deep in each other",
            // Only `any order` is read as if it lay deeper.
            _ => "only messages can come in any order",
        }));
    }
    let block = Block {
        what,
        line: reader.line(),
        at: reader.offset(),
        depth,
    };
    reader.advance(word.len());
    match what {
        "either" => either(reader, block),
        "optional" => optional(reader, block),
        "repeat" => repeat(reader, block),
        "any" => any_order(reader, block),
        "whenever" => whenever(reader, block),
        _ => not_exercised(reader, block),
    }
}

impl Block {
    /// Reads to `end`; what is asked on the way is not known behind it.
    fn scope(self, reader: &mut Reader<'_>) -> Parsed<Vec<Item>> {
        reader.names.begin_block();
        let items = self.body(reader)?;
        reader.names.end_block();
        Ok(items)
    }

    /// Reads to `end`.
    fn body(self, reader: &mut Reader<'_>) -> Parsed<Vec<Item>> {
        let Self {
            what, line, depth, ..
        } = self;
        let at = reader.offset();
        let (items, end) = items(reader, depth + 1)?;
        match end {
            Some("end") => reader.word("`end`")?,
            Some(_) => {
                return Err(reader.error(format!(
                    "expected `end` of the `{what}` of line {line}, found `or`"
                )));
            }
            None => return Err(self.no_end(reader)),
        };
        reader.end()?;
        match items.is_empty() {
            true => Err(reader.error_at(at, format!("the `{what}` of line {line} is empty"))),
            false => Ok(items),
        }
    }

    fn no_end(self, reader: &Reader<'_>) -> ParseError {
        reader.error(format!(
            "the `{}` of line {} has no `end`",
            self.what, self.line
        ))
    }
}

fn either(reader: &mut Reader<'_>, block: Block) -> Parsed<Item> {
    reader.end()?;
    let before = reader.names.remember();
    let mut branches: Vec<Vec<Item>> = Vec::new();
    // The branches that go on behind it: what they answered, what they asked.
    let mut ends: Vec<(Remembered, Vec<Request>)> = Vec::new();
    loop {
        reader.names.begin_block();
        let (items, end) = items(reader, block.depth + 1)?;
        let asked = reader.names.end_block();
        if !matches!(items.last(), Some(Item::NotExercised { .. })) {
            ends.push((reader.names.remember(), asked));
        }
        reader.names.restore(&before);
        if items.is_empty() {
            return Err(reader.error(format!(
                "this branch of the `either` of line {} is empty; `optional` is the word for \
                 what may be left out",
                block.line
            )));
        }
        branches.push(items);
        let word = end.ok_or_else(|| block.no_end(reader))?;
        reader.advance(word.len());
        reader.end()?;
        if word == "end" {
            break;
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
        return Err(reader.error_at(block.at, "this `either` has no `or`"));
    }
    // The branch is chosen by who speaks first: that has to be one side.
    let mut firsts = branches.iter().map(|branch| step::first_side(branch));
    let first = firsts.next().flatten();
    match first.is_some() && firsts.all(|side| side == first) {
        true => Ok(Item::Either(branches)),
        false => Err(reader.error_at(
            block.at,
            "every branch has to begin with a step of the same side: who begins, chooses",
        )),
    }
}

fn optional(reader: &mut Reader<'_>, block: Block) -> Parsed<Item> {
    reader.end()?;
    let before = reader.names.remember();
    let items = block.scope(reader)?;
    // It may have been left out: nothing is sure to be answered.
    reader.names.restore(&before);
    match step::first_side(&items) {
        Some(_) => Ok(Item::Either(vec![items, Vec::new()])),
        None => Err(reader.error_at(block.at, "an `optional` block has to begin with a message")),
    }
}

fn repeat(reader: &mut Reader<'_>, block: Block) -> Parsed<Item> {
    let times = reader.count()?;
    let mut counter = None;
    if reader.eat_word("as") {
        reader.skip_blanks();
        let name = reader.rest().strip_prefix('$').map(name_at_start);
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Err(reader.expected("a name such as `$i`"));
        };
        reader.advance(1 + name.len());
        counter = Some(Arc::from(name));
    }
    reader.end_of_line("`as $NAME` or the end of the line")?;
    Ok(Item::Repeat {
        times,
        counter,
        items: block.scope(reader)?,
    })
}

fn any_order(reader: &mut Reader<'_>, block: Block) -> Parsed<Item> {
    reader.words(&["order"], "`order` after `any`")?;
    reader.end()?;
    // Blocks do not lie in it, so their names stay.
    let inner = Block {
        what: "any order",
        depth: DEEPEST,
        ..block
    };
    let refuse = |reader: &Reader<'_>, why: &str| Err(reader.error_at(block.at, why));
    let mut steps = Vec::new();
    for item in inner.body(reader)? {
        match item {
            Item::Step(step) if matches!(step.act, Act::Message(_)) => steps.push(step),
            _ => return refuse(reader, "only messages can come in any order"),
        }
    }
    // A bit of a word each, when it is played.
    if steps.len() > 64 {
        return refuse(reader, "at most 64 messages can come in any order");
    }
    if steps.iter().any(|step| step.from != steps[0].from) {
        return refuse(reader, "messages in any order have to be of one side");
    }
    Ok(Item::AnyOrder(steps))
}

fn whenever(reader: &mut Reader<'_>, block: Block) -> Parsed<Item> {
    let at = reader.mark();
    let Some(from) = reader.arrow() else {
        return Err(reader.expected("`->` or `<-` and the message that is meant"));
    };
    let before = reader.names.remember();
    reader.names.begin_block();
    let mut trigger = Step::new(block.line, from, Act::ReadOn);
    let message = message::message(reader, &mut trigger)?;
    reader.end()?;
    if message.count != Count::One {
        return Err(reader.error_at(at, "`whenever` means every time already"));
    }
    trigger.act = Act::Message(message);
    below(reader, &mut trigger)?;
    let items = block.body(reader)?;
    reader.names.end_block();
    reader.names.restore(&before);
    Ok(Item::Whenever(Arc::new(Whenever {
        trigger: Arc::new(trigger),
        items,
    })))
}

fn not_exercised(reader: &mut Reader<'_>, block: Block) -> Parsed<Item> {
    reader.words(&["exercised"], "`exercised` after `not`")?;
    reader.skip_blanks();
    let reason = pattern::string(reader)?;
    reader.end()?;
    Ok(Item::NotExercised {
        line: block.line,
        reason,
    })
}
