//! Drives an agent: we are its client.

use std::io::Write;
use std::process::{ChildStdin, ChildStdout};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::lines::Lines;
use crate::message::{FILE, Message, read};
use crate::process::Measured;
use crate::sample::{Sample, quantile, sample};
use crate::workload::{Amount, Workload, text};

/// How long nobody reads what an agent says, where that is the workload.
const STUCK: Duration = Duration::from_secs(3);

/// Runs a workload with an agent that is started for it.
pub(crate) fn drive(
    workload: Workload,
    amount: Amount,
    command: &[String],
    pinned: bool,
) -> Result<Sample> {
    if workload == Workload::Startup {
        return startup(amount.number, command);
    }
    let mut client = Client::start(command, pinned)?;
    client.initialize()?;
    let session = client.new_session()?;
    let measured = match workload {
        Workload::Ping => client.ping(&session, amount),
        Workload::Stream | Workload::Big => client.warm_stream(workload, &session, amount),
        Workload::Callback => client.callback(&session, amount),
        Workload::Sessions => client.sessions(amount.number),
        Workload::Stuck => return client.stuck(&session, amount),
        Workload::Startup => unreachable!("it was done before"),
    };
    let mut measured = measured.with_context(|| format!("{workload} of an agent"))?;
    let most = client.agent.most_memory();
    measured.insert("peak_rss_mb".to_owned(), most as f64 / 1024.0);
    client.end()?;
    Ok(measured)
}

/// The client of the agent under load.
pub(crate) struct Client {
    pub(crate) agent: Measured,
    stdin: ChildStdin,
    lines: Lines<ChildStdout>,
    last_id: u64,
}

impl Client {
    pub(crate) fn start(command: &[String], pinned: bool) -> Result<Self> {
        let (agent, stdin, stdout) = Measured::start(command, &[], pinned)?;
        Ok(Self {
            agent,
            stdin,
            lines: Lines::new(stdout),
            last_id: 0,
        })
    }

    pub(crate) fn end(self) -> Result<()> {
        drop(self.stdin);
        self.agent.end()
    }

    /// Makes a request; its id is the number that is returned.
    fn request(&mut self, method: &str, params: &Value) -> (u64, String) {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        (id, format!("{request}\n"))
    }

    fn prompt(&mut self, session: &str, text: &str) -> (u64, String) {
        let block = json!({"type": "text", "text": text});
        let params = json!({"sessionId": session, "prompt": [block]});
        self.request("session/prompt", &params)
    }

    fn line(&mut self) -> Result<&[u8]> {
        self.lines.next().context("the agent closed its stdout")
    }

    /// Asks for something, and returns the result.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        let (id, line) = self.request(method, params);
        self.stdin.write_all(line.as_bytes())?;
        loop {
            let message: Value = serde_json::from_slice(self.line()?)?;
            if message["id"] == id && message.get("method").is_none() {
                let result = message.get("result");
                return result
                    .cloned()
                    .with_context(|| format!("{method}: {message}"));
            }
        }
    }

    pub(crate) fn initialize(&mut self) -> Result<()> {
        let files = json!({"readTextFile": true, "writeTextFile": true});
        let params = json!({"protocolVersion": 1, "clientCapabilities": {"fs": files}});
        let result = self.ask("initialize", &params)?;
        ensure!(result["protocolVersion"] == 1, "initialize gave {result}");
        Ok(())
    }

    pub(crate) fn new_session(&mut self) -> Result<String> {
        let params = json!({"cwd": "/tmp", "mcpServers": []});
        let result = self.ask("session/new", &params)?;
        let id = result["sessionId"].as_str();
        Ok(id.context("session/new gave no id")?.to_owned())
    }

    fn ping(&mut self, session: &str, amount: Amount) -> Result<Sample> {
        let turns = amount.number;
        // What is compiled, allocated or learned on the way comes before the clock starts.
        let warm = if amount.cold {
            0
        } else {
            (turns / 10).clamp(5, 1000)
        };
        for _ in 0..warm {
            self.one_ping(session, true)?;
        }
        let mut times = Vec::with_capacity(turns);
        let before = self.agent.cpu()?;
        for turn in 0..turns {
            times.push(self.one_ping(session, turn % 500 == 0)?);
        }
        let cpu = self.agent.cpu()? - before;
        Ok(sample([
            ("p50_us", quantile(&mut times, 0.5)),
            ("p99_us", quantile(&mut times, 0.99)),
            ("cpu_us", micros(cpu) / turns as f64),
        ]))
    }

    /// Does one turn, and returns its time in microseconds.
    fn one_ping(&mut self, session: &str, check: bool) -> Result<f64> {
        let (id, line) = self.prompt(session, "PING");
        let began = Instant::now();
        self.stdin.write_all(line.as_bytes())?;
        let mut updates = 0;
        loop {
            let line = self.line()?;
            match read(line)? {
                Message::Update => {
                    updates += 1;
                    if check {
                        check_update(line, session, "pong")?;
                    }
                }
                Message::Answer(answered) => {
                    ensure!(answered == id && updates == 1, "the answer came too early");
                    return Ok(micros(began.elapsed()));
                }
                Message::Request { .. } => bail!("an unexpected request"),
            }
        }
    }

    fn warm_stream(&mut self, of: Workload, session: &str, amount: Amount) -> Result<Sample> {
        let few = Amount {
            number: (amount.number / 20).clamp(2, 2000),
            ..amount
        };
        if !amount.cold {
            self.stream(of, session, few)?;
        }
        self.stream(of, session, amount)
    }

    pub(crate) fn stream(&mut self, of: Workload, session: &str, amount: Amount) -> Result<Sample> {
        let Amount { number, length, .. } = amount;
        let expected = text(length);
        let (id, line) = self.prompt(session, &of.prompt(amount));
        let (cpu, writes) = (self.agent.cpu()?, self.agent.writes());
        let began = Instant::now();
        self.stdin.write_all(line.as_bytes())?;
        let (mut updates, mut first) = (0, Duration::ZERO);
        loop {
            let line = self.line()?;
            match read(line)? {
                Message::Update => {
                    if updates == 0 {
                        first = began.elapsed();
                    }
                    if updates < 2 || updates % 10_000 == 0 || updates + 1 == number {
                        check_update(line, session, &expected)?;
                    }
                    updates += 1;
                }
                Message::Answer(answered) => {
                    ensure!(answered == id, "an answer to nothing");
                    break;
                }
                Message::Request { .. } => bail!("an unexpected request"),
            }
        }
        let took = began.elapsed().as_secs_f64();
        let cpu = self.agent.cpu()? - cpu;
        let writes = self.agent.writes() - writes;
        ensure!(updates == number, "{updates} updates before the answer");
        let bytes = (number * length) as f64;
        Ok(sample([
            ("cpu_us", micros(cpu) / number as f64),
            ("cpu_s_per_gb", cpu.as_secs_f64() / bytes * 1e9),
            ("per_s", number as f64 / took),
            ("mb_per_s", bytes / 1e6 / took),
            ("first_us", micros(first)),
            ("writes", writes as f64 / number as f64),
        ]))
    }

    fn callback(&mut self, session: &str, amount: Amount) -> Result<Sample> {
        if !amount.cold {
            self.callbacks(session, (amount.number / 10).clamp(5, 1000))?;
        }
        self.callbacks(session, amount.number)
    }

    fn callbacks(&mut self, session: &str, number: usize) -> Result<Sample> {
        let amount = Amount::of(number, 0);
        let (id, line) = self.prompt(session, &Workload::Callback.prompt(amount));
        let before = self.agent.cpu()?;
        let mut answered = Instant::now();
        self.stdin.write_all(line.as_bytes())?;
        let mut times = Vec::with_capacity(number);
        loop {
            let line = self.line()?;
            match read(line)? {
                Message::Request { id, method } => {
                    let answer = format!(
                        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":\"{FILE}\"}}}}\n"
                    );
                    ensure!(method == "fs/read_text_file", "an unexpected {method}");
                    times.push(micros(answered.elapsed()));
                    answered = Instant::now();
                    self.stdin.write_all(answer.as_bytes())?;
                }
                Message::Answer(of) => {
                    ensure!(
                        of == id && times.len() == number,
                        "the answer came too early"
                    );
                    break;
                }
                Message::Update => bail!("an unexpected update"),
            }
        }
        let cpu = self.agent.cpu()? - before;
        Ok(sample([
            ("p50_us", quantile(&mut times, 0.5)),
            ("p99_us", quantile(&mut times, 0.99)),
            ("cpu_us", micros(cpu) / number as f64),
        ]))
    }

    fn sessions(&mut self, number: usize) -> Result<Sample> {
        let (cpu, memory) = (self.agent.cpu()?, self.agent.memory());
        let began = Instant::now();
        let params = json!({"cwd": "/tmp", "mcpServers": []});
        let first = self.last_id + 1;
        let asks: Vec<String> = (0..number)
            .map(|_| self.request("session/new", &params).1)
            .collect();
        let mut sessions = vec![String::new(); number];
        self.at_once(&asks.concat(), number, |line| {
            let answer: Value = serde_json::from_slice(line)?;
            let place = answer["id"].as_u64().and_then(|id| id.checked_sub(first));
            let id = answer["result"]["sessionId"].as_str();
            let place = place.and_then(|place| sessions.get_mut(usize::try_from(place).ok()?));
            *place.context("an answer to nothing")? = id.context("no id")?.to_owned();
            Ok(true)
        })?;
        let one = Amount::of(1, 4);
        self.round(&sessions, one)?;
        let took = began.elapsed();
        let cpu = self.agent.cpu()? - cpu;
        sessions.sort_unstable();
        sessions.dedup();
        ensure!(sessions.len() == number, "session ids come twice");
        let grown = self.agent.memory() as f64 - memory as f64;
        Ok(sample([
            ("cpu_us", micros(cpu) / number as f64),
            ("wall_ms", took.as_secs_f64() * 1e3),
            ("rss_kb", grown / number as f64),
        ]))
    }

    /// Has a turn in each session at once.
    pub(crate) fn round(&mut self, sessions: &[String], amount: Amount) -> Result<()> {
        let asked = Workload::Stream.prompt(amount);
        let prompts: Vec<String> = sessions
            .iter()
            .map(|session| self.prompt(session, &asked).1)
            .collect();
        let mut updates = 0;
        self.at_once(&prompts.concat(), sessions.len(), |line| {
            match read(line)? {
                Message::Update => {
                    updates += 1;
                    Ok(false)
                }
                Message::Answer(_) => Ok(true),
                Message::Request { .. } => bail!("an unexpected request"),
            }
        })?;
        ensure!(
            updates == sessions.len() * amount.number,
            "{updates} updates"
        );
        Ok(())
    }

    /// Says all of this, and meanwhile reads until so many lines were answers.
    fn at_once(
        &mut self,
        all: &str,
        answers: usize,
        mut take: impl FnMut(&[u8]) -> Result<bool>,
    ) -> Result<()> {
        let Self { stdin, lines, .. } = self;
        thread::scope(|scope| {
            let saying = scope.spawn(|| stdin.write_all(all.as_bytes()));
            let mut seen = 0;
            while seen < answers {
                let line = lines.next().context("the agent closed its stdout")?;
                seen += usize::from(take(line)?);
            }
            saying
                .join()
                .map_err(|_| anyhow::anyhow!("the writer panicked"))??;
            Ok(())
        })
    }

    /// Offers much, and reads nothing.
    fn stuck(mut self, session: &str, amount: Amount) -> Result<Sample> {
        let before = self.agent.memory();
        let (_, line) = self.prompt(session, &Workload::Stuck.prompt(amount));
        self.stdin.write_all(line.as_bytes())?;
        let began = Instant::now();
        let mut most = before;
        while began.elapsed() < STUCK {
            most = most.max(self.agent.memory());
            thread::sleep(Duration::from_millis(20));
        }
        Ok(sample([
            (
                "offered_mb",
                (amount.number * amount.length) as f64 / 1048576.0,
            ),
            ("grown_mb", most.saturating_sub(before) as f64 / 1024.0),
        ]))
    }
}

fn startup(times: usize, command: &[String]) -> Result<Sample> {
    let (mut until, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..times {
        let began = Instant::now();
        let mut client = Client::start(command, false)?;
        client.initialize()?;
        until.push(began.elapsed().as_secs_f64() * 1e3);
        // Time for what is done behind the answer.
        thread::sleep(Duration::from_millis(50));
        memory.push(client.agent.memory() as f64 / 1024.0);
        let Client {
            agent,
            stdin,
            lines,
            ..
        } = client;
        drop(stdin);
        agent.end()?;
        drop(lines);
    }
    let program = command.first().map(std::fs::metadata);
    let bytes = program.transpose()?.map_or(0, |program| program.len());
    Ok(sample([
        ("initialize_ms", quantile(&mut until, 0.5)),
        ("idle_rss_mb", quantile(&mut memory, 0.5)),
        ("program_mb", bytes as f64 / 1048576.0),
    ]))
}

/// Looks at all of an update: the session, the kind, and the text.
fn check_update(line: &[u8], session: &str, text: &str) -> Result<()> {
    let message: Value = serde_json::from_slice(line)?;
    let params = &message["params"];
    let update = &params["update"];
    let good = message["jsonrpc"] == "2.0"
        && params["sessionId"] == session
        && update["sessionUpdate"] == "agent_message_chunk"
        && update["content"]["type"] == "text"
        && update["content"]["text"] == text;
    let shown = String::from_utf8_lossy(&line[..line.len().min(300)]);
    ensure!(good, "a wrong update: {shown}");
    Ok(())
}

pub(crate) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
