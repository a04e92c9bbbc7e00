//! Reads one step.

use std::time::Duration;

use acp_recording::{PeerSide, SignalName};

use super::below::below;
use super::{message, pattern, units};
use crate::language::reader::{Parsed, Reader};
use crate::language::step::{Act, Count, ExitAs, Message, Step};

/// Reads a line that begins with an arrow, to the end of the line.
pub(super) fn step(reader: &mut Reader<'_>) -> Parsed<Step> {
    let line = reader.line();
    let Some(from) = reader.arrow() else {
        return Err(reader.expected("`->` (the client) or `<-` (the agent)"));
    };
    let at = reader.mark();
    let mut step = Step::new(line, from, Act::StopReading);
    step.act = act(reader, &mut step)?;
    only_of(reader, at, from, &step.act)?;
    if step.rules.is_empty() && reader.eat_word("for") {
        step.rules = units::rules(reader, from)?;
    }
    reader.end_of_line(match step.act {
        Act::Message(_) => {
            "the end of the line, `as`, `with id`, `within`, `for` or how it is written"
        }
        _ => "the end of the line",
    })?;
    below(reader, &mut step)?;
    Ok(step)
}

/// Reads what is done; a message says which rules the step is for.
fn act(reader: &mut Reader<'_>, step: &mut Step) -> Parsed<Act> {
    let start = reader.mark();
    let word = reader.peek_word();
    reader.advance(word.len());
    Ok(match word {
        "text" => Act::Bytes(text(reader)?),
        "hex" => Act::Bytes(units::hex(reader)?),
        "line" => {
            reader.words(&["of"], "`of` and a size: `line of 40MiB`")?;
            let mut bytes = vec![b'x'; reader.size()?];
            bytes.push(b'\n');
            Act::Bytes(bytes)
        }
        "wait" => Act::Wait(reader.duration()?),
        "nothing" => {
            reader.words(&["for"], "`for` and a time: `nothing for 300ms`")?;
            Act::Nothing(reader.duration()?)
        }
        "never" => Act::Never(standing(reader, step)?),
        "ignore" => Act::Ignore(standing(reader, step)?),
        "close" => Act::Close {
            within: within(reader)?,
        },
        "stop" => {
            reader.words(&["reading"], "`reading` after `stop`")?;
            Act::StopReading
        }
        "read" => read(reader)?,
        "exit" => Act::Exit {
            how: exit_as(reader)?,
            within: within(reader)?,
        },
        "signal" => Act::Signal(signal(reader)?),
        "stderr" => stderr(reader)?,
        "grandchild" => {
            reader.words(&["for"], "`for` and a time: `grandchild for 60s`")?;
            Act::Grandchild(reader.duration()?)
        }
        _ => {
            reader.go_to(start);
            Act::Message(message::message(reader, step)?)
        }
    })
}

/// Reads the message of a rule that stands from here on.
fn standing(reader: &mut Reader<'_>, step: &mut Step) -> Parsed<Message> {
    let at = reader.offset();
    // What it asks is never answered here, and what it answers may still be.
    let before = reader.names.remember();
    reader.names.begin_block();
    let message = message::message(reader, step)?;
    reader.names.end_block();
    reader.names.restore(&before);
    if message.count != Count::One || message.within.is_some() || message.raw {
        return Err(reader.error_at(
            at,
            "`never` and `ignore` stand from here on; they take a message and nothing else",
        ));
    }
    Ok(message)
}

fn text(reader: &mut Reader<'_>) -> Parsed<Vec<u8>> {
    reader.skip_blanks();
    Ok(pattern::string(reader)?.into_bytes())
}

fn within(reader: &mut Reader<'_>) -> Parsed<Option<Duration>> {
    let follows = reader.eat_word("within");
    follows.then(|| reader.duration()).transpose()
}

fn read(reader: &mut Reader<'_>) -> Parsed<Act> {
    if reader.eat_word("on") {
        return Ok(Act::ReadOn);
    }
    reader.words(&["slowly"], "`on` or `slowly` after `read`")?;
    let bytes = reader.size()?.max(1);
    reader.words(
        &["every"],
        "`every` and a time: `read slowly 4KiB every 10ms`",
    )?;
    Ok(Act::ReadSlowly {
        bytes,
        every: reader.duration()?,
    })
}

fn signal(reader: &mut Reader<'_>) -> Parsed<SignalName> {
    let found = reader.one_of(SignalName::all().map(|signal| (signal.name(), signal)));
    found.ok_or_else(|| {
        let names: Vec<&str> = SignalName::all().map(SignalName::name).collect();
        reader.expected(&format!("a signal: {}", names.join(", ")))
    })
}

fn exit_as(reader: &mut Reader<'_>) -> Parsed<ExitAs> {
    if reader.eat_word("by") {
        return Ok(ExitAs::By(signal(reader)?));
    }
    let word = reader.peek_word();
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(ExitAs::Any);
    }
    reader.skip_blanks();
    let code = word.parse();
    let code = code.map_err(|_| reader.expected("an exit code from 0 to 255"))?;
    reader.advance(word.len());
    Ok(ExitAs::Code(code))
}

fn stderr(reader: &mut Reader<'_>) -> Parsed<Act> {
    if reader.eat_word("flood") {
        reader.words(&["of"], "`of` and a size: `stderr flood of 10MiB`")?;
        return Ok(Act::Stderr {
            text: b"the mock agent floods its stderr\n".to_vec(),
            size: reader.size()?,
        });
    }
    reader.skip_blanks();
    if reader.peek() != Some('"') {
        return Err(reader.expected("a text in quotes or `flood of SIZE`"));
    }
    let text = text(reader)?;
    Ok(Act::Stderr {
        size: text.len(),
        text,
    })
}

/// Some acts are the business of one side.
fn only_of(reader: &Reader<'_>, at: usize, from: PeerSide, act: &Act) -> Parsed<()> {
    let (owner, what) = match act {
        Act::Exit { .. } => (PeerSide::Agent, "it is the agent that exits: `<- exit`"),
        Act::Stderr { .. } => (
            PeerSide::Agent,
            "it is the agent that has a stderr: `<- stderr`",
        ),
        Act::Grandchild(_) => (
            PeerSide::Agent,
            "it is the agent that has children: `<- grandchild`",
        ),
        Act::Signal(_) => (
            PeerSide::Client,
            "it is the client that sends signals: `-> signal`; an agent ends by `<- exit by`",
        ),
        _ => return Ok(()),
    };
    match owner == from {
        true => Ok(()),
        false => Err(reader.error_at(at, what)),
    }
}
