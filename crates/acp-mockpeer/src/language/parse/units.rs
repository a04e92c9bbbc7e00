//! Small words with values: rules and bytes.

use acp_recording::PeerSide;

use crate::language::reader::{Parsed, Reader};
use crate::rules::{Rule, Rules};

/// Takes the ids of rules that bind this side, at least one.
pub(super) fn rules(reader: &mut Reader<'_>, from: PeerSide) -> Parsed<Vec<&'static Rule>> {
    let mut all = Vec::new();
    loop {
        let word = reader.peek_word();
        let digits = word.strip_prefix('R').unwrap_or_default();
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            break;
        }
        reader.skip_blanks();
        let Some(rule) = Rules::get(word) else {
            return Err(reader.error(format!("there is no rule {word}")));
        };
        if !rule.binds(from) {
            let (other, what) = (from.other(), rule.text);
            return Err(reader.error(format!(
                "{rule} binds the {other}, and this is what the {from} does: {what}"
            )));
        }
        reader.advance(word.len());
        all.push(rule);
    }
    match all.is_empty() {
        true => Err(reader.expected("the id of a rule, such as `R120`")),
        false => Ok(all),
    }
}

/// Takes bytes as hexadecimal digits, with blanks where one likes.
pub(super) fn hex(reader: &mut Reader<'_>) -> Parsed<Vec<u8>> {
    const WHAT: &str = "bytes as pairs of hexadecimal digits, such as `7b 7d 0a`";
    let mut bytes = Vec::new();
    loop {
        reader.skip_blanks();
        let mut digits = reader.rest().chars().map_while(|c| c.to_digit(16));
        let (Some(high), Some(low)) = (digits.next(), digits.next()) else {
            break;
        };
        bytes.push(u8::try_from(high * 16 + low).unwrap_or(u8::MAX));
        reader.advance(2);
    }
    let lone_digit = reader.peek().is_some_and(|c| c.is_ascii_hexdigit());
    match bytes.is_empty() || lone_digit {
        true => Err(reader.expected(WHAT)),
        false => Ok(bytes),
    }
}
