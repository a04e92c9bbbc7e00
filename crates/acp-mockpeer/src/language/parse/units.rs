//! Small words with values: arrows, signals, bytes.

use crate::language::cursor::{Cursor, Parsed};
use crate::rules::{Rule, Rules};
use acp_recording::Side;
use acp_recording::SignalName;

/// Takes an arrow.
pub(super) fn arrow(cursor: &mut Cursor<'_>) -> Option<Side> {
    [Side::Client, Side::Agent]
        .into_iter()
        .find(|side| cursor.eat(side.arrow()))
}

/// Takes the ids of rules that bind this side, at least one.
pub(super) fn rules(cursor: &mut Cursor<'_>, from: Side) -> Parsed<Vec<&'static Rule>> {
    let mut all = Vec::new();
    loop {
        let word = cursor.peek_word();
        let looks_like_one = word
            .strip_prefix('R')
            .is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit()));
        if !looks_like_one {
            break;
        }
        cursor.skip_blanks();
        let Some(rule) = Rules::get(word) else {
            return Err(cursor.error(format!("there is no rule {word}")));
        };
        if !rule.binds(from) {
            let (other, what) = (from.other(), rule.text());
            return Err(cursor.error(format!(
                "{rule} binds the {other}, and this is what the {from} does: {what}"
            )));
        }
        cursor.advance(word.len());
        all.push(rule);
    }
    if all.is_empty() {
        cursor.skip_blanks();
        return Err(cursor.expected("the id of a rule, such as `R120`"));
    }
    Ok(all)
}

/// Takes the name of a signal.
pub(super) fn signal(cursor: &mut Cursor<'_>) -> Parsed<SignalName> {
    let found = SignalName::all().find(|signal| cursor.eat_word(signal.name()));
    found.ok_or_else(|| {
        cursor.skip_blanks();
        let names: Vec<&str> = SignalName::all().map(SignalName::name).collect();
        cursor.expected(&format!("a signal: {}", names.join(", ")))
    })
}

/// Takes bytes as hexadecimal digits, with blanks where one likes.
pub(super) fn hex(cursor: &mut Cursor<'_>) -> Parsed<Vec<u8>> {
    const WHAT: &str = "bytes as pairs of hexadecimal digits, such as `7b 7d 0a`";
    let mut bytes = Vec::new();
    loop {
        cursor.skip_blanks();
        let mut digits = cursor.rest().chars().map_while(|c| c.to_digit(16));
        let (Some(high), Some(low)) = (digits.next(), digits.next()) else {
            break;
        };
        bytes.push(u8::try_from(high * 16 + low).unwrap_or(u8::MAX));
        cursor.advance(2);
    }
    let lone_digit = cursor.peek().is_some_and(|c| c.is_ascii_hexdigit());
    match bytes.is_empty() || lone_digit {
        true => Err(cursor.expected(WHAT)),
        false => Ok(bytes),
    }
}

/// Names what comes nearest to a word that is not known.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 8)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Counts the edits that make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
