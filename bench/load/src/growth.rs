//! How costs grow: with the number of updates, of sessions, and with time.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::agent::{self, Client};
use crate::client;
use crate::machine::Machine;
use crate::sample::median;
use crate::suite::write;
use crate::workload::{Amount, Workload};

/// What `growth` is told.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The agent
    #[arg(long, value_name = "COMMAND")]
    agent: String,
    /// The client
    #[arg(long, value_name = "COMMAND")]
    client: String,
    /// A program that measures the codec and prints one point a line
    #[arg(long, value_name = "COMMAND")]
    codec: Option<String>,
    /// How often each point is measured; medians are kept
    #[arg(long, default_value_t = 5)]
    reps: usize,
    /// Few and small points: proves that it works
    #[arg(long)]
    short: bool,
    /// How many seconds 64 sessions are kept busy
    #[arg(long, default_value_t = 600)]
    soak: u64,
    /// Where the results go
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Points of a plot.
pub(crate) type Points = Vec<(f64, f64)>;

/// What came of it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Growth {
    pub(crate) machine: Machine,
    /// Microseconds of an update, by the number of updates.
    pub(crate) agent_updates: Points,
    pub(crate) client_updates: Points,
    /// Microseconds of a session, by the number of sessions.
    pub(crate) sessions: Points,
    /// Nanoseconds of a byte, by the length of the line, for each length of the pieces.
    pub(crate) codec: Vec<(String, Points)>,
    /// Memory in MiB, by seconds, with 64 sessions.
    pub(crate) soak: Points,
}

/// How many sessions are busy in the soak.
const SESSIONS: usize = 64;

/// Measures all of it.
pub(crate) fn run(args: &Args) -> Result<()> {
    let words =
        |command: &str| -> Vec<String> { command.split_whitespace().map(str::to_owned).collect() };
    let (agent, client) = (words(&args.agent), words(&args.client));
    let most = if args.short { 10_000 } else { 1_000_000 };
    let sessions = if args.short { 10 } else { 1000 };
    let updates = |number| Amount::of(number, 40);
    let growth = Growth {
        machine: Machine::here(),
        agent_updates: series(1000, most, args.reps, |number| {
            agent::drive(Workload::Stream, updates(number), &agent, false)
        })?,
        client_updates: series(1000, most, args.reps, |number| {
            client::drive(Workload::Stream, updates(number), &client, false)
        })?,
        sessions: series(1, sessions, args.reps, |number| {
            agent::drive(Workload::Sessions, updates(number), &agent, false)
        })?,
        codec: args.codec.as_deref().map_or(Ok(Vec::new()), codec)?,
        soak: soak(&agent, Duration::from_secs(args.soak))?,
    };
    write(&args.out, &growth)
}

/// Measures the time of one, by how many there are: each power of ten.
fn series(
    first: usize,
    last: usize,
    reps: usize,
    mut drive: impl FnMut(usize) -> Result<crate::sample::Sample>,
) -> Result<Points> {
    let mut points = Vec::new();
    let mut number = first;
    while number <= last {
        let times = (0..reps).map(|_| Ok(drive(number)?["cpu_us"]));
        let time = median(times.collect::<Result<_>>()?);
        eprintln!("{number}: {time:.3} µs each");
        points.push((number as f64, time));
        number *= 10;
    }
    Ok(points)
}

/// Reads lines of `pieces length nanoseconds-of-a-byte`.
fn codec(command: &str) -> Result<Vec<(String, Points)>> {
    let output = std::process::Command::new(command).output()?;
    let mut series: Vec<(String, Points)> = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let mut words = line.split(' ');
        let mut word = || words.next().context("a word is missing");
        let (pieces, length, time) = (word()?, word()?.parse()?, word()?.parse()?);
        match series.iter_mut().find(|(name, _)| name == pieces) {
            Some((_, points)) => points.push((length, time)),
            None => series.push((pieces.to_owned(), vec![(length, time)])),
        }
    }
    Ok(series)
}

/// Keeps many sessions busy, and looks at the memory each second.
fn soak(agent: &[String], time: Duration) -> Result<Points> {
    let mut client = Client::start(agent, false)?;
    client.initialize()?;
    let sessions = (0..SESSIONS)
        .map(|_| client.new_session())
        .collect::<Result<Vec<_>>>()?;
    let amount = Amount::of(20, 40);
    let began = Instant::now();
    let mut points = Vec::new();
    let mut turns = 0;
    while began.elapsed() < time || points.is_empty() {
        client.round(&sessions, amount)?;
        turns += sessions.len();
        let seconds = began.elapsed().as_secs_f64();
        if seconds >= points.len() as f64 {
            points.push((seconds, client.agent.memory() as f64 / 1024.0));
        }
    }
    eprintln!("soak: {turns} turns of 20 updates in {SESSIONS} sessions");
    client.end()?;
    Ok(points)
}
