//! Files that are named by an address.

use std::path::{Path, PathBuf};

/// Returns the path of a `file:` address; `None` for what is none.
pub(super) fn path_of(text: &Path) -> Option<PathBuf> {
    let text = text.to_str()?;
    let (scheme, rest) = text.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    // The host, if one is named, is this one.
    let path = match rest.strip_prefix("//") {
        Some(rest) => &rest[rest.find('/').unwrap_or(rest.len())..],
        None => rest,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let bytes = decoded(path.as_bytes());
    Some(PathBuf::from(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Undoes the escapes of an address; what is no escape stays.
fn decoded(text: &[u8]) -> Vec<u8> {
    let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let escaped = digit(at + 1).zip(digit(at + 2));
        let escaped = escaped.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        match escaped.filter(|_| *byte == b'%') {
            Some(escaped) => {
                bytes.push(escaped);
                at += 3;
            }
            None => {
                bytes.push(*byte);
                at += 1;
            }
        }
    }
    bytes
}
