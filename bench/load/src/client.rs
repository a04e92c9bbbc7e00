//! Drives a client: we are its agent.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::ChildStdin;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::{Value, json};

use crate::agent::micros;
use crate::lines::Lines;
use crate::message::Envelope;
use crate::process::Measured;
use crate::sample::{Sample, quantile, sample};
use crate::workload::{Amount, Workload, text};

const SESSION: &str = "bench-session-0001";

/// How long much is offered to a client that does not take it.
const STUCK: Duration = Duration::from_secs(3);

/// Runs a workload with a client that is started for it, its stdin and stdout being ours.
///
/// The client learns from its environment what to do: it sends `BENCH_PROMPT` so often
/// as `BENCH_TURNS` says, counts the updates and their text (waiting `BENCH_SLOW_US`
/// microseconds for each), and when it has counted `BENCH_EXPECT` says `DONE` with both
/// numbers in a last prompt.
pub(crate) fn drive(
    workload: Workload,
    amount: Amount,
    command: &[String],
    pinned: bool,
) -> Result<Sample> {
    let (turns, updates, slow) = match workload {
        Workload::Ping => (amount.number, amount.number, Duration::ZERO),
        Workload::Stream | Workload::Big => (1, amount.number, Duration::ZERO),
        Workload::Callback => (1, 0, Duration::ZERO),
        Workload::Stuck => (1, amount.number, Duration::from_secs(60)),
        Workload::Startup => return startup(amount.number, command),
        Workload::Sessions => bail!("clients have no workload `sessions`"),
    };
    let environment = [
        ("BENCH_PROMPT", workload.prompt(amount)),
        ("BENCH_TURNS", turns.to_string()),
        ("BENCH_EXPECT", updates.to_string()),
        ("BENCH_SLOW_US", slow.as_micros().to_string()),
    ];
    let (client, stdin, stdout) = Measured::start(command, &environment, pinned)?;
    let mut agent = Agent::new(&client, stdin);
    agent.serve(&mut Lines::new(stdout), workload)?;
    let told = std::mem::take(&mut agent.told);
    drop(agent);
    if workload != Workload::Stuck {
        client.end()?;
    }
    Ok(told)
}

fn startup(times: usize, command: &[String]) -> Result<Sample> {
    let mut until = Vec::new();
    let mut memory = Vec::new();
    let one = Amount::of(1, 0);
    for _ in 0..times {
        let told = drive(Workload::Ping, one, command, false)?;
        until.push(told["initialize_ms"]);
        memory.push(told["idle_rss_mb"]);
    }
    let program = command.first().map(std::fs::metadata);
    let bytes = program.transpose()?.map_or(0, |program| program.len());
    Ok(sample([
        ("initialize_ms", quantile(&mut until, 0.5)),
        ("idle_rss_mb", quantile(&mut memory, 0.5)),
        ("program_mb", bytes as f64 / 1048576.0),
    ]))
}

/// The agent of the client under load.
struct Agent<'a> {
    client: &'a Measured,
    stdin: ChildStdin,
    started: Instant,
    /// When the first prompt came, and the client's time on processors by then.
    first: Option<(Instant, Duration)>,
    /// When the last turn was answered, and how long the next prompts took to come.
    answered: Option<Instant>,
    turnarounds: Vec<f64>,
    round_trips: Vec<f64>,
    turns: usize,
    updates: usize,
    bytes: usize,
    told: Sample,
}

impl<'a> Agent<'a> {
    fn new(client: &'a Measured, stdin: ChildStdin) -> Self {
        Self {
            client,
            stdin,
            started: Instant::now(),
            first: None,
            answered: None,
            turnarounds: Vec::new(),
            round_trips: Vec::new(),
            turns: 0,
            updates: 0,
            bytes: 0,
            told: Sample::new(),
        }
    }

    /// Serves until the client is done.
    fn serve<R: io::Read>(&mut self, lines: &mut Lines<R>, workload: Workload) -> Result<()> {
        loop {
            let line = lines.next().context("the client closed its stdout")?;
            let request: Envelope<'_> = serde_json::from_slice(line)?;
            let (Some(id), Some(method)) = (request.id, request.method) else {
                continue;
            };
            let answer = |result: &str| {
                let id = id.get();
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n")
            };
            match &*method {
                "initialize" => {
                    let took = self.started.elapsed().as_secs_f64() * 1e3;
                    let memory = self.client.memory() as f64 / 1024.0;
                    self.told = sample([("initialize_ms", took), ("idle_rss_mb", memory)]);
                    self.say(&answer(r#"{"protocolVersion":1,"agentCapabilities":{}}"#))?;
                }
                "session/new" => {
                    self.say(&answer(&format!("{{\"sessionId\":\"{SESSION}\"}}")))?;
                }
                "session/prompt" => {
                    let params = request.params.context("a prompt without params")?;
                    let prompt = prompt_of(params.get())?;
                    let end = answer(r#"{"stopReason":"end_turn"}"#);
                    if let Some(counts) = prompt.strip_prefix("DONE ") {
                        self.done(counts)?;
                        return self.say(&end);
                    }
                    if workload == Workload::Stuck {
                        return self.stuck(&prompt);
                    }
                    self.turn(&prompt, &end, lines)?;
                }
                other => bail!("an unexpected {other}"),
            }
        }
    }

    fn say(&mut self, text: &str) -> Result<()> {
        self.stdin.write_all(text.as_bytes())?;
        Ok(())
    }

    fn turn<R: io::Read>(&mut self, prompt: &str, end: &str, lines: &mut Lines<R>) -> Result<()> {
        let now = Instant::now();
        if self.first.is_none() {
            self.first = Some((now, self.client.cpu()?));
        }
        if let Some(answered) = self.answered {
            self.turnarounds.push(micros(now - answered));
        }
        self.turns += 1;
        let mut words = prompt.split(' ');
        let workload = words.next().unwrap_or_default();
        let mut number =
            || -> Result<usize> { Ok(words.next().context("a number is missing")?.parse()?) };
        match workload {
            "PING" => self.say(&format!("{}{end}", update(4)))?,
            "STREAM" | "BIG" => {
                let (number, length) = (number()?, number()?);
                self.stream(number, length)?;
                self.say(end)?;
            }
            "CALLBACK" => {
                for id in 0..number()? {
                    self.ask(id, lines)?;
                }
                self.say(end)?;
            }
            other => bail!("an unexpected prompt {other}"),
        }
        self.answered = Some(Instant::now());
        if workload == "PING" {
            self.updates += 1;
            self.bytes += 4;
        }
        Ok(())
    }

    fn stream(&mut self, number: usize, length: usize) -> Result<()> {
        let update = update(length);
        let at_once = (256 * 1024 / update.len()).max(1);
        let many = update.repeat(at_once.min(number));
        let mut left = number;
        while left > 0 {
            let now = left.min(at_once);
            self.say(&many[..now * update.len()])?;
            left -= now;
        }
        self.updates += number;
        self.bytes += number * length;
        Ok(())
    }

    fn ask<R: io::Read>(&mut self, id: usize, lines: &mut Lines<R>) -> Result<()> {
        let params = format!("{{\"sessionId\":\"{SESSION}\",\"path\":\"/bench/file.txt\"}}");
        let request = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"fs/read_text_file\",\"params\":{params}}}\n"
        );
        let asked = Instant::now();
        self.say(&request)?;
        let line = lines.next().context("the client closed its stdout")?;
        self.round_trips.push(micros(asked.elapsed()));
        let answer: Envelope<'_> = serde_json::from_slice(line)?;
        let answered = answer.id.is_some_and(|given| given.get() == id.to_string());
        ensure!(answered && answer.result.is_some(), "a wrong answer");
        Ok(())
    }

    /// The client says what it counted.
    fn done(&mut self, counts: &str) -> Result<()> {
        let (began, cpu) = self.first.context("it did nothing")?;
        let took = began.elapsed().as_secs_f64();
        let cpu = self.client.cpu()? - cpu;
        let expected = format!("{} {}", self.updates, self.bytes);
        ensure!(counts == expected, "it counted {counts}, not {expected}");
        let per = |count: usize| micros(cpu) / count.max(1) as f64;
        let bytes = self.bytes.max(1) as f64;
        self.told.extend(sample([
            ("per_s", self.updates as f64 / took),
            ("mb_per_s", bytes / 1e6 / took),
            ("cpu_s_per_gb", cpu.as_secs_f64() / bytes * 1e9),
            ("peak_rss_mb", self.client.most_memory() as f64 / 1024.0),
        ]));
        let (each, times) = match (self.round_trips.len(), self.turns) {
            (0, 1) => (per(self.updates), None),
            (0, turns) => (per(turns), Some(&mut self.turnarounds)),
            (round_trips, _) => (per(round_trips), Some(&mut self.round_trips)),
        };
        self.told.insert("cpu_us".to_owned(), each);
        if let Some(times) = times {
            self.told.extend(sample([
                ("p50_us", quantile(times, 0.5)),
                ("p99_us", quantile(times, 0.99)),
            ]));
        }
        Ok(())
    }

    /// Offers much to a client that is busy with the first of it: how much does it take?
    fn stuck(&mut self, prompt: &str) -> Result<()> {
        let mut words = prompt.split(' ').skip(1);
        let mut number =
            || -> Result<usize> { Ok(words.next().context("a number is missing")?.parse()?) };
        let (number, length) = (number()?, number()?);
        let update = update(length);
        let flags = fcntl(&self.stdin, FcntlArg::F_GETFL)?;
        let flags = OFlag::from_bits_retain(flags) | OFlag::O_NONBLOCK;
        fcntl(&self.stdin, FcntlArg::F_SETFL(flags))?;
        let before = self.client.memory();
        let (mut offered, mut most) = (0, before);
        let began = Instant::now();
        while began.elapsed() < STUCK && offered < number * update.len() {
            match self
                .stdin
                .write(&update.as_bytes()[offered % update.len()..])
            {
                Ok(taken) => offered += taken,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let mut ready = [PollFd::new(self.stdin.as_fd(), PollFlags::POLLOUT)];
                    poll(&mut ready, PollTimeout::from(20u8))?;
                    most = most.max(self.client.memory());
                }
                Err(error) => return Err(error.into()),
            }
        }
        most = most.max(self.client.memory());
        self.told.extend(sample([
            ("offered_mb", (number * length) as f64 / 1048576.0),
            ("taken_mb", offered as f64 / 1048576.0),
            ("grown_mb", most.saturating_sub(before) as f64 / 1024.0),
        ]));
        Ok(())
    }
}

fn prompt_of(params: &str) -> Result<String> {
    let params: Value = serde_json::from_str(params)?;
    ensure!(
        params["sessionId"] == SESSION,
        "a prompt for another session"
    );
    let text = params["prompt"][0]["text"].as_str();
    Ok(text.context("a prompt without text")?.to_owned())
}

/// An update of so many bytes of text, as a line.
fn update(length: usize) -> String {
    let content = json!({"type": "text", "text": text(length)});
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
    let params = json!({"sessionId": SESSION, "update": update});
    format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "method": "session/update", "params": params})
    )
}
