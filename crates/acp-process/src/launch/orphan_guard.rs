//! What becomes of a child when this process dies.

/// Says what becomes of a child's descendants when it ends, and of all of them
/// when this process dies without ending it, by `SIGKILL` for example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OrphanGuard {
    /// Nothing is done; the child sees the end of its stdin.
    None,
    /// The kernel kills the leader of the child's group (Linux). Descendants
    /// that do not care about the end of their input live on. On macOS this
    /// is the same as [`OrphanGuard::None`].
    ParentDeathSignal,
    /// As before, and a small helper (`/bin/sh`, one for each child) waits
    /// for the end of this process and kills the child's whole group.
    /// A descendant that left the group (`setsid`) lives on.
    ///
    /// For children that are to leave something behind, such as a login that
    /// opens a browser.
    Group,
    /// As before, and what left the group is killed too (Linux). The helper
    /// is an ancestor of the child and the one that its orphans are given to
    /// (`PR_SET_CHILD_SUBREAPER`), so neither `setsid` nor a double fork gets
    /// out of its reach, at the child's end as at the end of this process.
    ///
    /// Where the system has no such means (macOS; Linux without a legible
    /// `/proc` or before 5.4) this is the same as [`OrphanGuard::Group`].
    #[default]
    Descendants,
}
