use std::ffi::OsStr;

use super::*;
use crate::Secret;
use crate::model::{Demand, SessionSettings};

/// A launch with an argument of its own and these variables.
fn launch(variables: &[&str]) -> Launch {
    let launch = Launch::new("/opt/agent").with_args(["--own"]);
    variables.iter().fold(launch, |launch, variable| {
        let (name, value) = variable.split_once('=').unwrap();
        launch.with_env(name, value)
    })
}

fn binding() -> ProxyBinding {
    ProxyBinding::new("http://127.0.0.1:9/", Secret::new("s3cret"))
}

fn shown(result: Result<Launch, ConnectError>) -> String {
    let launch = match result {
        Ok(launch) => launch,
        Err(error) => return format!("failed to {error}"),
    };
    assert!(!format!("{launch:?}").contains("s3cret"));
    let text = |text: &OsStr| text.to_string_lossy().into_owned();
    let args = launch.args().iter().map(|arg| text(arg));
    let variables = launch.environment().iter();
    let variables = variables.map(|(name, value)| format!("{}={}", text(name), text(value)));
    args.chain(["|".to_owned()])
        .chain(variables)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Behind a proxy; what can be known before is known before.
#[track_caller]
fn gateway(connector: &impl Connector, variables: &[&str], expected: &str) {
    let launch = launch(variables);
    let before = shown(Ok(launch.clone()));
    let checked = connector.check(&launch);
    assert_eq!(checked.is_err(), expected.starts_with("failed to"));
    let configured = shown(connector.configure(&launch, &binding()));
    assert_eq!(configured, expected);
    assert_eq!(shown(Ok(launch)), before, "what is given is not changed");
}

#[track_caller]
fn native(connector: &impl NativeConnector, variables: &[&str], expected: &str) {
    let configured = shown(connector.configure_native(&launch(variables)));
    assert_eq!(configured, expected);
}

fn set(name: &str) -> String {
    format!("failed to start the agent with {name} set: unset it, or leave it out")
}

#[test]
fn claude_behind_a_proxy() {
    let claude = ClaudeConnector::new().with_models("large", "small");
    let expected = "| ANTHROPIC_AUTH_TOKEN=s3cret ANTHROPIC_BASE_URL=http://127.0.0.1:9 PATH=/bin";
    gateway(&claude, &["PATH=/bin"], expected);
    // What is there is replaced.
    let before = ["ANTHROPIC_BASE_URL=other", "ANTHROPIC_AUTH_TOKEN=other"];
    let expected = "| ANTHROPIC_AUTH_TOKEN=s3cret ANTHROPIC_BASE_URL=http://127.0.0.1:9";
    gateway(&claude, &before, expected);
    gateway(&claude, &["CLAUDECODE="], &set("CLAUDECODE"));
    let with_program = claude.clone().with_executable("/opt/claude");
    gateway(
        &with_program,
        &[],
        "| ANTHROPIC_AUTH_TOKEN=s3cret ANTHROPIC_BASE_URL=http://127.0.0.1:9 \
         CLAUDE_CODE_EXECUTABLE=/opt/claude",
    );
    let relative = claude.with_executable("claude");
    let refused = "failed to connect the agent: CLAUDE_CODE_EXECUTABLE is not an absolute path";
    gateway(&relative, &[], refused);
    for (large, small, missing) in [("", "s", "the model"), ("l", "", "the small model")] {
        let claude = ClaudeConnector::new().with_models(large, small);
        let refused = format!("failed to connect the agent: {missing} is not said");
        gateway(&claude, &[], &refused);
    }
}

#[test]
fn sessions_are_set_to_what_was_said() {
    let claude = ClaudeConnector::new()
        .with_models("large", "small")
        .with_effort("high")
        .with_mode("plan");
    let settings = |model| {
        SessionSettings::new()
            .with_model(model, Demand::Require)
            .with_effort("high", Demand::Require)
    };
    let expected = |model| settings(model).with_mode("plan", Demand::Suggest);
    assert_eq!(claude.settings(), expected("large"));
    assert_eq!(claude.small_settings(), expected("small"));
    assert_eq!(ClaudeConnector::new().settings(), SessionSettings::new());
    let codex = CodexConnector::by_variables();
    assert_eq!(codex.settings(), SessionSettings::new());
    let codex = codex.with_model("o").with_effort("high");
    assert_eq!(codex.settings(), settings("o"));
}

#[test]
fn claude_by_itself() {
    let claude = ClaudeConnector::new();
    native(&claude, &["PATH=/bin"], "| PATH=/bin");
    for name in ["CLAUDECODE", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"] {
        native(&claude, &[&format!("{name}=")], &set(name));
    }
    let with_program = claude.with_executable("/opt/claude");
    native(&with_program, &[], "| CLAUDE_CODE_EXECUTABLE=/opt/claude");
}

/// What is said of the proxy, and what Codex may do.
const PROVIDER: &str = "-c model=\"o\\\"1\" -c model_provider=\"acp_proxy\" \
    -c model_providers.acp_proxy.name=\"acp_proxy\" \
    -c model_providers.acp_proxy.base_url=\"http://127.0.0.1:9/v1\" \
    -c model_providers.acp_proxy.env_key=\"ACP_PROXY_TOKEN\" \
    -c model_providers.acp_proxy.wire_api=\"responses\" \
    -c model_providers.acp_proxy.requires_openai_auth=false";
const POSTURE: &str = "-c approval_policy=\"on-request\" -c sandbox_mode=\"workspace-write\" \
    -c sandbox_workspace_write.network_access=false";

#[test]
fn codex_behind_a_proxy() {
    let codex = CodexConnector::by_arguments().with_model("o\"1");
    let expected = format!("{PROVIDER} {POSTURE} | ACP_PROXY_TOKEN=s3cret PATH=/bin");
    gateway(&codex, &["PATH=/bin", "ACP_PROXY_TOKEN=other"], &expected);
    gateway(&codex, &["CODEX_HOME=/x"], &set("CODEX_HOME"));
    let silent = CodexConnector::by_arguments();
    let refused = "failed to connect the agent: the model is not said";
    gateway(&silent, &[], refused);
    let wide = codex.with_posture(Approval::Never, Sandbox::DangerFullAccess, true);
    let expected = format!(
        "{PROVIDER} -c approval_policy=\"never\" -c sandbox_mode=\"danger-full-access\" \
         -c sandbox_workspace_write.network_access=true | ACP_PROXY_TOKEN=s3cret"
    );
    gateway(&wide, &[], &expected);
}

#[test]
fn codex_by_itself() {
    let codex = CodexConnector::by_arguments();
    native(&codex, &["PATH=/bin"], &format!("{POSTURE} | PATH=/bin"));
    for name in ["CODEX_HOME", "ACP_PROXY_TOKEN"] {
        native(&codex, &[&format!("{name}=")], &set(name));
    }
    let half = "failed to connect the agent: a model is said and no effort, or an effort and no \
                model";
    native(&codex.clone().with_model("o"), &[], half);
    native(&codex.clone().with_effort("high"), &[], half);
    let narrow = codex.with_model("o").with_effort("high").with_posture(
        Approval::Untrusted,
        Sandbox::ReadOnly,
        false,
    );
    native(
        &narrow,
        &[],
        "-c approval_policy=\"untrusted\" -c sandbox_mode=\"read-only\" \
         -c sandbox_workspace_write.network_access=false |",
    );
}

#[test]
fn codex_told_by_variables() {
    let told = |launch: &Launch| -> serde_json::Value {
        assert!(launch.args().is_empty());
        let config = launch.environment().get("CODEX_CONFIG").unwrap();
        serde_json::from_str(config.to_str().unwrap()).unwrap()
    };
    let codex = CodexConnector::by_variables();
    let launch = launch(&["CODEX_CONFIG={}", "MODEL_PROVIDER=other"]);
    let alone = codex.configure_native(&launch).unwrap();
    let mut expected = serde_json::json!({
        "approval_policy": "on-request",
        "sandbox_mode": "workspace-write",
        "sandbox_workspace_write": {"network_access": false},
    });
    assert_eq!(told(&alone), expected);
    let codex = codex.with_model("o");
    let behind = codex.configure(&launch, &binding()).unwrap();
    expected["model"] = "o".into();
    expected["model_provider"] = "acp_proxy".into();
    expected["model_providers"]["acp_proxy"] = serde_json::json!({
        "name": "acp_proxy",
        "base_url": "http://127.0.0.1:9/v1",
        "env_key": "ACP_PROXY_TOKEN",
        "wire_api": "responses",
        "requires_openai_auth": false,
    });
    assert_eq!(told(&behind), expected);
    let environment = behind.environment();
    assert_eq!(environment.get("MODEL_PROVIDER").unwrap(), "acp_proxy");
    assert_eq!(environment.get("ACP_PROXY_TOKEN").unwrap(), "s3cret");
}

#[test]
fn gemini_behind_a_proxy() {
    let gemini = GeminiConnector::new();
    let variables = "GEMINI_API_KEY=s3cret";
    let address = "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:9";
    gateway(&gemini, &[], &format!("--own | {variables} {address}"));
    let gemini = gemini.with_model("pro");
    let before = ["GEMINI_API_KEY=other", "GEMINI_MODEL=other"];
    let expected = format!("--own | {variables} GEMINI_MODEL=pro {address}");
    gateway(&gemini, &before, &expected);
}

#[test]
fn what_is_no_launch_and_no_binding() {
    let relative = Launch::new("agent");
    let claude = ClaudeConnector::new().with_models("l", "s");
    let codex = CodexConnector::by_arguments().with_model("o");
    let connectors: [&dyn Connector; 3] = [&claude, &codex, &GeminiConnector::new()];
    for connector in connectors {
        let refused = connector.check(&relative).unwrap_err();
        assert!(matches!(refused, ConnectError::Launch(_)), "{refused}");
        let unfit = ProxyBinding::new("http://a b", Secret::new("s3cret"));
        let refused = connector.configure(&launch(&[]), &unfit).unwrap_err();
        assert!(matches!(refused, ConnectError::Binding { .. }), "{refused}");
    }
    for native in [
        &claude as &dyn NativeConnector,
        &CodexConnector::by_arguments(),
    ] {
        let refused = native.configure_native(&relative).unwrap_err();
        assert!(matches!(refused, ConnectError::Launch(_)), "{refused}");
    }
}
