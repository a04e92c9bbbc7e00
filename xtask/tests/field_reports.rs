//! What `docs/field-reports.md` says is tested, is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

#[test]
fn every_test_that_is_named_is_there() {
    let text = fs::read_to_string(Path::new(ROOT).join("docs/field-reports.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| B"));
    let mut missing = Vec::new();
    let mut reports = BTreeSet::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [numbers, _, shown] = cells[..] else {
            panic!("three cells in {row}");
        };
        for number in numbers.split(',') {
            assert!(reports.insert(number.trim()), "{number} has two rows");
        }
        let named = shown.split('`').skip(1).step_by(2);
        missing.extend(
            named
                .filter(|test| test.contains('/') || test.contains(' '))
                .filter(|test| !exists(test)),
        );
    }
    assert!(missing.is_empty(), "not there: {missing:#?}");
    assert!(reports.len() > 100, "only {} reports", reports.len());
}

/// Finds `side/scenario`, or `crate file::test`.
fn exists(test: &str) -> bool {
    let Some((package, place)) = test.split_once(' ') else {
        return Path::new(ROOT)
            .join("tests/scenarios")
            .join(format!("{test}.acpt"))
            .is_file();
    };
    let (file, name) = place
        .split_once("::")
        .unwrap_or_else(|| panic!("{test} names no test"));
    let folder: PathBuf = [ROOT, "crates", package, "tests"].iter().collect();
    let test = format!("fn {name}(");
    sources(&folder, file)
        .iter()
        .any(|source| source.contains(&test))
}

/// Reads what a test is made of: one file, or a folder of them.
fn sources(folder: &Path, test: &str) -> Vec<String> {
    let mut paths = vec![folder.join(format!("{test}.rs"))];
    if let Ok(entries) = fs::read_dir(folder.join(test)) {
        paths.extend(entries.flatten().map(|entry| entry.path()));
    }
    paths
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .collect()
}
