//! Strings, escaped where JSON asks for it.

/// Bytes looked at together.
const WIDTH: usize = 16;

/// Writes a string with its quotes.
pub(in crate::rpc) fn string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    escape(out, text);
    out.push(b'"');
}

/// Writes what stands between the quotes.
#[inline]
pub(super) fn escape(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    while let Some((chunk, behind)) = rest.split_first_chunk::<WIDTH>() {
        // Written before it is known whether all of it may be: that is cheaper
        // than to copy what is known to be plain, which may have any length.
        out.extend_from_slice(chunk);
        let marks = [marks(word(chunk, 0)), marks(word(chunk, 8))];
        if marks == [0, 0] {
            rest = behind;
            continue;
        }
        let plain = match marks {
            [0, high] => 8 + first(high),
            [low, _] => first(low),
        };
        out.truncate(out.len() - WIDTH + plain);
        escape_byte(out, chunk[plain]);
        rest = &rest[plain + 1..];
    }
    escape_short(out, rest);
}

/// Writes fewer bytes than [`WIDTH`], in two pieces of one size that overlap.
#[inline]
fn escape_short(out: &mut Vec<u8>, bytes: &[u8]) {
    fn pieces<const SIZE: usize>(out: &mut Vec<u8>, bytes: &[u8]) -> Option<()> {
        let (first, last) = (bytes.first_chunk::<SIZE>()?, bytes.last_chunk::<SIZE>()?);
        let word = |piece: &[u8; SIZE]| {
            let mut word = [b' '; 8];
            word[..SIZE].copy_from_slice(piece);
            u64::from_le_bytes(word)
        };
        if marks(word(first)) | marks(word(last)) != 0 {
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
    for byte in bytes {
        match byte {
            0..b' ' | b'"' | b'\\' => escape_byte(out, *byte),
            _ => out.push(*byte),
        }
    }
}

/// Eight bytes, the first of them the lowest.
#[inline]
fn word(chunk: &[u8; WIDTH], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&chunk[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Marks bytes that are to be escaped by their highest bit.
///
/// The lowest mark is right. Above it bytes may be marked that are plain, since
/// a subtraction borrows from them; nobody asks for those.
#[inline]
fn marks(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let control = word.wrapping_sub(ONES * u64::from(b' '));
    let quote = (word ^ (ONES * u64::from(b'"'))).wrapping_sub(ONES);
    let backslash = (word ^ (ONES * u64::from(b'\\'))).wrapping_sub(ONES);
    (control | quote | backslash) & !word & (ONES << 7)
}

/// Where the lowest mark is.
#[inline]
fn first(marks: u64) -> usize {
    (marks.trailing_zeros() / 8) as usize
}

#[cold]
fn escape_rare(out: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let [high, low] = [byte >> 4, byte & 0xf].map(|digit| DIGITS[usize::from(digit)]);
    out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
}

#[inline]
fn escape_byte(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\t' => b't',
        b'\r' => b'r',
        0x08 => b'b',
        0x0c => b'f',
        _ => return escape_rare(out, byte),
    };
    out.extend_from_slice(&[b'\\', short]);
}
