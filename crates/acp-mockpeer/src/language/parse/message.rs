//! Reads messages and how they are written.

use std::sync::Arc;

use super::tail::{Tail, tail};
use super::units::nearest;
use super::{Reader, pattern};
use crate::language::cursor::Parsed;
use crate::language::pattern::{Object, Pattern};
use crate::language::step::{AnswerBody, AnswerTo, AnyKind, Count, Message, Slot, What};
use crate::rules::Rule;
use crate::schema;
use acp_recording::Side;

/// Reads a message with its words behind, up to what it does not know.
///
/// Returns the rules too that it is for.
pub(super) fn message(
    reader: &mut Reader<'_>,
    from: Side,
    line: usize,
) -> Parsed<(Message, Vec<&'static Rule>)> {
    let raw = reader.cursor.eat_word("raw");
    reader.cursor.skip_blanks();
    let at = reader.cursor.offset();
    let start = kind(reader, from, raw)?;
    let count = count(reader);
    let body = body(reader, &start)?;
    let tail = tail(&mut reader.cursor, from)?;
    let asks = matches!(
        start,
        Start::Request(_) | Start::Any(AnyKind::Request | AnyKind::Message)
    );
    let refuse = |message: &str| Err(reader.cursor.error_at(at, message));
    if tail.name.is_some() && !asks {
        return refuse("only a request has an answer to be named with `as`");
    }
    if count != Count::One && (tail.name.is_some() || matches!(start, Start::Answer { .. })) {
        return refuse("a line that may come more or less than once cannot be named or answer");
    }
    let what = resolve(
        reader,
        from,
        line,
        at,
        Unresolved {
            raw,
            start,
            count,
            body,
            tail: &tail,
        },
    )?;
    let message = Message {
        raw,
        what,
        count,
        id: tail.id,
        within: tail.within,
        writing: tail.writing,
    };
    Ok((message, tail.rules))
}

/// The words with which a message begins.
enum Start {
    Request(Arc<str>),
    Notification(Arc<str>),
    Answer {
        kind: AnswerKind,
        to: Option<Arc<str>>,
    },
    Any(AnyKind),
    Whole,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AnswerKind {
    Result,
    Error,
    Either,
}

fn kind(reader: &mut Reader<'_>, from: Side, raw: bool) -> Parsed<Start> {
    const WHAT: &str = "a method, `result`, `error` or another step";
    let at = reader.cursor.offset();
    let word = reader.cursor.word(WHAT)?;
    let answer = |kind, to| Ok(Start::Answer { kind, to });
    match word {
        "result" => answer(AnswerKind::Result, of(reader)?),
        "error" => answer(AnswerKind::Error, of(reader)?),
        "answer" => answer(AnswerKind::Either, of(reader)?),
        "reply" => answer(AnswerKind::Result, Some(request_name(reader)?)),
        "message" => Ok(Start::Whole),
        "any" => Ok(Start::Any(any_kind(reader))),
        "request" => Ok(Start::Request(method_name(reader)?)),
        "notify" => Ok(Start::Notification(method_name(reader)?)),
        method => {
            if !schema::knows(method) {
                return Err(reader.cursor.error_at(at, unknown_method(method)));
            }
            if !raw && schema::sender(method).is_some_and(|sender| sender != from) {
                return Err(reader.cursor.error_at(
                    at,
                    format!(
                        "it is the {} that sends `{method}`; write `raw` before it if the {from} \
                         is meant to",
                        from.other()
                    ),
                ));
            }
            Ok(if schema::is_request(method) {
                Start::Request(method.into())
            } else {
                Start::Notification(method.into())
            })
        }
    }
}

fn unknown_method(method: &str) -> String {
    match nearest(method, schema::methods().chain(STEP_WORDS)) {
        Some(hint) => format!("there is no `{method}`; did you mean `{hint}`?"),
        None => format!(
            "the pinned schema has no method `{method}`; write `request {method}` or \
             `notify {method}` to send it all the same"
        ),
    }
}

const STEP_WORDS: [&str; 20] = [
    "result",
    "error",
    "answer",
    "reply",
    "message",
    "any",
    "request",
    "notify",
    "text",
    "hex",
    "line",
    "wait",
    "nothing",
    "never",
    "ignore",
    "close",
    "exit",
    "signal",
    "stderr",
    "grandchild",
];

fn any_kind(reader: &mut Reader<'_>) -> AnyKind {
    for (word, kind) in [
        ("request", AnyKind::Request),
        ("notification", AnyKind::Notification),
        ("answer", AnyKind::Answer),
        ("message", AnyKind::Message),
    ] {
        if reader.cursor.eat_word(word) {
            return kind;
        }
    }
    AnyKind::Message
}

fn method_name(reader: &mut Reader<'_>) -> Parsed<Arc<str>> {
    reader.cursor.skip_blanks();
    if reader.cursor.peek() == Some('"') {
        return Ok(pattern::string(&mut reader.cursor)?.into());
    }
    Ok(reader.cursor.word("the name of a method")?.into())
}

/// Reads `of NAME` or `to NAME`, if it is there.
fn of(reader: &mut Reader<'_>) -> Parsed<Option<Arc<str>>> {
    if reader.cursor.eat_word("of") || reader.cursor.eat_word("to") {
        Ok(Some(request_name(reader)?))
    } else {
        Ok(None)
    }
}

fn request_name(reader: &mut Reader<'_>) -> Parsed<Arc<str>> {
    Ok(reader
        .cursor
        .word("the name a request got with `as`")?
        .into())
}

fn count(reader: &mut Reader<'_>) -> Count {
    for (mark, count) in [
        ("*", Count::Any),
        ("?", Count::Optional),
        ("+", Count::Some),
    ] {
        if reader.cursor.eat(mark) {
            return count;
        }
    }
    Count::One
}

/// Reads the pattern of params, result, error or message.
fn body(reader: &mut Reader<'_>, start: &Start) -> Parsed<Option<Pattern>> {
    if !pattern::begins(&reader.cursor) {
        return match start {
            Start::Whole => {
                reader.cursor.skip_blanks();
                Err(reader
                    .cursor
                    .expected("the whole message: `{\"jsonrpc\": \"2.0\", …}`"))
            }
            _ => Ok(None),
        };
    }
    reader.cursor.skip_blanks();
    let at = reader.cursor.offset();
    let read = pattern::pattern(&mut reader.cursor)?;
    match start {
        Start::Any(_) => Err(reader.cursor.error_at(
            at,
            "`any` takes no pattern; `message {…}` is the word for a whole message",
        )),
        Start::Answer {
            kind: AnswerKind::Either,
            ..
        } => Err(reader.cursor.error_at(
            at,
            "`answer` takes no pattern; say `result` or `error`, or `either … or … end`",
        )),
        // A code alone stands for an error with it.
        Start::Answer {
            kind: AnswerKind::Error,
            ..
        } if !matches!(read, Pattern::Object(_)) => Ok(Some(Pattern::Object(Object {
            members: vec![("code".to_owned(), read)],
            only: false,
        }))),
        _ => Ok(Some(read)),
    }
}

/// A message that was read, but not yet tied to what it answers.
struct Unresolved<'a> {
    raw: bool,
    start: Start,
    count: Count,
    body: Option<Pattern>,
    tail: &'a Tail,
}

fn resolve(
    reader: &mut Reader<'_>,
    from: Side,
    line: usize,
    at: usize,
    message: Unresolved<'_>,
) -> Parsed<What> {
    let Unresolved {
        raw,
        start,
        count,
        body,
        tail,
    } = message;
    let mut ask = |method: Option<&Arc<str>>| -> Parsed<Option<Slot>> {
        if count != Count::One {
            return Ok(None);
        }
        let asked = reader
            .names
            .ask(from, method.cloned(), tail.name.clone(), line);
        asked
            .map(Some)
            .map_err(|why| reader.cursor.error_at(at, why))
    };
    Ok(match start {
        Start::Request(method) => What::Request {
            slot: ask(Some(&method))?,
            method,
            params: body,
        },
        Start::Any(kind @ (AnyKind::Request | AnyKind::Message)) => What::Any {
            kind,
            slot: match kind {
                AnyKind::Request => ask(None)?,
                _ if tail.name.is_some() => ask(None)?,
                _ => None,
            },
        },
        Start::Any(kind) => What::Any { kind, slot: None },
        Start::Notification(method) => What::Notification {
            method,
            params: body,
        },
        Start::Whole => What::Whole(body.unwrap_or(Pattern::Absent)),
        Start::Answer { kind, to } => {
            let (slot, to) = answered(reader, from, line, at, raw, to, tail.id.is_some())?;
            What::Answer {
                slot,
                to,
                body: match kind {
                    AnswerKind::Result => AnswerBody::Result(body),
                    AnswerKind::Error => AnswerBody::Error(body),
                    AnswerKind::Either => AnswerBody::Either,
                },
            }
        }
    })
}

/// Finds what an answer answers.
fn answered(
    reader: &mut Reader<'_>,
    from: Side,
    line: usize,
    at: usize,
    raw: bool,
    name: Option<Arc<str>>,
    own_id: bool,
) -> Parsed<(Option<Slot>, AnswerTo)> {
    let request = match &name {
        Some(name) => match reader.names.named(name).cloned() {
            Some(request) if request.from == from => {
                return Err(reader.cursor.error_at(
                    at,
                    format!(
                        "`{name}` was asked by the {from} itself, in line {}",
                        request.line
                    ),
                ));
            }
            Some(request) => request,
            None => {
                return Err(reader.cursor.error_at(
                    at,
                    format!("no request above is called `{name}`; a request gets its name with `as {name}`"),
                ));
            }
        },
        // It says by itself what it answers.
        None if own_id => {
            return Ok((
                None,
                AnswerTo {
                    name: None,
                    method: None,
                },
            ));
        }
        None => reader
            .names
            .only_open(from.other())
            .map_err(|why| reader.cursor.error_at(at, why))?,
    };
    if !own_id
        && let Err(why) = reader.names.answer(request.slot, line)
        && !raw
    {
        return Err(reader.cursor.error_at(at, why));
    }
    Ok((
        Some(request.slot),
        AnswerTo {
            name: request.name,
            method: request.method,
        },
    ))
}
