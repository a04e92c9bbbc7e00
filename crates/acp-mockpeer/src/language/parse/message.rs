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
    let mut what = start(reader, step, raw)?;
    let marks = [
        ("*", Count::Any),
        ("?", Count::Optional),
        ("+", Count::Some),
    ];
    let count = marks.into_iter().find(|(mark, _)| reader.eat(mark));
    let count = count.map_or(Count::One, |(_, count)| count);
    let said = body(reader, &what)?;
    let tail = tail(reader, step.from)?;
    let refuse = |reader: &Reader<'_>, why: &str| Err(reader.error_at(at, why));
    let asks = match &what {
        What::Any { kind, .. } if *kind == AnyKind::Message => tail.name.is_some(),
        What::Any { kind, .. } => *kind == AnyKind::Request,
        what => matches!(what, What::Request { .. }),
    };
    if tail.name.is_some() && !asks {
        return refuse(reader, "only a request has an answer to be named with `as`");
    }
    if count != Count::One && (tail.name.is_some() || matches!(what, What::Answer { .. })) {
        return refuse(
            reader,
            "a line that may come more or less than once cannot be named or answer",
        );
    }
    let mut asked = None;
    if asks && count == Count::One {
        let method = match &what {
            What::Request { method, .. } => Some(method.clone()),
            _ => None,
        };
        let slot = reader.names.ask(step.from, method, tail.name, step.line);
        asked = Some(slot.map_err(|why| reader.error_at(at, why))?);
    }
    match &mut what {
        What::Request { params, slot, .. } => (*params, *slot) = (said, asked),
        What::Notification { params, .. } => *params = said,
        What::Any { slot, .. } => *slot = asked,
        What::Whole(whole) => *whole = said.unwrap_or(Pattern::Absent),
        What::Answer { slot, to, body } => {
            let found = answered(reader, step, raw, to.name.take(), tail.id.is_some());
            (*slot, *to) = found.map_err(|why| reader.error_at(at, why))?;
            if let AnswerBody::Result(part) | AnswerBody::Error(part) = body {
                *part = said;
            }
        }
    }
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

/// The words of steps that a misspelled method may have meant.
const STEP_WORDS: &str = "result error answer reply message any request notify text hex line wait \
                          nothing never ignore close exit signal stderr grandchild";

/// Reads the words with which a message begins.
fn start(reader: &mut Reader<'_>, step: &Step, raw: bool) -> Parsed<What> {
    let at = reader.offset();
    let word = reader.word("a method, `result`, `error` or another step")?;
    let answer = |body, name| {
        let to = AnswerTo { name, method: None };
        let slot = None;
        Ok(What::Answer { slot, to, body })
    };
    let request = |method| What::Request {
        method,
        params: None,
        slot: None,
    };
    let notification = |method| What::Notification {
        method,
        params: None,
    };
    match word {
        "result" => answer(AnswerBody::Result(None), of(reader)?),
        "error" => answer(AnswerBody::Error(None), of(reader)?),
        "answer" => answer(AnswerBody::Either, of(reader)?),
        "reply" => answer(AnswerBody::Result(None), Some(request_name(reader)?)),
        "message" => Ok(What::Whole(Pattern::Absent)),
        "any" => {
            let kinds = [
                ("request", AnyKind::Request),
                ("notification", AnyKind::Notification),
                ("answer", AnyKind::Answer),
                ("message", AnyKind::Message),
            ];
            let kind = reader.one_of(kinds).unwrap_or(AnyKind::Message);
            Ok(What::Any { kind, slot: None })
        }
        "request" => Ok(request(method_name(reader)?)),
        "notify" => Ok(notification(method_name(reader)?)),
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
                true => request(method.into()),
                false => notification(method.into()),
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
fn body(reader: &mut Reader<'_>, what: &What) -> Parsed<Option<Pattern>> {
    if !pattern::begins(reader) {
        return match what {
            What::Whole(_) => {
                Err(reader.expected("the whole message: `{\"jsonrpc\": \"2.0\", …}`"))
            }
            _ => Ok(None),
        };
    }
    let at = reader.mark();
    let read = pattern::pattern(reader)?;
    let refused = match what {
        What::Any { .. } => "`any` takes no pattern; `message {…}` is the word for a whole message",
        What::Answer { body, .. } => match body {
            AnswerBody::Result(_) => return Ok(Some(read)),
            AnswerBody::Error(_) => return Ok(Some(read.into_error())),
            AnswerBody::Either => {
                "`answer` takes no pattern; say `result` or `error`, or `either … or … end`"
            }
        },
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
