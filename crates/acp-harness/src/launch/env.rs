//! Environments of agents.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;

use acp_transport_stdio::process::{Environment, EnvironmentError};

use super::AgentHome;
use crate::Secret;
use crate::registry::{AgentEntry, Registry};
use crate::text::Redactor;

/// Says which variables an agent gets.
///
/// In this order: what the base allows of the ambient environment; without the keys of
/// any agent, and, in a home of its own, without what would lead out of it; then the keys
/// that are passed on; then what is set. In the end nothing may be there that keeps the
/// agent from working: it is told, and not silently taken away.
#[derive(Clone, Debug)]
pub struct EnvPolicy {
    base: Base,
    clear: BTreeSet<String>,
    pass: BTreeSet<String>,
    set: BTreeMap<String, Value>,
    conflicts: Vec<String>,
    home: Option<AgentHome>,
    leads_out: Vec<String>,
}

/// What of the ambient environment is taken over.
#[derive(Clone, Debug)]
enum Base {
    /// Names, and beginnings of names that end in `*`.
    Allowed(Vec<String>),
    All,
}

#[derive(Clone, Debug)]
enum Value {
    Plain(OsString),
    Secret(Secret),
}

/// What every agent gets of the ambient environment if not said otherwise: where programs
/// and the home are, the language, the terminal, and where files of each kind belong.
const BASE: &[&str] = &["PATH", "HOME", "LANG", "LC_*", "TERM", "TMPDIR", "XDG_*"];

/// How one gets out of a network. Addresses of proxies may hold a password.
const NETWORK: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

impl EnvPolicy {
    /// Allows the usual few: `PATH`, `HOME`, `LANG`, `LC_*`, `TERM`, `TMPDIR`, `XDG_*`.
    #[must_use]
    pub fn new() -> Self {
        Self::on(Base::Allowed(
            BASE.iter().map(ToString::to_string).collect(),
        ))
    }

    /// Takes over everything, as if the agent was started by hand.
    #[must_use]
    pub fn inheriting_all() -> Self {
        Self::on(Base::All)
    }

    /// Allows the usual few, and what an entry says: its variables, and what keeps it from
    /// working. Keys of all agents of the registry are cleared, this one's too: say
    /// [`passing_keys_of`](Self::passing_keys_of) or [`with_key`](Self::with_key).
    #[must_use]
    pub fn for_agent(registry: &Registry, entry: &AgentEntry) -> Self {
        Self::new().speaking_of(registry, entry)
    }

    /// Adds what an entry says to this policy, as [`for_agent`](Self::for_agent) does.
    #[must_use]
    pub fn speaking_of(mut self, registry: &Registry, entry: &AgentEntry) -> Self {
        let keys = registry.key_variables();
        self.clear.extend(keys.into_iter().map(str::to_owned));
        self.clear.extend(entry.login.keys.iter().cloned());
        self.conflicts.extend(entry.conflicts.iter().cloned());
        self.leads_out.extend(entry.home_env.iter().cloned());
        for (name, value) in &entry.env {
            self = self.with(name, value);
        }
        self
    }

    /// Allows a variable too; one whose name ends in `*` allows all that begin so.
    #[must_use]
    pub fn allowing(mut self, name: impl Into<String>) -> Self {
        if let Base::Allowed(names) = &mut self.base {
            names.push(name.into());
        }
        self
    }

    /// Allows what says how to get out of this network: proxies and certificates.
    #[must_use]
    pub fn allowing_network(mut self) -> Self {
        for name in NETWORK {
            self = self.allowing(*name);
        }
        self
    }

    /// Passes on a key of the ambient environment, if it is there.
    #[must_use]
    pub fn passing_key(mut self, name: impl Into<String>) -> Self {
        self.pass.insert(name.into());
        self
    }

    /// Passes on those keys of the ambient environment that are this agent's.
    #[must_use]
    pub fn passing_keys_of(mut self, entry: &AgentEntry) -> Self {
        self.pass.extend(entry.login.keys.iter().cloned());
        self
    }

    /// Sets a variable to a stored key. An empty key sets nothing.
    #[must_use]
    pub fn with_key(mut self, name: impl Into<String>, key: Secret) -> Self {
        if !key.is_empty() {
            self.set.insert(name.into(), Value::Secret(key));
        }
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<OsString>) -> Self {
        self.set.insert(name.into(), Value::Plain(value.into()));
        self
    }

    /// Refuses an environment that holds this variable in the end.
    #[must_use]
    pub fn forbidding(mut self, name: impl Into<String>) -> Self {
        self.conflicts.push(name.into());
        self
    }

    /// Puts the agent in a home of its own.
    #[must_use]
    pub fn in_home(mut self, home: AgentHome) -> Self {
        self.home = Some(home);
        self
    }

    /// Builds the environment out of what is there.
    ///
    /// # Errors
    ///
    /// [`EnvError`] when a variable is there that keeps the agent from working, or one is
    /// set that cannot be.
    pub fn build(&self, ambient: &Environment) -> Result<BuiltEnv, EnvError> {
        let mut environment = Environment::empty();
        let mut secrets = Vec::new();
        for (name, value) in ambient.iter() {
            let is_key = contains(&self.clear, name);
            let leads_out = self.home.is_some() && self.leads_out(name);
            if self.allows(name) && !is_key && !leads_out {
                environment.set(name, value)?;
            }
        }
        for (name, path) in self.home.iter().flat_map(AgentHome::variables) {
            environment.set(name, path)?;
        }
        for name in &self.pass {
            if let Some(value) = ambient.get(name) {
                secrets.push(Secret::from(&*value.to_string_lossy()));
                environment.set(name, value)?;
            }
        }
        for (name, value) in &self.set {
            match value {
                Value::Plain(value) => environment.set(name, value)?,
                Value::Secret(key) => {
                    secrets.push(key.clone());
                    environment.set(name, key.expose())?;
                }
            }
        }
        forbid(&self.conflicts, &environment)?;
        Ok(BuiltEnv {
            environment,
            secrets,
        })
    }

    fn on(base: Base) -> Self {
        Self {
            base,
            clear: BTreeSet::new(),
            pass: BTreeSet::new(),
            set: BTreeMap::new(),
            conflicts: Vec::new(),
            home: None,
            leads_out: Vec::new(),
        }
    }

    fn allows(&self, name: &OsStr) -> bool {
        let Base::Allowed(names) = &self.base else {
            return true;
        };
        let bytes = name.as_encoded_bytes();
        names.iter().any(|allowed| match allowed.strip_suffix('*') {
            Some(beginning) => bytes.starts_with(beginning.as_bytes()),
            None => bytes == allowed.as_bytes(),
        })
    }

    /// Tells whether a variable leads an agent out of a home of its own: sockets of the
    /// real user's session, and what the agent itself looks at.
    fn leads_out(&self, name: &OsStr) -> bool {
        name == "XDG_RUNTIME_DIR" || self.leads_out.iter().any(|other| name == OsStr::new(other))
    }
}

impl Default for EnvPolicy {
    fn default() -> Self {
        Self::new()
    }
}

/// An environment that was built, and what of it is secret.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BuiltEnv {
    /// The environment.
    pub environment: Environment,
    /// The keys in it.
    pub secrets: Vec<Secret>,
}

impl BuiltEnv {
    /// Returns a redactor that knows these secrets.
    #[must_use]
    pub fn redactor(&self) -> Redactor {
        let secrets = self.secrets.iter().cloned();
        secrets.fold(Redactor::new(), Redactor::with_secret)
    }
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
        forbid(&self.forbidden, environment)?;
        let mut environment = environment.clone();
        for (name, value) in &self.set {
            match value {
                Value::Plain(value) => environment.set(name, value)?,
                Value::Secret(secret) => environment.set(name, secret.expose())?,
            }
        }
        Ok(environment)
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictingEnv {
    /// Its name.
    pub key: String,
}

impl fmt::Display for ConflictingEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        write!(
            f,
            "start the agent with {key} set: unset it, or leave it out"
        )
    }
}

impl std::error::Error for ConflictingEnv {}

fn forbid(names: &[String], environment: &Environment) -> Result<(), ConflictingEnv> {
    match names.iter().find(|name| environment.get(name).is_some()) {
        Some(key) => Err(ConflictingEnv { key: key.clone() }),
        None => Ok(()),
    }
}

fn contains(names: &BTreeSet<String>, name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| names.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(all: &[(&str, &str)]) -> Environment {
        Environment::exactly(all.iter().copied()).unwrap()
    }

    fn shown(environment: &Environment) -> String {
        let all: Vec<_> = environment
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        all.join(" ")
    }

    fn ambient() -> Environment {
        environment(&[
            ("CLAUDECODE", "1"),
            ("GEMINI_API_KEY", "host-gemini"),
            ("HOME", "/home/ada"),
            ("HTTPS_PROXY", "http://p"),
            ("LANG", "de"),
            ("LC_ALL", "C"),
            ("LCX", "no"),
            ("PATH", "/bin"),
            ("SECRET", "no"),
            ("XAI_API_KEY", "host-xai"),
            ("XDG_RUNTIME_DIR", "/run/user/7"),
        ])
    }

    #[track_caller]
    fn check(policy: &EnvPolicy, expected: &str) {
        let got = match policy.build(&ambient()) {
            Ok(built) => shown(&built.environment),
            Err(error) => error.to_string(),
        };
        assert_eq!(got, expected);
    }

    fn agent(name: &str) -> &'static AgentEntry {
        Registry::builtin().get(name).unwrap()
    }

    #[test]
    fn only_what_is_allowed_is_taken_over() {
        let usual = "HOME=/home/ada LANG=de LC_ALL=C PATH=/bin XDG_RUNTIME_DIR=/run/user/7";
        check(&EnvPolicy::new(), usual);
        check(
            &EnvPolicy::new().allowing("SECRET").allowing("XA*"),
            "HOME=/home/ada LANG=de LC_ALL=C PATH=/bin SECRET=no XAI_API_KEY=host-xai \
             XDG_RUNTIME_DIR=/run/user/7",
        );
        let network = EnvPolicy::new().allowing_network();
        let built = network.build(&ambient()).unwrap().environment;
        assert_eq!(built.get("HTTPS_PROXY"), Some(OsStr::new("http://p")));
        assert_eq!(
            shown(
                &EnvPolicy::inheriting_all()
                    .build(&ambient())
                    .unwrap()
                    .environment
            ),
            shown(&ambient())
        );
    }

    #[test]
    fn keys_of_all_agents_are_cleared_and_this_ones_passed_on() {
        let registry = Registry::builtin();
        let gemini = agent("gemini");
        let all = EnvPolicy::inheriting_all().speaking_of(registry, gemini);
        let usual = "CLAUDECODE=1 HOME=/home/ada HTTPS_PROXY=http://p LANG=de LCX=no LC_ALL=C \
                     PATH=/bin SECRET=no XDG_RUNTIME_DIR=/run/user/7";
        check(&all, usual);
        let passing = all.clone().passing_keys_of(gemini);
        let built = passing.build(&ambient()).unwrap();
        let key = |name| built.environment.get(name).map(OsStr::to_str);
        assert_eq!(key("GEMINI_API_KEY"), Some(Some("host-gemini")));
        assert_eq!(key("XAI_API_KEY"), None);
        assert_eq!(built.redactor().redact("host-gemini"), "[redacted]");
        // A key that was allowed by name is a key all the same.
        let allowed = EnvPolicy::for_agent(registry, gemini).allowing("XAI_*");
        let built = allowed.build(&ambient()).unwrap();
        assert_eq!(built.environment.get("XAI_API_KEY"), None);
        // One that is not there is not made up.
        let other = EnvPolicy::new().passing_key("NOT_THERE");
        assert_eq!(other.build(&ambient()).unwrap().secrets.len(), 0);
    }

    #[test]
    fn stored_keys_go_before_those_of_the_host() {
        let gemini = agent("gemini");
        let built = EnvPolicy::for_agent(Registry::builtin(), gemini)
            .passing_keys_of(gemini)
            .with_key("GEMINI_API_KEY", Secret::new("of-the-user"))
            .with_key("GOOGLE_API_KEY", Secret::new(""))
            .build(&ambient())
            .unwrap();
        let key = built.environment.get("GEMINI_API_KEY");
        assert_eq!(key, Some(OsStr::new("of-the-user")));
        assert_eq!(built.environment.get("GOOGLE_API_KEY"), None);
        assert_eq!(built.redactor().redact("a of-the-user b"), "a [redacted] b");
    }

    #[test]
    fn what_keeps_an_agent_from_working_is_told() {
        let told = "start the agent with CLAUDECODE set: unset it, or leave it out";
        let claude = agent("claude");
        let registry = Registry::builtin();
        let all = EnvPolicy::inheriting_all().speaking_of(registry, claude);
        check(&all, told);
        // What does not get in keeps nobody from working.
        assert!(
            EnvPolicy::for_agent(registry, claude)
                .build(&ambient())
                .is_ok()
        );
        check(
            &EnvPolicy::for_agent(registry, claude).with("CLAUDECODE", ""),
            told,
        );
        check(
            &EnvPolicy::new().forbidding("PATH"),
            "start the agent with PATH set: unset it, or leave it out",
        );
    }

    #[test]
    fn variables_of_the_entry_are_set() {
        let built = EnvPolicy::for_agent(Registry::builtin(), agent("auggie"))
            .build(&ambient())
            .unwrap();
        let value = built.environment.get("AUGMENT_DISABLE_AUTO_UPDATE");
        assert_eq!(value, Some(OsStr::new("1")));
    }

    #[test]
    #[cfg(unix)]
    fn a_home_of_its_own_is_not_led_out_of() {
        let dir = tempfile::tempdir().unwrap();
        let isolation = crate::launch::Isolation::new(dir.path().join("homes"));
        let home = isolation.home("ada", "codex").unwrap();
        let mut ambient = ambient();
        ambient.set("CODEX_HOME", "/home/ada/.codex").unwrap();
        ambient.set("XDG_DATA_DIRS", "/usr/share").unwrap();
        let policy = EnvPolicy::inheriting_all()
            .speaking_of(Registry::builtin(), agent("codex"))
            .in_home(home.clone());
        let built = policy.build(&ambient).unwrap().environment;
        let get = |name| built.get(name).map(|value| value.to_str().unwrap());
        assert_eq!(get("HOME"), home.path().to_str());
        assert_eq!(get("XDG_CONFIG_HOME"), home.path().join(".config").to_str());
        assert_eq!(get("CODEX_HOME"), None);
        assert_eq!(get("XDG_RUNTIME_DIR"), None);
        assert_eq!(get("XDG_DATA_DIRS"), Some("/usr/share"));
        // Whoever sets it means it.
        let meant = policy
            .with("CODEX_HOME", "/srv/codex")
            .build(&ambient)
            .unwrap();
        assert_eq!(
            meant.environment.get("CODEX_HOME"),
            Some(OsStr::new("/srv/codex"))
        );
    }

    #[test]
    fn unusable_variables_are_told_without_their_values() {
        for policy in [
            EnvPolicy::new().with("A=B", "s3cret"),
            EnvPolicy::new().with_key("A", Secret::new("s3cret\0")),
        ] {
            let error = policy.build(&ambient()).unwrap_err();
            assert!(matches!(error, EnvError::Variable(_)));
            let shown = format!("{error} {error:?} {policy:?}");
            assert!(!shown.contains("s3cret\\0"), "{shown}");
        }
    }

    #[test]
    fn overlays_replace_and_leave_the_original_alone() {
        let before = environment(&[("A", "1"), ("B", "2")]);
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
        let empty = environment(&[("KEY", "")]);
        assert!(EnvOverlay::new().forbidding("KEY").over(&empty).is_err());
    }
}
