//! Clean text that is put together: templates and literals of a program, and their parts.

use std::fmt;

use super::text::Clean;

/// What [`clean!`](crate::clean!) puts into a text: clean text and numbers.
pub trait CleanPart: sealed::Sealed {
    /// Returns it as it is written.
    fn part(&self) -> impl fmt::Display + '_;
}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for Clean<'_> {}
impl CleanPart for Clean<'_> {
    fn part(&self) -> impl fmt::Display + '_ {
        self
    }
}

impl<T: CleanPart> sealed::Sealed for &T {}
impl<T: CleanPart> CleanPart for &T {
    fn part(&self) -> impl fmt::Display + '_ {
        (**self).part()
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(
            impl sealed::Sealed for $number {}
            impl CleanPart for $number {
                fn part(&self) -> impl fmt::Display + '_ {
                    self
                }
            }
        )*
    };
}

numbers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 isize f32 f64);

/// Makes [`Clean`] text of a template and of clean parts.
///
/// Parts stand behind the template, as of [`format!`]; each is clean text or a number. A
/// template without parts is checked while the program is compiled, and may stand in a
/// constant.
///
/// ```
/// use acp_text::{Clean, clean};
///
/// const ASKS: Clean<'static> = clean!("The agent asks");
/// let path = Clean::visible("/a/\u{200b}b");
/// assert_eq!(clean!("{}: {:>3} {}", ASKS, 7, path).as_str(), r"The agent asks:   7 /a/\u{200b}b");
/// ```
#[macro_export]
macro_rules! clean {
    ($text:literal) => {{
        const _: () = ::core::assert!(
            !$crate::has_braces($text),
            "parts stand behind the template, as in clean!(template, part)"
        );
        const TEXT: $crate::Clean<'static> = $crate::Clean::literal($text);
        TEXT
    }};
    ($template:literal, $($part:expr),+ $(,)?) => {{
        const _: () = ::core::assert!(
            !$crate::captures($template),
            "parts stand behind the template, as in clean!(template, part)"
        );
        $crate::Clean::format(::core::format_args!(
            $template,
            $($crate::CleanPart::part(&$part)),+
        ))
    }};
}

/// Tells whether a text has braces.
#[doc(hidden)]
#[must_use]
pub const fn has_braces(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'{' || bytes[at] == b'}' {
            return true;
        }
        at += 1;
    }
    false
}

/// Tells whether a template names variables in its braces.
#[doc(hidden)]
#[must_use]
pub const fn captures(template: &str) -> bool {
    let bytes = template.as_bytes();
    let mut at = 0;
    while at + 1 < bytes.len() {
        if bytes[at] == b'{' {
            match bytes[at + 1] {
                b'{' => at += 1,
                b'}' | b':' | b'0'..=b'9' => {}
                _ => return true,
            }
        }
        at += 1;
    }
    false
}

/// Tells whether a text holds ASCII, Latin letters and signs alone, none of which acts.
pub(super) const fn is_harmless(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let (code, length) = match bytes[at] {
            byte @ 0..0x80 => (byte as u32, 1),
            byte @ 0..0xe0 => ((byte as u32 & 0x1f) << 6 | tail(bytes, at + 1), 2),
            byte @ 0..0xf0 => (
                (byte as u32 & 0x0f) << 12 | tail(bytes, at + 1) << 6 | tail(bytes, at + 2),
                3,
            ),
            _ => return false,
        };
        match code {
            // Tabs, line ends, ASCII; Latin letters but the soft hyphen; dashes, quotes and
            // dots; arrows, boxes, marks of a list, Braille.
            0x09 | 0x0a | 0x20..=0x7e | 0xa1..=0xac | 0xae..=0x2ff => {}
            0x2010..=0x2027 | 0x2030..=0x205e | 0x20a0..=0x20c0 | 0x2190..=0x2bff => {}
            _ => return false,
        }
        at += length;
    }
    true
}

/// Returns the bits of a byte behind the first of a character.
const fn tail(bytes: &[u8], at: usize) -> u32 {
    bytes[at] as u32 & 0x3f
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_plain() {
        for plain in ["", "a {b}\n\tc", "✓ ⠋ … · │ ▸ ○ “ä”"] {
            assert!(is_harmless(plain), "{plain:?}");
            assert_eq!(Clean::new(plain), plain);
        }
        for acts in [
            "\u{1b}[2J",
            "\r",
            "\u{7f}",
            "\u{9b}",
            "\u{ad}",
            "\u{301}",
            "\u{202e}",
            "\u{200b}",
            "\u{2028}",
            "\u{2066}",
            "\u{fe0f}",
            "\u{feff}",
            "\u{61c}",
            "\u{e000}",
            "\u{e0041}",
        ] {
            assert!(!is_harmless(acts), "{acts:?}");
        }
    }

    #[test]
    fn templates_name_no_variables() {
        for fine in ["{}", "{:>5}", "{0} {1:<4}", "{{x}}", "}", "{{"] {
            assert!(!captures(fine), "{fine}");
        }
        for named in ["{x}", "{} {_y:>4}", "{{{z}"] {
            assert!(captures(named), "{named}");
        }
    }

    #[test]
    fn parts_put_together_are_clean() {
        let name = Clean::line("a\u{1b}]0;x\u{7}\nb");
        assert_eq!(clean!("<{}> {}", name, 2_u8), "<a b> 2");
        assert_eq!(clean!("{:>4}|{:<4}|", clean!("é"), 7), "   é|7   |");
        // A mark does not climb on what stands before it.
        let marks = Clean::line("\u{301}\u{301}x");
        assert_eq!(clean!("no{}", marks), "nox");
        assert_eq!(
            Clean::join([name.borrowed(), marks], &clean!(", ")),
            "a b, x"
        );
    }
}
