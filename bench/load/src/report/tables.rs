//! Tables of numbers.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;

use super::{Build, Instructions, Micro};
use crate::sample::Sample;
use crate::suite::Results;

/// Tells where and when.
pub(super) fn machine(results: &Results) -> String {
    let machine = &results.machine;
    format!(
        "\n{}, {} processors ({}), {}, {}; medians of {} runs each, load {:.1} at the beginning.\n",
        machine.date,
        machine.processors,
        machine.processor,
        machine.system,
        machine.compiler,
        results.reps,
        machine.load,
    )
}

/// Columns and targets of the page, read from `page.json`.
#[derive(Deserialize)]
struct Page {
    workloads: Vec<Shown>,
    targets: Vec<Target>,
}

/// The columns of a workload, or of its form for one role.
#[derive(Deserialize)]
struct Shown {
    race: String,
    meaning: String,
    /// Names of numbers, with what they are.
    columns: Vec<(String, String)>,
}

/// What is wanted of a number: at most so much, at most so many times a floor, and so
/// many times better than the official SDK as it comes.
#[derive(Deserialize)]
struct Target {
    race: String,
    number: String,
    what: String,
    at_most: Option<f64>,
    floor: Option<(String, f64)>,
    official: Option<f64>,
}

fn page() -> Page {
    serde_json::from_str(include_str!("page.json")).expect("a test reads it")
}

/// Compares what was measured with what is wanted.
pub(super) fn targets(results: &Results) -> String {
    let mut text = String::from(
        "\n## Targets\n\nRatios are of this run. A target that is missed says so.\n\n\
         | workload | ours | at most | times the floor | times better than `official` | than `official-tuned` |\n\
         |---|---|---|---|---|---|\n",
    );
    for target in page().targets {
        let Some(peers) = results.medians.get(&target.race) else {
            continue;
        };
        let of = |peer: &str| peers.get(peer)?.get(&target.number).copied();
        let Some(ours) = of("ours") else { continue };
        let limit = target.at_most.map_or("".to_owned(), |limit| {
            format!("{}{}", number(limit), missed(ours > limit))
        });
        let floor = target.floor.and_then(|(floor, limit)| {
            let ratio = ours / of(&floor)?;
            Some(format!("{ratio:.2} (≤ {limit}){}", missed(ratio > limit)))
        });
        let better = |peer: &str| Some(of(peer)? / ours);
        let official = better("official").map(|ratio| match target.official {
            Some(wanted) => format!("{ratio:.1} (≥ {wanted}){}", missed(ratio < wanted)),
            None => format!("{ratio:.1}"),
        });
        let tuned = better("official-tuned").map(|ratio| format!("{ratio:.1}"));
        let _ = writeln!(
            text,
            "| {} | {} {} | {limit} | {} | {} | {} |",
            target.race,
            number(ours),
            target.what,
            floor.unwrap_or_default(),
            official.unwrap_or_default(),
            tuned.unwrap_or_default(),
        );
    }
    text
}

fn missed(missed: bool) -> &'static str {
    if missed { " **missed**" } else { "" }
}

/// Every number of every peer.
pub(super) fn workloads(results: &Results) -> String {
    let mut text = String::from("\n## Workloads\n");
    let page = page();
    for (race, peers) in &results.medians {
        let workload = race.split_once('.').unwrap_or_default().1;
        let mut shown = page.workloads.iter();
        let shown = shown.find(|shown| shown.race == *race || shown.race == workload);
        let Some(Shown {
            meaning, columns, ..
        }) = shown
        else {
            continue;
        };
        let titles: Vec<&str> = columns.iter().map(|(_, title)| title.as_str()).collect();
        let _ = write!(
            text,
            "\n### {race}\n\n{meaning}\n\n| | {} |\n|---|{}\n",
            titles.join(" | "),
            "---|".repeat(columns.len()),
        );
        for (peer, sample) in ordered(peers) {
            let cells = columns
                .iter()
                .map(|(name, _)| sample.get(name).copied().map(number).unwrap_or_default());
            let cells: Vec<String> = cells.collect();
            let _ = writeln!(text, "| {peer} | {} |", cells.join(" | "));
        }
    }
    text
}

/// The floors first, then ours, then others.
fn ordered(peers: &BTreeMap<String, Sample>) -> Vec<(&String, &Sample)> {
    let mut all: Vec<_> = peers.iter().collect();
    all.sort_by_key(|(name, _)| match name.as_str() {
        "floor-raw" => 0,
        "floor-serde" => 1,
        "ours" => 2,
        _ => 3,
    });
    all
}

/// How many instructions the hot paths take.
pub(super) fn instructions(all: &[Instructions]) -> String {
    let mut text = String::from(
        "\n## Instructions\n\nCounted by callgrind, of the whole program: the difference of two runs, \
         so the start is not in it. `cargo xtask bench instructions` compares, and fails when one is a quarter over.\n\n\
         | what | instructions |\n|---|---|\n",
    );
    for counted in all {
        let _ = writeln!(
            text,
            "| {} | {} |",
            counted.what,
            number(counted.instructions)
        );
    }
    text
}

/// The small benchmarks.
pub(super) fn micro(all: &[Micro]) -> String {
    let mut text = String::from(
        "\n## Parts\n\n`cargo xtask bench micro`, by criterion: the middle of the estimated mean.\n\n\
         | what | time | rate |\n|---|---|---|\n",
    );
    for part in all {
        let rate = part.bytes.map_or(String::new(), |bytes| {
            format!("{} MB/s", number(bytes / part.nanoseconds * 1e3))
        });
        let _ = writeln!(
            text,
            "| {} | {} | {rate} |",
            part.name,
            time(part.nanoseconds)
        );
    }
    text
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        short if short < 1e3 => format!("{} ns", number(short)),
        middle if middle < 1e6 => format!("{} µs", number(middle / 1e3)),
        long => format!("{} ms", number(long / 1e6)),
    }
}

/// How long builds take.
pub(super) fn builds(all: &[Build]) -> String {
    let mut text = String::from(
        "\n## Builds\n\n`cargo xtask bench builds`: `cargo build`, in the development profile, on the machine above.\n\n\
         | what | seconds | packages beneath the crate |\n|---|---|---|\n",
    );
    for build in all {
        let packages = build.packages.map(|packages| packages.to_string());
        let packages = packages.unwrap_or_default();
        let _ = writeln!(
            text,
            "| {} | {:.1} | {packages} |",
            build.what, build.seconds
        );
    }
    text
}

/// Three digits that count.
fn number(number: f64) -> String {
    match number.abs() {
        large if large >= 1000.0 => {
            let digits = format!("{number:.0}");
            let mut grouped = String::new();
            for (at, digit) in digits.chars().enumerate() {
                if at > 0 && (digits.len() - at) % 3 == 0 {
                    grouped.push(',');
                }
                grouped.push(digit);
            }
            grouped
        }
        middle if middle >= 100.0 => format!("{number:.0}"),
        small if small >= 10.0 => format!("{number:.1}"),
        smaller if smaller >= 1.0 => format!("{number:.2}"),
        smallest if smallest >= 0.01 => format!("{number:.3}"),
        _ => format!("{number:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_of_a_workload_that_is_shown() {
        let page = page();
        assert!(page.targets.len() > 20);
        for target in page.targets {
            let (_, workload) = target.race.split_once('.').expect("a role and a workload");
            let shown = |shown: &Shown| shown.race == target.race || shown.race == workload;
            assert!(page.workloads.iter().any(shown), "{}", target.race);
        }
    }

    #[test]
    fn numbers_have_three_digits_that_count() {
        assert_eq!(number(1234567.8), "1,234,568");
        assert_eq!(number(999.6), "1000");
        assert_eq!(number(42.123), "42.1");
        assert_eq!(number(0.2345), "0.234");
        assert_eq!(number(0.0031), "0.0031");
    }
}
