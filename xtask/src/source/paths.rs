//! Paths in tokens, so that expressions, types and the arguments of macros read alike.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Calls `found` with every path and its line; a glob ends with `*`, and `self` at the end
/// of a group of imports is left out.
pub(super) fn scan(tokens: TokenStream, found: &mut impl FnMut(Vec<String>, usize)) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        if let Some(after) = skipped(&tokens, at) {
            at = after;
            continue;
        }
        match &tokens[at] {
            TokenTree::Ident(_) => at = path(&tokens, at, &[], found),
            // Below a type or the root of all crates: no module of this crate.
            TokenTree::Punct(_) if is_separator(&tokens, at) => {
                at = match tokens.get(at + 2) {
                    Some(TokenTree::Ident(_)) => path(&tokens, at + 2, &[], &mut |_, _| {}),
                    _ => at + 2,
                };
            }
            TokenTree::Group(group) => {
                scan(group.stream(), found);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// Reads one path that begins at an identifier, and returns where it ends.
fn path(
    tokens: &[TokenTree],
    mut at: usize,
    before: &[String],
    found: &mut impl FnMut(Vec<String>, usize),
) -> usize {
    let mut names = before.to_vec();
    let line = tokens[at].span().start().line;
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(name)) => {
                if name != "self" || names.is_empty() {
                    names.push(name.to_string().trim_start_matches("r#").to_owned());
                }
                at += 1;
                if !is_separator(tokens, at) {
                    break;
                }
                at += 2;
            }
            Some(TokenTree::Punct(star)) if star.as_char() == '*' => {
                names.push("*".to_owned());
                at += 1;
                break;
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                group_of(group.stream(), &names, found);
                return at + 1;
            }
            _ => break,
        }
    }
    found(names, line);
    at
}

/// Reads the branches of a group of imports.
fn group_of(tokens: TokenStream, before: &[String], found: &mut impl FnMut(Vec<String>, usize)) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    let mut begins = true;
    while at < tokens.len() {
        let is_star = matches!(&tokens[at], TokenTree::Punct(mark) if mark.as_char() == '*');
        let is_name = matches!(&tokens[at], TokenTree::Ident(_));
        if begins && (is_name || is_star) {
            at = path(&tokens, at, before, found);
            begins = false;
        } else {
            begins = matches!(&tokens[at], TokenTree::Punct(mark) if mark.as_char() == ',');
            at += 1;
        }
    }
}

/// Counts the lines on which a token stands that is no comment.
pub(super) fn code_lines(tokens: TokenStream) -> usize {
    fn collect(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if let Some(after) = comment(&tokens, at) {
                at = after;
                continue;
            }
            if let TokenTree::Group(group) = &tokens[at] {
                lines.insert(group.span_open().start().line);
                collect(group.stream(), lines);
                lines.insert(group.span_close().end().line);
            } else {
                let span = tokens[at].span();
                lines.extend(span.start().line..=span.end().line);
            }
            at += 1;
        }
    }
    let mut lines = BTreeSet::new();
    collect(tokens, &mut lines);
    lines.len()
}

/// Passes over what holds no path of this crate: comments, `pub(…)`, and code that a
/// generator quotes.
fn skipped(tokens: &[TokenTree], at: usize) -> Option<usize> {
    let is_name = |wanted: &str| matches!(&tokens[at], TokenTree::Ident(name) if name == wanted);
    if is_name("quote")
        && matches!(tokens.get(at + 1)?, TokenTree::Punct(mark) if mark.as_char() == '!')
    {
        return Some(at + 3);
    }
    let TokenTree::Group(group) = tokens.get(at + 1)? else {
        return comment(tokens, at);
    };
    let narrowed = group.delimiter() == Delimiter::Parenthesis
        && matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name))
            if ["crate", "super", "self", "in"].iter().any(|word| name == word));
    match is_name("pub") && narrowed {
        true => Some(at + 2),
        false => comment(tokens, at),
    }
}

/// Passes over a comment of the documentation, which is an attribute here.
fn comment(tokens: &[TokenTree], at: usize) -> Option<usize> {
    let mark = |at: usize, wanted: char| matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == wanted);
    if !mark(at, '#') {
        return None;
    }
    let at = at + 1 + usize::from(mark(at + 1, '!'));
    let TokenTree::Group(group) = tokens.get(at)? else {
        return None;
    };
    match group.stream().into_iter().next() {
        Some(TokenTree::Ident(name)) if name == "doc" => Some(at + 1),
        _ => None,
    }
}

fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    let colon =
        |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
    colon(at) && colon(at + 1)
}
