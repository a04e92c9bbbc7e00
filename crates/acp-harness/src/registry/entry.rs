//! What is known of one agent.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use struct_patch::Patch;

use crate::version::Version;

/// What is known of one agent, and everything that treats it differently from others.
///
/// Nothing in this crate asks for an agent by its name: what one needs that others do not
/// is said here. A prompt has no place in it: prompts go over the connection, never on a
/// command line, where everybody on the machine may read them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Patch)]
#[patch(name = "EntryPatch", attribute(derive(Clone, Default, Deserialize)))]
#[patch(attribute(serde(default, deny_unknown_fields)))]
#[non_exhaustive]
pub struct AgentEntry {
    /// What callers call it: a lower-case letter, then letters, digits and hyphens.
    #[patch(skip)]
    pub name: String,
    /// What people call it.
    pub title: String,
    /// Other names it is found by; those of the official registry are among them.
    pub aliases: Vec<String>,
    /// Where this was read.
    #[patch(skip)]
    pub origin: AgentOrigin,
    /// The program: a name that is looked up in the search path, or an absolute path.
    pub command: String,
    /// Its arguments; `{version}` stands for [`version`](Self::version).
    pub args: Vec<String>,
    /// More arguments, by operating system as [`std::env::consts::OS`] spells it.
    pub os_args: BTreeMap<String, Vec<String>>,
    /// Variables it is started with. None of them is secret.
    pub env: BTreeMap<String, String>,
    /// Programs that have to be there besides the command.
    pub requires: Vec<String>,
    /// The version that is fetched, or, where none is, the one that was looked at.
    pub version: Option<String>,
    /// The oldest version that is good enough.
    pub min_version: Option<Version>,
    /// Arguments with which the command tells its version; none where asking it would
    /// start something else, as with package runners. What the agent says of itself when
    /// it is connected is always judged.
    pub probe: Vec<String>,
    /// Where its makers describe it.
    pub docs: String,
    /// How it is installed.
    pub install: String,
    /// The model to use when nobody chose one.
    pub model: Option<String>,
    /// The variable that sets its model, for an agent without an option for it.
    pub model_env: Option<String>,
    /// Files and folders of the home folder where it keeps its own settings and keys: what
    /// it sees of the home folder in a sandbox.
    pub home_paths: Vec<String>,
    /// Variables that lead it out of a home of its own.
    pub home_env: Vec<String>,
    /// Variables that keep it from working.
    pub conflicts: Vec<String>,
    /// How one logs in.
    #[patch(nesting)]
    pub login: Login,
    /// What it does that others do not.
    #[patch(nesting)]
    pub quirks: Quirks,
    /// A table takes the agent away.
    #[serde(skip)]
    pub(super) disabled: bool,
}

/// How one logs in to an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Patch)]
#[patch(name = "LoginPatch", attribute(derive(Clone, Default, Deserialize)))]
#[patch(attribute(serde(default, deny_unknown_fields)))]
#[non_exhaustive]
pub struct Login {
    /// What a person does.
    pub hint: String,
    /// Variables that hold its key or token; the first is where a stored key goes.
    pub keys: Vec<String>,
    /// The authentication method that uses the key.
    pub key_method: Option<String>,
    /// Whether that method has to be called before the first session when there is a key.
    pub announces_key: bool,
    /// The command of a login by device code: a program of the search path and arguments.
    pub device: Vec<String>,
    /// The shape of its codes, with `X` for a capital letter or a digit; `XXXX-XXXX` where
    /// none is said.
    pub device_code: Option<String>,
    /// Authentication methods that open a browser.
    pub browser_methods: Vec<String>,
}

/// What an agent does that others do not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Patch)]
#[patch(name = "QuirksPatch", attribute(derive(Clone, Default, Deserialize)))]
#[patch(attribute(serde(default, deny_unknown_fields)))]
#[non_exhaustive]
pub struct Quirks {
    /// As it starts, it runs tools without asking for permission.
    pub unasked_tools: bool,
    /// The mode in which it asks.
    pub asking_mode: Option<String>,
    /// It makes a new file only if the read of the missing one is answered by an empty
    /// text instead of an error.
    pub missing_file_reads_empty: bool,
    /// It answers methods that it does not know with an empty success, so nothing can be
    /// learnt by trying.
    pub empty_success: bool,
    /// It leaves a daemon behind that outlives it by design.
    pub leaves_daemon: bool,
    /// Versions of which it is known that they can be steered, besides what they say.
    pub steering_versions: Vec<String>,
}

/// Where an entry was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentOrigin {
    /// In the table of this crate.
    #[default]
    BuiltIn,
    /// In the user's own file, wholly or in part.
    User,
    /// In a document of the official registry.
    Imported,
}

/// Stands for the version among the arguments.
const VERSION: &str = "{version}";

/// Longest name of an agent: it becomes a folder, and a column of a table.
const MAX_NAME: usize = 64;

impl AgentEntry {
    /// Makes an entry of an agent that is started by this program without arguments.
    #[must_use]
    pub fn new(name: impl Into<String>, command: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            title: name.clone(),
            name,
            aliases: Vec::new(),
            origin: AgentOrigin::User,
            command: command.into(),
            args: Vec::new(),
            os_args: BTreeMap::new(),
            env: BTreeMap::new(),
            requires: Vec::new(),
            version: None,
            min_version: None,
            probe: vec!["--version".to_owned()],
            docs: String::new(),
            install: String::new(),
            model: None,
            model_env: None,
            home_paths: Vec::new(),
            home_env: Vec::new(),
            conflicts: Vec::new(),
            login: Login::default(),
            quirks: Quirks::default(),
            disabled: false,
        }
    }

    /// Returns the arguments it is started with here: the version filled in, and those of
    /// this operating system added.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let version = self.version.as_deref().unwrap_or_default();
        let here = self.os_args.get(std::env::consts::OS);
        self.args
            .iter()
            .chain(here.into_iter().flatten())
            .map(|arg| arg.replace(VERSION, version))
            .collect()
    }

    /// Returns the names of all programs that have to be there, the command first.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        let others = self.requires.iter().map(String::as_str);
        std::iter::once(&*self.command).chain(others.filter(|other| *other != self.command))
    }

    /// Returns the command line it is started by, as a person would type it.
    ///
    /// For people: nothing is run by way of a shell.
    #[must_use]
    pub fn invocation(&self) -> String {
        let mut line = quoted(&self.command);
        for arg in self.arguments() {
            line.push(' ');
            line.push_str(&quoted(&arg));
        }
        line
    }

    /// Tells whether this is the agent's name or one of its other ones.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }

    /// Checks what can be checked without looking at the machine.
    ///
    /// # Errors
    ///
    /// [`InvalidEntry`] with what is wrong.
    pub fn check(&self) -> Result<(), InvalidEntry> {
        let refuse = |reason: String| {
            Err(InvalidEntry {
                name: acp_text::one_line(&self.name, MAX_NAME),
                reason,
            })
        };
        for name in std::iter::once(&self.name).chain(&self.aliases) {
            if !is_name(name) {
                return refuse(format!(
                    "{name:?} is no name: a lower-case letter is wanted, then lower-case \
                     letters, digits and hyphens, {MAX_NAME} at most"
                ));
            }
        }
        for program in self.programs() {
            if !is_program(program) {
                return refuse(format!(
                    "{program:?} is no program: a plain name or an absolute path is wanted"
                ));
            }
        }
        let args = self.args.iter().chain(self.os_args.values().flatten());
        for arg in args.chain(&self.probe) {
            if arg.contains('\0') {
                return refuse("an argument holds a NUL".to_owned());
            }
            if arg.contains(VERSION) && self.version.is_none() {
                return refuse(format!("{arg:?} needs a version, and there is none"));
            }
        }
        let variables = self.env.keys().chain(&self.home_env).chain(&self.conflicts);
        for variable in variables.chain(&self.login.keys).chain(&self.model_env) {
            if variable.is_empty() || variable.contains(['=', '\0']) {
                return refuse(format!("{variable:?} is no name of a variable"));
            }
        }
        match self.env.iter().find(|(_, value)| value.contains('\0')) {
            Some((variable, _)) => refuse(format!("the value of {variable} holds a NUL")),
            None => Ok(()),
        }
    }
}

/// An entry makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("take in the agent {name:?}: {reason}")]
pub struct InvalidEntry {
    /// Whose entry it is.
    pub name: String,
    /// What is wrong with it.
    pub reason: String,
}

/// No agent of this name is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("find the agent {name:?}: known are {}", Known(.known))]
pub struct UnknownAgent {
    /// What was asked for.
    pub name: String,
    /// The names there are.
    pub known: Vec<String>,
}

struct Known<'a>(&'a [String]);

impl fmt::Display for Known<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        f.write_str(&self.0.join(", "))
    }
}

/// Tells whether a text can be the name of an agent, and so of a folder.
pub(crate) fn is_name(name: &str) -> bool {
    name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .bytes()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-')
}

/// Tells whether a text names a program without a doubt about where it is.
fn is_program(program: &str) -> bool {
    let path = std::path::Path::new(program);
    let plain = !program.contains(['/', '\\']) && !matches!(program, "." | "..");
    !program.is_empty() && !program.contains('\0') && (plain || path.is_absolute())
}

/// Quotes a word as a shell wants it, where it needs to be.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./_-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invocations_are_what_one_would_type() {
        let mut agent = AgentEntry::new("ada", "/opt/My Agents/ada");
        agent.args = ["--acp", "-c", "it's", "", "pkg@{version}"]
            .map(String::from)
            .into();
        agent.version = Some("1.2.3".to_owned());
        assert_eq!(
            agent.invocation(),
            r"'/opt/My Agents/ada' --acp -c 'it'\''s' '' pkg@1.2.3"
        );
    }

    #[test]
    fn arguments_of_this_system_come_last() {
        let mut agent = AgentEntry::new("ada", "ada");
        agent.args = vec!["acp".to_owned()];
        let here = std::env::consts::OS.to_owned();
        agent.os_args.insert(here, vec!["--here".to_owned()]);
        agent
            .os_args
            .insert("plan9".to_owned(), vec!["--there".to_owned()]);
        assert_eq!(agent.arguments(), ["acp", "--here"]);
    }

    #[test]
    fn programs_are_the_command_and_what_it_needs() {
        let mut agent = AgentEntry::new("ada", "npx");
        agent.requires = vec!["ada".to_owned(), "npx".to_owned()];
        assert_eq!(agent.programs().collect::<Vec<_>>(), ["npx", "ada"]);
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut AgentEntry), expected: &str) {
        let mut agent = AgentEntry::new("ada", "ada");
        change(&mut agent);
        let got = agent.check().map_err(|error| error.to_string());
        assert_eq!(got.err().as_deref().unwrap_or("ok"), expected);
    }

    #[test]
    fn entries_are_checked() {
        check(|_| {}, "ok");
        check(|a| a.command = "/opt/ada".to_owned(), "ok");
        let no_name = |name: &str| {
            format!(
                "take in the agent {name:?}: {name:?} is no name: a lower-case letter is wanted, \
                 then lower-case letters, digits and hyphens, 64 at most"
            )
        };
        for name in ["", "Ada", "1a", "a/b", "..", "a_b", "ä"] {
            check(|a| a.name = name.to_owned(), &no_name(name));
        }
        for program in ["", "./ada", "bin/ada", "..", "a\0", "\\ada"] {
            check(
                |a| a.requires = vec![program.to_owned()],
                &format!(
                    "take in the agent \"ada\": {program:?} is no program: a plain name or an \
                     absolute path is wanted"
                ),
            );
        }
        check(
            |a| a.args = vec!["x@{version}".to_owned()],
            "take in the agent \"ada\": \"x@{version}\" needs a version, and there is none",
        );
        check(
            |a| a.args = vec!["\0".to_owned()],
            "take in the agent \"ada\": an argument holds a NUL",
        );
        check(
            |a| a.login.keys = vec!["A=B".to_owned()],
            "take in the agent \"ada\": \"A=B\" is no name of a variable",
        );
        check(
            |a| {
                a.env.insert("A".to_owned(), "\0".to_owned());
            },
            "take in the agent \"ada\": the value of A holds a NUL",
        );
    }
}
