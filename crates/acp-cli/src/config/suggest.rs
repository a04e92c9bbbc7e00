//! What somebody meant who mistyped a name.

/// How alike a name has to be to what was typed, of at most 1: a letter or two that are
/// missing, wrong, or have changed places.
const ALIKE: f64 = 0.7;

/// Finds the known name that is most like what was typed, if any is.
pub(crate) fn suggestion<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    known
        .into_iter()
        .filter(|name| strsim::normalized_damerau_levenshtein(typed, name) >= ALIKE)
        .min_by_key(|name| {
            // Letters change places more often than they get lost.
            let distance = strsim::damerau_levenshtein(typed, name);
            (distance, name.len().abs_diff(typed.len()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_alike_name_is_meant() {
        let known = ["claude", "cline", "codex", "gemini"];
        assert_eq!(suggestion("claud", known), Some("claude"));
        assert_eq!(suggestion("codx", known), Some("codex"));
        assert_eq!(suggestion("modle", ["mode", "model"]), Some("model"));
        assert_eq!(suggestion("zebra", known), None);
        assert_eq!(suggestion("ada", ["claude-agent-acp"]), None);
        assert_eq!(suggestion("x", []), None);
    }
}
