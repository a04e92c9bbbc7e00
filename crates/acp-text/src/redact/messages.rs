//! Secrets in JSON, found by where they stand. The JSON may be broken or cut.

use super::shapes::is_secret_name;
use super::{REDACTED, Redactor};
use crate::cut::cut_bytes;
use crate::json::{string_length, unescape};

/// How deep JSON may be nested. What lies deeper is removed.
const MAX_DEPTH: usize = 256;

/// An object or array that is open.
#[derive(Default)]
struct Open {
    is_object: bool,
    /// The last key, and whether its value comes next.
    key: String,
    is_value: bool,
    /// All in it is secret.
    secret: bool,
    /// It is the map or list of variables or headers, or an entry of that list.
    values: Values,
    /// A member said by a name that the value of this object is secret.
    names_secret: bool,
    /// The last element was a flag whose value comes next.
    after_flag: bool,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Values {
    #[default]
    None,
    All,
    Entry,
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
            return (out, true);
        }
        let mut length = first.len_utf8();
        match first {
            '{' | '[' => {
                if open.len() == MAX_DEPTH {
                    out.push_str(REDACTED);
                    return (out, false);
                }
                let inner = open.last().map_or_else(Open::default, Open::inner);
                open.push(Open {
                    is_object: first == '{',
                    ..inner
                });
                out.push(first);
            }
            '}' | ']' => {
                is_json &= open.pop().is_some();
                out.push(first);
            }
            ':' | ',' => {
                if let Some(open) = open.last_mut() {
                    open.is_value = first == ':';
                }
                out.push(first);
            }
            '"' => {
                let (inside, ended) = string_length(&rest[1..]);
                let raw = &rest[1..=inside];
                length = inside + 1 + usize::from(ended);
                is_json &= ended;
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
            _ => {
                let ends = |c: char| matches!(c, ',' | ':' | '"' | '{' | '}' | '[' | ']');
                length = rest
                    .find(|c| ends(c) || c.is_ascii_whitespace())
                    .unwrap_or(rest.len());
                let word = &rest[..length];
                let is_word = matches!(word, "true" | "false" | "null");
                is_json &= is_word || word.bytes().all(|byte| b"0123456789+-.eE".contains(&byte));
                let secret = open.last().is_some_and(Open::is_secret) || redactor.knows(word);
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
        Some(open) if open.is_secret() && !raw.is_empty() => match text.split_once(['=', ':']) {
            // An entry of a plain list, as `NAME=value`.
            Some((name, _)) if open.values == Values::All && !open.is_object => {
                format!("{name}={REDACTED}")
            }
            _ => REDACTED.to_owned(),
        },
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

impl Open {
    /// Tells whether the value that comes next is secret.
    fn is_secret(&self) -> bool {
        self.secret
            || match (self.is_object, self.values) {
                (false, values) => self.after_flag || values == Values::All,
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
            let names = matches!(&*self.key, "name" | "key" | "id" | "configId");
            self.names_secret |= names && is_secret_name(text);
        } else {
            let name = text.trim_start_matches('-');
            let word = matches!(name, "key" | "auth" | "pass" | "pwd" | "pw" | "pat");
            self.after_flag = name.len() < text.len() && (word || is_secret_name(name));
        }
    }
}

/// Tells whether a key says that variables or headers lie below it.
fn is_list_of_values(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key.ends_with("headers") || key == "env" || key == "environment" || key.ends_with("env_vars")
}

impl Redactor {
    /// Tells whether a text holds a secret that was given.
    fn knows(&self, text: &str) -> bool {
        self.secrets
            .iter()
            .any(|secret| text.contains(secret.expose()))
    }
}
