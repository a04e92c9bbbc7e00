//! Tables of numbers.

use std::collections::BTreeMap;
use std::fmt::Write;

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

/// What is wanted of a number: at most so much, at most so many times a floor, and so
/// many times better than the official SDK as it comes.
struct Target {
    race: &'static str,
    number: &'static str,
    what: &'static str,
    at_most: Option<f64>,
    floor: Option<(&'static str, f64)>,
    official: Option<f64>,
}

const fn target(
    race: &'static str,
    number: &'static str,
    what: &'static str,
    at_most: Option<f64>,
    floor: Option<(&'static str, f64)>,
    official: Option<f64>,
) -> Target {
    Target {
        race,
        number,
        what,
        at_most,
        floor,
        official,
    }
}

const SERDE: &str = "floor-serde";
const RAW: &str = "floor-raw";

const TARGETS: [Target; 21] = [
    target(
        "agent.ping1",
        "p50_us",
        "µs, median",
        None,
        Some((SERDE, 1.6)),
        Some(8.0),
    ),
    target(
        "agent.ping1",
        "cpu_us",
        "µs of processor a turn",
        None,
        Some((SERDE, 1.6)),
        Some(11.0),
    ),
    target(
        "agent.stream",
        "cpu_us",
        "µs of processor an update",
        Some(0.30),
        Some((SERDE, 1.4)),
        Some(90.0),
    ),
    target(
        "agent.stream",
        "first_us",
        "µs until the first update",
        Some(1000.0),
        None,
        None,
    ),
    target(
        "agent.stream",
        "writes",
        "writes an update",
        Some(0.01),
        None,
        None,
    ),
    target(
        "agent.big",
        "cpu_s_per_gb",
        "s of processor a GB",
        Some(0.45),
        Some((RAW, 3.2)),
        Some(4.0),
    ),
    target(
        "agent.big",
        "peak_rss_mb",
        "MB at most",
        Some(12.0),
        None,
        None,
    ),
    target(
        "agent.sessions",
        "cpu_us",
        "µs of processor a session",
        Some(3.0),
        Some((SERDE, 3.0)),
        Some(28.0),
    ),
    target(
        "agent.callback1",
        "p50_us",
        "µs, median",
        None,
        Some((SERDE, 1.5)),
        Some(6.0),
    ),
    target(
        "agent.callback1",
        "cpu_us",
        "µs of processor a question",
        None,
        Some((SERDE, 1.5)),
        Some(9.0),
    ),
    target(
        "agent.startup",
        "initialize_ms",
        "ms to initialize",
        Some(1.8),
        Some((SERDE, 1.45)),
        Some(1.3),
    ),
    target(
        "agent.startup",
        "idle_rss_mb",
        "MB idle",
        Some(3.0),
        None,
        None,
    ),
    target(
        "agent.startup",
        "program_mb",
        "MB of program",
        Some(1.2),
        None,
        None,
    ),
    target(
        "agent.stuck",
        "grown_mb",
        "MB grown, 1 GiB offered",
        Some(4.0),
        None,
        Some(10.0),
    ),
    target(
        "client.ping1",
        "p50_us",
        "µs, median",
        None,
        Some((SERDE, 1.5)),
        Some(6.0),
    ),
    target(
        "client.ping1",
        "cpu_us",
        "µs of processor a turn",
        None,
        Some((SERDE, 1.5)),
        Some(11.0),
    ),
    target(
        "client.stream",
        "cpu_us",
        "µs of processor an update",
        Some(0.65),
        Some((SERDE, 1.3)),
        Some(12.0),
    ),
    target(
        "client.big",
        "cpu_s_per_gb",
        "s of processor a GB",
        Some(0.6),
        Some((SERDE, 1.0)),
        Some(1.7),
    ),
    target(
        "client.callback1",
        "p50_us",
        "µs, median",
        None,
        Some((SERDE, 1.5)),
        Some(7.0),
    ),
    target(
        "client.callback1",
        "cpu_us",
        "µs of processor a question",
        None,
        Some((SERDE, 1.5)),
        Some(13.0),
    ),
    target(
        "client.stuck",
        "grown_mb",
        "MB grown, 1 GiB offered",
        Some(12.0),
        None,
        Some(10.0),
    ),
];

/// Compares what was measured with what is wanted.
pub(super) fn targets(results: &Results) -> String {
    let mut text = String::from(
        "\n## Targets\n\nRatios are of this run. A target that is missed says so.\n\n\
         | workload | ours | at most | times the floor | times better than `official` | than `official-tuned` |\n\
         |---|---|---|---|---|---|\n",
    );
    for target in &TARGETS {
        let Some(peers) = results.medians.get(target.race) else {
            continue;
        };
        let of = |peer: &str| peers.get(peer)?.get(target.number).copied();
        let Some(ours) = of("ours") else { continue };
        let limit = target.at_most.map_or("".to_owned(), |limit| {
            format!("{}{}", number(limit), missed(ours > limit))
        });
        let floor = target.floor.and_then(|(floor, limit)| {
            let ratio = ours / of(floor)?;
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

/// What is shown of a workload: names of numbers, with what they are.
fn columns(race: &str) -> &'static [(&'static str, &'static str)] {
    let (role, workload) = race.split_once('.').unwrap_or_default();
    match (role, workload.trim_end_matches('1')) {
        (_, "ping" | "callback") => &[
            ("p50_us", "median µs"),
            ("p99_us", "99 % µs"),
            ("cpu_us", "processor µs"),
        ],
        ("agent", "stream") => &[
            ("cpu_us", "processor µs an update"),
            ("per_s", "updates a second"),
            ("first_us", "first update µs"),
            ("writes", "writes an update"),
            ("peak_rss_mb", "memory MB"),
        ],
        (_, "stream") => &[
            ("cpu_us", "processor µs an update"),
            ("per_s", "updates a second"),
            ("peak_rss_mb", "memory MB"),
        ],
        (_, "big") => &[
            ("cpu_s_per_gb", "processor s a GB"),
            ("mb_per_s", "MB a second"),
            ("peak_rss_mb", "memory MB"),
        ],
        (_, "sessions") => &[
            ("cpu_us", "processor µs a session"),
            ("wall_ms", "ms for all"),
            ("rss_kb", "KB a session"),
        ],
        (_, "startup") => &[
            ("initialize_ms", "ms to initialize"),
            ("idle_rss_mb", "idle MB"),
            ("program_mb", "program MB"),
        ],
        ("client", "stuck") => &[
            ("taken_mb", "MB taken of 1024"),
            ("grown_mb", "memory grown MB"),
        ],
        _ => &[("grown_mb", "memory grown MB")],
    }
}

/// Every number of every peer.
pub(super) fn workloads(results: &Results) -> String {
    let mut text = String::from("\n## Workloads\n");
    for (race, peers) in &results.medians {
        let columns = columns(race);
        let titles: Vec<&str> = columns.iter().map(|(_, title)| *title).collect();
        let _ = write!(
            text,
            "\n### {race}\n\n{}\n\n| | {} |\n|---|{}\n",
            meaning(race),
            titles.join(" | "),
            "---|".repeat(columns.len()),
        );
        for (peer, sample) in ordered(peers) {
            let cells = columns
                .iter()
                .map(|(name, _)| sample.get(*name).copied().map(number).unwrap_or_default());
            let cells: Vec<String> = cells.collect();
            let _ = writeln!(text, "| {peer} | {} |", cells.join(" | "));
        }
    }
    text
}

fn meaning(race: &str) -> &'static str {
    match race.split_once('.').unwrap_or_default().1 {
        "ping" => "3,000 turns of one short update, one after the other.",
        "ping1" => "The same, both sides on one processor.",
        "stream" => "One turn of 100,000 updates of 40 bytes.",
        "big" => "One turn of 200 updates of 1 MiB.",
        "callback" => "One turn in which the agent reads a file of the client 3,000 times.",
        "callback1" => "The same, both sides on one processor.",
        "sessions" => "1,000 sessions opened at once, then a turn in each at once.",
        "startup" => "From the start to `initialize`.",
        _ => "1 GiB is offered to a side that does not take it, for three seconds.",
    }
}

/// The floors first, then ours, then others.
fn ordered(peers: &BTreeMap<String, Sample>) -> Vec<(&String, &Sample)> {
    let mut all: Vec<_> = peers.iter().collect();
    all.sort_by_key(|(name, _)| match name.as_str() {
        RAW => 0,
        SERDE => 1,
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
    fn numbers_have_three_digits_that_count() {
        assert_eq!(number(1234567.8), "1,234,568");
        assert_eq!(number(999.6), "1000");
        assert_eq!(number(42.123), "42.1");
        assert_eq!(number(0.2345), "0.234");
        assert_eq!(number(0.0031), "0.0031");
    }
}
