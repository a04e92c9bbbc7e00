//! Many runs: every workload with every peer, the peers taking turns.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::Role;
use crate::machine::Machine;
use crate::sample::{Sample, median};
use crate::workload::Workload;

/// What `run` is told.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How often each workload runs with each peer; medians are kept
    #[arg(long, default_value_t = 5)]
    reps: usize,
    /// Little of everything: proves that it works, and measures nothing
    #[arg(long)]
    short: bool,
    /// Only these workloads, such as `agent.stream,client.ping1`
    #[arg(long, value_delimiter = ',')]
    workloads: Vec<String>,
    /// An agent, besides the floors
    #[arg(long, value_name = "NAME=COMMAND")]
    agent: Vec<Peer>,
    /// A client, besides the floors
    #[arg(long, value_name = "NAME=COMMAND")]
    client: Vec<Peer>,
    /// Where the results go
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// A name, and the words of a command.
#[derive(Clone)]
struct Peer {
    name: String,
    command: Vec<String>,
}

impl std::str::FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, command) = text.split_once('=').ok_or("expected NAME=COMMAND")?;
        Ok(Self {
            name: name.to_owned(),
            command: command.split_whitespace().map(str::to_owned).collect(),
        })
    }
}

/// What came of a whole run.
#[derive(Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) machine: Machine,
    pub(crate) reps: usize,
    /// By `role.workload` and peer.
    pub(crate) medians: BTreeMap<String, BTreeMap<String, Sample>>,
}

/// A workload of one side; `pinned` keeps both sides on one processor.
#[derive(Clone, Copy)]
struct Race {
    role: Role,
    workload: Workload,
    pinned: bool,
}

impl Race {
    fn all() -> Vec<Self> {
        use Workload::{Big, Callback, Ping, Sessions, Startup, Stream, Stuck};
        let race = |role, workload, pinned| Self {
            role,
            workload,
            pinned,
        };
        let mut all = Vec::new();
        for role in [Role::Agent, Role::Client] {
            for workload in [Ping, Stream, Big, Callback, Startup, Stuck] {
                all.push(race(role, workload, false));
                if matches!(workload, Ping | Callback) {
                    all.push(race(role, workload, true));
                }
            }
        }
        all.push(race(Role::Agent, Sessions, false));
        all
    }

    fn name(self) -> String {
        let role = match self.role {
            Role::Agent => "agent",
            Role::Client => "client",
        };
        let pinned = if self.pinned { "1" } else { "" };
        format!("{role}.{}{pinned}", self.workload)
    }
}

/// Runs everything, and writes the medians.
pub(crate) fn run(args: &Args) -> Result<()> {
    let races = chosen(&args.workloads)?;
    let us = env::current_exe()?.display().to_string();
    let mut results = Results {
        machine: Machine::here(),
        reps: args.reps,
        medians: BTreeMap::new(),
    };
    for race in races {
        let peers = peers(race.role, args, &us);
        let mut samples: BTreeMap<&str, Vec<Sample>> = BTreeMap::new();
        for _ in 0..args.reps {
            for peer in &peers {
                let sample = one(&us, race, peer, args.short)
                    .with_context(|| format!("{} of {}", race.name(), peer.name))?;
                samples.entry(&peer.name).or_default().push(sample);
            }
        }
        let medians = samples
            .into_iter()
            .map(|(peer, samples)| (peer.to_owned(), medians(&samples)))
            .collect();
        eprintln!("{}", line(race, &medians));
        results.medians.insert(race.name(), medians);
    }
    write(&args.out, &results)
}

fn chosen(names: &[String]) -> Result<Vec<Race>> {
    let all = Race::all();
    if names.is_empty() {
        return Ok(all);
    }
    let known: Vec<String> = all.iter().map(|race| race.name()).collect();
    for name in names {
        ensure!(
            known.contains(name),
            "there is no {name}; there are {}",
            known.join(", ")
        );
    }
    Ok(all
        .into_iter()
        .filter(|race| names.contains(&race.name()))
        .collect())
}

fn peers(role: Role, args: &Args, us: &str) -> Vec<Peer> {
    let (side, given) = match role {
        Role::Agent => ("agent", &args.agent),
        Role::Client => ("client", &args.client),
    };
    let floors = ["raw", "serde"].map(|floor| Peer {
        name: format!("floor-{floor}"),
        command: [us, "floor", side, floor].map(str::to_owned).to_vec(),
    });
    floors.into_iter().chain(given.iter().cloned()).collect()
}

/// Runs once, in a process of its own: nothing of one run is left for the next.
fn one(us: &str, race: Race, peer: &Peer, short: bool) -> Result<Sample> {
    let amount = race.workload.amount(short);
    let role = race.name();
    let (role, _) = role.split_once('.').context("a name without a role")?;
    let mut command = Command::new(us);
    command
        .args(["drive", role, &race.workload.to_string()])
        .args(["--number", &amount.number.to_string()])
        .args(["--length", &amount.length.to_string()]);
    if race.pinned {
        command.arg("--pinned");
    }
    let output = command.arg("--").args(&peer.command).output()?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn medians(samples: &[Sample]) -> Sample {
    let names = samples.iter().flat_map(Sample::keys);
    names
        .map(|name| {
            let all = samples.iter().filter_map(|sample| sample.get(name));
            (name.clone(), median(all.copied().collect()))
        })
        .collect()
}

/// Tells how a race went, in one line.
fn line(race: Race, medians: &BTreeMap<String, Sample>) -> String {
    let number = ["cpu_us", "grown_mb", "initialize_ms"];
    let shown = medians.iter().filter_map(|(peer, sample)| {
        let (name, value) = number
            .into_iter()
            .find_map(|name| Some((name, sample.get(name)?)))?;
        Some(format!("{peer} {value:.3} {name}"))
    });
    format!("{}: {}", race.name(), shown.collect::<Vec<_>>().join(", "))
}

/// Writes something as JSON that people can compare.
pub(crate) fn write(path: &Path, what: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(what)?;
    fs::write(path, text + "\n").with_context(|| format!("failed to write {}", path.display()))
}
