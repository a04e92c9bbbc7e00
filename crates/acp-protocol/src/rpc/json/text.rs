//! Strings, escaped where JSON asks for it.

/// Bytes looked at together.
const WIDTH: usize = 16;

/// Texts from this length on are put together in a block.
const LONG: usize = 256;

/// Writes a string with its quotes.
pub(in crate::rpc) fn string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    escape(out, text);
    out.push(b'"');
}

/// Writes what stands between the quotes.
#[inline]
pub(in crate::rpc) fn escape(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    if rest.len() >= LONG {
        rest = escape_long(out, rest);
    }
    while let Some((chunk, behind)) = rest.split_first_chunk::<WIDTH>() {
        // Written before it is known whether all of it may be: that is cheaper
        // than to copy what is known to be plain, which may have any length.
        out.extend_from_slice(chunk);
        if is_plain(chunk) {
            rest = behind;
            continue;
        }
        let place = first_mark(chunk);
        out.truncate(out.len() - WIDTH + place);
        escape_byte(out, chunk[place]);
        rest = &rest[place + 1..];
    }
    escape_short(out, rest);
}

/// Writes all but the last bytes of a long text, and returns those.
///
/// They are put together in a block whose fill the processor knows without a look
/// into memory; the length of a vector behind a reference it has to read and write
/// again with every chunk.
fn escape_long<'a>(out: &mut Vec<u8>, bytes: &'a [u8]) -> &'a [u8] {
    /// What a chunk fills at most, and more, so that its place is an array.
    const STEP: usize = 24;

    // Text that has more to escape than a byte in sixteen lets the buffer grow.
    out.reserve(bytes.len() + bytes.len() / 16 + 2);
    let mut block = [0; 512];
    let mut filled = 0;
    let mut rest = bytes;
    while let Some((chunk, behind)) = rest.split_first_chunk::<WIDTH>() {
        let place = block.get_mut(filled..);
        let Some(place) = place.and_then(|place| place.first_chunk_mut::<STEP>()) else {
            out.extend_from_slice(&block[..filled]);
            filled = 0;
            continue;
        };
        place[..WIDTH].copy_from_slice(chunk);
        if is_plain(chunk) {
            filled += WIDTH;
            rest = behind;
            continue;
        }
        let mark = first_mark(chunk);
        match SHORT[usize::from(chunk[mark])] {
            0 => {
                out.extend_from_slice(&block[..filled + mark]);
                filled = 0;
                escape_rare(out, chunk[mark]);
            }
            short => {
                place[mark] = b'\\';
                place[mark + 1] = short;
                filled += mark + 2;
            }
        }
        rest = &rest[mark + 1..];
    }
    out.extend_from_slice(&block[..filled]);
    rest
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

/// Whether nothing in the chunk is to be escaped.
///
/// Written so that the compiler makes vector instructions of it, those that every
/// processor has: a byte becomes zero if it is to be escaped.
#[inline(always)]
fn is_plain(chunk: &[u8; WIDTH]) -> bool {
    let mut kept = [0; WIDTH];
    for (kept, byte) in kept.iter_mut().zip(chunk) {
        let control = byte.saturating_sub(b' ' - 1);
        *kept = control.min(byte ^ b'"').min(byte ^ b'\\');
    }
    !kept.iter().fold(false, |any, kept| any | (*kept == 0))
}

/// Where the first byte is that is to be escaped; there is one.
#[inline]
fn first_mark(chunk: &[u8; WIDTH]) -> usize {
    let [low, high] = [marks(word(chunk, 0)), marks(word(chunk, 8))];
    let place = match low {
        0 => 8 + high.trailing_zeros() / 8,
        low => low.trailing_zeros() / 8,
    };
    // The mask changes nothing, but spares checks of bounds.
    place as usize % WIDTH
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

#[cold]
fn escape_rare(out: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let [high, low] = [byte >> 4, byte & 0xf].map(|digit| DIGITS[usize::from(digit)]);
    out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
}

#[inline]
fn escape_byte(out: &mut Vec<u8>, byte: u8) {
    match SHORT[usize::from(byte)] {
        0 => escape_rare(out, byte),
        short => out.extend_from_slice(&[b'\\', short]),
    }
}
