//! Documents of the official registry, read into entries.

use std::fmt::Write as _;

use acp_harness::limits::MAX_REGISTRY_FILE;
use acp_harness::registry::official::{Distribution, ImportError, Imported, Importer};
use acp_harness::registry::{AgentOrigin, Registry};
use expect_test::{Expect, expect, expect_file};

const SAMPLE: &[u8] = include_bytes!("registry/sample.json");

fn linux() -> Importer {
    Importer::new().with_target("linux-x86_64")
}

/// Everything an import says, a line for each fact.
fn shown(imported: &Imported) -> String {
    let mut text = String::new();
    for agent in &imported.agents {
        assert_eq!(agent.origin, AgentOrigin::Imported);
        assert_eq!(agent.probe, [""; 0]);
        let version = agent.version.as_deref().unwrap_or("none");
        writeln!(text, "{} ({}) {version}", agent.name, agent.title).unwrap();
        writeln!(text, "  {}", agent.invocation()).unwrap();
        writeln!(text, "  {}", agent.install).unwrap();
        if !agent.docs.is_empty() {
            writeln!(text, "  {}", agent.docs).unwrap();
        }
        for (name, value) in &agent.env {
            writeln!(text, "  {name}={value}").unwrap();
        }
    }
    for skipped in &imported.skipped {
        writeln!(text, "skipped {:?}: {}", skipped.id, skipped.reason).unwrap();
    }
    text
}

#[test]
fn the_sample_is_read_whole() {
    let imported = linux().read(SAMPLE).unwrap();
    expect_file!["registry/sample.txt"].assert_eq(&shown(&imported));
}

#[track_caller]
fn check(importer: &Importer, id: &str, expected: Expect) {
    let imported = importer.read(SAMPLE).unwrap();
    let agents = imported.agents.into_iter().filter(|agent| agent.name == id);
    let skipped = imported.skipped.into_iter().filter(|agent| agent.id == id);
    let mut one = Imported::default();
    one.agents.extend(agents);
    one.skipped.extend(skipped);
    expected.assert_eq(&shown(&one));
}

#[test]
fn choices() {
    check(
        &linux().with_previews(),
        "ada",
        expect![[r#"
            ada (Ada) 1.3.0-preview.4
              npx -y @example/ada@1.3.0-preview.4
              install Node.js, which brings npx; that fetches @example/ada by itself
              https://example.com/ada
        "#]],
    );
    check(
        &linux().with_order([Distribution::Binary, Distribution::Npx]),
        "ada",
        expect![[r#"
            ada (Ada) 1.2.3
              ada
              unpack https://example.com/ada.tgz and put ada on PATH
              https://example.com/ada
        "#]],
    );
    check(
        &linux().with_order([Distribution::Uvx]),
        "ada",
        expect![[r#"
            skipped "ada": it is not distributed for linux-x86_64
        "#]],
    );
    check(
        &linux().with_binaries("/opt/agents"),
        "archive",
        expect![[r#"
            archive (Archive) 2026.10.01
              /opt/agents/archive/2026.10.01/dist/bin/archive acp
              unpack https://example.com/linux.tar.gz (sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855) in /opt/agents/archive/2026.10.01
              A=b
        "#]],
    );
    check(
        &Importer::new().with_target("windows-x86_64"),
        "archive",
        expect![[r#"
            archive (Archive) 2026.10.01
              archive.cmd acp
              unpack https://example.com/win.zip and put archive.cmd on PATH
        "#]],
    );
}

#[test]
fn one_agent_alone_is_a_document_too() {
    let document = br#"{"id": "ada", "name": "Ada", "version": "1.0.0",
        "distribution": {"npx": {"package": "ada"}}}"#;
    let imported = linux().read(document).unwrap();
    assert_eq!(imported.agents[0].invocation(), "npx -y ada@1.0.0");
}

#[test]
fn what_is_no_document_is_refused() {
    let told = |document: &[u8]| match linux().read(document) {
        Err(error) => error.to_string(),
        Ok(imported) => format!("{imported:?}"),
    };
    for document in ["", "[]", "{", "{}", r#"{"agents": 3}"#] {
        assert_eq!(told(document.as_bytes()), "read the registry", "{document}");
    }
    assert_eq!(
        told(br#"{"version": "2.0.0", "agents": []}"#),
        "read the registry: its format is 2.0.0, known is 1"
    );
    let mut long = vec![b' '; usize::try_from(MAX_REGISTRY_FILE).unwrap()];
    long.extend(b"{}");
    assert!(told(&long).contains("has more than"), "{}", told(&long));
    let many = vec!["{}"; 1025].join(",");
    assert_eq!(
        told(format!(r#"{{"agents": [{many}]}}"#).as_bytes()),
        "read the registry: it has more than 1024 agents"
    );
}

#[tokio::test]
async fn addresses_are_fetched_by_who_can() {
    let fetched = linux()
        .fetch("https://example.com/registry.json", async |url: String| {
            assert_eq!(url, "https://example.com/registry.json");
            Ok::<_, String>(SAMPLE.to_vec())
        })
        .await
        .unwrap();
    assert_eq!(fetched, linux().read(SAMPLE).unwrap());

    let failed = linux()
        .fetch("https://example.com/r", async |_| {
            Err::<Vec<u8>, _>("no route")
        })
        .await;
    assert!(
        matches!(failed, Err(ImportError::Fetch { source, .. }) if source.to_string() == "no route")
    );

    for url in ["http://example.com/r", "file:///etc/passwd", ""] {
        let refused = linux()
            .fetch(url, async |_| -> Result<Vec<u8>, String> {
                unreachable!("nothing is fetched")
            })
            .await;
        assert!(matches!(refused, Err(ImportError::Address { .. })), "{url}");
    }
}

#[test]
fn files_are_read_and_those_that_are_none_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("registry.json");
    std::fs::write(&path, SAMPLE).unwrap();
    assert_eq!(
        linux().read_file(&path).unwrap(),
        linux().read(SAMPLE).unwrap()
    );
    let error = linux().read_file(dir.path().join("none")).unwrap_err();
    assert!(
        error.to_string().starts_with("read the agents of"),
        "{error}"
    );
}

#[test]
fn what_is_known_already_is_not_replaced() {
    let document = br#"{"agents": [
        {"id": "codex-acp", "name": "Codex", "version": "9.9.9",
         "distribution": {"npx": {"package": "@agentclientprotocol/codex-acp@9.9.9"}}},
        {"id": "ada", "name": "Ada", "version": "1.0.0",
         "distribution": {"npx": {"package": "ada"}}}]}"#;
    let imported = linux().read(document).unwrap();
    let mut registry = Registry::builtin().clone();
    let known = registry.add(imported.agents).unwrap();
    assert_eq!(known, ["codex-acp"]);
    assert_eq!(registry.get("codex-acp").unwrap().name, "codex");
    assert_eq!(registry.get("ada").unwrap().origin, AgentOrigin::Imported);
    // What a user says of it counts on top.
    registry
        .lay_over("[agents.ada]\nversion = \"1.1.0\"")
        .unwrap();
    assert_eq!(
        registry.get("ada").unwrap().invocation(),
        "npx -y ada@1.1.0"
    );
}
