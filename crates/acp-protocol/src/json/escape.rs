//! Strings, escaped where JSON asks for it, and where readers of lines do: some end a line
//! at U+2028 and U+2029 too, which JSON lets stand.

use memchr::memmem;

use crate::json::plain::{SEPARATOR, WIDTH, marks_to_write};

/// Bytes that are written together in a long text: two looks.
const CHUNK: usize = 2 * WIDTH;

/// What a chunk becomes at most, with what is written behind it: each byte may become
/// six.
const PLACE: usize = 8 * CHUNK;

/// Texts from this length on are put together in a block.
const LONG: usize = 256;

/// Writes a string with its quotes.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    escape(out, text);
    out.push(b'"');
}

/// Writes what stands between the quotes.
#[inline]
pub(crate) fn escape(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    if rest.len() >= LONG {
        rest = escape_long(out, rest);
    }
    while let Some((chunk, behind)) = rest.split_first_chunk::<WIDTH>() {
        // Written before it is known whether all of it may be: that is cheaper
        // than to copy what is known to be plain, which may have any length.
        out.extend_from_slice(chunk);
        let marks = marks_to_write(chunk);
        if marks == 0 {
            rest = behind;
            continue;
        }
        let place = marks.trailing_zeros() as usize % WIDTH;
        out.truncate(out.len() - WIDTH + place);
        rest = escape_first(out, &rest[place..]);
    }
    escape_short(out, rest);
}

/// Writes all but the last bytes of a long text, and returns those.
///
/// They are put together in a block whose fill the processor knows without a look
/// into memory; the length of a vector behind a reference it has to read and write
/// again with every chunk. Chunks follow each other in steps of one size, so that it
/// need not know what is to be escaped in one before it looks at the next.
fn escape_long<'a>(out: &mut Vec<u8>, bytes: &'a [u8]) -> &'a [u8] {
    // Text that has more to escape than a byte in sixteen lets the buffer grow.
    out.reserve(bytes.len() + bytes.len() / 16 + 2);
    let mut block = [0; 4 * PLACE];
    let mut filled = 0;
    let mut rest = bytes;
    while let Some(window) = rest.first_chunk::<{ 2 * CHUNK }>() {
        let place = block.get_mut(filled..);
        let Some(place) = place.and_then(|place| place.first_chunk_mut::<PLACE>()) else {
            out.extend_from_slice(&block[..filled]);
            filled = 0;
            continue;
        };
        let Some(length) = escape_chunk(place, window) else {
            out.extend_from_slice(&block[..filled]);
            filled = 0;
            rest = escape_slowly(out, rest, CHUNK);
            continue;
        };
        filled += length;
        rest = &rest[CHUNK..];
    }
    out.extend_from_slice(&block[..filled]);
    rest
}

/// Writes the first chunk of a window, and tells how much that became. Behind it
/// something stands that is of no matter. `None` where a separator begins in it.
#[inline(always)]
fn escape_chunk(place: &mut [u8; PLACE], window: &[u8; 2 * CHUNK]) -> Option<usize> {
    let (chunk, _) = window.as_chunks::<CHUNK>();
    let chunk = &chunk[0];
    place[..CHUNK].copy_from_slice(chunk);
    let ([low, high], _) = chunk.as_chunks::<WIDTH>() else {
        return None;
    };
    let mut marks = marks_to_write(low) | marks_to_write(high) << WIDTH;
    let mut longer = 0;
    while marks != 0 {
        let mark = marks.trailing_zeros() as usize % CHUNK;
        marks &= marks - 1;
        let byte = chunk[mark];
        if byte == SEPARATOR {
            if separator(&window[mark..]).is_some() {
                return None;
            }
            continue;
        }
        let escaped = &mut place[mark + longer..];
        match SHORT[usize::from(byte)] {
            0 => {
                escaped[..6].copy_from_slice(&rare(byte));
                longer += 5;
            }
            short => {
                escaped[..2].copy_from_slice(&[b'\\', short]);
                longer += 1;
            }
        }
        // What follows in the chunk, once more, and what follows the chunk besides:
        // a copy of one size costs least.
        let behind = mark + 1;
        place[behind + longer..][..CHUNK].copy_from_slice(&window[behind..][..CHUNK]);
    }
    Some(CHUNK + longer)
}

/// Writes fewer bytes than [`WIDTH`], in two pieces of one size that overlap.
#[inline]
fn escape_short(out: &mut Vec<u8>, bytes: &[u8]) {
    fn pieces<const SIZE: usize>(out: &mut Vec<u8>, bytes: &[u8]) -> Option<()> {
        let (first, last) = (bytes.first_chunk::<SIZE>()?, bytes.last_chunk::<SIZE>()?);
        // Both at once, and spaces where there is nothing.
        let mut both = [b' '; WIDTH];
        both[..SIZE].copy_from_slice(first);
        both[WIDTH - SIZE..].copy_from_slice(last);
        if marks_to_write(&both) != 0 {
            return None;
        }
        out.extend_from_slice(first);
        out.truncate(out.len() + bytes.len() - 2 * SIZE);
        out.extend_from_slice(last);
        Some(())
    }

    let written = match bytes.len() {
        8.. => pieces::<8>(out, bytes),
        4.. => pieces::<4>(out, bytes),
        _ => None,
    };
    if written.is_some() {
        return;
    }
    escape_slowly(out, bytes, bytes.len());
}

/// Writes at least so many bytes, one character after the other, and returns the rest.
fn escape_slowly<'a>(out: &mut Vec<u8>, bytes: &'a [u8], least: usize) -> &'a [u8] {
    let mut rest = bytes;
    while bytes.len() - rest.len() < least && !rest.is_empty() {
        rest = escape_first(out, rest);
    }
    rest
}

/// Writes the first byte, or all of a separator, and returns the rest.
#[inline]
fn escape_first<'a>(out: &mut Vec<u8>, bytes: &'a [u8]) -> &'a [u8] {
    match bytes {
        [] => bytes,
        [SEPARATOR, rest @ ..] => match separator(bytes) {
            Some(escaped) => {
                out.extend_from_slice(escaped);
                &rest[2..]
            }
            None => {
                out.push(SEPARATOR);
                rest
            }
        },
        [byte @ (0..b' ' | b'"' | b'\\'), rest @ ..] => {
            escape_byte(out, *byte);
            rest
        }
        [byte, rest @ ..] => {
            out.push(*byte);
            rest
        }
    }
}

/// The escape of U+2028 or U+2029, where the bytes begin with one.
#[inline]
fn separator(bytes: &[u8]) -> Option<&'static [u8; 6]> {
    match bytes {
        [SEPARATOR, 0x80, 0xa8, ..] => Some(br"\u2028"),
        [SEPARATOR, 0x80, 0xa9, ..] => Some(br"\u2029"),
        _ => None,
    }
}

/// Writes JSON that is written already.
pub(crate) fn verbatim(out: &mut Vec<u8>, json: &str) {
    let mut rest = json.as_bytes();
    while let Some(at) = memmem::find(rest, &[SEPARATOR, 0x80]) {
        out.extend_from_slice(&rest[..at]);
        rest = escape_first(out, &rest[at..]);
    }
    out.extend_from_slice(rest);
}

/// What stands behind the backslash of a byte; 0 where that is not one letter.
static SHORT: [u8; 256] = {
    let mut short = [0; 256];
    short[b'"' as usize] = b'"';
    short[b'\\' as usize] = b'\\';
    short[b'\n' as usize] = b'n';
    short[b'\t' as usize] = b't';
    short[b'\r' as usize] = b'r';
    short[0x08] = b'b';
    short[0x0c] = b'f';
    short
};

/// The long way to write a byte.
#[cold]
fn rare(byte: u8) -> [u8; 6] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let [high, low] = [byte >> 4, byte & 0xf].map(|digit| DIGITS[usize::from(digit)]);
    [b'\\', b'u', b'0', b'0', high, low]
}

#[inline]
fn escape_byte(out: &mut Vec<u8>, byte: u8) {
    match SHORT[usize::from(byte)] {
        0 => out.extend_from_slice(&rare(byte)),
        short => out.extend_from_slice(&[b'\\', short]),
    }
}
