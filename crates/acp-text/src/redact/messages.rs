//! Secrets in JSON, found by where they stand. The JSON may be broken or cut.

use super::shapes::is_secret_name;
use super::{REDACTED, Redactor};
use crate::cut::cut_bytes;
use crate::json::{escape, string_length, unescape};

/// How deep JSON may be nested. What lies deeper is removed.
const MAX_DEPTH: usize = 256;

/// How far behind a value a name is looked for that says what the value is.
const MAX_AHEAD: usize = 1024;

/// An object or array that is open.
#[derive(Default)]
struct Open {
    is_object: bool,
    /// The last key, and whether its value comes next.
    key: String,
    is_value: bool,
    /// What may come next, by the grammar.
    next: Next,
    /// All in it is secret.
    secret: bool,
    /// It is the map or list of variables or headers, or an entry of that list.
    values: Values,
    /// A member said by a name that the value of this object is secret.
    names_secret: bool,
    /// The last element was a flag, of which the value comes next.
    flag: Flag,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Values {
    #[default]
    None,
    All,
    Entry,
}

/// What may come next in an object or array. A comma too many does no harm.
#[derive(Clone, Copy, Default, PartialEq)]
enum Next {
    /// A key in an object, a value in an array; or the end.
    #[default]
    Item,
    Colon,
    Value,
    /// A comma, or the end.
    Comma,
}

/// Which flag the last element of a list was.
#[derive(Clone, Copy, Default, PartialEq)]
enum Flag {
    #[default]
    None,
    /// The value is secret.
    Secret,
    /// The value is a user's name, and behind a colon the password.
    User,
}

/// Redacts at least so many bytes; tells whether all that was read was JSON.
pub(super) fn redact(
    redactor: &Redactor,
    text: &str,
    bytes: usize,
    nested: usize,
) -> (String, bool) {
    let mut out = String::with_capacity(text.len().min(bytes));
    let mut open: Vec<Open> = Vec::new();
    let mut is_json = true;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if out.len() >= bytes {
            return (out, is_json);
        }
        let mut length = first.len_utf8();
        match first {
            '{' | '[' => {
                if open.len() == MAX_DEPTH {
                    out.push_str(REDACTED);
                    return (out, false);
                }
                is_json &= open.last_mut().is_none_or(|open| open.follows(Item::Value));
                let inner = open.last().map_or_else(Open::default, Open::inner);
                open.push(Open {
                    is_object: first == '{',
                    ..inner
                });
                out.push(first);
            }
            '}' | ']' => {
                let ended = open.pop();
                is_json &= ended.is_some_and(|mut open| {
                    open.is_object == (first == '}') && open.follows(Item::End)
                });
                out.push(first);
            }
            ':' | ',' => {
                let item = if first == ':' {
                    Item::Colon
                } else {
                    Item::Comma
                };
                is_json &= open.last_mut().is_some_and(|open| open.follows(item));
                if let Some(open) = open.last_mut() {
                    open.is_value = first == ':';
                }
                out.push(first);
            }
            '"' => {
                let (inside, ended) = string_length(&rest[1..]);
                let raw = &rest[1..=inside];
                length = inside + 1 + usize::from(ended);
                is_json &= ended && is_well_escaped(raw);
                is_json &= open
                    .last_mut()
                    .is_none_or(|open| open.begins(&rest[length..]));
                let context = open.last_mut();
                string(
                    redactor,
                    raw,
                    context,
                    (bytes - out.len(), nested, ended),
                    &mut out,
                );
            }
            c if c.is_ascii_whitespace() => out.push(c),
            // A mark of the byte order, as some programs write at the very beginning.
            '\u{feff}' if rest.len() == text.len() => out.push(first),
            _ => {
                let ends = |c: char| matches!(c, ',' | ':' | '"' | '{' | '}' | '[' | ']');
                length = rest
                    .find(|c| ends(c) || c.is_ascii_whitespace())
                    .unwrap_or(rest.len());
                let word = &rest[..length];
                let is_word = matches!(word, "true" | "false" | "null");
                is_json &= is_word || is_number(word);
                is_json &= open
                    .last_mut()
                    .is_none_or(|open| open.begins(&rest[length..]));
                let secret = open.last().is_some_and(Open::is_secret) || redactor.known.is_in(word);
                if let Some(open) = open.last_mut() {
                    open.flag = Flag::None;
                }
                match secret && !is_word {
                    true => out.push_str(&quoted(REDACTED)),
                    false => out.push_str(cut_bytes(word, bytes - out.len())),
                }
            }
        }
        rest = &rest[length..];
    }
    (out, is_json && open.is_empty())
}

/// Writes a string as JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Tells whether a word may be a number, of any size.
fn is_number(word: &str) -> bool {
    let known = |byte: u8| b"0123456789+-.eE".contains(&byte);
    word.bytes().all(known) && word.bytes().any(|byte| byte.is_ascii_digit())
}

/// Tells whether every backslash in a string begins an escape.
fn is_well_escaped(raw: &str) -> bool {
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        let (_, length) = escape(&rest[at..]);
        if length == 1 {
            return false;
        }
        rest = &rest[at + length..];
    }
    true
}

/// Redacts a string of which `raw` is the inside.
fn string(
    redactor: &Redactor,
    raw: &str,
    open: Option<&mut Open>,
    (bytes, nested, ended): (usize, usize, bool),
    out: &mut String,
) {
    let part = cut_bytes(raw, bytes);
    let is_whole = ended && part.len() == raw.len();
    let text = unescape(part);
    let redacted = match open {
        Some(open) if open.is_object && !open.is_value => {
            open.key.clear();
            open.key.push_str(&text);
            redactor.plain(&text)
        }
        Some(open) if open.is_secret() && !raw.is_empty() => {
            open.flag = Flag::None;
            let known = redactor.known.replace(&text);
            match known.split_once(['=', ':']) {
                // An entry of a plain list, as `NAME=value`.
                Some((name, _)) if open.values == Values::All && !open.is_object => {
                    format!("{}={REDACTED}", redactor.plain(name))
                }
                _ => REDACTED.to_owned(),
            }
        }
        Some(open) if matches!(&*open.key, "auth" | "_auth") && !raw.is_empty() => {
            REDACTED.to_owned()
        }
        Some(open) if open.flag == Flag::User && text.contains(':') => {
            open.flag = Flag::None;
            let name = text.split(':').next().unwrap_or_default();
            format!("{}:{REDACTED}", redactor.plain(name))
        }
        open => {
            if let Some(open) = open {
                open.note(&text);
            }
            match is_whole {
                true => redactor.within(&text, usize::MAX, nested - 1),
                false => redactor.redact_part(&text),
            }
        }
    };
    out.push('"');
    if redacted == text {
        out.push_str(part);
    } else {
        let quoted = quoted(&redacted);
        out.push_str(&quoted[1..quoted.len() - 1]);
    }
    if is_whole {
        out.push('"');
    }
}

/// What was met in an object or array.
#[derive(Clone, Copy, PartialEq)]
enum Item {
    Key,
    Colon,
    Value,
    Comma,
    End,
}

impl Open {
    /// Goes on in the grammar; tells whether this may stand here.
    fn follows(&mut self, item: Item) -> bool {
        let (fits, next) = match item {
            Item::Key => (self.next == Next::Item, Next::Colon),
            Item::Colon => (self.next == Next::Colon, Next::Value),
            Item::Value => match self.is_object {
                true => (self.next == Next::Value, Next::Comma),
                false => (self.next == Next::Item, Next::Comma),
            },
            Item::Comma => (self.next == Next::Comma, Next::Item),
            Item::End => (matches!(self.next, Next::Item | Next::Comma), Next::Item),
        };
        self.next = next;
        fits
    }

    /// Goes on to a string or a word, of which this is behind it; tells whether it may stand
    /// here. Behind a key it is the value, also where the colon is not there.
    fn begins(&mut self, behind: &str) -> bool {
        self.is_value |= self.next == Next::Colon;
        let is_key = self.is_object && !self.is_value;
        self.look_ahead(behind);
        self.follows(if is_key { Item::Key } else { Item::Value })
    }

    /// Tells whether the value that comes next is secret.
    fn is_secret(&self) -> bool {
        self.secret
            || match (self.is_object, self.values) {
                (false, values) => self.flag == Flag::Secret || values == Values::All,
                (true, Values::All) => true,
                (true, Values::Entry) => self.key != "name",
                (true, Values::None) => {
                    is_secret_name(&self.key) || (self.names_secret && self.key == "value")
                }
            }
    }

    /// Takes over for an object or array that is the next value.
    fn inner(&self) -> Self {
        let values = match self.is_object {
            true if is_list_of_values(&self.key) => Values::All,
            false if self.values == Values::All => Values::Entry,
            _ => Values::None,
        };
        Self {
            values,
            secret: values == Values::None && self.is_secret(),
            ..Self::default()
        }
    }

    /// Notes a string that may say of another one that it is secret.
    fn note(&mut self, text: &str) {
        if self.is_object {
            self.names_secret |= is_name_of_value(&self.key) && is_secret_name(text);
            return;
        }
        let name = text.trim_start_matches('-');
        let word = matches!(name, "key" | "auth" | "pass" | "pwd" | "pw" | "pat");
        self.flag = match text {
            "-u" | "--user" | "--proxy-user" => Flag::User,
            _ if name.len() < text.len() && (word || is_secret_name(name)) => Flag::Secret,
            _ => Flag::None,
        };
    }

    /// Looks for a name that stands behind the value it belongs to.
    fn look_ahead(&mut self, rest: &str) {
        let asks = self.is_object && self.is_value && self.key == "value";
        if !asks || self.values != Values::None || self.names_secret || self.secret {
            return;
        }
        let mut rest = cut_bytes(rest, MAX_AHEAD);
        let mut strings: Vec<(&str, bool)> = Vec::new();
        while let Some(at) = rest.find(['"', '{', '[', '}', ']']) {
            if !rest[at..].starts_with('"') {
                break;
            }
            let (length, ended) = string_length(&rest[at + 1..]);
            if !ended {
                break;
            }
            let behind = &rest[at + length + 2..];
            let is_key = behind.trim_start().starts_with(':');
            strings.push((&rest[at + 1..=at + length], is_key));
            rest = behind;
        }
        self.names_secret = strings.windows(2).any(|two| {
            let [(key, true), (name, false)] = two else {
                return false;
            };
            is_name_of_value(&unescape(key)) && is_secret_name(&unescape(name))
        });
    }
}

/// Tells whether a member says what the member `value` beside it is.
fn is_name_of_value(key: &str) -> bool {
    matches!(key, "name" | "key" | "id" | "configId")
}

/// Tells whether a key says that variables or headers lie below it.
fn is_list_of_values(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key.ends_with("headers") || key == "env" || key == "environment" || key.ends_with("env_vars")
}
