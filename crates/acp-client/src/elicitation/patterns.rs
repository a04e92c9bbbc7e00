//! The patterns of a form, each read once and not before it is needed.

use std::collections::HashMap;

use parking_lot::Mutex;
use regex::{Regex, RegexBuilder};

use crate::limits::{MAX_FORM_PATTERNS, MAX_MATCHED_TEXT, MAX_PATTERN, MAX_PATTERN_SIZE};

/// The patterns that were needed so far.
///
/// They come from the agent: matching takes time linear in the pattern and in the text,
/// and both are bounded.
#[derive(Debug, Default)]
pub(super) struct Patterns(Mutex<HashMap<Box<str>, Option<Regex>>>);

impl Patterns {
    /// Tells whether a text matches a pattern; `None` where this side cannot tell: the
    /// pattern is none, or too large, or the text is too long.
    pub(super) fn matches(&self, pattern: &str, text: &str) -> Option<bool> {
        if pattern.len() > MAX_PATTERN || text.len() > MAX_MATCHED_TEXT {
            return None;
        }
        let mut known = self.0.lock();
        if !known.contains_key(pattern) {
            if known.len() >= MAX_FORM_PATTERNS {
                return None;
            }
            known.insert(pattern.into(), read(pattern));
        }
        let pattern = known.get(pattern)?.as_ref()?;
        Some(pattern.is_match(text))
    }
}

fn read(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern)
        .size_limit(MAX_PATTERN_SIZE)
        .dfa_size_limit(MAX_PATTERN_SIZE)
        .build()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_read_once() {
        let patterns = Patterns::default();
        for _ in 0..3 {
            assert_eq!(patterns.matches("^v[0-9]+$", "v1"), Some(true));
            assert_eq!(patterns.matches("^v[0-9]+$", "1"), Some(false));
            assert_eq!(patterns.matches("(", ""), None);
        }
        assert_eq!(patterns.0.lock().len(), 2);
    }

    #[test]
    fn what_is_too_large_is_left_to_the_agent() {
        let patterns = Patterns::default();
        let long = "a".repeat(MAX_PATTERN);
        assert_eq!(patterns.matches(&long, "a"), Some(false));
        assert_eq!(patterns.matches(&format!("{long}a"), "a"), None);
        assert_eq!(patterns.matches("(?:(?:a{99}){99}){99}", "a"), None);
        let text = "a".repeat(MAX_MATCHED_TEXT);
        assert_eq!(patterns.matches("b", &text), Some(false));
        assert_eq!(patterns.matches("b", &format!("{text}a")), None);
        for n in 0..2 * MAX_FORM_PATTERNS {
            patterns.matches(&n.to_string(), "a");
        }
        assert_eq!(patterns.0.lock().len(), MAX_FORM_PATTERNS);
        assert_eq!(
            patterns.matches("b", "b"),
            Some(true),
            "a known one still works"
        );
    }
}
