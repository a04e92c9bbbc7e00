//! Each rule is broken once, in a small workspace of its own; and ours keeps them all.

use std::fs;
use std::path::Path;

use super::{check, metadata};
use crate::workspace;

/// The tables of the small workspace; [`Sample`] plants one fault at a time.
const TABLES: &str = r#"
[workspace.metadata.layers]
core = { uses = [] }
host = { uses = [], used-by = ["agent"] }
agent = { uses = ["core", "host"] }
client = { uses = ["core"], dev = ["agent"] }

[workspace.metadata.pure]
crates = ["core", "host"]
forbidden = ["runtime", "system"]
forbidden-in-tests = ["runtime"]
"#;

/// A small workspace: four crates, and three packages from outside.
struct Sample {
    tables: String,
    crates: Vec<(&'static str, String)>,
}

impl Sample {
    fn new() -> Self {
        let sample = Self {
            tables: TABLES.to_owned(),
            crates: vec![
                ("core", String::new()),
                ("host", String::new()),
                ("agent", String::new()),
                ("client", String::new()),
            ],
        };
        sample
            .depend("agent", "dependencies", "core")
            .depend("agent", "dependencies", "host")
            .depend("client", "dependencies", "core")
            .depend("client", "dev-dependencies", "agent")
    }

    fn table(mut self, from: &str, to: &str) -> Self {
        assert!(self.tables.contains(from), "the tables hold {from}");
        self.tables = self.tables.replace(from, to);
        self
    }

    fn with_crate(mut self, name: &'static str) -> Self {
        self.crates.push((name, String::new()));
        self
    }

    /// Adds a dependency on another crate of the workspace.
    fn depend(self, name: &str, table: &str, on: &str) -> Self {
        self.line(
            name,
            &format!("[{table}.{on}]\npath = \"../{on}\"\nversion = \"1.0.0\""),
        )
    }

    /// Adds a dependency on a package from outside.
    fn depend_outside(self, name: &str, table: &str, on: &str) -> Self {
        self.line(
            name,
            &format!("[{table}.{on}]\npath = \"../../outside/{on}\""),
        )
    }

    fn line(mut self, name: &str, line: &str) -> Self {
        let found = self.crates.iter_mut().find(|(other, _)| *other == name);
        let (_, manifest) = found.expect("the sample has this crate");
        manifest.push_str(line);
        manifest.push('\n');
        self
    }

    /// Writes the workspace, asks cargo about it, and checks what is found.
    #[track_caller]
    fn check(self, expected: &[&str]) {
        let folder = tempfile::tempdir().expect("make a folder");
        let root = folder.path();
        let tables = &self.tables;
        write(
            &root.join("Cargo.toml"),
            &format!(
                "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\nexclude = [\"outside\"]\n{tables}"
            ),
        );
        for (name, manifest) in &self.crates {
            package(&root.join("crates").join(name), name, manifest);
        }
        package(&root.join("outside/runtime"), "runtime", "");
        package(&root.join("outside/system"), "system", "");
        let through = "[dependencies]\nruntime = { path = \"../runtime\" }\nsystem = { path = \"../system\" }";
        package(&root.join("outside/through"), "through", through);

        let metadata = metadata(root).expect("cargo knows the sample");
        let found = check::violations(&metadata).expect("the tables can be read");
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }
}

fn package(folder: &Path, name: &str, manifest: &str) {
    write(
        &folder.join("Cargo.toml"),
        &format!(
            "[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n{manifest}"
        ),
    );
    write(&folder.join("src/lib.rs"), "");
}

fn write(path: &Path, text: &str) {
    let folder = path.parent().expect("the path has a folder");
    fs::create_dir_all(folder).expect("make the folder");
    fs::write(path, text).expect("write the file");
}

#[test]
fn this_workspace_keeps_the_rules() {
    let (report, faults) = super::check_all(&workspace::root()).expect("it can be read");
    assert!(faults.is_empty(), "{report}\n{faults:#?}");
}

#[test]
fn a_workspace_that_keeps_the_rules_passes() {
    Sample::new().check(&[]);
}

#[test]
fn a_crate_needs_a_row() {
    Sample::new()
        .with_crate("extra")
        .depend("extra", "dependencies", "core")
        .check(&["extra has no row: add `extra = { uses = [] }` to [workspace.metadata.layers]"]);
}

#[test]
fn a_row_needs_a_crate() {
    Sample::new()
        .table(
            "client = { uses = [\"core\"]",
            "ghost = { uses = [] }\nclient = { uses = [\"core\", \"spectre\"]",
        )
        .table(
            "[\"core\", \"host\"]\nforbidden",
            "[\"core\", \"host\", \"shade\"]\nforbidden",
        )
        .check(&[
            "ghost, named in a row of [workspace.metadata.layers], is no crate of the workspace",
            "shade, named in `crates` of [workspace.metadata.pure], is no crate of the workspace",
            "spectre, named in `uses` of the row client, is no crate of the workspace",
        ]);
}

#[test]
fn a_dependency_needs_a_grant() {
    Sample::new()
        .depend("host", "dependencies", "core")
        .check(&["host -> core (dependency) is forbidden: its row grants nothing"]);
}

#[test]
fn a_build_dependency_needs_a_grant() {
    Sample::new()
        .depend("client", "build-dependencies", "agent")
        .check(&["client -> agent (build-dependency) is forbidden: its row grants only core"]);
}

#[test]
fn a_dev_grant_covers_tests_alone() {
    Sample::new()
        .depend("client", "dependencies", "agent")
        .check(&["client -> agent (dependency) is forbidden: its row grants only core"]);
}

#[test]
fn a_dev_dependency_needs_a_grant() {
    Sample::new()
        .table(", dev = [\"agent\"]", "")
        .check(&["client -> agent (dev-dependency) is forbidden: its row grants only core"]);
}

#[test]
fn an_optional_dependency_of_another_platform_counts() {
    Sample::new()
        .line(
            "agent",
            "[target.'cfg(windows)'.dependencies.inner]\npackage = \"client\"\npath = \"../client\"\nversion = \"1.0.0\"\noptional = true",
        )
        .check(&["agent -> client (dependency) is forbidden: its row grants only core, host"]);
}

#[test]
fn a_reserved_crate_is_used_by_its_owner_alone() {
    Sample::new()
        .depend("client", "dev-dependencies", "host")
        .check(&[
            "client -> host (dev-dependency) is forbidden: its row grants only core, agent",
            "client -> host (dev-dependency) is forbidden: host may be used by agent alone",
        ]);
}

#[test]
fn a_row_cannot_grant_a_reserved_crate() {
    Sample::new()
        .table(
            "client = { uses = [\"core\"]",
            "client = { uses = [\"core\", \"host\"]",
        )
        .check(&["the row client grants host, whose `used-by` does not name client"]);
}

#[test]
fn no_runtime_under_a_pure_crate() {
    Sample::new()
        .depend_outside("core", "dependencies", "through")
        .check(&[
            "core must stay pure, but it reaches a forbidden package: core -> through -> runtime",
            "core must stay pure, but it reaches a forbidden package: core -> through -> system",
        ]);
}

#[test]
fn no_runtime_under_the_build_script_of_a_pure_crate() {
    Sample::new()
        .depend_outside("host", "build-dependencies", "system")
        .check(&["host must stay pure, but it reaches a forbidden package: host -> system"]);
}

#[test]
fn the_tests_of_a_pure_crate_may_use_the_system_and_no_runtime() {
    Sample::new()
        .depend_outside("core", "dev-dependencies", "through")
        .check(&[
            "core and its tests must stay pure, but it reaches a forbidden package: core -> through -> runtime",
        ]);
}

#[test]
fn a_crate_that_is_not_pure_may_use_a_runtime() {
    Sample::new()
        .depend_outside("agent", "dependencies", "through")
        .check(&[]);
}

#[test]
fn an_unknown_key_is_an_error() {
    let tables = serde_json::json!({
        "layers": {"core": {"uses": [], "tests": ["agent"]}},
        "pure": {"crates": [], "forbidden": [], "forbidden-in-tests": []},
    });
    let error = super::table::Tables::from_metadata(&tables).expect_err("`tests` is no column");
    assert!(
        format!("{error:#}").contains("unknown field `tests`"),
        "{error:#}"
    );
}
