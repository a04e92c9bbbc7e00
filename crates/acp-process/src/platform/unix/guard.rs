//! The helper that stands by a child, if any.

use super::group_guard::GroupGuard;
use super::observer::Observer;
#[cfg(target_os = "linux")]
use super::tree_guard::TreeGuard;

/// What ends the descendants of a child when this process cannot.
pub(super) enum Guard {
    /// There is none.
    None,
    /// A helper beside the child, which knows its group.
    Group(GroupGuard),
    /// A helper above the child, which is given all its orphans.
    #[cfg(target_os = "linux")]
    Tree(TreeGuard),
}

impl Guard {
    /// Returns what tells the end of a helper that has to live as long as the child.
    pub(super) fn observer(&self) -> Option<&Observer> {
        match self {
            Self::None | Self::Group(_) => None,
            #[cfg(target_os = "linux")]
            Self::Tree(guard) => Some(guard.observer()),
        }
    }

    /// Ends the helper; must come before the leader is reaped. Returns what is to be
    /// reaped.
    ///
    /// A [`Guard::Tree`] ends all that is left of the child first.
    pub(super) fn dismiss(self) -> Option<Observer> {
        match self {
            Self::None => None,
            Self::Group(guard) => Some(guard.dismiss()),
            #[cfg(target_os = "linux")]
            Self::Tree(guard) => Some(guard.dismiss()),
        }
    }
}
