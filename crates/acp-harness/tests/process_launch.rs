//! An agent's entry, programs and environment, made into a child.
#![cfg(any(target_os = "linux", target_os = "macos"))]

use std::time::Duration;

use acp_harness::launch::{EnvPolicy, Isolation, describe, preflight};
use acp_harness::version::{ChildRunner, Version, VersionRejection};
use acp_harness::{AgentEntry, Registry, Secret};
use acp_process::Environment;
use tokio::io::AsyncReadExt;

#[tokio::test]
async fn it_gets_what_was_built_for_it_and_its_key_is_never_shown() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let mut agent = AgentEntry::new("ada", "sh");
    agent.args = [
        "-c",
        r#"echo "my key is $ADA_KEY" >&2; echo "$HOME"; pwd; echo "$1 $ADA_KEY""#,
        "sh",
        "v{version}",
    ]
    .map(String::from)
    .into();
    agent.version = Some("1.2.3".to_owned());
    agent.login.keys = vec!["ADA_KEY".to_owned()];
    let mut registry = Registry::empty();
    registry.insert(agent.clone()).unwrap();

    let ambient = Environment::inherited(["PATH", "HOME"]);
    let programs = registry.find(&agent, ambient.get("PATH").unwrap()).unwrap();
    let home = Isolation::new(dir.join("homes"))
        .home("ada@example.com", &agent.name)
        .unwrap();
    let built = EnvPolicy::for_agent(&registry, &agent)
        .with_key("ADA_KEY", Secret::new("hunter2-swordfish"))
        .in_home(home.clone())
        .build(&ambient)
        .unwrap();
    let launch = describe(&agent, &programs, &built, &dir);
    assert!(!format!("{launch:?} {built:?}").contains("hunter2"));

    let mut child = launch.spawn().unwrap();
    let mut said = String::new();
    let mut stdout = child.take_stdout().unwrap();
    stdout.read_to_string(&mut said).await.unwrap();
    let exit = child.handle().wait().await;
    let expected = format!(
        "{}\n{}\nv1.2.3 hunter2-swordfish\n",
        home.path().display(),
        dir.display()
    );
    assert_eq!(said, expected);
    assert_eq!(exit.stderr_tail().trim(), "my key is [redacted]");
}

#[tokio::test]
async fn its_version_is_asked_for_before() {
    let mut agent = AgentEntry::new("ada", "sh");
    agent.probe = vec!["-c".to_owned(), "echo ada 1.2.3".to_owned()];
    let registry = Registry::empty();
    let ambient = Environment::inherited(["PATH"]);
    let programs = registry.find(&agent, ambient.get("PATH").unwrap()).unwrap();
    let built = EnvPolicy::new().build(&ambient).unwrap();
    assert!(
        preflight(&agent, &programs, &built).is_none(),
        "any version will do"
    );

    agent.min_version = Some(Version::new(1, 3, 0));
    let (probe, command) = preflight(&agent, &programs, &built).unwrap();
    let refused = probe
        .with_timeout(Duration::from_secs(50))
        .run(&ChildRunner, &command, std::future::pending())
        .await;
    let expected = VersionRejection::BelowMinimum {
        found: Version::new(1, 2, 3),
        minimum: Version::new(1, 3, 0),
    };
    assert_eq!(refused, Err(expected));

    agent.probe.clear();
    assert!(
        preflight(&agent, &programs, &built).is_none(),
        "it cannot be asked"
    );
}
