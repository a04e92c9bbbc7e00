//! The threat model in `SECURITY.md` names a test for every promise, and each of them exists.

use std::fs;
use std::path::Path;

/// Returns the links to tests in a line: name and path.
fn links(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split('[').skip(1).filter_map(|part| {
        let (name, rest) = part.split_once("](")?;
        let (path, _) = rest.split_once(')')?;
        path.ends_with(".rs").then_some((name, path))
    })
}

/// Says what is wrong with the test that a link names.
fn fault(root: &Path, name: &str, path: &str) -> Option<String> {
    let Ok(text) = fs::read_to_string(root.join(path)) else {
        return Some(format!("there is no file {path}"));
    };
    let Some(at) = text.find(&format!("fn {name}(")) else {
        return Some(format!("{path} has no `{name}`"));
    };
    // Attributes stand between the end of what is before and the name.
    let before = &text[..at];
    let start = before.rfind(['}', ';']).map_or(0, |end| end + 1);
    let is_test = ["#[test]", "#[tokio::test"]
        .iter()
        .any(|mark| before[start..].contains(mark));
    (!is_test).then(|| format!("`{name}` of {path} is no test"))
}

#[test]
fn every_promise_is_shown_by_a_test_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = fs::read_to_string(root.join("SECURITY.md")).expect("it can be read");
    let mut faults = Vec::new();
    let mut count = 0;
    for line in text.lines() {
        let row = line.starts_with("| ") && !line.contains("| shown by |");
        let before = count;
        for (name, path) in links(line) {
            count += 1;
            faults.extend(fault(&root, name, path));
        }
        if row && count == before {
            faults.push(format!("no test: {line}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 30, "{count} tests");
}

#[test]
fn what_is_not_there_is_found() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = "tests/security.rs";
    assert_eq!(fault(root, "what_is_not_there_is_found", file), None);
    assert!(fault(root, "links", file).is_some(), "no test");
    assert!(fault(root, "nothing_of_the_kind", file).is_some());
    assert!(fault(root, "links", "tests/nowhere.rs").is_some());
}
