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
impl Hide for IndexMap<String, String> {
    fn hide(&self) -> impl fmt::Debug + '_ {
        HiddenValues(self)
    }
}

struct HiddenValues<'a>(&'a IndexMap<String, String>);

impl fmt::Debug for HiddenValues<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map()
            .entries(self.0.keys().map(|name| (name, Hidden)))
            .finish()
    }
}
