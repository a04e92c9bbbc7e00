//! Reads patterns.

use std::sync::Arc;

use indexmap::IndexMap;
use strum::VariantArray;

use crate::language::pattern::{Element, Kind, Object, Pattern, Template, name_at_start};
use crate::language::reader::{Parsed, Reader};

/// How deep arrays and objects may lie in each other: as deep as JSON readers go.
const DEEPEST: usize = 120;

/// Reads one pattern with its alternatives.
pub(super) fn pattern(reader: &mut Reader<'_>) -> Parsed<Pattern> {
    alternatives(reader, 0)
}

/// Tells whether a pattern can begin here.
pub(super) fn begins(reader: &Reader<'_>) -> bool {
    let word = reader.peek_word();
    let first = reader.rest().trim_start_matches([' ', '\t']).chars().next();
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

fn alternatives(reader: &mut Reader<'_>, depth: usize) -> Parsed<Pattern> {
    let first = single(reader, depth)?;
    let mut all = vec![first];
    loop {
        let before = reader.offset();
        skip(reader, depth);
        if !reader.eat("|") {
            reader.go_to(before);
            break;
        }
        all.push(single(reader, depth)?);
    }
    Ok(match all.len() {
        1 => all.remove(0),
        _ => Pattern::OneOf(all),
    })
}

fn single(reader: &mut Reader<'_>, depth: usize) -> Parsed<Pattern> {
    const WHAT: &str = "a value or a pattern";
    skip(reader, depth);
    if depth > DEEPEST {
        return Err(reader.error("this lies too deep"));
    }
    match reader.peek() {
        Some('{') => object(reader, depth, false),
        Some('[') => array(reader, depth),
        Some('"') => Ok(Pattern::Text(Template::new(&string(reader)?))),
        Some('/') => regex(reader),
        Some('$') => name(reader),
        Some('-' | '0'..='9') => number(reader),
        _ => {
            let at = reader.offset();
            let word = reader.word(WHAT)?;
            match word {
                "null" => Ok(Pattern::Null),
                "true" => Ok(Pattern::Bool(true)),
                "false" => Ok(Pattern::Bool(false)),
                "absent" => Ok(Pattern::Absent),
                "any" => Ok(Pattern::Any(kind(reader))),
                "not" => Ok(Pattern::Not(Box::new(negated(reader, depth + 1)?))),
                "only" => {
                    skip(reader, depth);
                    match reader.peek() {
                        Some('{') => object(reader, depth, true),
                        _ => Err(reader.expected("`{` after `only`")),
                    }
                }
                _ => {
                    reader.go_to(at);
                    Err(reader.expected(WHAT))
                }
            }
        }
    }
}

/// Reads what stands behind `not`: one pattern, or `(A | B)` for none of several.
fn negated(reader: &mut Reader<'_>, depth: usize) -> Parsed<Pattern> {
    skip(reader, depth);
    if !reader.eat("(") {
        return single(reader, depth);
    }
    let all = alternatives(reader, depth + 1)?;
    skip(reader, depth);
    match reader.eat(")") {
        true => Ok(all),
        false => Err(reader.expected("`|` or `)`")),
    }
}

fn skip(reader: &mut Reader<'_>, depth: usize) {
    // Only inside of brackets may a pattern go on in the next line.
    if depth == 0 {
        reader.skip_blanks();
    } else {
        reader.skip_all_space();
    }
}

fn kind(reader: &mut Reader<'_>) -> Kind {
    let named = Kind::VARIANTS.iter().filter(|kind| **kind != Kind::Value);
    let found = reader.one_of(named.map(|kind| (kind.into(), *kind)));
    found.unwrap_or(Kind::Value)
}

fn object(reader: &mut Reader<'_>, depth: usize, only: bool) -> Parsed<Pattern> {
    reader.advance(1);
    let mut members = IndexMap::new();
    loop {
        reader.skip_all_space();
        if members.is_empty() && reader.eat("}") {
            break;
        }
        if reader.peek() != Some('"') {
            return Err(reader.expected(if members.is_empty() {
                "a member in quotes or `}`"
            } else {
                "a member in quotes"
            }));
        }
        let at = reader.offset();
        let key = string(reader)?;
        if members.contains_key(&key) {
            return Err(reader.error_at(at, format!("`{key}` is there twice")));
        }
        reader.skip_all_space();
        if !reader.eat(":") {
            return Err(reader.expected("`:`"));
        }
        members.insert(key, alternatives(reader, depth + 1)?);
        reader.skip_all_space();
        if reader.eat("}") {
            break;
        }
        if !reader.eat(",") {
            return Err(reader.expected("`,` or `}`"));
        }
    }
    Ok(Pattern::Object(Object { members, only }))
}

fn array(reader: &mut Reader<'_>, depth: usize) -> Parsed<Pattern> {
    reader.advance(1);
    let mut elements = Vec::new();
    loop {
        reader.skip_all_space();
        if elements.is_empty() && reader.eat("]") {
            break;
        }
        elements.push(if reader.eat("...") {
            Element::Rest
        } else {
            Element::One(alternatives(reader, depth + 1)?)
        });
        reader.skip_all_space();
        if reader.eat("]") {
            break;
        }
        if !reader.eat(",") {
            return Err(reader.expected("`,` or `]`"));
        }
    }
    Ok(Pattern::Array(elements))
}

/// Reads a JSON string.
pub(super) fn string(reader: &mut Reader<'_>) -> Parsed<String> {
    if reader.peek() != Some('"') {
        return Err(reader.expected("a string in quotes"));
    }
    let literal = delimited(reader, "this string has no closing quote on its line")?;
    let value = serde_json::from_str(literal).map_err(|error| {
        let reason = error.to_string();
        let reason = reason.split(" at line").next().unwrap_or_default();
        reader.error(format!("this is no JSON string: {reason}"))
    })?;
    reader.advance(literal.len());
    Ok(value)
}

/// Returns what is next up to the character with which it begins, which `\\` may escape.
fn delimited<'a>(reader: &Reader<'a>, unclosed: &str) -> Parsed<&'a str> {
    let text = reader.rest();
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => break,
            c if text.starts_with(c) => return Ok(&text[..=at]),
            _ => {}
        }
    }
    Err(reader.error(unclosed))
}

fn number(reader: &mut Reader<'_>) -> Parsed<Pattern> {
    let text = reader.rest();
    let length = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)))
        .unwrap_or(text.len());
    let literal = &text[..length];
    if serde_json::from_str::<serde_json::Number>(literal).is_err() {
        return Err(reader.error(format!("`{literal}` is no JSON number")));
    }
    reader.advance(length);
    Ok(Pattern::Number(Arc::from(literal)))
}

fn name(reader: &mut Reader<'_>) -> Parsed<Pattern> {
    let name = name_at_start(&reader.rest()[1..]);
    if name.is_empty() {
        return Err(reader.expected("a name such as `$session`"));
    }
    reader.advance(1 + name.len());
    Ok(Pattern::Name(name.into()))
}

fn regex(reader: &mut Reader<'_>) -> Parsed<Pattern> {
    let unclosed = "this regular expression has no closing `/` on its line";
    let literal = delimited(reader, unclosed)?;
    let source = literal[1..literal.len() - 1].replace("\\/", "/");
    let regex = regex::Regex::new(&source).map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default();
        let reason = reason.trim_start_matches("error: ");
        reader.error(format!("this is no regular expression: {reason}"))
    })?;
    reader.advance(literal.len());
    Ok(Pattern::Regex(regex))
}
