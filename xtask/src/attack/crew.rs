//! Several attacks at a time, each in a process of its own: what belongs to an attack is told by
//! what stands below the process that tries it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, ensure};

use super::definition::Attack;
use super::table::{Row, Table};

/// Tries attacks, so many at a time; the table has them in their order.
///
/// # Errors
///
/// Fails when one of them cannot be tried.
pub(super) fn attempt_all(attacks: &[Attack], acp: &Path, jobs: usize) -> Result<Table> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, Row)>> {
        let mut rows = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(attack) = attacks.get(at) else {
                return Ok(rows);
            };
            rows.push((at, attempt(attack, acp)?));
        }
    };
    let rows = thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        let rows = workers.into_iter().map(|worker| {
            let rows = worker.join();
            rows.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        rows.collect::<Result<Vec<_>>>()
    });
    let mut rows: Vec<_> = rows?.into_iter().flatten().collect();
    rows.sort_by_key(|(at, _)| *at);
    Ok(Table(rows.into_iter().map(|(_, row)| row).collect()))
}

/// Tries one in a process of its own, which shows the row on stderr as we would.
fn attempt(attack: &Attack, acp: &Path) -> Result<Row> {
    let own = std::env::current_exe().context("failed to find this program")?;
    let output = Command::new(own)
        .args(["attack", "--row-of", &attack.name, "--acp"])
        .arg(acp)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("failed to start a process for an attack")?;
    ensure!(
        output.status.success(),
        "attack {} cannot be tried: it ended with {}",
        attack.name,
        output.status
    );
    let table: Table =
        serde_json::from_slice(&output.stdout).context("failed to read the row of an attack")?;
    let mut rows = table.0.into_iter();
    let row = rows.next().filter(|row| row.name == attack.name);
    row.context("the row is of another attack")
}
