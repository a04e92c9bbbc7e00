//! What is known of the program under test: its words, its needs, its pace.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use acp_process::{Environment, EnvironmentError};
use serde::Deserialize;
use serde_json::Value;

use crate::language::Scenario;
use crate::language::reader::Reader;
use crate::rules::Check;

/// What a person says of a program so that it can be judged fairly.
///
/// ```toml
/// patience = "30s"                      # how long a step waits at least
/// allow = ["noise"]                     # checks it is known to break
/// login = "api-key"                     # a login that needs no person
/// pass = ["PATH", "HOME", "MY_KEY"]     # the only variables it gets
///
/// [env]                                 # and these besides
/// MY_MODE = "test"
///
/// [say]                                 # what makes it do what scenarios ask for
/// slow = "Count to a thousand, one number a line."
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct Profile {
    patience: Option<Duration>,
    limit: Option<Duration>,
    /// The checks that are switched off.
    pub(super) allow: Vec<Check>,
    pass: Option<Vec<String>>,
    env: BTreeMap<String, String>,
    /// What names of scenarios stand for: `say_slow`, `login`.
    pub(super) values: BTreeMap<String, Value>,
}

/// The file as it stands.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Written {
    patience: Option<String>,
    limit: Option<String>,
    allow: Vec<String>,
    login: Option<String>,
    pass: Option<Vec<String>>,
    env: BTreeMap<String, String>,
    say: BTreeMap<String, String>,
    set: BTreeMap<String, Value>,
}

/// A profile could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{}", _0.trim_end())]
pub struct ProfileError(String);

impl Profile {
    /// Reads a profile from a file.
    ///
    /// # Errors
    ///
    /// [`ProfileError`] says what cannot be read or understood.
    pub fn load(path: &Path) -> Result<Self, ProfileError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| ProfileError(format!("read {}: {error}", path.display())))?;
        Self::parse(&text).map_err(|error| ProfileError(format!("{}: {error}", path.display())))
    }

    /// Reads a profile from text.
    ///
    /// # Errors
    ///
    /// [`ProfileError`] says what cannot be understood.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        let written: Written =
            toml::from_str(text).map_err(|error| ProfileError(error.to_string()))?;
        let mut values = written.set;
        for (word, sentence) in written.say {
            values.insert(format!("say_{word}"), sentence.into());
        }
        if let Some(login) = written.login {
            values.insert("login".to_owned(), login.into());
        }
        let mut allow = Vec::new();
        for name in written.allow {
            allow.push(Check::named(&name).ok_or_else(|| {
                let known = Check::names();
                ProfileError(format!("there is no check `{name}`; there are {known}"))
            })?);
        }
        Ok(Self {
            patience: duration(written.patience.as_deref())?,
            limit: duration(written.limit.as_deref())?,
            allow,
            pass: written.pass,
            env: written.env,
            values,
        })
    }

    /// Returns the environment of the program under test.
    pub(super) fn environment(&self) -> Result<Environment, EnvironmentError> {
        let mut environment = match &self.pass {
            Some(names) => Environment::inherited(names),
            None => Environment::inherited_all(),
        };
        for (name, value) in &self.env {
            environment.set(name, value)?;
        }
        Ok(environment)
    }

    /// Returns the values that are set only for it, and may be secret.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &str> {
        let named = self.env.iter();
        named
            .filter(|(name, _)| acp_text::is_secret_name(name))
            .map(|(_, value)| &**value)
    }

    /// Returns how long a step may take, if it may take longer than others do.
    pub(super) fn patience_or(&self, usual: Duration) -> Duration {
        self.patience.map_or(usual, |patience| patience.max(usual))
    }

    /// Gives a scenario as much time as the program needs.
    pub(super) fn patient(&self, scenario: &mut Scenario) {
        let header = &mut scenario.header;
        if let Some(patience) = self.patience.filter(|time| *time > header.patience) {
            // A dozen steps may take as long as one may.
            header.limit = header.limit.max(patience.saturating_mul(12));
            header.patience = patience;
        }
        if let Some(limit) = self.limit {
            header.limit = limit;
        }
    }
}

/// Reads a time as scenarios write it: `30s`, `200ms`, `2m`.
fn duration(text: Option<&str>) -> Result<Option<Duration>, ProfileError> {
    let Some(text) = text else { return Ok(None) };
    let mut reader = Reader::new("profile".into(), text);
    let read = reader.duration().ok().filter(|_| reader.at_end());
    match read {
        Some(time) => Ok(Some(time)),
        None => Err(ProfileError(format!(
            "`{text}` is no time such as \"30s\", \"200ms\" or \"2m\""
        ))),
    }
}

impl fmt::Debug for Profile {
    /// Shows no values: those of variables are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Profile")
            .field("patience", &self.patience)
            .field("limit", &self.limit)
            .field("allow", &self.allow)
            .field("pass", &self.pass)
            .field("env", &self.env.keys())
            .field("values", &self.values.keys())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = r#"
patience = "30s"
allow = ["noise", "shape"]
login = "api-key"
pass = ["PATH"]
[env]
MY_TOKEN = "s3cret-value"
MY_MODE = "test"
[say]
slow = "Count."
[set]
depth = 3
"#;

    #[test]
    fn everything_is_read() {
        let profile = Profile::parse(FULL).unwrap();
        let values: Vec<String> = profile
            .values
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            values,
            ["depth=3", "login=\"api-key\"", "say_slow=\"Count.\""]
        );
        assert_eq!(profile.allow, [Check::Noise, Check::Shape]);
        let environment = profile.environment().unwrap();
        let names: Vec<_> = environment.iter().map(|(name, _)| name).collect();
        assert!(names.len() <= 3 && environment.get("MY_MODE").unwrap() == "test");
        assert_eq!(profile.secrets().collect::<Vec<_>>(), ["s3cret-value"]);
        assert!(!format!("{profile:?}").contains("s3cret"));
    }

    #[test]
    fn patience_is_only_lengthened() {
        let scenario = |patience| {
            let text = format!("patience: {patience}\n-> initialize\n");
            Scenario::parse("a.acpt", &text).unwrap()
        };
        let profile = Profile::parse(FULL).unwrap();
        let mut short = scenario("5s");
        profile.patient(&mut short);
        assert_eq!(short.header.patience, Duration::from_secs(30));
        assert_eq!(short.header.limit, Duration::from_secs(360));
        let mut long = scenario("45s");
        profile.patient(&mut long);
        assert_eq!(long.header.patience, Duration::from_secs(45));
    }

    #[test]
    fn what_is_wrong_is_said() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            let error = Profile::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        check("patience = \"soon\"", "`soon` is no time");
        check("patience = \"5s or so\"", "`5s or so` is no time");
        check("allow = [\"nois\"]", "there is no check `nois`; there are");
        check("slow = \"Count.\"", "unknown field `slow`");
        check("[say]\nslow = 3", "expected a string");
        let nowhere = Profile::load(Path::new("/nowhere/at-all.toml")).unwrap_err();
        assert!(nowhere.to_string().starts_with("read /nowhere/at-all.toml"));
    }
}
