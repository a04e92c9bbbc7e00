//! What the environment says.

use std::{env, path::PathBuf};

use acp_agent::host::SecretText;

/// What the agent is told when it starts.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the API is, up to `/chat/completions`.
    pub base_url: String,
    /// The key for it. It is never printed.
    pub key: Option<SecretText>,
    /// The models that can be chosen; the first is the default.
    pub models: Vec<String>,
    /// How many tokens the model can read.
    pub context: u64,
    /// The file in which sessions are kept; none keeps them in memory.
    pub store: Option<PathBuf>,
}

/// What is wrong with the environment.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No model is named.
    #[error("set OPENAI_MODEL to the name of a model, or to several with commas between them")]
    NoModel,
    /// The size of the context is no number.
    #[error("set CHAT_AGENT_CONTEXT to a number of tokens")]
    Context,
}

impl Config {
    /// Reads the environment.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] says what to set.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::read(|name| env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let base_url = get("OPENAI_BASE_URL");
        let base_url = base_url.unwrap_or_else(|| "https://api.openai.com/v1".to_owned());
        let models = get("OPENAI_MODEL").unwrap_or_default();
        let models: Vec<_> = models
            .split(',')
            .map(|model| model.trim().to_owned())
            .filter(|model| !model.is_empty())
            .collect();
        if models.is_empty() {
            return Err(ConfigError::NoModel);
        }
        let context = get("CHAT_AGENT_CONTEXT").map(|tokens| tokens.parse());
        let context = context.transpose().map_err(|_| ConfigError::Context)?;
        Ok(Self {
            base_url: base_url.trim_end_matches('/').to_owned(),
            key: get("OPENAI_API_KEY").map(SecretText::new),
            models,
            context: context.unwrap_or(128_000),
            store: get("CHAT_AGENT_STORE").map(PathBuf::from),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::read(|name| {
            let found = values.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_model_is_enough() {
        let config = read(&[("OPENAI_MODEL", "small, large")]).unwrap();
        assert_eq!(config.models, ["small", "large"]);
        assert_eq!(config.base_url, "https://api.openai.com/v1");
        assert!(config.key.is_none());
        assert!(matches!(read(&[]), Err(ConfigError::NoModel)));
        let odd = read(&[("OPENAI_MODEL", "small"), ("CHAT_AGENT_CONTEXT", "much")]);
        assert!(matches!(odd, Err(ConfigError::Context)));
    }

    #[test]
    fn the_key_is_not_printed() {
        let config = read(&[("OPENAI_MODEL", "small"), ("OPENAI_API_KEY", "canary")]).unwrap();
        assert!(!format!("{config:?}").contains("canary"));
    }
}
