//! Codex's adapter.

use acp_process::Launch;
use derive_setters::Setters;
use serde_json::Value;

use super::{ConnectError, Connector, NativeConnector, bound, overlaid};
use crate::launch::{EnvOverlay, ProxyBinding};
use crate::model::{Demand, SessionSettings};

/// Connects Codex's adapter, started by its own program: its arguments are replaced.
///
/// What it may do is always said: it asks when it sees fit, changes files of the
/// workspace alone, and reaches no network, if nothing else is wanted.
#[derive(Setters, Clone, Debug, PartialEq, Eq)]
#[setters(generate = false, prefix = "with_")]
pub struct CodexConnector {
    /// Says the model.
    #[setters(generate, into)]
    model: String,
    /// Says how much the model thinks.
    #[setters(generate, into)]
    effort: String,
    approval: Approval,
    sandbox: Sandbox,
    network: bool,
    by: ConfigBy,
}

/// When Codex asks for approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// For all but what is known to be harmless.
    Untrusted,
    /// When it sees fit.
    #[default]
    OnRequest,
    /// Never: what it may not do fails.
    Never,
}

/// What Codex may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sandbox {
    /// Nothing.
    ReadOnly,
    /// Files of the workspace.
    #[default]
    WorkspaceWrite,
    /// Everything. For who runs it in a sandbox of their own.
    DangerFullAccess,
}

/// How Codex's adapter is told its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConfigBy {
    Arguments,
    Variables,
}

/// The name under which Codex knows the proxy.
const PROVIDER: &str = "acp_proxy";
/// The variable that holds the token, and nothing else does.
const TOKEN: &str = "ACP_PROXY_TOKEN";
/// Leads to settings and logins of somebody else.
const HOME: &str = "CODEX_HOME";

/// SessionSettings of Codex, in the order in which they are told.
type Pairs = Vec<(Vec<&'static str>, Value)>;

impl CodexConnector {
    /// Tells an adapter that hands its arguments to Codex: `-c key=value` for each setting,
    /// always in the same order.
    #[must_use]
    pub fn by_arguments() -> Self {
        Self::by(ConfigBy::Arguments)
    }

    /// Tells an adapter that takes no arguments, such as 2.6.0, the one of the built-in
    /// table: by the variables `CODEX_CONFIG` and `MODEL_PROVIDER`.
    #[must_use]
    pub fn by_variables() -> Self {
        Self::by(ConfigBy::Variables)
    }

    /// Says when it asks, what it may change, and whether what it runs reaches a network.
    #[must_use]
    pub fn with_posture(mut self, approval: Approval, sandbox: Sandbox, network: bool) -> Self {
        self.approval = approval;
        self.sandbox = sandbox;
        self.network = network;
        self
    }

    /// Returns what a session is set to. What was not said is left as it is.
    #[must_use]
    pub fn settings(&self) -> SessionSettings {
        SessionSettings::new()
            .with_model(&*self.model, Demand::Require)
            .with_effort(&*self.effort, Demand::Require)
    }

    fn by(by: ConfigBy) -> Self {
        Self {
            model: String::new(),
            effort: String::new(),
            approval: Approval::default(),
            sandbox: Sandbox::default(),
            network: false,
            by,
        }
    }

    fn provider(&self, binding: &ProxyBinding) -> Pairs {
        let of_provider = |key| vec!["model_providers", PROVIDER, key];
        vec![
            (vec!["model"], self.model.as_str().into()),
            (vec!["model_provider"], PROVIDER.into()),
            // A provider without a name is refused by Codex.
            (of_provider("name"), PROVIDER.into()),
            (
                of_provider("base_url"),
                format!("{}/v1", binding.root()).into(),
            ),
            (of_provider("env_key"), TOKEN.into()),
            (of_provider("wire_api"), "responses".into()),
            (of_provider("requires_openai_auth"), false.into()),
        ]
    }

    fn posture(&self) -> Pairs {
        vec![
            (vec!["approval_policy"], self.approval.name().into()),
            (vec!["sandbox_mode"], self.sandbox.name().into()),
            (
                vec!["sandbox_workspace_write", "network_access"],
                self.network.into(),
            ),
        ]
    }

    /// Lays the variables that tell these settings over others.
    fn variables(&self, overlay: EnvOverlay, pairs: &Pairs) -> EnvOverlay {
        match self.by {
            ConfigBy::Arguments => overlay,
            ConfigBy::Variables => overlay.with("CODEX_CONFIG", nested(pairs).to_string()),
        }
    }

    fn arguments(&self, pairs: &Pairs) -> Vec<String> {
        let told = match self.by {
            ConfigBy::Arguments => pairs.as_slice(),
            ConfigBy::Variables => &[],
        };
        // Texts and truth values are written alike in JSON and in what Codex reads.
        told.iter()
            .flat_map(|(key, value)| ["-c".to_owned(), format!("{}={value}", key.join("."))])
            .collect()
    }
}

impl Connector for CodexConnector {
    fn check(&self, launch: &Launch) -> Result<(), ConnectError> {
        if self.model.is_empty() {
            return Err(ConnectError::Missing { what: "the model" });
        }
        overlaid(launch, &EnvOverlay::new().forbidding(HOME)).map(drop)
    }

    fn configure(&self, launch: &Launch, binding: &ProxyBinding) -> Result<Launch, ConnectError> {
        self.check(launch)?;
        let mut pairs = self.provider(binding);
        pairs.extend(self.posture());
        let mut overlay = EnvOverlay::new()
            .forbidding(HOME)
            .with_secret(TOKEN, binding.token.clone());
        if self.by == ConfigBy::Variables {
            overlay = overlay.with("MODEL_PROVIDER", PROVIDER);
        }
        let launch = bound(launch, &self.variables(overlay, &pairs), binding)?;
        Ok(launch.without_args().with_args(self.arguments(&pairs)))
    }
}

impl NativeConnector for CodexConnector {
    fn configure_native(&self, launch: &Launch) -> Result<Launch, ConnectError> {
        if self.model.is_empty() != self.effort.is_empty() {
            return Err(ConnectError::HalfAPair);
        }
        let pairs = self.posture();
        let overlay = EnvOverlay::new().forbidding(HOME).forbidding(TOKEN);
        let launch = overlaid(launch, &self.variables(overlay, &pairs))?;
        Ok(launch.without_args().with_args(self.arguments(&pairs)))
    }
}

impl Approval {
    fn name(self) -> &'static str {
        match self {
            Self::Untrusted => "untrusted",
            Self::OnRequest => "on-request",
            Self::Never => "never",
        }
    }
}

impl Sandbox {
    fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::DangerFullAccess => "danger-full-access",
        }
    }
}

/// Makes one object of settings.
fn nested(pairs: &Pairs) -> Value {
    let mut root = Value::Null;
    for (key, value) in pairs {
        // What is not there is made by looking for it.
        let at = key.iter().fold(&mut root, |at, name| &mut at[*name]);
        *at = value.clone();
    }
    root
}
