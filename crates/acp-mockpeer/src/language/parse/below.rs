//! Reads the lines below a message: what rules demand of it, and its mutants.

use super::{pattern, units};
use crate::language::mutant::{Edit, Mutant, Path, Place, SCENARIO};
use crate::language::pattern::Pattern;
use crate::language::reader::{Parsed, Reader};
use crate::language::step::{Act, AnswerBody, Demand, Message, Step, What};

const EDITS: [&str; 12] = [
    "drop", "twice", "later", "sooner", "set", "remove", "error", "result", "insert", "bytes",
    "hex", "close",
];

/// Reads the `for` and `mutant` lines that belong to a step.
pub(super) fn below(reader: &mut Reader<'_>, step: &mut Step) -> Parsed<()> {
    loop {
        let before = reader.offset();
        reader.skip_all_space();
        match reader.peek_word() {
            "for" => step.demands.push(demand(reader, step)?),
            "mutant" => step.mutants.push(mutant(reader, step)?),
            _ => {
                reader.go_to(before);
                return Ok(());
            }
        }
    }
}

/// `for R032 {"protocolVersion": 1}`.
fn demand(reader: &mut Reader<'_>, step: &Step) -> Parsed<Demand> {
    let line = reader.line();
    let what = match &step.act {
        Act::Message(Message { what, .. }) => Some(what),
        _ => None,
    };
    if matches!(
        what,
        None | Some(
            What::Any { .. }
                | What::Answer {
                    body: AnswerBody::Either,
                    ..
                }
        )
    ) {
        return Err(reader.error(
            "only a message of a kind, a result or an error has something in it for a rule",
        ));
    }
    reader.word("`for`")?;
    let rules = units::rules(reader, step.from)?;
    reader.skip_blanks();
    let mut pattern = pattern::pattern(reader)?;
    if let Some(What::Answer {
        body: AnswerBody::Error(_),
        ..
    }) = what
    {
        pattern = pattern.into_error();
    }
    reader.end()?;
    Ok(Demand {
        line,
        rules,
        pattern,
    })
}

/// `mutant R032 set result.protocolVersion 2`, or `mutant scenario drop`.
fn mutant(reader: &mut Reader<'_>, step: &Step) -> Parsed<Mutant> {
    let line = reader.line();
    reader.word("`mutant`")?;
    let at = reader.mark();
    let rule = match reader.eat_word(SCENARIO) {
        true => None,
        false => match units::rules(reader, step.from)?.as_slice() {
            [rule] => Some(*rule),
            _ => {
                return Err(reader.error_at(at, "a mutant breaks one rule; write a line for each"));
            }
        },
    };
    let edit = edit(reader, step)?;
    reader.end()?;
    Ok(Mutant {
        line,
        step: step.line,
        rule,
        edit,
    })
}

fn edit(reader: &mut Reader<'_>, step: &Step) -> Parsed<Edit> {
    let at = reader.mark();
    let word = reader.word("an edit such as `drop` or `set PATH VALUE`")?;
    let edit = match word {
        "drop" => Edit::Drop,
        "twice" => Edit::Twice,
        "later" => Edit::Later(reader.count()?),
        "sooner" => Edit::Sooner(reader.count()?),
        "set" => Edit::Set(path(reader)?, value(reader)?),
        "remove" => Edit::Remove(path(reader)?),
        "error" | "result" => {
            if !matches!(&step.act, Act::Message(one) if matches!(one.what, What::Answer { .. })) {
                return Err(reader.error_at(at, "only a result or an error can be another answer"));
            }
            match word {
                "result" => Edit::Result(value(reader)?),
                _ => Edit::Error(error_of(value(reader)?)),
            }
        }
        "insert" => {
            let message = value(reader)?;
            Edit::Insert(message, place(reader, &[Place::Before, Place::After])?)
        }
        "bytes" => {
            reader.skip_blanks();
            let bytes = pattern::string(reader)?.into_bytes();
            Edit::Bytes(bytes, place(reader, &Place::ALL)?)
        }
        "hex" => {
            let at = reader.mark();
            let Some(bytes) = hex(&pattern::string(reader)?) else {
                return Err(reader.error_at(at, "expected pairs of hexadecimal digits"));
            };
            Edit::Bytes(bytes, place(reader, &Place::ALL)?)
        }
        "close" => {
            place(reader, &[Place::After])?;
            Edit::CloseAfter
        }
        _ => return Err(reader.unknown(at, "edit ", word, EDITS)),
    };
    let written = matches!(step.act, Act::Message(_) | Act::Bytes(_));
    let fits_all = matches!(edit, Edit::Drop | Edit::Insert(_, Place::Before));
    if !written && !fits_all {
        let all = "what is no message can be left out, `drop`, or another comes first, `insert MESSAGE before`";
        return Err(reader.error_at(at, all));
    }
    Ok(edit)
}

/// A code alone stands for an error with it.
fn error_of(said: Pattern) -> Pattern {
    let whole = matches!(said, Pattern::Object(_));
    let mut error = said.into_error();
    if let (Pattern::Object(object), false) = (&mut error, whole) {
        let message = Pattern::text("this is a mutant");
        object.members.insert("message".to_owned(), message);
    }
    error
}

/// Reads `7b 7d 0a`.
fn hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.split_whitespace().map(|pair| match pair.len() {
        2 => u8::from_str_radix(pair, 16).ok(),
        _ => None,
    });
    let bytes: Option<Vec<u8>> = pairs.collect();
    bytes.filter(|bytes| !bytes.is_empty())
}

fn path(reader: &mut Reader<'_>) -> Parsed<Path> {
    const WHAT: &str = "a place in the message, such as `params.update.content.0.text`";
    let at = reader.mark();
    let word = reader.word(WHAT)?;
    if word.split('.').any(str::is_empty) {
        return Err(reader.error_at(at, format!("`{word}` is no place in a message")));
    }
    Ok(Path(word.split('.').map(ToOwned::to_owned).collect()))
}

/// A value that can be written.
fn value(reader: &mut Reader<'_>) -> Parsed<Pattern> {
    let at = reader.mark();
    let value = pattern::pattern(reader)?;
    match value.vague() {
        Some(vague) => Err(reader.error_at(at, format!("`{vague}` cannot be sent"))),
        None => Ok(value),
    }
}

fn place(reader: &mut Reader<'_>, allowed: &[Place]) -> Parsed<Place> {
    let found = reader.one_of(allowed.iter().map(|place| (place.word(), *place)));
    found.ok_or_else(|| {
        let words = allowed.iter().map(|place| format!("`{}`", place.word()));
        reader.expected(&words.collect::<Vec<_>>().join(" or "))
    })
}
