//! The complete environment of a child.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::{OsStr, OsString};
use std::fmt;

/// Holds every variable a child will see, and nothing else.
///
/// A child never gets the ambient environment by accident: what this map
/// holds is all it gets, and an empty map means an empty environment. Which
/// variables of this process go in is said by the constructor that is used.
///
/// Variables are kept in the order of their names, each name at most once.
/// `Debug` shows names only, because values are often secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// Makes an environment without any variable.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// Makes an environment of exactly the listed variables.
    ///
    /// # Errors
    ///
    /// [`EnvironmentError`] when a name is unusable or listed twice, or a
    /// value holds a NUL.
    pub fn exactly<I, N, V>(variables: I) -> Result<Self, EnvironmentError>
    where
        I: IntoIterator<Item = (N, V)>,
        N: Into<OsString>,
        V: Into<OsString>,
    {
        let mut environment = Self::empty();
        for (name, value) in variables {
            let (name, value) = checked(name.into(), value.into())?;
            match environment.variables.entry(name) {
                Entry::Vacant(place) => {
                    place.insert(value);
                }
                Entry::Occupied(place) => {
                    return Err(EnvironmentError::Duplicate {
                        name: place.key().clone(),
                    });
                }
            }
        }
        Ok(environment)
    }

    /// Takes over those of the named variables that this process has.
    ///
    /// Names that are not set here, or could not be set at all, are left out.
    #[must_use]
    pub fn inherited<I, N>(names: I) -> Self
    where
        I: IntoIterator<Item = N>,
        N: AsRef<OsStr>,
    {
        let mut environment = Self::empty();
        for name in names {
            let name = name.as_ref();
            if name_fault(name).is_none()
                && let Some(value) = std::env::var_os(name)
            {
                environment.variables.insert(name.to_owned(), value);
            }
        }
        environment
    }

    /// Takes over every variable this process has.
    #[must_use]
    pub fn inherited_all() -> Self {
        let variables = std::env::vars_os()
            .filter(|(name, _)| name_fault(name).is_none())
            .collect();
        Self { variables }
    }

    /// Sets a variable, in place of an earlier one of the same name.
    ///
    /// # Errors
    ///
    /// [`EnvironmentError`] when the name is unusable or the value holds a NUL.
    pub fn set(
        &mut self,
        name: impl Into<OsString>,
        value: impl Into<OsString>,
    ) -> Result<(), EnvironmentError> {
        let (name, value) = checked(name.into(), value.into())?;
        self.variables.insert(name, value);
        Ok(())
    }

    /// Takes a variable out and returns the value it had.
    pub fn remove(&mut self, name: impl AsRef<OsStr>) -> Option<OsString> {
        self.variables.remove(name.as_ref())
    }

    /// Returns the value of a variable.
    #[must_use]
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.variables.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// Walks over all variables in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// Returns how many variables there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.variables.len()
    }

    /// Tells whether there is no variable at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.variables.keys().map(|name| (name, Hidden)))
            .finish()
    }
}

/// Why a variable cannot be part of an environment.
///
/// Values are never shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// A name is empty.
    #[error("a variable has no name")]
    EmptyName,
    /// A name holds `=`.
    #[error("the name {name:?} holds `=`")]
    EqualsInName {
        /// The refused name.
        name: OsString,
    },
    /// A name holds a NUL.
    #[error("the name {name:?} holds a NUL")]
    NulInName {
        /// The refused name.
        name: OsString,
    },
    /// A value holds a NUL.
    #[error("the value of {name:?} holds a NUL")]
    NulInValue {
        /// The name whose value is refused.
        name: OsString,
    },
    /// A name is listed twice.
    #[error("the name {name:?} is listed twice")]
    Duplicate {
        /// The name in question.
        name: OsString,
    },
}

struct Hidden;

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

fn checked(name: OsString, value: OsString) -> Result<(OsString, OsString), EnvironmentError> {
    if let Some(fault) = name_fault(&name) {
        return Err(fault);
    }
    if value.as_encoded_bytes().contains(&0) {
        return Err(EnvironmentError::NulInValue { name });
    }
    Ok((name, value))
}

fn name_fault(name: &OsStr) -> Option<EnvironmentError> {
    let bytes = name.as_encoded_bytes();
    if bytes.is_empty() {
        Some(EnvironmentError::EmptyName)
    } else if bytes.contains(&b'=') {
        Some(EnvironmentError::EqualsInName {
            name: name.to_owned(),
        })
    } else if bytes.contains(&0) {
        Some(EnvironmentError::NulInName {
            name: name.to_owned(),
        })
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(variables: &[(&str, &str)], expected: Result<&str, &str>) {
        let got = Environment::exactly(variables.iter().copied());
        let shown = got
            .as_ref()
            .map(|environment| {
                let pairs: Vec<String> = environment
                    .iter()
                    .map(|(name, value)| {
                        format!("{}={}", name.to_string_lossy(), value.to_string_lossy())
                    })
                    .collect();
                pairs.join(";")
            })
            .map_err(ToString::to_string);
        assert_eq!(
            shown.as_deref().map_err(String::as_str),
            expected,
            "{variables:?}"
        );
    }

    #[test]
    fn exact_lists() {
        check(&[], Ok(""));
        check(&[("B", "2"), ("A", "1")], Ok("A=1;B=2"));
        check(&[("A", "")], Ok("A="));
        check(&[("A", "x=y")], Ok("A=x=y"));
        check(&[("f%%", "() {\n}")], Ok("f%%=() {\n}"));
        check(&[("", "1")], Err("a variable has no name"));
        check(&[("A=B", "1")], Err("the name \"A=B\" holds `=`"));
        check(&[("=A", "1")], Err("the name \"=A\" holds `=`"));
        check(&[("A\0", "1")], Err("the name \"A\\0\" holds a NUL"));
        check(&[("A", "s\0")], Err("the value of \"A\" holds a NUL"));
        check(
            &[("A", "1"), ("A", "1")],
            Err("the name \"A\" is listed twice"),
        );
    }

    #[test]
    fn a_later_value_replaces_an_earlier_one() {
        let mut environment = Environment::empty();
        environment.set("LANG", "C").unwrap();
        environment.set("LANG", "de").unwrap();
        assert_eq!(environment.len(), 1);
        assert_eq!(environment.get("LANG"), Some(OsStr::new("de")));
        assert_eq!(environment.remove("LANG"), Some(OsString::from("de")));
        assert!(environment.is_empty());
    }

    #[test]
    fn only_named_variables_are_inherited() {
        let environment = Environment::inherited(["PATH", "NO_SUCH_VARIABLE_HERE", "A=B", ""]);
        let names: Vec<_> = environment
            .iter()
            .map(|(name, _)| name.to_owned())
            .collect();
        assert_eq!(names, ["PATH"]);
        assert_eq!(environment.get("PATH"), std::env::var_os("PATH").as_deref());
    }

    #[test]
    fn all_variables_are_inherited_when_asked() {
        let environment = Environment::inherited_all();
        assert!(environment.len() > 1);
        for (name, value) in environment.iter() {
            assert_eq!(std::env::var_os(name).as_deref(), Some(value));
        }
    }

    #[test]
    fn values_stay_out_of_debug() {
        let environment = Environment::exactly([("API_KEY", "s3cret")]).unwrap();
        let shown = format!("{environment:?}");
        assert!(shown.contains("API_KEY"), "{shown}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }
}
