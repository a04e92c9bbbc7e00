//! Text cut to bytes or characters, between two characters.

/// Stands where a text was cut.
const CUT: &str = "…";

/// Returns the beginning of a text, at most this many bytes.
///
/// ```
/// use acp_text::cut_bytes;
///
/// assert_eq!(cut_bytes("köln", 2), "k");
/// assert_eq!(cut_bytes("köln", 9), "köln");
/// ```
#[must_use]
pub fn cut_bytes(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the end of a text, at most this many bytes.
#[must_use]
pub fn last_bytes(text: &str, max: usize) -> &str {
    let mut start = text.len().saturating_sub(max);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// Returns the beginning of a text, at most this many characters.
#[must_use]
pub fn cut_chars(text: &str, max: usize) -> &str {
    match text.char_indices().nth(max) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Returns the end of a text, at most this many characters.
#[must_use]
pub fn last_chars(text: &str, max: usize) -> &str {
    let Some(last) = max.checked_sub(1) else {
        return "";
    };
    let start = text.char_indices().nth_back(last);
    start.map_or(text, |(start, _)| &text[start..])
}

/// Shortens a text to at most this many bytes, with `…` at its end where it was cut.
#[must_use]
pub fn shorten_bytes(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    match max.checked_sub(CUT.len()) {
        Some(room) => format!("{}{CUT}", cut_bytes(text, room)),
        None => String::new(),
    }
}

/// Shortens a text to at most this many characters, with `…` at its end where it was cut.
#[must_use]
pub fn shorten_chars(text: &str, max: usize) -> String {
    if cut_chars(text, max).len() == text.len() {
        return text.to_owned();
    }
    match max.checked_sub(1) {
        Some(room) => format!("{}{CUT}", cut_chars(text, room)),
        None => String::new(),
    }
}

/// Cuts a text to this many characters, and says behind them how long it was: `(9 bytes)`.
#[must_use]
pub fn shorten_counted(text: &str, max: usize) -> String {
    let kept = cut_chars(text, max);
    match kept.len() == text.len() {
        true => text.to_owned(),
        false => format!("{kept}{CUT} ({} bytes)", text.len()),
    }
}

/// Cuts a text of more than this many characters to its beginning and its end.
#[must_use]
pub fn shorten_middle(text: &str, max: usize) -> String {
    if cut_chars(text, max).len() == text.len() {
        return text.to_owned();
    }
    let end = last_chars(text, (max / 2).max(1));
    format!("{} {CUT} {end}", cut_chars(text, max / 2))
}
