//! Variables that are laid over an environment.

use std::collections::BTreeMap;
use std::ffi::OsString;

use acp_process::{Environment, EnvironmentError};

use crate::Secret;

/// What a variable is set to.
#[derive(Clone, Debug)]
enum Value {
    Plain(OsString),
    Secret(Secret),
}

/// Lays variables over an environment that somebody else made.
///
/// What it is laid over is not changed; a variable that is there is replaced.
#[derive(Clone, Debug, Default)]
pub struct EnvOverlay {
    forbidden: Vec<String>,
    set: BTreeMap<String, Value>,
}

impl EnvOverlay {
    /// Changes nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Refuses an environment in which this variable is there already, whatever its value.
    #[must_use]
    pub fn forbidding(mut self, name: impl Into<String>) -> Self {
        self.forbidden.push(name.into());
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<OsString>) -> Self {
        self.set.insert(name.into(), Value::Plain(value.into()));
        self
    }

    /// Sets a variable to a secret.
    #[must_use]
    pub fn with_secret(mut self, name: impl Into<String>, value: Secret) -> Self {
        self.set.insert(name.into(), Value::Secret(value));
        self
    }

    /// Returns a copy with the variables laid over it.
    ///
    /// # Errors
    ///
    /// [`EnvError::Conflicting`] with the first variable that must not be there, in the
    /// order in which they were forbidden; [`EnvError::Variable`] when one cannot be set.
    pub fn over(&self, environment: &Environment) -> Result<Environment, EnvError> {
        self.forbid_in(environment)?;
        let mut environment = environment.clone();
        self.set_in(&mut environment)?;
        Ok(environment)
    }

    /// Refuses an environment that holds what is forbidden; the first of it is named.
    pub(super) fn forbid_in(&self, environment: &Environment) -> Result<(), ConflictingEnv> {
        let mut names = self.forbidden.iter();
        match names.find(|name| environment.get(name).is_some()) {
            Some(key) => Err(ConflictingEnv { key: key.clone() }),
            None => Ok(()),
        }
    }

    /// Sets the variables, and returns the secrets among them.
    pub(super) fn set_in(&self, environment: &mut Environment) -> Result<Vec<Secret>, EnvError> {
        let mut secrets = Vec::new();
        for (name, value) in &self.set {
            match value {
                Value::Plain(value) => environment.set(name, value)?,
                Value::Secret(secret) => {
                    secrets.push(secret.clone());
                    environment.set(name, secret.expose())?;
                }
            }
        }
        Ok(secrets)
    }
}

/// Why an environment cannot be had. Values are never shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvError {
    /// A variable is there that must not be.
    #[error(transparent)]
    Conflicting(#[from] ConflictingEnv),
    /// A variable cannot be set.
    #[error("build the environment of an agent")]
    Variable(#[from] EnvironmentError),
}

/// A variable is there that must not be, whatever its value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("start the agent with {key} set: unset it, or leave it out")]
pub struct ConflictingEnv {
    /// Its name.
    pub key: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(environment: &Environment) -> String {
        let all: Vec<_> = environment
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        all.join(" ")
    }

    #[test]
    fn overlays_replace_and_leave_the_original_alone() {
        let before = Environment::exactly([("A", "1"), ("B", "2")]).unwrap();
        let overlay = EnvOverlay::new()
            .with("B", "3")
            .with_secret("C", Secret::new("s3cret"));
        let after = overlay.over(&before).unwrap();
        assert_eq!(shown(&after), "A=1 B=3 C=s3cret");
        assert_eq!(shown(&before), "A=1 B=2");
        assert!(!format!("{overlay:?}").contains("s3cret"));
        let told = |names: [&str; 2]| {
            let overlay = names
                .into_iter()
                .fold(EnvOverlay::new(), EnvOverlay::forbidding);
            overlay
                .with("B", "3")
                .over(&before)
                .map_err(|error| match error {
                    EnvError::Conflicting(ConflictingEnv { key }) => key,
                    EnvError::Variable(_) => unreachable!("all names are good"),
                })
        };
        assert_eq!(told(["B", "A"]).unwrap_err(), "B");
        assert_eq!(shown(&told(["X", "Y"]).unwrap()), "A=1 B=3");
        let empty = Environment::exactly([("KEY", "")]).unwrap();
        assert!(EnvOverlay::new().forbidding("KEY").over(&empty).is_err());
    }
}
