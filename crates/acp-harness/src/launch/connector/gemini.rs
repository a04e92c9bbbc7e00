//! Gemini.

use acp_process::Launch;

use super::{ConnectError, Connector, bound, overlaid};
use crate::launch::{EnvOverlay, ProxyBinding};

/// Connects Gemini, by its environment alone: its arguments stay as they are.
///
/// There is no setting of its sessions by it: that it obeys was never shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeminiConnector {
    model: String,
}

impl GeminiConnector {
    /// Leaves the model as it is.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says the model.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
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
