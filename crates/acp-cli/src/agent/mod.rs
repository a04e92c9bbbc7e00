//! Which agent is asked, how it is started, and its keys.

mod args;
mod id;
pub(crate) mod inquiry;
pub(crate) mod keys;

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use acp_client::{ClientOptions, ClientTimeouts, Environment, Launch};
use acp_harness::Secret;
use acp_harness::launch::{EnvError, EnvPolicy, describe, preflight};
use acp_harness::registry::{AgentEntry, NotInstalled, Registry, UnknownAgent};
use acp_harness::version::Probe;
use acp_protocol::v1::Implementation;
use acp_text::Redactor;

use self::keys::{KeyError, KeyFound, Keys};
use crate::config::{self, Configuration, Word};
use crate::exit::Exit;
use crate::outcome::Outcome;
pub(crate) use args::{AgentArgs, word};
pub(crate) use id::{ask, asked, id_of, let_remember};

/// The name of the agent that needs no model, and is there on every machine.
pub(crate) const DEMO: &str = "demo";

/// An agent that can be started.
pub(crate) struct Agent {
    /// How it is treated.
    pub(crate) entry: AgentEntry,
    pub(crate) launch: Launch,
    /// How its version is asked for before.
    pub(crate) preflight: Option<(Probe, Launch)>,
    /// Whether it was given a key.
    pub(crate) has_key: bool,
    pub(crate) origin: Origin,
    /// Variables that it does not get, because they keep it from working.
    pub(crate) left_out: Vec<String>,
}

/// Where an agent comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The demo agent, because nobody chose another.
    Fallback,
    /// The demo agent.
    Demo,
    /// A command line.
    Command,
    /// The registry.
    Known,
}

/// There is no agent to start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AgentError {
    #[error("find the agent: there is no program {} in the search path", .program.display())]
    NoProgram { program: PathBuf },
    #[error("find the agent {}", .program.display())]
    Unusable { program: PathBuf, source: io::Error },
    #[error("find this very program, to start its demo agent")]
    Ourselves { source: io::Error },
    #[error(transparent)]
    Unknown(#[from] UnknownAgent),
    #[error(transparent)]
    NotInstalled(#[from] NotInstalled),
    #[error(transparent)]
    Env(#[from] EnvError),
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// Which agent is asked for.
pub(crate) struct Asked<'a> {
    pub(crate) agent: &'a config::Agent,
    /// Nobody asked for any.
    pub(crate) by_default: bool,
    pub(crate) registry: &'a Registry,
    pub(crate) model: Option<&'a str>,
}

impl<'a> Asked<'a> {
    /// Asks for the one that is configured.
    pub(crate) fn of(configuration: &'a Configuration) -> Self {
        let model = configuration.settings.model.value.as_ref();
        Self {
            agent: &configuration.agent.value,
            by_default: configuration.agent.origin == config::Origin::Default,
            registry: &configuration.registry,
            model: model.map(Word::as_str),
        }
    }
}

impl Agent {
    /// Finds the agent that is asked for: by its name, by its command, or the demo agent
    /// when it is asked for by neither.
    ///
    /// Agents get the whole environment, as if started by hand: that is where they find
    /// their keys, and their tools theirs.
    pub(crate) fn choose(
        asked: &Asked<'_>,
        args: &AgentArgs,
        cwd: &Path,
    ) -> Result<Self, AgentError> {
        let agent = match (asked.agent, args.command.as_slice()) {
            (config::Agent::Demo, _) if asked.by_default => Self::demo(Origin::Fallback, args)?,
            (config::Agent::Demo, _) => Self::demo(Origin::Demo, args)?,
            (config::Agent::Known(name), _) => {
                let entry = asked.registry.validate(name)?;
                Self::of_entry(asked.registry, entry, asked.model, cwd, args.clean_env)?
            }
            (config::Agent::Command, [program, command @ ..]) => {
                Self::command(program, command, args)?
            }
            (config::Agent::Command, []) => Self::demo(Origin::Fallback, args)?,
        };
        Ok(Self {
            launch: agent.launch.with_cwd(cwd),
            ..agent
        })
    }

    /// Finds the agent that is asked for, where nothing is asked of it but to be there.
    pub(crate) fn of_args(args: &AgentArgs, cwd: &Path) -> Result<Self, Outcome> {
        let config = config::load(cwd, args.flags()?)?;
        Ok(Self::choose(&Asked::of(&config), args, cwd)?)
    }

    /// The demo agent, in a folder.
    pub(crate) fn demo_agent(cwd: &Path) -> Result<Self, AgentError> {
        let agent = Self::demo(Origin::Demo, &AgentArgs::default())?;
        Ok(Self {
            launch: agent.launch.with_cwd(cwd),
            ..agent
        })
    }

    fn demo(origin: Origin, args: &AgentArgs) -> Result<Self, AgentError> {
        let ourselves = env::current_exe().map_err(|source| AgentError::Ourselves { source })?;
        let launch = Launch::new(ourselves).with_args(["demo-agent"]);
        Self::plain(AgentEntry::new(DEMO, "acp"), launch, origin, args)
    }

    fn command(program: &OsStr, rest: &[OsString], args: &AgentArgs) -> Result<Self, AgentError> {
        let found = find(program)?;
        let name = found.file_stem().unwrap_or_default().to_string_lossy();
        let entry = AgentEntry::new(name, found.to_string_lossy());
        let launch = Launch::new(found).with_args(rest);
        Self::plain(entry, launch, Origin::Command, args)
    }

    /// An agent of which nothing is known.
    fn plain(
        entry: AgentEntry,
        launch: Launch,
        origin: Origin,
        args: &AgentArgs,
    ) -> Result<Self, AgentError> {
        let launch = if args.clean_env {
            let policy = EnvPolicy::new().allowing_network();
            let built = policy.build(&Environment::inherited_all())?;
            launch.with_environment(built.environment)
        } else {
            launch.with_inherited_env()
        };
        // Its standard error is shown when it fails, and it knows our keys.
        let redactor = Redactor::new().with_variables(acp_recording::variables());
        Ok(Self {
            entry,
            launch: launch.with_stderr_redactor(&redactor),
            preflight: None,
            has_key: false,
            origin,
            left_out: Vec::new(),
        })
    }

    /// Finds the programs of an agent of a registry, and says how it is started in a
    /// folder.
    pub(crate) fn of_entry(
        registry: &Registry,
        entry: &AgentEntry,
        model: Option<&str>,
        cwd: &Path,
        clean_env: bool,
    ) -> Result<Self, AgentError> {
        let path = env::var_os("PATH").unwrap_or_default();
        let programs = registry.find(entry, path)?;
        let mut ambient = Environment::inherited_all();
        let mut left_out = Vec::new();
        for variable in &entry.conflicts {
            if ambient.remove(variable).is_some() {
                left_out.push(variable.clone());
            }
        }
        let mut policy = if clean_env {
            let usual = EnvPolicy::new().allowing_network();
            usual.speaking_of(registry, entry).passing_keys_of(entry)
        } else {
            // Keys of other agents too: tools and models behind this one may want them.
            let all = EnvPolicy::inheriting_all().speaking_of(registry, entry);
            let keys = registry.key_variables();
            keys.into_iter().fold(all, EnvPolicy::passing_key)
        };
        if let (Some(variable), Some(model)) = (&entry.model_env, model) {
            policy = policy.with(variable, model);
        }
        if let (Some(name), Some(key)) = (entry.login.keys.first(), stored_key(entry)?) {
            policy = policy.with_key(name, key);
        }
        let built = policy.build(&ambient)?;
        let keys = &entry.login.keys;
        Ok(Self {
            launch: describe(entry, &programs, &built, cwd),
            preflight: preflight(entry, &programs, &built),
            has_key: keys.iter().any(|key| built.environment.get(key).is_some()),
            origin: Origin::Known,
            left_out,
            entry: entry.clone(),
        })
    }
}

/// Returns the key that was stored for an agent, unless a variable holds one.
fn stored_key(entry: &AgentEntry) -> Result<Option<Secret>, KeyError> {
    // Without a home there are no stored keys either.
    let Ok(keys) = Keys::of_user() else {
        return Ok(None);
    };
    match keys.find(entry)? {
        KeyFound::Stored => keys.get(entry),
        KeyFound::Variable(_) | KeyFound::None => Ok(None),
    }
}

/// Finds the program a command names, as a shell would, and spells it in full. Relative
/// folders of the search path are passed over: they mean whatever folder one is in.
fn find(program: &OsStr) -> Result<PathBuf, AgentError> {
    let named = Path::new(program);
    let searched = env::var_os("PATH").unwrap_or_default();
    let searched = env::split_paths(&searched).filter(|folder| folder.is_absolute());
    // The parts come from a split, so no folder holds the separator.
    let searched = env::join_paths(searched).unwrap_or_default();
    let found = env::current_dir()
        .map_err(|_| which::Error::CannotFindBinaryPath)
        .and_then(|cwd| which::which_in(named, Some(searched), cwd));
    let found = found.map_err(|_| AgentError::NoProgram {
        program: named.into(),
    })?;
    spell_out(&found).map_err(|source| AgentError::Unusable {
        program: named.into(),
        source,
    })
}

/// Makes a path absolute and clean. The file name stays as it is: programs look at the
/// name they are called by, also when it is a link.
fn spell_out(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(parent.canonicalize()?.join(name)),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Says who this client is, and how long an agent may take to start.
pub(crate) fn client_options(
    mut timeouts: ClientTimeouts,
    start_timeout: Option<Duration>,
) -> ClientOptions {
    if let Some(time) = start_timeout {
        timeouts = timeouts.with_initialize(time);
        timeouts.new_session = time;
    }
    ClientOptions::new()
        .with_info(Implementation::new("acp", env!("CARGO_PKG_VERSION")))
        .with_timeouts(timeouts)
}

/// Finds a folder that an option names.
pub(crate) fn working_folder(folder: &Path, option: &str) -> Result<PathBuf, Outcome> {
    let resolved = folder.canonicalize().and_then(|path| match path.is_dir() {
        true => Ok(path),
        false => Err(io::ErrorKind::NotADirectory.into()),
    });
    resolved.map_err(|error| {
        let message = format!("failed to work in {}: {error}", folder.display());
        Outcome::usage(message, &format!("{option} takes a folder that exists"))
    })
}

impl From<AgentError> for Outcome {
    fn from(error: AgentError) -> Self {
        let (exit, hint) = match &error {
            AgentError::Unknown(_) => (
                Exit::Usage,
                "an agent that is not known is started by its command, behind --",
            ),
            AgentError::NotInstalled(_) => {
                (Exit::StartFailed, "`acp agents` lists those that are there")
            }
            AgentError::Env(_) => (Exit::StartFailed, "unset it, then try again"),
            _ => (
                Exit::StartFailed,
                "check the spelling, or give the full path; the command of the agent stands after --",
            ),
        };
        Self::failed(exit, &error).with_hint(hint)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn choose(agent: &config::Agent, command: &[&str]) -> Result<Agent, AgentError> {
        let args = AgentArgs {
            command: command.iter().map(Into::into).collect(),
            ..AgentArgs::default()
        };
        let asked = Asked {
            agent,
            by_default: false,
            registry: Registry::builtin(),
            model: None,
        };
        Agent::choose(&asked, &args, Path::new("/"))
    }

    #[test]
    fn programs_are_found_in_the_search_path() {
        let agent = choose(&config::Agent::Command, &["sh", "-c", "exit"]).unwrap();
        assert_eq!(agent.origin, Origin::Command);
        assert_eq!(agent.entry.name, "sh");
        let launch = agent.launch;
        assert!(launch.program().is_absolute());
        assert_eq!(launch.program().file_name(), Some(OsStr::new("sh")));
        assert_eq!(launch.args(), ["-c", "exit"]);
        assert_eq!(launch.validate(), Ok(()));
    }

    #[test]
    fn links_keep_their_name_and_dots_go_away() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        let link = real.join("agent");
        std::os::unix::fs::symlink("/bin/sh", &link).unwrap();
        let dotted = real.join("sub/../agent");
        std::fs::create_dir(real.join("sub")).unwrap();
        assert_eq!(find(dotted.as_os_str()).unwrap(), link);
    }

    #[test]
    fn what_is_not_there_is_told_by_its_name() {
        let refused = choose(&config::Agent::Command, &["no-such-agent-here"]);
        assert_eq!(
            refused.err().unwrap().to_string(),
            "find the agent: there is no program no-such-agent-here in the search path"
        );
        let unknown = config::Agent::Known("no-such-agent-here".to_owned());
        let unknown = choose(&unknown, &[]).err().unwrap().to_string();
        assert!(
            unknown.starts_with("find the agent \"no-such-agent-here\": known are "),
            "{unknown}"
        );
    }

    #[test]
    fn the_demo_agent_is_this_program() {
        let demo = choose(&config::Agent::Demo, &[]).unwrap();
        assert_eq!(demo.origin, Origin::Demo);
        assert_eq!(demo.launch.args(), ["demo-agent"]);
        assert_eq!(demo.launch.program(), env::current_exe().unwrap());
    }
}
