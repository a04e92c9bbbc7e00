//! Values that are never shown.

use std::fmt;

use indexmap::IndexMap;

/// Stands for a secret value.
pub(crate) struct Hidden;

impl fmt::Debug for Hidden {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("***")
    }
}

/// Hides a field in its `Debug` form.
pub(crate) trait Hide {
    fn hide(&self) -> impl fmt::Debug + '_;
}

impl Hide for String {
    fn hide(&self) -> impl fmt::Debug + '_ {
        Hidden
    }
}

/// Shows the names and hides the values.
impl<T> Hide for IndexMap<String, T> {
    fn hide(&self) -> impl fmt::Debug + '_ {
        HiddenValues(self)
    }
}

impl<T: Hide> Hide for Option<T> {
    fn hide(&self) -> impl fmt::Debug + '_ {
        self.as_ref().map(Hide::hide)
    }
}

struct HiddenValues<'a, T>(&'a IndexMap<String, T>);

impl<T> fmt::Debug for HiddenValues<'_, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map()
            .entries(self.0.keys().map(|name| (name, Hidden)))
            .finish()
    }
}
