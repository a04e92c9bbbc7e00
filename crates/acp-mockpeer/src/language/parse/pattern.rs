//! Reads patterns.

use std::sync::Arc;

use crate::language::cursor::{Cursor, Parsed};
use crate::language::pattern::{Element, Kind, Object, Pattern, Template, name_at_start};

/// How deep arrays and objects may lie in each other: as deep as JSON readers go.
const DEEPEST: usize = 120;

/// Reads one pattern with its alternatives.
pub(super) fn pattern(cursor: &mut Cursor<'_>) -> Parsed<Pattern> {
    alternatives(cursor, 0)
}

/// Tells whether a pattern can begin here.
pub(super) fn begins(cursor: &Cursor<'_>) -> bool {
    let word = cursor.peek_word();
    let first = cursor.rest().trim_start_matches([' ', '\t']).chars().next();
    match first {
        Some('{' | '[' | '"' | '-' | '0'..='9') => true,
        Some('/') => !word.is_empty(),
        Some('$') => name_at_start(&word[1..]) == &word[1..] && word.len() > 1,
        _ => matches!(
            word,
            "any" | "absent" | "not" | "only" | "true" | "false" | "null"
        ),
    }
}

fn alternatives(cursor: &mut Cursor<'_>, depth: usize) -> Parsed<Pattern> {
    let first = single(cursor, depth)?;
    let mut all = vec![first];
    loop {
        let before = cursor.offset();
        skip(cursor, depth);
        if !cursor.eat("|") {
            cursor.go_to(before);
            break;
        }
        all.push(single(cursor, depth)?);
    }
    Ok(match all.len() {
        1 => all.remove(0),
        _ => Pattern::OneOf(all),
    })
}

fn single(cursor: &mut Cursor<'_>, depth: usize) -> Parsed<Pattern> {
    const WHAT: &str = "a value or a pattern";
    skip(cursor, depth);
    if depth > DEEPEST {
        return Err(cursor.error("this lies too deep"));
    }
    match cursor.peek() {
        Some('{') => object(cursor, depth, false),
        Some('[') => array(cursor, depth),
        Some('"') => Ok(Pattern::Text(Template::new(&string(cursor)?))),
        Some('/') => regex(cursor),
        Some('$') => name(cursor),
        Some('-' | '0'..='9') => number(cursor),
        _ => {
            let at = cursor.offset();
            let word = cursor.word(WHAT)?;
            match word {
                "null" => Ok(Pattern::Null),
                "true" => Ok(Pattern::Bool(true)),
                "false" => Ok(Pattern::Bool(false)),
                "absent" => Ok(Pattern::Absent),
                "any" => Ok(Pattern::Any(kind(cursor))),
                "not" => Ok(Pattern::Not(Box::new(negated(cursor, depth + 1)?))),
                "only" => {
                    skip(cursor, depth);
                    match cursor.peek() {
                        Some('{') => object(cursor, depth, true),
                        _ => Err(cursor.expected("`{` after `only`")),
                    }
                }
                _ => {
                    cursor.go_to(at);
                    Err(cursor.expected(WHAT))
                }
            }
        }
    }
}

/// Reads what stands behind `not`: one pattern, or `(A | B)` for none of several.
fn negated(cursor: &mut Cursor<'_>, depth: usize) -> Parsed<Pattern> {
    skip(cursor, depth);
    if !cursor.eat("(") {
        return single(cursor, depth);
    }
    let all = alternatives(cursor, depth + 1)?;
    skip(cursor, depth);
    match cursor.eat(")") {
        true => Ok(all),
        false => Err(cursor.expected("`|` or `)`")),
    }
}

fn skip(cursor: &mut Cursor<'_>, depth: usize) {
    // Only inside of brackets may a pattern go on in the next line.
    if depth == 0 {
        cursor.skip_blanks();
    } else {
        cursor.skip_all_space();
    }
}

fn kind(cursor: &mut Cursor<'_>) -> Kind {
    Kind::NAMED
        .into_iter()
        .find(|kind| cursor.eat_word(kind.word()))
        .unwrap_or(Kind::Value)
}

fn object(cursor: &mut Cursor<'_>, depth: usize, only: bool) -> Parsed<Pattern> {
    cursor.advance(1);
    let mut members: Vec<(String, Pattern)> = Vec::new();
    loop {
        cursor.skip_all_space();
        if members.is_empty() && cursor.eat("}") {
            break;
        }
        if cursor.peek() != Some('"') {
            return Err(cursor.expected(if members.is_empty() {
                "a member in quotes or `}`"
            } else {
                "a member in quotes"
            }));
        }
        let at = cursor.offset();
        let key = string(cursor)?;
        if members.iter().any(|(name, _)| *name == key) {
            return Err(cursor.error_at(at, format!("`{key}` is there twice")));
        }
        cursor.skip_all_space();
        if !cursor.eat(":") {
            return Err(cursor.expected("`:`"));
        }
        members.push((key, alternatives(cursor, depth + 1)?));
        cursor.skip_all_space();
        if cursor.eat("}") {
            break;
        }
        if !cursor.eat(",") {
            return Err(cursor.expected("`,` or `}`"));
        }
    }
    Ok(Pattern::Object(Object { members, only }))
}

fn array(cursor: &mut Cursor<'_>, depth: usize) -> Parsed<Pattern> {
    cursor.advance(1);
    let mut elements = Vec::new();
    loop {
        cursor.skip_all_space();
        if elements.is_empty() && cursor.eat("]") {
            break;
        }
        elements.push(if cursor.eat("...") {
            Element::Rest
        } else {
            Element::One(alternatives(cursor, depth + 1)?)
        });
        cursor.skip_all_space();
        if cursor.eat("]") {
            break;
        }
        if !cursor.eat(",") {
            return Err(cursor.expected("`,` or `]`"));
        }
    }
    Ok(Pattern::Array(elements))
}

/// Reads a JSON string.
pub(super) fn string(cursor: &mut Cursor<'_>) -> Parsed<String> {
    let start = cursor.offset();
    let text = cursor.rest();
    if !text.starts_with('"') {
        return Err(cursor.expected("a string in quotes"));
    }
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => {
                let literal = &text[..=at];
                let value = serde_json::from_str(literal).map_err(|error| {
                    let reason = error.to_string();
                    let reason = reason.split(" at line").next().unwrap_or_default();
                    cursor.error(format!("this is no JSON string: {reason}"))
                })?;
                cursor.go_to(start + literal.len());
                return Ok(value);
            }
            '\n' => break,
            _ => {}
        }
    }
    Err(cursor.error("this string has no closing quote on its line"))
}

fn number(cursor: &mut Cursor<'_>) -> Parsed<Pattern> {
    let text = cursor.rest();
    let length = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)))
        .unwrap_or(text.len());
    let literal = &text[..length];
    if serde_json::from_str::<serde_json::Number>(literal).is_err() {
        return Err(cursor.error(format!("`{literal}` is no JSON number")));
    }
    cursor.advance(length);
    Ok(Pattern::Number(Arc::from(literal)))
}

fn name(cursor: &mut Cursor<'_>) -> Parsed<Pattern> {
    let name = name_at_start(&cursor.rest()[1..]);
    if name.is_empty() {
        return Err(cursor.expected("a name such as `$session`"));
    }
    cursor.advance(1 + name.len());
    Ok(Pattern::Name(name.into()))
}

fn regex(cursor: &mut Cursor<'_>) -> Parsed<Pattern> {
    let text = &cursor.rest()[1..];
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '/' => {
                let source = text[..at].replace("\\/", "/");
                let regex = regex::Regex::new(&source).map_err(|error| {
                    let reason = error.to_string();
                    let reason = reason.lines().last().unwrap_or_default();
                    let reason = reason.trim_start_matches("error: ");
                    cursor.error(format!("this is no regular expression: {reason}"))
                })?;
                cursor.advance(at + 2);
                return Ok(Pattern::Regex(regex));
            }
            '\n' => break,
            _ => {}
        }
    }
    Err(cursor.error("this regular expression has no closing `/` on its line"))
}
