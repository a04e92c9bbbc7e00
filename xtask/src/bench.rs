//! `cargo xtask bench`: our examples under a neutral load generator.
//!
//! The generator is not part of the workspace, so that it cannot lean our way: it is a
//! folder with a `run.sh`, which plays the other side of each workload and checks every
//! count. It is copied, since its place may be read-only.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::steps::Steps;
use crate::workspace::{cargo, root, target};

/// What `cargo xtask bench` can be told.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How often each workload runs with each peer; medians are reported.
    #[arg(long, default_value_t = 5, value_name = "N")]
    reps: u32,
    /// Workloads to run, such as `agent.stream,client.stream` [default: all].
    #[arg(long, value_name = "LIST")]
    workloads: Option<String>,
    /// Peers to measure beside ours in the same run, or `all`; most of `all` need npm and Python.
    #[arg(long, default_value = FLOORS, value_name = "LIST")]
    peers: String,
    /// The folder of the load generator [default: ../shared/bench].
    #[arg(long, env = "ACP_BENCH_DIR", value_name = "DIR")]
    generator: Option<PathBuf>,
}

/// The peers that do the least that can be done: what ours are measured against.
const FLOORS: &str = "floor-raw,floor-flush,floor-serde,floor-owned,floor-tokio-mt-one";

/// The name of ours in the tables.
const OURS: &str = "ours";

/// Peers that `cargo build` alone does not make.
const SLOW_TO_INSTALL: [&str; 2] = ["ts", "python"];

/// Builds our examples and the generator, runs the workloads, and prints the tables.
///
/// # Errors
///
/// Fails when the generator is not there, or a build or a run fails.
pub(crate) fn run(args: &Args) -> Result<()> {
    let source = args.generator.clone();
    let source = source.unwrap_or_else(|| root().join("../shared/bench"));
    ensure!(
        source.join("run.sh").is_file(),
        "{} holds no load generator; say with ACP_BENCH_DIR or --generator where it is",
        source.display()
    );
    let folder =
        std::path::absolute(target().join("bench")).context("failed to find the target folder")?;
    copy(&source, &folder)?;

    let mut steps = Steps::new();
    for (package, example) in [("acp-agent", "bench_agent"), ("acp-client", "bench_client")] {
        let mut build = cargo(["build", "--release", "--package", package]);
        steps.run("our example", build.args(["--example", example]))?;
    }
    let mut run = Command::new(folder.join("run.sh"));
    run.current_dir(&folder).env_remove("CARGO_TARGET_DIR");
    if needs_no_installation(&args.peers) {
        let mut build = cargo(["build", "--release"]);
        build.current_dir(&folder).env_remove("CARGO_TARGET_DIR");
        steps.run("load generator", &mut build)?;
        run.env("SKIP_BUILD", "1");
    }
    let examples = target().join("release/examples");
    for (role, example) in [("--agent", "bench_agent"), ("--client", "bench_client")] {
        let program = examples.join(example);
        run.arg(role).arg(format!("{OURS}={}", program.display()));
    }
    run.args(["--reps", &args.reps.to_string(), "--out", "ours"]);
    if args.peers != "all" {
        run.args(["--peers", &format!("{},{OURS}", args.peers)]);
    }
    if let Some(workloads) = &args.workloads {
        run.args(["--workloads", workloads]);
    }
    steps.run("workloads", &mut run)?;
    println!("the tables are in {}", folder.join("ours.md").display());
    Ok(())
}

fn needs_no_installation(peers: &str) -> bool {
    peers != "all" && !peers.split(',').any(|peer| SLOW_TO_INSTALL.contains(&peer))
}

/// Copies a folder over another: only files that differ, so that what was built stays built.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("failed to make {}", to.display()))?;
    let entries =
        fs::read_dir(from).with_context(|| format!("failed to list {}", from.display()))?;
    for entry in entries {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let built = ["target", "node_modules", ".venv"].map(Into::into);
        if built.contains(&entry.file_name()) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy(&from, &to)?;
            continue;
        }
        let text = fs::read(&from).with_context(|| format!("failed to read {}", from.display()))?;
        if fs::read(&to).ok().as_ref() != Some(&text) {
            fs::write(&to, text).with_context(|| format!("failed to write {}", to.display()))?;
            make_writable(&from, &to)?;
        }
    }
    Ok(())
}

/// Keeps the right to execute, and adds the right to write.
#[cfg(unix)]
fn make_writable(from: &Path, to: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(from)?.permissions().mode();
    Ok(fs::set_permissions(
        to,
        fs::Permissions::from_mode(mode | 0o600),
    )?)
}

#[cfg(not(unix))]
fn make_writable(_from: &Path, _to: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(folder: &Path) -> Args {
        Args {
            reps: 1,
            workloads: None,
            peers: FLOORS.to_owned(),
            generator: Some(folder.to_path_buf()),
        }
    }

    #[test]
    fn a_missing_generator_is_named() {
        let error = run(&args(Path::new("/nowhere"))).expect_err("there is no generator");
        let expected =
            "/nowhere holds no load generator; say with ACP_BENCH_DIR or --generator where it is";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn what_needs_npm_or_python_is_built_by_the_generator_itself() {
        assert!(needs_no_installation(FLOORS));
        assert!(!needs_no_installation("floor-raw,ts"));
        assert!(!needs_no_installation("all"));
    }

    #[cfg(unix)]
    #[test]
    fn a_copy_is_writable_and_keeps_what_was_built() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("make a folder");
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("peers")).expect("make a folder");
        fs::write(from.join("run.sh"), "one").expect("write a file");
        fs::write(from.join("peers/a.rs"), "a").expect("write a file");
        let read_only = fs::Permissions::from_mode(0o555);
        fs::set_permissions(from.join("run.sh"), read_only).expect("make it read-only");
        fs::create_dir_all(to.join("target")).expect("make a folder");
        fs::write(to.join("target/built"), "").expect("write a file");

        copy(&from, &to).expect("copy the folder");
        let run = to.join("run.sh");
        let mode = fs::metadata(&run)
            .expect("it was copied")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o755);
        assert_eq!(
            fs::read_to_string(to.join("peers/a.rs")).expect("it was copied"),
            "a"
        );
        assert!(to.join("target/built").exists());

        let written = fs::metadata(&run).and_then(|data| data.modified());
        copy(&from, &to).expect("copy it again");
        let again = fs::metadata(&run).and_then(|data| data.modified());
        assert_eq!(again.expect("a time"), written.expect("a time"));
    }
}
