//! Reads messages and how they are written.

use std::sync::Arc;

use super::pattern;
use super::tail::tail;
use crate::language::pattern::Pattern;
use crate::language::reader::{Parsed, Reader, nearest};
use crate::language::step::{AnswerBody, AnswerTo, AnyKind, Count, Message, Slot, Step, What};
use crate::schema;

/// Reads a message with its words behind, up to what it does not know.
///
/// The step is who sends it, and gets the rules that it is for.
pub(super) fn message(reader: &mut Reader<'_>, step: &mut Step) -> Parsed<Message> {
    let raw = reader.eat_word("raw");
    let at = reader.mark();
    let start = start(reader, step, raw)?;
    let marks = [
        ("*", Count::Any),
        ("?", Count::Optional),
        ("+", Count::Some),
    ];
    let count = marks.into_iter().find(|(mark, _)| reader.eat(mark));
    let count = count.map_or(Count::One, |(_, count)| count);
    let body = body(reader, &start)?;
    let tail = tail(reader, step.from)?;
    let refuse = |reader: &Reader<'_>, why: &str| Err(reader.error_at(at, why));
    let asks = match start {
        Start::Request(_) | Start::Any(AnyKind::Request) => true,
        Start::Any(AnyKind::Message) => tail.name.is_some(),
        _ => false,
    };
    if tail.name.is_some() && !asks {
        return refuse(reader, "only a request has an answer to be named with `as`");
    }
    if count != Count::One && (tail.name.is_some() || matches!(start, Start::Answer { .. })) {
        return refuse(
            reader,
            "a line that may come more or less than once cannot be named or answer",
        );
    }
    let mut slot = None;
    if asks && count == Count::One {
        let method = match &start {
            Start::Request(method) => Some(method.clone()),
            _ => None,
        };
        let asked = reader.names.ask(step.from, method, tail.name, step.line);
        slot = Some(asked.map_err(|why| reader.error_at(at, why))?);
    }
    let what = match start {
        Start::Request(method) => What::Request {
            slot,
            method,
            params: body,
        },
        Start::Any(kind) => What::Any { kind, slot },
        Start::Notification(method) => What::Notification {
            method,
            params: body,
        },
        Start::Whole => What::Whole(body.unwrap_or(Pattern::Absent)),
        Start::Answer { kind, to } => {
            let (slot, to) = answered(reader, step, raw, to, tail.id.is_some())
                .map_err(|why| reader.error_at(at, why))?;
            let body = match kind {
                AnswerKind::Result => AnswerBody::Result(body),
                AnswerKind::Error => AnswerBody::Error(body),
                AnswerKind::Either => AnswerBody::Either,
            };
            What::Answer { slot, to, body }
        }
    };
    step.rules = tail.rules;
    Ok(Message {
        raw,
        what,
        count,
        id: tail.id,
        within: tail.within,
        writing: tail.writing,
    })
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

/// The words of steps that a misspelled method may have meant.
const STEP_WORDS: &str = "result error answer reply message any request notify text hex line wait \
                          nothing never ignore close exit signal stderr grandchild";

fn start(reader: &mut Reader<'_>, step: &Step, raw: bool) -> Parsed<Start> {
    let at = reader.offset();
    let word = reader.word("a method, `result`, `error` or another step")?;
    let answer = |kind, to| Ok(Start::Answer { kind, to });
    match word {
        "result" => answer(AnswerKind::Result, of(reader)?),
        "error" => answer(AnswerKind::Error, of(reader)?),
        "answer" => answer(AnswerKind::Either, of(reader)?),
        "reply" => answer(AnswerKind::Result, Some(request_name(reader)?)),
        "message" => Ok(Start::Whole),
        "any" => {
            let kinds = [
                ("request", AnyKind::Request),
                ("notification", AnyKind::Notification),
                ("answer", AnyKind::Answer),
                ("message", AnyKind::Message),
            ];
            Ok(Start::Any(reader.one_of(kinds).unwrap_or(AnyKind::Message)))
        }
        "request" => Ok(Start::Request(method_name(reader)?)),
        "notify" => Ok(Start::Notification(method_name(reader)?)),
        method if !schema::knows(method) => {
            let known = schema::methods().chain(STEP_WORDS.split_whitespace());
            let why = match nearest(method, known) {
                Some(hint) => format!("there is no `{method}`; did you mean `{hint}`?"),
                None => format!(
                    "the pinned schema has no method `{method}`; write `request {method}` or \
                     `notify {method}` to send it all the same"
                ),
            };
            Err(reader.error_at(at, why))
        }
        method => {
            let (from, other) = (step.from, step.from.other());
            if !raw && schema::sender(method).is_some_and(|sender| sender != from) {
                let why = format!(
                    "it is the {other} that sends `{method}`; write `raw` before it if the {from} \
                     is meant to"
                );
                return Err(reader.error_at(at, why));
            }
            Ok(match schema::is_request(method) {
                true => Start::Request(method.into()),
                false => Start::Notification(method.into()),
            })
        }
    }
}

fn method_name(reader: &mut Reader<'_>) -> Parsed<Arc<str>> {
    reader.skip_blanks();
    match reader.peek() {
        Some('"') => Ok(pattern::string(reader)?.into()),
        _ => Ok(reader.word("the name of a method")?.into()),
    }
}

/// Reads `of NAME` or `to NAME`, if it is there.
fn of(reader: &mut Reader<'_>) -> Parsed<Option<Arc<str>>> {
    let named = reader.eat_word("of") || reader.eat_word("to");
    named.then(|| request_name(reader)).transpose()
}

fn request_name(reader: &mut Reader<'_>) -> Parsed<Arc<str>> {
    Ok(reader.word("the name a request got with `as`")?.into())
}

/// Reads the pattern of params, result, error or message.
fn body(reader: &mut Reader<'_>, start: &Start) -> Parsed<Option<Pattern>> {
    if !pattern::begins(reader) {
        return match start {
            Start::Whole => Err(reader.expected("the whole message: `{\"jsonrpc\": \"2.0\", …}`")),
            _ => Ok(None),
        };
    }
    let at = reader.mark();
    let read = pattern::pattern(reader)?;
    let refused = match start {
        Start::Any(_) => "`any` takes no pattern; `message {…}` is the word for a whole message",
        Start::Answer { kind, .. } if *kind == AnswerKind::Either => {
            "`answer` takes no pattern; say `result` or `error`, or `either … or … end`"
        }
        Start::Answer { kind, .. } if *kind == AnswerKind::Error => {
            return Ok(Some(read.as_error()));
        }
        _ => return Ok(Some(read)),
    };
    Err(reader.error_at(at, refused))
}

/// Finds what an answer answers.
fn answered(
    reader: &mut Reader<'_>,
    step: &Step,
    raw: bool,
    name: Option<Arc<str>>,
    own_id: bool,
) -> Result<(Option<Slot>, AnswerTo), String> {
    let from = step.from;
    let request = match &name {
        Some(name) => match reader.names.named(name).cloned() {
            Some(request) if request.from == from => {
                let line = request.line;
                return Err(format!(
                    "`{name}` was asked by the {from} itself, in line {line}"
                ));
            }
            Some(request) => request,
            None => {
                return Err(format!(
                    "no request above is called `{name}`; a request gets its name with `as {name}`"
                ));
            }
        },
        // It says by itself what it answers.
        None if own_id => return Ok((None, AnswerTo::default())),
        None => reader.names.only_open(from.other())?,
    };
    if !own_id
        && let Err(why) = reader.names.answer(request.slot, step.line)
        && !raw
    {
        return Err(why);
    }
    let to = AnswerTo {
        name: request.name,
        method: request.method,
    };
    Ok((Some(request.slot), to))
}
