//! Agents behind a proxy, as real children.
#![cfg(any(target_os = "linux", target_os = "macos"))]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use acp_client::ClientOptions;
use acp_harness::Secret;
use acp_harness::launch::{
    BoxError, ClaudeConnector, CodexConnector, Managed, ManagedLaunch, ModelProxy, ProxyBinding,
};
use acp_process::{Environment, Launch};
use tokio::sync::watch;

/// Tells when it was closed, and whether the agent was still there.
struct Proxy {
    pid_file: PathBuf,
    closed: Arc<watch::Sender<Option<bool>>>,
    fails: bool,
}

impl ModelProxy for Proxy {
    async fn start(&self) -> Result<(), BoxError> {
        Ok(())
    }

    fn binding(&self) -> Option<ProxyBinding> {
        let token = Secret::new("s3cret-token");
        Some(ProxyBinding::new("http://127.0.0.1:9", token))
    }

    async fn close(&self) -> Result<(), BoxError> {
        self.closed.send_replace(Some(runs(&self.pid_file)));
        if self.fails {
            return Err("the port is stuck".into());
        }
        Ok(())
    }
}

struct Scene {
    dir: tempfile::TempDir,
    closed: Arc<watch::Sender<Option<bool>>>,
}

impl Scene {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            closed: Arc::new(watch::Sender::new(None)),
        }
    }

    fn proxy(&self, fails: bool) -> Proxy {
        Proxy {
            pid_file: self.path("pid"),
            closed: Arc::clone(&self.closed),
            fails,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A program that introduces itself as an agent, and then does this.
    fn agent(&self, then: &str) -> Launch {
        self.agent_of_version(1, then)
    }

    fn agent_of_version(&self, version: u16, then: &str) -> Launch {
        let introduce = format!(
            r#"read -r line
            id=${{line#*\"id\":}}; id=${{id%%,*}}; id=${{id%\}}}}
            echo "{{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{{\"protocolVersion\":{version}}}}}""#
        );
        let dir = self.dir.path().display();
        let script = format!(
            "#!/bin/sh\necho $$ >{dir}/pid; printf '%s\\n' \"$@\" >{dir}/args; env >{dir}/env\n\
             echo \"my token is $ANTHROPIC_AUTH_TOKEN\" >&2\n{introduce}\n{then}\n"
        );
        let program = self.path("agent");
        std::fs::write(&program, script).unwrap();
        let mode = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(&program, mode).unwrap();
        Launch::new(program.canonicalize().unwrap())
            .with_args(["--own"])
            .with_environment(Environment::inherited(["PATH"]))
    }

    async fn dial(&self, then: &str, fails: bool) -> Managed {
        let claude = ClaudeConnector::new().with_models("large", "small");
        let launch = ManagedLaunch::owning(self.agent(then), claude, self.proxy(fails));
        launch.dial(ClientOptions::new()).await.unwrap()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Waits until the proxy was closed; tells whether the agent was there still.
    async fn closed(&self) -> bool {
        let mut closed = self.closed.subscribe();
        closed.wait_for(Option::is_some).await.unwrap().unwrap()
    }
}

/// Tells whether there is a process of this id.
fn runs(pid_file: &Path) -> bool {
    let pid = std::fs::read_to_string(pid_file).unwrap();
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    rustix::process::test_kill_process(pid).is_ok()
}

#[tokio::test]
async fn an_agent_gets_its_proxy_and_ends_before_it() {
    let scene = Scene::new();
    let managed = scene.dial("cat >/dev/null", false).await;
    assert_eq!(scene.read("args"), "\n", "it has no arguments");
    let environment = scene.read("env");
    for expected in [
        "ANTHROPIC_BASE_URL=http://127.0.0.1:9\n",
        "ANTHROPIC_AUTH_TOKEN=s3cret-token\n",
    ] {
        assert!(environment.contains(expected), "{environment}");
    }
    let exit = managed.close().await.unwrap().unwrap();
    assert!(exit.success());
    assert_eq!(exit.stderr_tail().trim(), "my token is [redacted]");
    assert!(!scene.closed().await, "the agent is gone by then");
}

#[tokio::test]
async fn both_errors_of_closing_are_told() {
    let scene = Scene::new();
    let managed = scene.dial("cat >/dev/null; exit 3", true).await;
    let error = managed.close().await.unwrap_err();
    let told = "close the agent: end in order: exit code 3 (it wrote to stderr); close the model \
                proxy: it failed";
    assert_eq!(error.to_string(), told);
}

#[tokio::test]
async fn an_agent_that_dies_takes_its_proxy_with_it() {
    let scene = Scene::new();
    let managed = scene.dial("exit 7", false).await;
    scene.closed().await;
    let error = managed.close().await.unwrap_err();
    assert_eq!(error.connection.unwrap().exit().status().code(), Some(7));
    assert!(error.proxy.is_none());
}

#[tokio::test]
async fn an_agent_that_does_not_start_leaves_no_proxy() {
    let scene = Scene::new();
    std::fs::write(scene.path("pid"), std::process::id().to_string()).unwrap();
    let launch = Launch::new(scene.path("no-such-agent"));
    let codex = CodexConnector::by_arguments().with_model("o");
    let launch = ManagedLaunch::owning(launch, codex, scene.proxy(false));
    let refused = launch.dial(ClientOptions::new()).await.unwrap_err();
    assert!(refused.to_string().contains("no-such-agent"), "{refused}");
    assert!(scene.closed.borrow().is_some(), "it is closed by then");
}

#[tokio::test]
async fn an_agent_that_is_refused_is_gone_before_its_proxy() {
    let scene = Scene::new();
    let stays = "trap '' HUP INT TERM; sleep 1000";
    let launch = scene.agent_of_version(99, stays);
    let codex = CodexConnector::by_variables().with_model("o");
    let launch = ManagedLaunch::owning(launch, codex, scene.proxy(true));
    let refused = launch.dial(ClientOptions::new()).await.unwrap_err();
    let told = refused.to_string();
    assert!(
        told.ends_with("(and close the model proxy: it failed)"),
        "{told}"
    );
    assert!(!scene.closed().await, "the agent is gone by then");
}
