//! Findings of the fuzzer are tested without it too.

use std::{fs, panic::catch_unwind, path::PathBuf};

/// Runs a check on every file of a target's corpus.
///
/// # Panics
///
/// When the check does.
pub(crate) fn check_each(target: &str, check: fn(&[u8])) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let files = fs::read_dir(&folder).expect("the corpus is there");
    let mut count = 0;
    for file in files {
        let path = file.expect("the folder can be read").path();
        let input = fs::read(&path).expect("the file can be read");
        assert!(
            catch_unwind(|| check(&input)).is_ok(),
            "{} fails",
            path.display()
        );
        count += 1;
    }
    assert!(count > 5, "{count} files in {}", folder.display());
}
