//! Which bytes of a string stand for themselves in JSON: all but control characters,
//! quotes and backslashes.

use wide::u8x16;

/// Bytes looked at together.
pub(crate) const WIDTH: usize = 16;

/// How many bytes at the beginning stand for themselves.
#[inline]
pub(crate) fn plain(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((chunk, behind)) = rest.split_first_chunk::<WIDTH>() {
        let marks = marks(chunk);
        if marks != 0 {
            return bytes.len() - rest.len() + marks.trailing_zeros() as usize;
        }
        rest = behind;
    }
    let is_plain = |byte: &&u8| !matches!(byte, 0..b' ' | b'"' | b'\\');
    bytes.len() - rest.len() + rest.iter().take_while(is_plain).count()
}

/// The byte that the two line separators of Unicode begin with, and other punctuation.
pub(crate) const SEPARATOR: u8 = 0xe2;

/// Marks the bytes that are written in another way, or may be: [`marks`], and
/// [`SEPARATOR`].
#[inline(always)]
pub(crate) fn marks_to_write(chunk: &[u8; WIDTH]) -> u32 {
    let bytes = u8x16::new(*chunk);
    let separator = bytes.cmp_eq(u8x16::splat(SEPARATOR));
    (escaped(bytes) | separator).move_mask().cast_unsigned()
}

/// Marks the bytes that do not stand for themselves, the first by the lowest bit.
#[inline(always)]
pub(crate) fn marks(chunk: &[u8; WIDTH]) -> u32 {
    escaped(u8x16::new(*chunk)).move_mask().cast_unsigned()
}

#[inline(always)]
fn escaped(bytes: u8x16) -> u8x16 {
    let control = bytes.min(u8x16::splat(b' ' - 1)).cmp_eq(bytes);
    let quote = bytes.cmp_eq(u8x16::splat(b'"'));
    let backslash = bytes.cmp_eq(u8x16::splat(b'\\'));
    control | quote | backslash
}
