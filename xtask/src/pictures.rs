//! `cargo xtask pictures`: the pictures of the documentation, drawn of real runs.

use anyhow::Result;

use crate::steps::Steps;
use crate::workspace::cargo;

/// Draws them all.
///
/// # Errors
///
/// Fails when a run does not go as its picture needs.
pub(crate) fn run() -> Result<()> {
    let mut steps = Steps::new();
    // What they draw is looked at and not compared, so no other run of the tests takes them.
    steps.run(
        "pictures",
        &mut cargo("test -p acp-cli --test process_pictures -- --ignored --test-threads=1"),
    )?;
    steps.finish();
    Ok(())
}
