//! Where there is no `/proc`, nothing is known about what is left.

use anyhow::Result;

use super::Process;

/// The processes below this one.
pub(in super::super) struct Tree;

impl Tree {
    pub(in super::super) fn watch() -> Result<Self> {
        eprintln!("this system does not tell which processes are left: that is not checked");
        Ok(Self)
    }

    pub(in super::super) fn bury(&self, _known: &[u32]) {}

    pub(in super::super) fn clear(&self, _known: &[u32]) -> Vec<Process> {
        Vec::new()
    }
}
