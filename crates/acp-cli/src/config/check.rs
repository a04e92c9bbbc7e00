//! Properties of every file, for a test over a corpus and the fuzz target.

use std::path::Path;

use super::error::ConfigError;
use super::file::{ConfigScope, Source};
use super::mcp::McpServers;
use super::settings::{Layer, Settings};
use crate::outcome::in_words;

/// Reads a text as the user's own file, and as that of a project that nobody trusts.
///
/// # Panics
///
/// When an error is not one short line, or a project's file allows what the user's does not.
pub(crate) fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let path = Path::new("/p/.acp.toml");
    for scope in [ConfigScope::Global, ConfigScope::Project] {
        let (source, mut document) = match Source::parse(path, scope, text) {
            Ok(read) => read,
            Err(error) => {
                is_told(&error);
                continue;
            }
        };
        if let Some(mcp) = document.mcp.take_if(|_| scope == ConfigScope::Global)
            && let Err(error) = McpServers::default().take(mcp, &source)
        {
            is_told(&error);
        }
        let mut layer = Layer::of_file(&mut document, &source);
        if scope == ConfigScope::Project {
            let user = Layer::default();
            layer.restrict(&user);
            let (alone, both) = (Settings::of(vec![user]), Settings::of(vec![layer]));
            assert!(both.allow.value <= alone.allow.value);
            assert!(both.files.value <= alone.files.value);
            assert!(both.terminals.value <= alone.terminals.value);
        } else {
            Settings::of(vec![layer]).rows();
        }
    }
}

fn is_told(error: &ConfigError) {
    let words = in_words(error);
    assert!(!words.contains(char::is_control), "{words:?}");
    assert!(words.len() < 64 << 10, "{} bytes", words.len());
}
