//! Who has the last word, and what is found and told.

mod project;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use tempfile::TempDir;

use super::file::{ConfigScope, Source};
use super::load::load;
use super::trust::TrustStore;
use super::*;
use crate::outcome::in_words;

/// A user at home, and a project with a repository.
struct World {
    dir: TempDir,
    variables: Vec<(&'static str, &'static str)>,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("project/.git")).unwrap();
        std::fs::create_dir_all(dir.path().join(".config/acp")).unwrap();
        Self {
            dir,
            variables: Vec::new(),
        }
    }

    fn global(self, text: &str) -> Self {
        std::fs::write(self.path(".config/acp/config.toml"), text).unwrap();
        self
    }

    fn project(self, text: &str) -> Self {
        std::fs::write(self.path("project/.acp.toml"), text).unwrap();
        self
    }

    /// Trusts the file of the project as it is now.
    fn trusting(self) -> Self {
        let path = self.path("project/.acp.toml");
        let (source, _) = Source::read(&path, ConfigScope::Project).unwrap().unwrap();
        let store = TrustStore::of(&self.surroundings());
        store.trust(&source.state.unwrap()).unwrap();
        self
    }

    fn variable(mut self, name: &'static str, value: &'static str) -> Self {
        self.variables.push((name, value));
        self
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    fn surroundings(&self) -> Surroundings {
        let variables = self.variables.clone();
        Surroundings {
            variable: Box::new(move |name| {
                let mut variables = variables.iter();
                let found = variables.find(|(other, _)| *other == name);
                found.map(|(_, value)| OsString::from(value))
            }),
            home: Some(self.path("")),
        }
    }

    fn load(&self, flags: Flags) -> Result<Configuration, ConfigError> {
        load(&self.path("project"), flags, self.surroundings())
    }

    /// What is in force, without this machine's folders.
    #[track_caller]
    fn check(&self, flags: Flags, expected: Expect) {
        let text = match self.load(flags) {
            Ok(configuration) => {
                let agent = format!("{:?}", configuration.agent.value);
                let rows = configuration.settings.rows().into_iter();
                let rows = rows
                    .filter(|row| row.origin != Origin::Default)
                    .map(|row| format!("{} = {} ({})\n", row.name, row.value, row.origin));
                let mcp = configuration
                    .mcp_names()
                    .map(|(name, origin)| format!("mcp {name} ({origin})\n"));
                let notes = configuration.notes.iter().filter(|note| !note.denied);
                let notes = notes.map(|note| format!("{note}\n"));
                let changes = configuration.project_changes().into_iter();
                let changes = changes.map(|line| format!("> {line}\n"));
                let warnings = configuration.warnings().into_iter();
                let warnings = warnings.map(|line| format!("! {line}\n"));
                let parts = rows.chain(mcp).chain(notes).chain(changes).chain(warnings);
                format!("{agent}\n{}", parts.collect::<String>())
            }
            Err(error) => format!("{}\n  {}\n", in_words(&error), error.hint),
        };
        expected.assert_eq(&text.replace(&*self.path("").to_string_lossy(), "~/"));
    }
}

fn word(text: &str) -> Option<Word> {
    Some(text.parse().unwrap())
}

#[test]
fn nobody_says_anything() {
    World::new().check(
        Flags::default(),
        expect![[r#"
        Demo
    "#]],
    );
}

#[test]
fn the_strongest_counts() {
    let world = World::new()
        .global("agent = \"claude\"\nallow = \"edits\"\ntimeout = 60\nidle_timeout = \"none\"\ncolor = \"never\"\n")
        .project("agent = \"codex\"\nallow = \"reads\"\ntimeout = 62\n")
        .variable("ACP_TIMEOUT", "63")
        .variable("ACP_ALLOW", "")
        .variable("NO_COLOR", "1");
    world.check(
        Flags::default(),
        expect![[r#"
            Known("claude")
            agent = "claude" (~/.config/acp/config.toml, line 1)
            timeout = 63 (ACP_TIMEOUT)
            idle_timeout = "none" (~/.config/acp/config.toml, line 4)
            allow = "reads" (~/project/.acp.toml, line 2)
            color = "never" (NO_COLOR)
            > ~/project/.acp.toml sets allow = "reads"
            ! `agent` of ~/project/.acp.toml, line 1 is ignored: only a file that you trust chooses it
            ! `timeout` of ~/project/.acp.toml, line 3 is ignored: it takes longer than you allow, and this file is not trusted
            ! if you trust ~/project/.acp.toml, read it, then run `acp config trust`
        "#]],
    );
    let flags = Flags {
        agent: word("gemini"),
        allow: Some(AllowLevel::All),
        ..Flags::default()
    };
    world.check(
        flags,
        expect![[r#"
            Known("gemini")
            agent = "gemini" (--agent)
            timeout = 63 (ACP_TIMEOUT)
            idle_timeout = "none" (~/.config/acp/config.toml, line 4)
            allow = "all" (--allow)
            color = "never" (NO_COLOR)
            ! `agent` of ~/project/.acp.toml, line 1 is ignored: only a file that you trust chooses it
            ! `timeout` of ~/project/.acp.toml, line 3 is ignored: it takes longer than you allow, and this file is not trusted
            ! if you trust ~/project/.acp.toml, read it, then run `acp config trust`
        "#]],
    );
}

#[test]
fn model_effort_and_mode_go_with_their_agent() {
    let world = World::new()
        .global("agent = \"claude\"\nmodel = \"opus\"\neffort = \"high\"\nmode = \"plan\"\n");
    world.check(
        Flags::default(),
        expect![[r#"
        Known("claude")
        agent = "claude" (~/.config/acp/config.toml, line 1)
        model = "opus" (~/.config/acp/config.toml, line 2)
        effort = "high" (~/.config/acp/config.toml, line 3)
        mode = "plan" (~/.config/acp/config.toml, line 4)
    "#]],
    );
    // By another of its names it is the same agent.
    let named = |agent| Flags {
        agent: word(agent),
        ..Flags::default()
    };
    world.check(
        named("claude-agent-acp"),
        expect![[r#"
        Known("claude")
        agent = "claude-agent-acp" (--agent)
        model = "opus" (~/.config/acp/config.toml, line 2)
        effort = "high" (~/.config/acp/config.toml, line 3)
        mode = "plan" (~/.config/acp/config.toml, line 4)
    "#]],
    );
    world.check(
        named("codex"),
        expect![[r#"
        Known("codex")
        agent = "codex" (--agent)
        `model` of ~/.config/acp/config.toml, line 2 is ignored: it was chosen for the agent claude
        `effort` of ~/.config/acp/config.toml, line 3 is ignored: it was chosen for the agent claude
        `mode` of ~/.config/acp/config.toml, line 4 is ignored: it was chosen for the agent claude
    "#]],
    );
    let command = Flags {
        command: true,
        model: word("mine"),
        ..Flags::default()
    };
    world.check(
        command,
        expect![[r#"
        Command
        agent = "claude" (~/.config/acp/config.toml, line 1)
        model = "mine" (--model)
        `model` of ~/.config/acp/config.toml, line 2 is ignored: it was chosen for the agent claude
        `effort` of ~/.config/acp/config.toml, line 3 is ignored: it was chosen for the agent claude
        `mode` of ~/.config/acp/config.toml, line 4 is ignored: it was chosen for the agent claude
    "#]],
    );
    // Who names no agent means every one.
    World::new().global("model = \"opus\"\n").check(
        named("codex"),
        expect![[r#"
            Known("codex")
            agent = "codex" (--agent)
            model = "opus" (~/.config/acp/config.toml, line 1)
        "#]],
    );
}

#[test]
fn what_makes_no_sense_is_told() {
    let global = |text: &str, expected: Expect| {
        World::new().global(text).check(Flags::default(), expected);
    };
    global(
        "agent = \"claud\"\n",
        expect![[r#"
        failed to find the agent `claud` (~/.config/acp/config.toml, line 1)
          did you mean `claude`? `acp agents` lists all that are known
    "#]],
    );
    global(
        "agent = \"zebra\"\n",
        expect![[r#"
        failed to find the agent `zebra` (~/.config/acp/config.toml, line 1)
          `acp agents` lists those that are known; any other agent can be given by its command, after --
    "#]],
    );
    global(
        "protect = [\"/etc\"]\n",
        expect![[r#"
        failed to read ~/.config/acp/config.toml, line 1: `protect`: a protected path is one or more names, with `/` between them and without `..`
          correct the file; `acp config --help` lists what may stand in it
    "#]],
    );
    global(
        "registry = \"registry.json\"\n",
        expect![[r#"
        failed to read ~/.config/acp/config.toml, line 1: `registry` is an absolute path
          correct the file; `acp config --help` lists what may stand in it
    "#]],
    );
    global(
        "registry = \"~/none.json\"\n",
        expect![[r#"
            failed to read ~/.config/acp/config.toml, line 1: cannot read the agents of ~/none.json: No such file or directory (os error 2)
              correct the file; `acp config --help` lists what may stand in it
        "#]],
    );
    global(
        "[agents.ada]\nargs = []\n",
        expect![[r#"
            failed to read ~/.config/acp/config.toml, line 1: cannot take in the agent "ada": a new agent needs a `command`
              correct the file; `acp config --help` lists what may stand in it
        "#]],
    );
    global(
        "\n[mcp.x]\ncommand = \"x\"\nurl = \"https://x.example\"\n",
        expect![[r#"
            failed to read ~/.config/acp/config.toml, line 2: the MCP server `x` has either a `command` (with `args`, `env`, `env_from`) or a `url` (with `headers`, `headers_from`, `sse`)
              correct the file; `acp config --help` lists what may stand in it
        "#]],
    );
    global(
        "[mcp.x]\nurl = \"file:///x\"\n",
        expect![[r#"
        failed to read ~/.config/acp/config.toml, line 1: the `url` of the MCP server `x` begins with http:// or https://
          correct the file; `acp config --help` lists what may stand in it
    "#]],
    );
    World::new().variable("ACP_ALLOW", "most").check(
        Flags::default(),
        expect![[r#"
            failed to read the variable ACP_ALLOW: one of none, reads, edits, all is wanted
              set it to that, or unset it
        "#]],
    );
    World::new().variable("ACP_AGENT", "codx").check(
        Flags::default(),
        expect![[r#"
            failed to find the agent `codx` (ACP_AGENT)
              did you mean `codex`? `acp agents` lists all that are known
        "#]],
    );
}

#[test]
fn documents_of_the_registry_add_agents() {
    let world = World::new().global("registry = \"~/registry.json\"\nagent = \"ada\"\n");
    let document = r#"{"version": "1.0.0", "agents": [
        {"id": "ada", "name": "Ada", "version": "1.2.3",
         "distribution": {"npx": {"package": "ada-acp@1.2.3"}}},
        {"id": "codex-acp", "name": "Codex", "version": "9.9.9",
         "distribution": {"npx": {"package": "evil@9.9.9"}}}
    ]}"#;
    std::fs::write(world.path("registry.json"), document).unwrap();
    let configuration = world.load(Flags::default()).unwrap();
    assert_eq!(configuration.agent.value, Agent::Known("ada".to_owned()));
    // What is known already stays as it is.
    let codex = configuration.registry.get("codex-acp").unwrap();
    assert!(codex.invocation().contains("agentclientprotocol/codex-acp"));
}

#[test]
fn mcp_servers_are_found_and_filled_in() {
    let servers = |world: &World| -> Result<String, String> {
        let configuration = world.load(Flags::default()).unwrap();
        let servers = configuration.mcp_servers();
        let servers = servers.map_err(|error| {
            error
                .to_string()
                .replace(&*world.path("").to_string_lossy(), "~/")
        })?;
        Ok(serde_json::to_string(&servers).unwrap())
    };
    let text = "[mcp.a]\ncommand = \"sh\"\nargs = [\"-c\"]\nenv = { A = \"b\" }\nenv_from = { T = \"TOKEN\" }\n\
                [mcp.b]\nurl = \"https://b.example\"\nheaders_from = { Authorization = \"TOKEN\" }\n\
                [mcp.c]\nurl = \"https://c.example\"\nsse = true\n";
    let world = World::new().global(text).variable("PATH", "/bin:/usr/bin");
    let error = servers(&world).unwrap_err();
    expect!["prepare the MCP server `a` of ~/.config/acp/config.toml, line 1: the variable TOKEN is not set, or is no text"].assert_eq(&error);
    let world = world.variable("TOKEN", "s3cret");
    let written = servers(&world).unwrap();
    assert!(
        written.contains(r#""env":[{"name":"A","value":"b"},{"name":"T","value":"s3cret"}]"#),
        "{written}"
    );
    assert!(written.contains(r#""type":"sse""#), "{written}");
    assert!(
        written.contains(r#""headers":[{"name":"Authorization","value":"s3cret"}]"#),
        "{written}"
    );
    // Nothing shows it.
    let configuration = world.load(Flags::default()).unwrap();
    let shown = format!(
        "{}{}",
        super::show::json(&configuration),
        super::show::table(&configuration, None)
    );
    assert!(
        !shown.contains("s3cret") && shown.contains("mcp.a"),
        "{shown}"
    );
    let world = World::new().global("[mcp.a]\ncommand = \"./sh\"\n");
    expect![[r#"prepare the MCP server `a` of ~/.config/acp/config.toml, line 1: there is no program "./sh"; a name in the search path or an absolute path is wanted"#]].assert_eq(&servers(&world).unwrap_err());
}

#[test]
fn what_is_shown() {
    let world = World::new()
        .global("agent = \"claude\"\nmodel = \"opus\"\n[agents.ada]\ncommand = \"ada\"\n[mcp.x]\nurl = \"http://x.example\"\n")
        .project("allow = \"all\"\n")
        .variable("ACP_AGENT", "codex");
    let configuration = world.load(Flags::default()).unwrap();
    let here = |text: String| text.replace(&*world.path("").to_string_lossy(), "~/");
    expect![[r#"
        SETTING        VALUE  SAID BY
        agent          codex  ACP_AGENT
        model          -      default
        effort         -      default
        mode           -      default
        timeout        -      default
        idle_timeout   -      default
        start_timeout  -      default
        allow          none   default
        files          none   default
        terminals      false  default
        color          auto   default
        mcp.x          set    ~/.config/acp/config.toml, line 5

        your file   ~/.config/acp/config.toml
        project     ~/project/.acp.toml (not trusted)
        own agents  ada
        ignored     `model` of ~/.config/acp/config.toml, line 2 is ignored: it was chosen for the agent claude
        !           `allow` of ~/project/.acp.toml, line 1 is ignored: it allows more than you do, and this file is not trusted
        !           if you trust ~/project/.acp.toml, read it, then run `acp config trust`
    "#]].assert_eq(&here(super::show::table(&configuration, Some(200))));
    expect![[r#"
        [
          {
            "denied": true,
            "origin": {
              "kind": "project",
              "line": 1,
              "path": "~/project/.acp.toml"
            },
            "reason": "it allows more than you do, and this file is not trusted",
            "setting": "allow"
          },
          {
            "denied": false,
            "origin": {
              "kind": "global",
              "line": 2,
              "path": "~/.config/acp/config.toml"
            },
            "reason": "it was chosen for the agent claude",
            "setting": "model"
          }
        ]"#]]
    .assert_eq(&here(format!(
        "{:#}",
        super::show::json(&configuration)["ignored"]
    )));
}

#[test]
fn paths_are_those_of_the_folder_that_is_asked_for() {
    let world = World::new().project("timeout = 5\n");
    let configuration = load(Path::new("/"), Flags::default(), world.surroundings()).unwrap();
    assert_eq!(configuration.project, None);
    let inner = world.path("project/a");
    std::fs::create_dir(&inner).unwrap();
    let configuration = load(&inner, Flags::default(), world.surroundings()).unwrap();
    assert_eq!(
        configuration.project.unwrap().path,
        world.path("project/.acp.toml")
    );
}

/// Findings of the fuzzer are tested without it too.
#[test]
fn the_corpus_of_the_fuzz_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/config");
    let files = std::fs::read_dir(folder).unwrap();
    let files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    assert!(files.len() > 5, "{} files", files.len());
    for file in files {
        check::check(&std::fs::read(file).unwrap());
    }
}
