//! Known vulnerabilities among the dependencies, where a database of advisories can be had.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::steps::Steps;
use crate::workspace::{cargo, root, target};

/// Names the folder that databases were cloned into.
const VARIABLE: &str = "ACP_ADVISORY_DB";

/// Checks the dependencies against the advisories, without a network. `.ci/run` fetches them
/// before; without any this is skipped, and says so loudly.
///
/// # Errors
///
/// Fails when a dependency has a known vulnerability, or the folder that the variable names
/// holds no database.
pub(crate) fn run(steps: &mut Steps) -> Result<()> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let Some(folder) = database(env::var_os(VARIABLE), home.as_deref())? else {
        eprintln!(
            "!!! SKIPPED: advisories: no database; `cargo deny fetch db` gets one, or {VARIABLE} names its folder"
        );
        return Ok(());
    };
    let config = target().join("deny-advisories.toml");
    let text = fs::read_to_string(root().join("deny.toml")).context("failed to read deny.toml")?;
    fs::write(&config, with_database(&text, &folder)?)
        .with_context(|| format!("failed to write {}", config.display()))?;
    let mut check = cargo("deny --workspace --locked check");
    check.arg("--config").arg(&config);
    check.args(["--disable-fetch", "--hide-inclusion-graph", "advisories"]);
    steps.run("advisories", &mut check)
}

/// Finds the folder that databases were cloned into; `None` where there is none.
fn database(named: Option<OsString>, cargo_home: Option<&Path>) -> Result<Option<PathBuf>> {
    if let Some(folder) = named.filter(|named| !named.is_empty()).map(PathBuf::from) {
        ensure!(
            folder.is_absolute() && holds_database(&folder),
            "{VARIABLE} has to be the absolute path of a folder with a database in a folder: {} is not",
            folder.display()
        );
        return Ok(Some(folder));
    }
    let folder = cargo_home.map(|home| home.join("advisory-dbs"));
    Ok(folder.filter(|folder| holds_database(folder)))
}

/// Tells whether a folder holds a folder with advisories on crates.
fn holds_database(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .into_iter()
        .any(|entry| entry.path().join("crates").is_dir())
}

/// Names the folder in the section of the configuration that is for it.
fn with_database(config: &str, folder: &Path) -> Result<String> {
    const SECTION: &str = "[advisories]\n";
    ensure!(
        config.contains(SECTION),
        "deny.toml has no section [advisories]"
    );
    // A string of JSON is one of TOML too.
    let folder = serde_json::Value::from(folder.to_string_lossy().into_owned());
    Ok(config.replacen(SECTION, &format!("{SECTION}db-path = {folder}\n"), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_found_where_it_is_named_or_where_cargo_deny_keeps_it() {
        let home = tempfile::tempdir().expect("make a folder");
        let found = |named: Option<&Path>| {
            let named = named.map(|path| path.as_os_str().to_owned());
            database(named, Some(home.path()))
        };
        assert_eq!(found(None).expect("none is no error"), None);
        let folder = home.path().join("advisory-dbs");
        fs::create_dir_all(folder.join("advisory-db-1")).expect("make a folder");
        assert_eq!(found(None).expect("none is no error"), None, "it is empty");
        assert!(found(Some(&folder)).is_err(), "it was named and is empty");
        fs::create_dir_all(folder.join("advisory-db-1/crates/x")).expect("make a folder");
        assert_eq!(found(None).expect("it is there"), Some(folder.clone()));
        assert_eq!(found(Some(&folder)).expect("it is there"), Some(folder));
        assert!(
            found(Some(Path::new("advisory-dbs"))).is_err(),
            "not absolute"
        );
    }

    #[test]
    fn the_configuration_names_the_database() {
        let text = fs::read_to_string(root().join("deny.toml")).expect("it can be read");
        let config = with_database(&text, Path::new("/srv/a \"b\"")).expect("there is a section");
        let config: toml::Table = config.parse().expect("it is TOML");
        let path = config["advisories"]["db-path"].as_str();
        assert_eq!(path, Some("/srv/a \"b\""));
        assert!(with_database("[bans]\n", Path::new("/x")).is_err());
    }
}
