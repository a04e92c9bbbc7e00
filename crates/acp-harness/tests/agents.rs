//! The built-in table, the user's file, and what is told of both.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use acp_harness::registry::{
    AgentEntry, AgentOrigin, AgentTable, Registry, RegistryFileError, validate_agent,
};
use acp_harness::version::Version;
use expect_test::expect_file;

/// The table of the documentation.
fn table(registry: &Registry) -> String {
    let mut text = String::from(
        "| name | agent | started by | version | to install | to log in |\n\
         |---|---|---|---|---|---|\n",
    );
    for agent in registry.iter() {
        let version = match (&agent.version, agent.min_version) {
            (Some(version), Some(oldest)) => format!("{version} ({oldest} at least)"),
            (Some(version), None) => version.clone(),
            (None, Some(oldest)) => format!("{oldest} at least"),
            (None, None) => String::new(),
        };
        writeln!(
            text,
            "| `{}` | [{}]({}) | `{}` | {version} | {} | {} |",
            agent.name,
            agent.title,
            agent.docs,
            agent.invocation(),
            code(&agent.install),
            agent.login.hint.replace('|', "\\|"),
        )
        .unwrap();
    }
    text
}

/// A command as code, and a sentence as it is.
fn code(install: &str) -> String {
    let install = install.replace('|', "\\|");
    if let Some(page) = install.strip_prefix("see ") {
        format!("see <{page}>")
    } else if install.starts_with("download ") {
        install
    } else {
        format!("`{install}`")
    }
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "it shows the arguments on Linux")]
fn the_documentation_shows_the_table() {
    expect_file!["../agents.md"].assert_eq(&table(Registry::builtin()));
}

#[test]
fn every_row_says_all_that_a_user_needs() {
    for agent in Registry::builtin().iter() {
        assert_eq!(agent.check(), Ok(()));
        assert_eq!(agent.origin, AgentOrigin::BuiltIn);
        assert!(agent.docs.starts_with("https://"), "{}", agent.name);
        assert!(!agent.install.is_empty(), "{}", agent.name);
        assert!(!agent.login.hint.is_empty(), "{}", agent.name);
        let line = agent.invocation();
        assert!(!line.contains("latest") && !line.contains('{'), "{line}");
        // A package runner fetches one version, and is not asked for its own.
        if agent.command == "npx" || agent.command == "uvx" {
            assert!(agent.version.is_some() && agent.probe.is_empty(), "{line}");
            assert!(agent.arguments().iter().any(|arg| arg.contains('@')));
        }
        // A method that uses a key needs one.
        assert!(agent.login.key_method.is_none() || !agent.login.keys.is_empty());
        if let [program, ..] = &agent.login.device[..] {
            assert!(agent.programs().any(|known| known == program), "{program}");
        }
    }
}

/// What one agent does that others do not is data: no code outside the tests asks for a
/// name, so another agent is another row.
#[test]
fn no_code_asks_for_the_name_of_an_agent() {
    let names: Vec<_> = Registry::builtin()
        .iter()
        .flat_map(|agent| agent.aliases.iter().chain([&agent.name]))
        .map(|name| format!("\"{name}\""))
        .collect();
    let mut looked_at = 0;
    for path in sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))) {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("\nmod tests {").next().unwrap();
        for line in code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
        {
            let named = names.iter().find(|name| line.contains(name.as_str()));
            assert_eq!(named, None, "{}: {line}", path.display());
            looked_at += 1;
        }
    }
    assert!(looked_at > 1000, "{looked_at}");
}

/// The Rust files of a folder, but for those of tests alone.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                return sources(&path);
            }
            let is_rust = path.extension().is_some_and(|extension| extension == "rs");
            let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
            if is_rust && !is_test {
                vec![path]
            } else {
                Vec::new()
            }
        })
        .collect()
}

#[test]
fn names_lead_to_one_agent_each() {
    let registry = Registry::builtin();
    let mut names: Vec<_> = registry
        .iter()
        .flat_map(|agent| agent.aliases.iter().chain([&agent.name]))
        .collect();
    names.sort();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
    for expected in [
        "gemini",
        "goose",
        "opencode",
        "kilo",
        "cline",
        "devin",
        "claude",
        "codex",
        "cursor",
        "grok",
        "antigravity",
        "copilot",
        "qwen",
        "pi",
    ] {
        assert_eq!(validate_agent(expected).unwrap().name, expected);
    }
    assert_eq!(validate_agent("claude-acp").unwrap().name, "claude");
}

#[test]
fn an_unknown_name_lists_what_there_is() {
    let error = validate_agent("cursed").unwrap_err();
    assert_eq!(error.known.len(), Registry::builtin().iter().count());
    let told = error.to_string();
    assert!(
        told.starts_with("find the agent \"cursed\": known are antigravity, auggie, claude,"),
        "{told}"
    );
    let none = Registry::empty().validate("ada").unwrap_err().to_string();
    assert_eq!(none, "find the agent \"ada\": known are none");
}

#[test]
fn keys_of_all_agents_are_known() {
    let keys = Registry::builtin().key_variables();
    for key in [
        "ANTHROPIC_API_KEY",
        "CURSOR_API_KEY",
        "GEMINI_API_KEY",
        "OPENCODE_API_KEY",
        "XAI_API_KEY",
    ] {
        assert!(keys.contains(key), "{key}");
    }
}

fn laid_over(table: &str) -> Result<Registry, RegistryFileError> {
    let mut registry = Registry::builtin().clone();
    registry.lay_over(table).map(|()| registry)
}

#[test]
fn a_file_adds_changes_and_takes_away() {
    let before = validate_agent("codex").unwrap();
    let registry = laid_over(
        r#"
        [agents.codex]
        version = "3.0.0"
        min_version = "2.0.0"
        env = { A = "b" }
        login = { hint = "ask Ada" }
        [agents.codex.quirks]
        asking_mode = "ask"

        [agents.ada]
        command = "/opt/ada"

        [agents.devin]
        disabled = true
        "#,
    )
    .unwrap();
    let after = registry.get("codex").unwrap();
    assert_eq!(
        after.invocation(),
        "npx -y @agentclientprotocol/codex-acp@3.0.0"
    );
    assert_eq!(after.min_version, Some(Version::new(2, 0, 0)));
    assert_eq!(after.env["A"], "b");
    assert_eq!(after.origin, AgentOrigin::User);
    // What is not said stays, also within the inner tables.
    assert_eq!(after.requires, before.requires);
    assert_eq!(after.login.keys, before.login.keys);
    assert_eq!(after.login.hint, "ask Ada");
    assert_eq!(after.quirks.asking_mode.as_deref(), Some("ask"));
    assert_eq!(after.quirks.empty_success, before.quirks.empty_success);
    let ada = registry.get("ada").unwrap();
    assert_eq!(*ada, AgentEntry::new("ada", "/opt/ada"));
    assert!(registry.get("devin").is_none());
    assert_eq!(registry.get("claude"), Registry::builtin().get("claude"));
}

#[track_caller]
fn refused(table: &str, expected: &str) {
    let error = laid_over(table).unwrap_err();
    let mut told = error.to_string();
    if let Some(source) = std::error::Error::source(&error) {
        told = format!("{told}: {source}");
    }
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_file_that_makes_no_sense_changes_nothing() {
    refused("[agents.ada", "read a table of agents: TOML parse error");
    refused("[agents.codex]\nversoin = \"1\"", "unknown field `versoin`");
    refused(
        "[agents.codex.quirks]\nquirky = true",
        "unknown field `quirky`",
    );
    refused("[agent.codex]\nversion = \"1\"", "unknown field `agent`");
    refused(
        "[agents.ada]\nargs = []",
        "\"ada\": a new agent needs a `command`",
    );
    refused(
        "[agents.codex]\nmin_version = \"two\"",
        "\"two\" as a version",
    );
    refused("[agents.Ada]\ncommand = \"ada\"", "\"Ada\" is no name");
    refused(
        "[agents.ada]\ncommand = \"./ada\"",
        "\"./ada\" is no program",
    );

    let mut registry = Registry::builtin().clone();
    let good_then_bad = "[agents.ada]\ncommand = \"ada\"\n[agents.eve]\ncommand = \"./eve\"";
    registry.lay_over(good_then_bad).unwrap_err();
    assert!(registry.get("ada").is_none());
}

#[test]
fn a_table_can_be_part_of_another_file() {
    #[derive(serde::Deserialize)]
    struct Other {
        colour: String,
        agents: AgentTable,
    }
    let text = "colour = \"red\"\n[agents.ada]\ncommand = \"ada\"\nenv = { A = \"s3cret\" }";
    let other: Other = toml::from_str(text).unwrap();
    assert_eq!(other.colour, "red");
    assert_eq!(other.agents.names().collect::<Vec<_>>(), ["ada"]);
    assert_eq!(format!("{:?}", other.agents), "{\"ada\"}");
    let mut registry = Registry::builtin().clone();
    registry.lay_over_table(other.agents).unwrap();
    assert_eq!(registry.get("ada").unwrap().env["A"], "s3cret");
    assert!(toml::from_str::<AgentTable>("[ada]\ncomand = \"ada\"").is_err());
}

#[test]
fn files_are_read_whole_or_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("agents.toml");
    let mut registry = Registry::builtin().clone();
    let told = |registry: &mut Registry, path: &Path| {
        let error = registry.lay_over_file(path).unwrap_err();
        error.to_string()
    };
    let start = format!("read the agents of {}", path.display());
    assert_eq!(told(&mut registry, &path), start);
    std::fs::write(&path, "#".repeat((1 << 20) + 1)).unwrap();
    assert_eq!(
        told(&mut registry, &path),
        format!("{start}: it has more than 1048576 bytes")
    );
    std::fs::write(&path, "[agents.ada]\ncommand = \"ada\"").unwrap();
    registry.lay_over_file(&path).unwrap();
    assert!(registry.get("ada").is_some());
}

#[test]
fn a_registry_is_bounded() {
    let mut registry = Registry::empty();
    for n in 0..1024 {
        let entry = AgentEntry::new(format!("a{n}"), "ada");
        registry.insert(entry).unwrap();
    }
    let told = |error: acp_harness::registry::InvalidEntry| error.to_string();
    assert_eq!(
        told(
            registry
                .insert(AgentEntry::new("one-more", "ada"))
                .unwrap_err()
        ),
        "take in the agent \"one-more\": there are 1024 already"
    );
    registry.insert(AgentEntry::new("a7", "eve")).unwrap();
    assert_eq!(registry.get("a7").unwrap().command, "eve");
    let error = registry
        .lay_over("[agents.b]\ncommand = \"b\"")
        .unwrap_err();
    assert!(matches!(error, RegistryFileError::TooMany));
}
