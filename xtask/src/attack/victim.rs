//! Running the victim: its output, its time, the memory of everything below us.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::definition::{Keys, Stop};
use super::play::signal;
use crate::tree::Tree;

/// How often the tree is looked at. A peak between two looks is seen all the same: the system
/// keeps it for as long as the process lives.
const LOOK: Duration = Duration::from_millis(20);

/// How long output may still come after the end.
const REST: Duration = Duration::from_secs(2);

/// More output than this is not kept; it counts as a flood that reached the reader.
pub(super) const MAX_OUTPUT: usize = 64 << 20;

/// How a victim ended.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// The exit code, or 128 and the number of the signal; absent when it had to be killed.
    pub(super) code: Option<i32>,
    /// A signal ended it.
    pub(super) signalled: bool,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    /// More was written than is kept.
    pub(super) flooded: bool,
    pub(super) time: Duration,
    /// How long it went on after the signal of the attack.
    pub(super) after_signal: Option<Duration>,
    /// The most memory of the tree.
    pub(super) memory: u64,
}

impl Ended {
    /// Takes in how a command after the victim ended. The worst of both counts.
    pub(super) fn add(&mut self, next: Self) {
        self.code = self.code.zip(next.code).map(|(code, _)| code);
        self.signalled |= next.signalled;
        self.stdout.extend(next.stdout);
        self.stderr.extend(next.stderr);
        self.flooded |= next.flooded;
        self.time += next.time;
        self.memory = self.memory.max(next.memory);
    }
}

/// How a victim is run.
pub(super) struct Manner<'a> {
    pub(super) keys: Option<&'a [Keys]>,
    pub(super) stop: Option<&'a Stop>,
    pub(super) marks: &'a Path,
    pub(super) within: Duration,
}

enum Event {
    Out(Vec<u8>),
    Err(Vec<u8>),
    StreamEnded,
}

/// Runs a victim to its end, or kills its group at the limit.
///
/// # Errors
///
/// Fails when it cannot be started or watched.
pub(super) fn run(mut command: Command, manner: &Manner<'_>, tree: &Tree) -> Result<Ended> {
    let (events, incoming) = mpsc::channel();
    let mut keyboard = None;
    let (mut child, streams) = match manner.keys {
        Some(_) => {
            let (child, terminal) = start_on_terminal(&command)?;
            read(terminal.try_clone().ok(), events, Event::Out);
            keyboard = Some(terminal);
            (child, 1)
        }
        None => {
            command
                .process_group(0)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            let mut child = command.spawn().context("failed to start the victim")?;
            read(child.stdout.take(), events.clone(), Event::Out);
            read(child.stderr.take(), events, Event::Err);
            (child, 2)
        }
    };
    let mut watch = Watch {
        manner,
        tree,
        started: Instant::now(),
        pressed: 0,
        signalled: None,
        streams,
        ended: Ended::default(),
    };
    watch.until_it_ends(&mut child, keyboard.as_mut(), &incoming)?;
    Ok(watch.ended)
}

struct Watch<'a> {
    manner: &'a Manner<'a>,
    tree: &'a Tree,
    started: Instant,
    /// How many keys were pressed.
    pressed: usize,
    signalled: Option<Instant>,
    streams: usize,
    ended: Ended,
}

impl Watch<'_> {
    fn until_it_ends(
        &mut self,
        child: &mut Child,
        mut keyboard: Option<&mut File>,
        incoming: &Receiver<Event>,
    ) -> Result<()> {
        let pid = Pid::from_child(child);
        let mut limit = self.started + self.manner.within;
        let status = loop {
            self.take(incoming, LOOK);
            self.ended.memory = self.ended.memory.max(self.tree.memory(child.id()));
            if let Some(status) = child.try_wait().context("failed to wait for the victim")? {
                break Some(status);
            }
            if let Some(keyboard) = keyboard.as_deref_mut() {
                self.press(keyboard)?;
            }
            if let (Some(stop), None) = (self.manner.stop, self.signalled)
                && self.manner.marks.join(&stop.at).exists()
            {
                // It may have ended this very moment.
                let _ = kill_process(pid, signal(&stop.signal)?);
                self.signalled = Some(Instant::now());
                limit = Instant::now() + stop.within;
            }
            if Instant::now() > limit {
                let _ = kill_process_group(pid, Signal::KILL);
                child.wait().context("failed to wait for the victim")?;
                break None;
            }
        };
        self.ended.time = self.started.elapsed();
        self.ended.after_signal = self.signalled.map(|at| at.elapsed());
        self.ended.signalled = status.is_some_and(|status| status.signal().is_some());
        self.ended.code = status.and_then(|status| {
            let signal = status.signal().map(|signal| 128 + signal);
            status.code().or(signal)
        });
        let deadline = Instant::now() + REST;
        while self.streams > 0 && Instant::now() < deadline {
            self.take(incoming, LOOK);
        }
        Ok(())
    }

    /// Takes the output that is there, and waits a moment where there is none.
    fn take(&mut self, incoming: &Receiver<Event>, wait: Duration) {
        let deadline = Instant::now() + wait;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let (kept, bytes) = match incoming.recv_timeout(left) {
                Ok(Event::Out(bytes)) => (&mut self.ended.stdout, bytes),
                Ok(Event::Err(bytes)) => (&mut self.ended.stderr, bytes),
                Ok(Event::StreamEnded) => {
                    self.streams -= 1;
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => return,
                // A wait all the same, for the process may live on without its streams.
                Err(RecvTimeoutError::Disconnected) => return thread::sleep(left),
            };
            if kept.len() + bytes.len() > MAX_OUTPUT {
                self.ended.flooded = true;
            } else {
                kept.extend(bytes);
            }
            // A flood must not keep us from looking at the clock.
            if left.is_zero() {
                return;
            }
        }
    }

    /// Presses the next keys if their text stands on the terminal.
    fn press(&mut self, keyboard: &mut File) -> Result<()> {
        let keys = self.manner.keys.unwrap_or_default();
        let Some(next) = keys.get(self.pressed) else {
            return Ok(());
        };
        let seen = &self.ended.stdout;
        let wanted = next.wait.as_bytes();
        if seen.windows(wanted.len().max(1)).any(|part| part == wanted) {
            keyboard
                .write_all(next.press.as_bytes())
                .context("failed to press keys")?;
            self.pressed += 1;
        }
        Ok(())
    }
}

/// Starts a command on a terminal of its own, which controls it as a shell's would.
fn start_on_terminal(victim: &Command) -> Result<(Child, File)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let controller = openpt(flags).context("failed to open a terminal")?;
    grantpt(&controller)?;
    unlockpt(&controller)?;
    let size = Winsize {
        ws_row: 40,
        ws_col: 100,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&controller, size)?;
    let terminal = File::from(ioctl_tiocgptpeer(&controller, flags)?);
    let mut command = Command::new("setsid");
    command
        .arg("--ctty")
        .arg(victim.get_program())
        .args(victim.get_args())
        .env_clear()
        .envs(
            victim
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .env("TERM", "xterm-256color")
        .stdin(terminal.try_clone()?)
        .stdout(terminal.try_clone()?)
        .stderr(terminal);
    if let Some(folder) = victim.get_current_dir() {
        command.current_dir(folder);
    }
    let child = command.spawn().context("failed to start setsid")?;
    Ok((child, File::from(controller)))
}

fn read<R: Read + Send + 'static>(
    stream: Option<R>,
    events: Sender<Event>,
    event: fn(Vec<u8>) -> Event,
) {
    let Some(mut stream) = stream else { return };
    thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        // A terminal that nobody has open any more gives an error.
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            if events.send(event(buffer[..count].to_vec())).is_err() {
                return;
            }
        }
        let _ = events.send(Event::StreamEnded);
    });
}
