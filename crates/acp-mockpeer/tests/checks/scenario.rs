//! Any text as a scenario: it is understood, or the error points into it.

use std::collections::BTreeMap;

use acp_mockpeer::Scenario;

/// Reads a text as a scenario, and asks it what it says.
///
/// # Panics
///
/// When an error points beside the text.
pub(crate) fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    match Scenario::parse("any.acpt", text) {
        Ok(scenario) => {
            assert_eq!(&*scenario.source, text);
            let lines = text.lines().count();
            for mutant in scenario.mutants() {
                assert!((1..=lines).contains(&mutant.line), "line {}", mutant.line);
            }
            // They may want names that nobody gives here.
            let _ = scenario.tasks(&BTreeMap::new());
        }
        Err(error) => {
            let lines = text.split('\n').count();
            assert!((1..=lines).contains(&error.line), "{error}");
            let line = text.split('\n').nth(error.line - 1).unwrap_or_default();
            assert!(
                (1..=line.chars().count() + 1).contains(&error.column),
                "{error}"
            );
            assert!(!error.message.is_empty());
            assert!(
                error.to_string().len() < 4096,
                "{} bytes",
                error.to_string().len()
            );
        }
    }
}
