//! Gemini.

use acp_process::Launch;
use derive_setters::Setters;

use super::{ConnectError, Connector, bound, overlaid};
use crate::launch::{EnvOverlay, ProxyBinding};

/// Connects Gemini, by its environment alone: its arguments stay as they are.
///
/// There is no setting of its sessions by it: that it obeys was never shown.
#[derive(Setters, Clone, Debug, Default, PartialEq, Eq)]
#[setters(generate = false, prefix = "with_")]
pub struct GeminiConnector {
    /// Says the model.
    #[setters(generate, into)]
    model: String,
}

impl GeminiConnector {
    /// Leaves the model as it is.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Connector for GeminiConnector {
    fn check(&self, launch: &Launch) -> Result<(), ConnectError> {
        overlaid(launch, &EnvOverlay::new()).map(drop)
    }

    fn configure(&self, launch: &Launch, binding: &ProxyBinding) -> Result<Launch, ConnectError> {
        let mut overlay = EnvOverlay::new()
            .with("GOOGLE_GEMINI_BASE_URL", binding.root())
            .with_secret("GEMINI_API_KEY", binding.token.clone());
        if !self.model.is_empty() {
            overlay = overlay.with("GEMINI_MODEL", &self.model);
        }
        bound(launch, &overlay, binding)
    }
}
