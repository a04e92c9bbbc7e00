//! Reads the lines below a message: what rules demand of it, and its mutants.

use super::units::{nearest, rules};
use super::{Reader, pattern};
use crate::language::cursor::{Cursor, Parsed};
use crate::language::mutant::{Edit, Mutant, Path, Place, SCENARIO};
use crate::language::pattern::{Object, Pattern};
use crate::language::step::{Act, AnswerBody, Demand, Message, Step, What};

const EDITS: [&str; 12] = [
    "drop", "twice", "later", "sooner", "set", "remove", "error", "result", "insert", "bytes",
    "hex", "close",
];

/// Reads the `for` and `mutant` lines that belong to a step.
pub(super) fn below(reader: &mut Reader<'_>, step: &mut Step) -> Parsed<()> {
    loop {
        let before = reader.cursor.offset();
        reader.cursor.skip_all_space();
        match reader.cursor.peek_word() {
            "for" => {
                let demand = demand(&mut reader.cursor, step)?;
                step.demands.push(demand);
            }
            "mutant" => {
                let mutant = mutant(&mut reader.cursor, step)?;
                step.mutants.push(mutant);
            }
            _ => {
                reader.cursor.go_to(before);
                return Ok(());
            }
        }
    }
}

/// `for R032 {"protocolVersion": 1}`.
fn demand(cursor: &mut Cursor<'_>, step: &Step) -> Parsed<Demand> {
    let at = cursor.offset();
    let line = cursor.line();
    let Some(body) = body(step) else {
        return Err(cursor.error_at(
            at,
            "only a message of a kind, a result or an error has something in it for a rule",
        ));
    };
    cursor.word("`for`")?;
    let rules = rules(cursor, step.from)?;
    cursor.skip_blanks();
    let mut demanded = pattern::pattern(cursor)?;
    if body == Body::Error && !matches!(demanded, Pattern::Object(_)) {
        demanded = Pattern::Object(Object {
            members: vec![("code".to_owned(), demanded)],
            only: false,
        });
    }
    cursor.end_of_line("the end of the line")?;
    Ok(Demand {
        line,
        rules,
        pattern: demanded,
    })
}

#[derive(PartialEq, Eq)]
enum Body {
    Error,
    Other,
}

/// Tells what a demand is held against.
fn body(step: &Step) -> Option<Body> {
    let Act::Message(Message { what, .. }) = &step.act else {
        return None;
    };
    match what {
        What::Request { .. } | What::Notification { .. } | What::Whole(_) => Some(Body::Other),
        What::Answer { body, .. } => match body {
            AnswerBody::Result(_) => Some(Body::Other),
            AnswerBody::Error(_) => Some(Body::Error),
            AnswerBody::Either => None,
        },
        What::Any { .. } => None,
    }
}

/// `mutant R032 set result.protocolVersion 2`, or `mutant scenario drop`.
fn mutant(cursor: &mut Cursor<'_>, step: &Step) -> Parsed<Mutant> {
    let line = cursor.line();
    cursor.word("`mutant`")?;
    cursor.skip_blanks();
    let at = cursor.offset();
    let rule = if cursor.eat_word(SCENARIO) {
        None
    } else {
        match rules(cursor, step.from)?.as_slice() {
            [rule] => Some(*rule),
            _ => {
                return Err(cursor.error_at(at, "a mutant breaks one rule; write a line for each"));
            }
        }
    };
    let edit = edit(cursor, step)?;
    cursor.end_of_line("the end of the line")?;
    Ok(Mutant {
        line,
        step: step.line,
        rule,
        edit,
    })
}

fn edit(cursor: &mut Cursor<'_>, step: &Step) -> Parsed<Edit> {
    cursor.skip_blanks();
    let at = cursor.offset();
    let word = cursor.word("an edit such as `drop` or `set PATH VALUE`")?;
    let edit = match word {
        "drop" => Edit::Drop,
        "twice" => Edit::Twice,
        "later" => Edit::Later(cursor.count()?),
        "sooner" => Edit::Sooner(cursor.count()?),
        "set" => Edit::Set(path(cursor)?, value(cursor)?),
        "remove" => Edit::Remove(path(cursor)?),
        "error" => {
            answers(cursor, step, at)?;
            Edit::Error(error_of(value(cursor)?))
        }
        "result" => {
            answers(cursor, step, at)?;
            Edit::Result(value(cursor)?)
        }
        "insert" => {
            let message = value(cursor)?;
            Edit::Insert(message, place(cursor, &[Place::Before, Place::After])?)
        }
        "bytes" => {
            cursor.skip_blanks();
            let bytes = pattern::string(cursor)?.into_bytes();
            Edit::Bytes(bytes, place(cursor, &Place::ALL)?)
        }
        "hex" => {
            cursor.skip_blanks();
            let at = cursor.offset();
            let Some(bytes) = hex(&pattern::string(cursor)?) else {
                return Err(cursor.error_at(at, "expected pairs of hexadecimal digits"));
            };
            Edit::Bytes(bytes, place(cursor, &Place::ALL)?)
        }
        "close" => {
            place(cursor, &[Place::After])?;
            Edit::CloseAfter
        }
        _ => {
            return Err(cursor.error_at(
                at,
                match nearest(word, EDITS) {
                    Some(hint) => format!("there is no edit `{word}`; did you mean `{hint}`?"),
                    None => format!("there is no edit `{word}`; there are {}", EDITS.join(", ")),
                },
            ));
        }
    };
    let written = matches!(step.act, Act::Message(_) | Act::Bytes(_));
    let fits_all = matches!(edit, Edit::Drop | Edit::Insert(_, Place::Before));
    if !written && !fits_all {
        let all = "what is no message can be left out, `drop`, or another comes first, `insert MESSAGE before`";
        return Err(cursor.error_at(at, all));
    }
    Ok(edit)
}

/// Only an answer can be another one.
fn answers(cursor: &Cursor<'_>, step: &Step, at: usize) -> Parsed<()> {
    match &step.act {
        Act::Message(Message {
            what: What::Answer { .. },
            ..
        }) => Ok(()),
        _ => Err(cursor.error_at(at, "only a result or an error can be another answer")),
    }
}

/// A code alone stands for an error with it.
fn error_of(said: Pattern) -> Pattern {
    if matches!(said, Pattern::Object(_)) {
        return said;
    }
    let members = vec![
        ("code".to_owned(), said),
        ("message".to_owned(), Pattern::text("this is a mutant")),
    ];
    Pattern::Object(Object {
        members,
        only: false,
    })
}

/// Reads `7b 7d 0a`.
fn hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.split_whitespace();
    let bytes: Option<Vec<u8>> = pairs
        .map(|pair| match pair.len() {
            2 => u8::from_str_radix(pair, 16).ok(),
            _ => None,
        })
        .collect();
    bytes.filter(|bytes| !bytes.is_empty())
}

fn path(cursor: &mut Cursor<'_>) -> Parsed<Path> {
    const WHAT: &str = "a place in the message, such as `params.update.content.0.text`";
    cursor.skip_blanks();
    let at = cursor.offset();
    let word = cursor.word(WHAT)?;
    if word.split('.').any(str::is_empty) {
        return Err(cursor.error_at(at, format!("`{word}` is no place in a message")));
    }
    Ok(Path(word.split('.').map(ToOwned::to_owned).collect()))
}

/// A value that can be written.
fn value(cursor: &mut Cursor<'_>) -> Parsed<Pattern> {
    cursor.skip_blanks();
    let at = cursor.offset();
    let value = pattern::pattern(cursor)?;
    match value.vague() {
        Some(vague) => Err(cursor.error_at(at, format!("`{vague}` cannot be sent"))),
        None => Ok(value),
    }
}

fn place(cursor: &mut Cursor<'_>, allowed: &[Place]) -> Parsed<Place> {
    let found = allowed.iter().find(|place| cursor.eat_word(place.word()));
    found.copied().ok_or_else(|| {
        let words: Vec<String> = allowed
            .iter()
            .map(|place| format!("`{}`", place.word()))
            .collect();
        cursor.skip_blanks();
        cursor.expected(&words.join(" or "))
    })
}
