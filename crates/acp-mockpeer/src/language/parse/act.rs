//! Reads one step.

use std::time::Duration;

use super::below::below;
use super::units::{self, arrow, hex, signal};
use super::{Reader, message, pattern};
use crate::language::cursor::{Cursor, Parsed};
use crate::language::step::{Act, Count, ExitAs, Message, Step};
use crate::rules::Rule;
use acp_recording::Side;

const END: &str = "the end of the line";

/// Reads a line that begins with an arrow, to the end of the line.
pub(super) fn step(reader: &mut Reader<'_>) -> Parsed<Step> {
    let line = reader.cursor.line();
    let from = arrow(&mut reader.cursor).ok_or_else(|| {
        reader
            .cursor
            .expected("`->` (the client) or `<-` (the agent)")
    })?;
    reader.cursor.skip_blanks();
    let at = reader.cursor.offset();
    let mut rules = Vec::new();
    let act = act(reader, from, line, &mut rules)?;
    only_of(&reader.cursor, at, from, &act)?;
    if rules.is_empty() && reader.cursor.eat_word("for") {
        rules = units::rules(&mut reader.cursor, from)?;
    }
    reader.cursor.end_of_line(match act {
        Act::Message(_) => {
            "the end of the line, `as`, `with id`, `within`, `for` or how it is written"
        }
        _ => END,
    })?;
    let mut step = Step {
        rules,
        ..Step::new(line, from, act)
    };
    below(reader, &mut step)?;
    Ok(step)
}

/// Reads what is done; a message tells which rules it is for.
fn act(
    reader: &mut Reader<'_>,
    from: Side,
    line: usize,
    rules: &mut Vec<&'static Rule>,
) -> Parsed<Act> {
    let cursor = &mut reader.cursor;
    cursor.skip_blanks();
    let start = cursor.offset();
    let word = cursor.peek_word();
    cursor.advance(word.len());
    match word {
        "text" => {
            cursor.skip_blanks();
            Ok(Act::Bytes(pattern::string(cursor)?.into_bytes()))
        }
        "hex" => Ok(Act::Bytes(hex(cursor)?)),
        "line" => {
            words(cursor, &["of"], "`of` and a size: `line of 40MiB`")?;
            let mut bytes = vec![b'x'; cursor.size()?];
            bytes.push(b'\n');
            Ok(Act::Bytes(bytes))
        }
        "wait" => Ok(Act::Wait(cursor.duration()?)),
        "nothing" => {
            words(cursor, &["for"], "`for` and a time: `nothing for 300ms`")?;
            Ok(Act::Nothing(cursor.duration()?))
        }
        "never" => Ok(Act::Never(standing(reader, from, line, rules)?)),
        "ignore" => Ok(Act::Ignore(standing(reader, from, line, rules)?)),
        "close" => Ok(Act::Close {
            within: within(cursor)?,
        }),
        "stop" => {
            words(cursor, &["reading"], "`reading` after `stop`")?;
            Ok(Act::StopReading)
        }
        "read" => read(cursor),
        "exit" => {
            let how = exit_as(cursor)?;
            Ok(Act::Exit {
                how,
                within: within(cursor)?,
            })
        }
        "signal" => Ok(Act::Signal(signal(cursor)?)),
        "stderr" => stderr(cursor),
        "grandchild" => {
            words(cursor, &["for"], "`for` and a time: `grandchild for 60s`")?;
            Ok(Act::Grandchild(cursor.duration()?))
        }
        _ => {
            cursor.go_to(start);
            let (message, named) = message::message(reader, from, line)?;
            *rules = named;
            Ok(Act::Message(message))
        }
    }
}

/// Demands these words.
fn words(cursor: &mut Cursor<'_>, all: &[&str], what: &str) -> Parsed<()> {
    for word in all {
        if !cursor.eat_word(word) {
            cursor.skip_blanks();
            return Err(cursor.expected(what));
        }
    }
    Ok(())
}

/// Reads the message of a rule that stands from here on.
fn standing(
    reader: &mut Reader<'_>,
    from: Side,
    line: usize,
    rules: &mut Vec<&'static Rule>,
) -> Parsed<Message> {
    let at = reader.cursor.offset();
    // What it asks is never answered here, and what it answers may still be.
    let before = reader.names.remember();
    reader.names.begin_block();
    let (message, named) = message::message(reader, from, line)?;
    *rules = named;
    reader.names.end_block();
    reader.names.restore(&before);
    if message.count != Count::One || message.within.is_some() || message.raw {
        return Err(reader.cursor.error_at(
            at,
            "`never` and `ignore` stand from here on; they take a message and nothing else",
        ));
    }
    Ok(message)
}

fn within(cursor: &mut Cursor<'_>) -> Parsed<Option<Duration>> {
    if cursor.eat_word("within") {
        Ok(Some(cursor.duration()?))
    } else {
        Ok(None)
    }
}

fn read(cursor: &mut Cursor<'_>) -> Parsed<Act> {
    if cursor.eat_word("on") {
        return Ok(Act::ReadOn);
    }
    words(cursor, &["slowly"], "`on` or `slowly` after `read`")?;
    let bytes = cursor.size()?.max(1);
    words(
        cursor,
        &["every"],
        "`every` and a time: `read slowly 4KiB every 10ms`",
    )?;
    Ok(Act::ReadSlowly {
        bytes,
        every: cursor.duration()?,
    })
}

fn exit_as(cursor: &mut Cursor<'_>) -> Parsed<ExitAs> {
    if cursor.eat_word("by") {
        return Ok(ExitAs::By(signal(cursor)?));
    }
    let word = cursor.peek_word();
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(ExitAs::Any);
    }
    cursor.skip_blanks();
    let code = word
        .parse()
        .map_err(|_| cursor.expected("an exit code from 0 to 255"))?;
    cursor.advance(word.len());
    Ok(ExitAs::Code(code))
}

fn stderr(cursor: &mut Cursor<'_>) -> Parsed<Act> {
    if cursor.eat_word("flood") {
        words(cursor, &["of"], "`of` and a size: `stderr flood of 10MiB`")?;
        return Ok(Act::Stderr {
            text: b"the mock agent floods its stderr\n".to_vec(),
            size: cursor.size()?,
        });
    }
    cursor.skip_blanks();
    if cursor.peek() != Some('"') {
        return Err(cursor.expected("a text in quotes or `flood of SIZE`"));
    }
    let text = pattern::string(cursor)?.into_bytes();
    Ok(Act::Stderr {
        size: text.len(),
        text,
    })
}

/// Some acts are the business of one side.
fn only_of(cursor: &Cursor<'_>, at: usize, from: Side, act: &Act) -> Parsed<()> {
    let (owner, what) = match act {
        Act::Exit { .. } => (Side::Agent, "it is the agent that exits: `<- exit`"),
        Act::Stderr { .. } => (
            Side::Agent,
            "it is the agent that has a stderr: `<- stderr`",
        ),
        Act::Grandchild(_) => (
            Side::Agent,
            "it is the agent that has children: `<- grandchild`",
        ),
        Act::Signal(_) => (
            Side::Client,
            "it is the client that sends signals: `-> signal`; an agent ends by `<- exit by`",
        ),
        _ => return Ok(()),
    };
    if owner == from {
        Ok(())
    } else {
        Err(cursor.error_at(at, what))
    }
}
