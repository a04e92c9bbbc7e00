//! The hostile peer: a process of its own that plays a script, as an agent or as a client.
//!
//! The player of scenarios (`acp mock`) keeps every line for its transcript and checks each
//! against the schema, so a flood would be measured as its memory and its time. This one holds
//! nothing: texts are generated while they are written.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::definition::{Attack, load};
use super::ear::{Ear, Message};
use super::script::{Act, Script, Step};
use super::stage::Folders;
use super::text::Names;

/// What the peer is told by the one who starts it.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct PlayArgs {
    /// Play this attack, a part of the battery's own machinery.
    #[arg(long, hide = true, value_names = ["FILE", "NAME", "FOLDER"], num_args = 3)]
    play: Vec<String>,
    /// The victim of a hostile client.
    #[arg(last = true, hide = true)]
    victim: Vec<String>,
}

impl PlayArgs {
    /// Tells whether this process is a hostile peer.
    pub(super) fn is_wanted(&self) -> bool {
        !self.play.is_empty()
    }

    /// Returns the words after the program's name that start the peer of an attack.
    pub(super) fn words(attack: &Attack, scratch: &Path) -> Vec<String> {
        let file = attack.file.to_string_lossy().into_owned();
        let folder = scratch.to_string_lossy().into_owned();
        let name = attack.name.clone();
        vec!["attack".into(), "--play".into(), file, name, folder]
    }
}

/// Plays a script to its end.
///
/// # Errors
///
/// Fails when there is no such attack, or a text of it makes no sense. A victim that hangs up
/// is no error.
pub(super) fn play(args: &PlayArgs) -> Result<u8> {
    let [file, name, scratch] = args.play.as_slice() else {
        bail!("a peer needs a file, a name and a folder");
    };
    let attacks = load(Path::new(file))?;
    let attack = attacks.into_iter().find(|attack| attack.name == *name);
    let attack = attack.with_context(|| format!("no attack is called {name}"))?;
    let folders = Folders::of(Path::new(scratch));
    let mut names = Names::new(attack.parts);
    folders.name(&mut names);
    names.set("session", "s");
    let (mut script, mut victim) = match (attack.agent, attack.client) {
        (Some(script), None) if args.victim.is_empty() => (script, None),
        (None, Some(script)) => (script, Some(start(&args.victim)?)),
        _ => bail!("an attack has either an agent or a client, and a client has a victim"),
    };
    let (input, output): (Box<dyn Read + Send>, Box<dyn Write>) = match &mut victim {
        None => (Box::new(stdin()), Box::new(own_stdout()?)),
        Some(child) => (
            Box::new(child.stdout.take().context("the stream is piped")?),
            Box::new(child.stdin.take().context("the stream is piped")?),
        ),
    };
    let first = std::mem::take(&mut script.first);
    let deaf = script.deaf;
    let last = std::mem::take(&mut script.last);
    let mut peer = Peer {
        script,
        names,
        out: Some(BufWriter::with_capacity(64 << 10, output)),
        marks: folders.marks,
        victim: victim.as_ref().map(Pid::from_child),
        requests: BTreeMap::new(),
        last_request: None,
        asked: 0,
        ear: Ear::default(),
    };
    let (events, incoming) = mpsc::channel();
    let ear = peer.ear.clone();
    let mut input = Some(input);
    if !deaf {
        ear.listen(input.take(), events.clone());
    }
    let mut end = peer.steps(&first)?;
    ear.listen(input.take(), events);
    if end.is_none() {
        end = peer.serve(&incoming)?;
    }
    if end.is_none() {
        end = peer.steps(&last)?;
    }
    // Standard input of the victim closes here.
    drop(peer);
    match (end, victim) {
        (Some(End::Exit(code)), None) => Ok(code),
        (_, None) => Ok(0),
        (_, Some(child)) => outlast(child),
    }
}

/// Waits for the victim of a client, and ends as it ended.
fn outlast(mut victim: Child) -> Result<u8> {
    use std::os::unix::process::ExitStatusExt;

    let status = victim.wait().context("failed to wait for the victim")?;
    let signal = status.signal().map(|signal| 128 + signal);
    let code = status.code().or(signal).unwrap_or(1);
    Ok(u8::try_from(code).unwrap_or(1))
}

fn start(words: &[String]) -> Result<Child> {
    let (program, args) = words.split_first().context("a client needs a victim")?;
    Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("failed to start {program}"))
}

/// Takes standard output as a file, so that it can be closed while this process lives on.
fn own_stdout() -> Result<File> {
    let copy = rustix::io::dup(stdout()).context("failed to take standard output")?;
    let void = File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&void).context("failed to take standard output")?;
    Ok(File::from(copy))
}

/// Why no more is played.
enum End {
    Exit(u8),
    /// The victim does not listen any more.
    HungUp,
}

struct Peer {
    script: Script,
    names: Names,
    out: Option<BufWriter<Box<dyn Write>>>,
    marks: PathBuf,
    victim: Option<Pid>,
    /// The last id of each method.
    requests: BTreeMap<String, String>,
    last_request: Option<String>,
    asked: u64,
    ear: Ear,
}

impl Peer {
    /// Answers messages until the victim closes its side.
    fn serve(&mut self, incoming: &Receiver<Message>) -> Result<Option<End>> {
        while let Ok(message) = incoming.recv() {
            let Message {
                method,
                id,
                session,
            } = message;
            if let Some(session) = session {
                self.names.set("session", session);
            }
            let answered = id.as_deref().filter(|_| method.is_none());
            if let (Some(method), Some(id)) = (&method, &id) {
                self.requests.insert(method.clone(), id.clone());
                self.last_request = Some(id.clone());
            }
            // Each rule counts, also behind one that fits.
            let rules = self.script.on.iter_mut();
            let fitting = rules.fold(None, |found: Option<Vec<Step>>, rule| {
                let fits = rule.fits(method.as_deref(), answered);
                found.or_else(|| fits.then(|| rule.steps.clone()))
            });
            let end = match (fitting, method, id) {
                (Some(steps), _, _) => self.steps(&steps)?,
                (None, Some(method), Some(_)) => {
                    let plain = Step::from(self.plain_answer(&method));
                    self.steps(&[plain])?
                }
                _ => None,
            };
            if end.is_some() {
                return Ok(end);
            }
        }
        Ok(None)
    }

    /// The answer of a peer that means no harm.
    fn plain_answer(&self, method: &str) -> Act {
        let result = match method {
            "initialize" => {
                r#"{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"hostile","version":"1"}}"#
            }
            "session/new" => r#"{"sessionId":"<<session>>"}"#,
            "session/prompt" => r#"{"stopReason":"end_turn"}"#,
            "session/request_permission" => r#"{"outcome":{"outcome":"cancelled"}}"#,
            _ => return Act::Error(r#"{"code":-32601,"message":"unknown"}"#.to_owned()),
        };
        Act::Result(result.to_owned())
    }

    fn steps(&mut self, steps: &[Step]) -> Result<Option<End>> {
        for step in steps {
            for number in 0..step.times {
                self.names.set("n", number.to_string());
                match self.step(&step.act) {
                    Ok(None) => {}
                    Ok(end) => return Ok(end),
                    Err(error) if is_hang_up(&error) => return Ok(Some(End::HungUp)),
                    Err(error) => return Err(error),
                }
            }
            // What was said stands before a mark or a rest.
            match self.flush() {
                Ok(()) => {}
                Err(error) if is_hang_up(&error) => return Ok(Some(End::HungUp)),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    fn step(&mut self, act: &Act) -> Result<Option<End>> {
        let version = r#"{"jsonrpc":"2.0""#;
        let answer = |id: &str, member: &str, value: &str| {
            format!("{version},\"id\":{id},\"{member}\":{value}}}\n")
        };
        let last = self
            .last_request
            .clone()
            .unwrap_or_else(|| "null".to_owned());
        match act {
            Act::Line(line) => self.send(&format!("{line}\n"))?,
            Act::Text(text) => self.send(text)?,
            Act::Hex(bytes) => self.out()?.write_all(&bytes.0)?,
            Act::Stderr(text) => self.names.write(text, &mut std::io::stderr().lock())?,
            Act::StderrHex(bytes) => std::io::stderr().write_all(&bytes.0)?,
            Act::Update(update) => self.send(&format!(
                "{version},\"method\":\"session/update\",\"params\":{{\"sessionId\":\
                 \"<<session>>\",\"update\":{update}}}}}\n"
            ))?,
            Act::Result(result) => self.send(&answer(&last, "result", result))?,
            Act::Error(error) => self.send(&answer(&last, "error", error))?,
            Act::Answer(method, result) => {
                let id = self.requests.get(method);
                let id = id.with_context(|| format!("nobody asked for {method} so far"))?;
                self.send(&answer(id, "result", result))?;
            }
            Act::Ask(method, params) => {
                let id = self.asked;
                self.asked += 1;
                self.send(&format!(
                    "{version},\"id\":\"q{id}\",\"method\":\"{method}\",\"params\":{params}}}\n"
                ))?;
            }
            Act::Mark(name) => {
                self.flush()?;
                fs::write(self.marks.join(name), "").context("failed to make a mark")?;
            }
            Act::Rest(rest) => {
                self.flush()?;
                thread::sleep(rest.0);
            }
            Act::Close(_) => {
                self.flush()?;
                self.out = None;
            }
            Act::Stop(_) => self.ear.close(),
            Act::Start(words) => {
                let words: Result<Vec<_>> =
                    words.iter().map(|word| self.names.fill(word)).collect();
                let words = words?;
                let (program, args) = words.split_first().context("a process has a program")?;
                let mut command = Command::new(program);
                command
                    .args(args)
                    .stdin(Stdio::null())
                    .stdout(Stdio::null());
                command.stderr(Stdio::null()).spawn()?;
            }
            Act::Signal(name) => {
                let victim = self.victim.context("an agent sends its client no signal")?;
                kill_process(victim, signal(name)?).context("failed to send a signal")?;
            }
            Act::Exit(code) => {
                self.flush()?;
                return Ok(Some(End::Exit(u8::try_from(*code).unwrap_or(1))));
            }
        }
        Ok(None)
    }

    fn send(&mut self, text: &str) -> Result<()> {
        let Some(out) = &mut self.out else {
            return Err(std::io::Error::from(std::io::ErrorKind::BrokenPipe).into());
        };
        self.names.write(text, out)
    }

    fn out(&mut self) -> Result<&mut BufWriter<Box<dyn Write>>> {
        self.out.as_mut().context("the output is closed")
    }

    fn flush(&mut self) -> Result<()> {
        match &mut self.out {
            Some(out) => Ok(out.flush()?),
            None => Ok(()),
        }
    }
}

/// Reads the name of a signal.
///
/// # Errors
///
/// Fails when it is none that the battery sends.
pub(super) fn signal(name: &str) -> Result<Signal> {
    match name {
        "TERM" => Ok(Signal::TERM),
        "INT" => Ok(Signal::INT),
        _ => bail!("{name} is no signal of an attack; write TERM or INT"),
    }
}

fn is_hang_up(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<std::io::Error>();
    cause.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
