//! Any text, in any pieces: what was cleaned acts on nothing, and how it came changes nothing.

use acp_text::{CharClass, Cleaner, Layout, one_line, visible};

/// The layouts a text can be cleaned for.
const LAYOUTS: [Layout; 3] = [Layout::Lines, Layout::Line, Layout::Visible];

/// Cleans a text for each layout, whole and in pieces of as many bytes as the first byte says.
///
/// # Panics
///
/// When a character that acts is left, or the pieces read otherwise than the whole.
pub(crate) fn check(input: &[u8]) {
    let (size, text) = input.split_first().unwrap_or((&1, b""));
    let text = String::from_utf8_lossy(text);
    is_fit(&text);
    let size = 1 + usize::from(*size % 16);
    let chars: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = chars
        .chunks(size)
        .map(|piece| piece.iter().collect())
        .collect();
    for layout in LAYOUTS {
        let mut cleaner = Cleaner::new(layout);
        let joined: String = pieces
            .iter()
            .map(|piece| cleaner.clean(piece).to_string())
            .collect();
        assert_eq!(joined, laid_out(&text, layout), "{text:?} as {layout:?}");
    }
    assert!(laid_out(&text, Layout::Lines).len() <= text.len());
    assert!(visible(&text).len() <= 10 * text.len());
    let line = one_line(&text, size);
    assert!(
        line.chars().count() <= size && !line.contains('\n'),
        "{line:?}"
    );
}

/// Cleans a whole text.
fn laid_out(text: &str, layout: Layout) -> String {
    Cleaner::new(layout).clean(text).to_string()
}

/// Checks that nothing is left of a text that acts instead of being read.
#[track_caller]
fn is_fit(text: &str) {
    for layout in LAYOUTS {
        let cleaned = laid_out(text, layout);
        assert_eq!(laid_out(&cleaned, layout), cleaned, "{text:?} again");
        let fit = |c: char| match CharClass::of(c) {
            CharClass::Text | CharClass::Mark => true,
            CharClass::Blank => layout == Layout::Lines || matches!(c, ' ' | '\t'),
            CharClass::LineEnd => c == '\n' && layout == Layout::Lines,
            CharClass::Joiner => layout != Layout::Visible,
            _ => false,
        };
        assert!(
            cleaned.chars().all(fit),
            "{text:?} as {layout:?}: {cleaned:?}"
        );
    }
}
