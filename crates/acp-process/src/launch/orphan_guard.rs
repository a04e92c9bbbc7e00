//! What becomes of a child when this process dies.

/// Says what becomes of a child when this process dies without ending it,
/// by `SIGKILL` for example.
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
    #[default]
    Watchdog,
}
