//! Any text with a secret in it, in any pieces: the secret is gone, and JSON stays JSON.

use acp_text::Redactor;
use serde_json::Value;

/// The secret that is planted: with characters that JSON, addresses and shells escape.
const SECRET: &str = r#"hunter2/"sword&fish+42="#;

/// Plants the secret where the first two bytes say, and redacts whole and in pieces.
///
/// # Panics
///
/// When the secret is left, pieces read otherwise than the whole, or JSON is broken.
pub(crate) fn check(input: &[u8]) {
    let [at, size, text @ ..] = input else {
        return;
    };
    let text = String::from_utf8_lossy(text);
    let redactor = Redactor::new().with_secret(SECRET);
    let mut at = usize::from(*at).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let json = Value::from(SECRET).to_string();
    for planted in [SECRET, &json[1..json.len() - 1]] {
        let whole = format!("{}{planted}{}", &text[..at], &text[at..]);
        let redacted = redactor.redact(&whole);
        is_gone(&redacted, &whole);
        is_gone(&redactor.redact_part(&whole), &whole);
        is_gone(&redactor.redact_beginning(&whole, 40), &whole);
        let mut stream = redactor.stream();
        let once = stream.push(whole.as_bytes()) + &stream.finish();
        is_gone(&once, &whole);
        let mut stream = redactor.stream();
        let pieces = whole.as_bytes().chunks(1 + usize::from(*size));
        let in_pieces: String = pieces.map(|piece| stream.push(piece)).collect();
        assert_eq!(in_pieces + &stream.finish(), once, "{whole:?} in pieces");
        if let Some(line) = redactor.redact_json(whole.as_bytes()) {
            is_gone(&line, &whole);
        }
    }
    if serde_json::from_str::<Value>(&text).is_ok() {
        let redacted = redactor.redact(&text);
        let read = serde_json::from_str::<Value>(&redacted);
        assert!(read.is_ok(), "{text:?} became {redacted:?}");
        assert_eq!(redactor.redact_json(text.as_bytes()), Some(redacted));
    }
}

#[track_caller]
fn is_gone(redacted: &str, whole: &str) {
    for form in [SECRET, r#"hunter2/\"sword&fish+42="#] {
        assert!(!redacted.contains(form), "{whole:?} became {redacted:?}");
    }
}
