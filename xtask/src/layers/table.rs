//! The tables of the root manifest.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;

/// What the root manifest says about the crates of the workspace.
#[derive(Debug, Deserialize)]
pub(super) struct Tables {
    /// One row a crate.
    pub(super) layers: BTreeMap<String, Row>,
    /// Which crates stay free of runtimes.
    pub(super) pure: Pure,
    /// Which public types may share a name.
    #[serde(default)]
    pub(super) names: Names,
}

/// Exceptions from the rule that a public type name is unique in the workspace.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Names {
    /// Names that several types have on purpose, each with its reason.
    #[serde(default)]
    pub(super) shared: BTreeMap<String, String>,
}

/// Whom a crate may use, and by whom it may be used.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Row {
    /// Crates of the workspace that it may use.
    pub(super) uses: BTreeSet<String>,
    /// Crates of the workspace that its tests, benches and examples may use besides.
    #[serde(default)]
    pub(super) dev: BTreeSet<String>,
    /// The only crates that may use it; absent, any may whose row grants it.
    pub(super) used_by: Option<BTreeSet<String>>,
}

/// The crates under which some packages may not appear, however deep.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Pure {
    /// The crates that are kept pure.
    pub(super) crates: BTreeSet<String>,
    /// Packages that may not appear under them as normal or build dependency.
    pub(super) forbidden: BTreeSet<String>,
    /// Packages that may not appear under their tests either.
    pub(super) forbidden_in_tests: BTreeSet<String>,
}

impl Tables {
    /// Reads the tables from the `workspace.metadata` of the root manifest.
    ///
    /// # Errors
    ///
    /// Fails when a table is missing or holds something unknown.
    pub(super) fn from_metadata(metadata: &serde_json::Value) -> Result<Self> {
        Self::deserialize(metadata).context(
            "failed to read [workspace.metadata.layers] and [workspace.metadata.pure] of the root manifest",
        )
    }
}
