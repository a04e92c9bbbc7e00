//! A change to a value that may be kept, cleared or replaced.

/// What a partial update says about one value.
///
/// The members of `session_info_update` and `compaction_update` tell `null` from
/// absent: a member left out keeps the value, `null` clears it. A value that
/// cannot be decoded keeps, it never clears.
///
/// ```
/// use acp_protocol::Patch;
///
/// let mut title = Some("Notes".to_owned());
/// Patch::Keep.apply_to(&mut title);
/// assert_eq!(title.as_deref(), Some("Notes"));
/// Patch::from("Plans").apply_to(&mut title);
/// assert_eq!(title.as_deref(), Some("Plans"));
/// Patch::Clear.apply_to(&mut title);
/// assert_eq!(title, None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Patch<T> {
    /// The value stays what it is.
    #[default]
    Keep,
    /// The value is gone.
    Clear,
    /// The value is this from now on.
    Set(T),
}

impl<T> Patch<T> {
    /// Carries the change out.
    pub fn apply_to(self, value: &mut Option<T>) {
        match self {
            Patch::Keep => {}
            Patch::Clear => *value = None,
            Patch::Set(new) => *value = Some(new),
        }
    }

    /// Tells whether nothing changes.
    pub fn is_keep(&self) -> bool {
        matches!(self, Patch::Keep)
    }

    /// Returns the new value, if there is one.
    pub fn as_set(&self) -> Option<&T> {
        match self {
            Patch::Set(value) => Some(value),
            Patch::Keep | Patch::Clear => None,
        }
    }

    /// Changes the new value, if there is one.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Patch<U> {
        match self {
            Patch::Keep => Patch::Keep,
            Patch::Clear => Patch::Clear,
            Patch::Set(value) => Patch::Set(change(value)),
        }
    }
}

impl<T> From<T> for Patch<T> {
    fn from(value: T) -> Self {
        Patch::Set(value)
    }
}

impl From<&str> for Patch<String> {
    fn from(text: &str) -> Self {
        Patch::Set(text.to_owned())
    }
}
