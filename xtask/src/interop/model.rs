//! The scripted model of `tests/interop`, running beside us.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// How long the model may take to notice that an agent hung up, and to say so.
const SETTLE: Duration = Duration::from_secs(2);

/// A running model; dropping it ends it.
pub(super) struct Model {
    child: Child,
    url: String,
    journal: Arc<Journal>,
    /// The marks that were asked for.
    marks: AtomicU64,
}

/// One request that an agent made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) number: u64,
    /// The script that the model followed.
    pub(super) script: String,
    /// How the answer ended; absent while it is being sent.
    pub(super) end: Option<String>,
}

#[derive(Default)]
struct Journal {
    said: Mutex<Said>,
    changed: Condvar,
}

/// What the model said that was not taken.
#[derive(Default)]
struct Said {
    asked: Vec<Asked>,
    /// The last mark.
    mark: u64,
}

/// A line of the model's journal.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Mark {
        mark: u64,
    },
    Request {
        request: u64,
        script: Option<String>,
        end: Option<String>,
    },
}

impl Model {
    /// Starts the model and waits for its address.
    ///
    /// # Errors
    ///
    /// Fails when the program cannot be started or says no address.
    pub(super) fn start(program: &Path) -> Result<Self> {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("failed to start the model")?;
        let stdout = child.stdout.take().context("the model has no stdout")?;
        let journal = Arc::new(Journal::default());
        let mut model = Self {
            child,
            url: String::new(),
            journal,
            marks: AtomicU64::new(0),
        };
        let mut stdout = BufReader::new(stdout);
        stdout
            .read_line(&mut model.url)
            .context("failed to read the address of the model")?;
        model.url.truncate(model.url.trim_end().len());
        ensure!(
            model.url.starts_with("http://127.0.0.1:"),
            "the model said no address"
        );
        let journal = Arc::clone(&model.journal);
        thread::spawn(move || journal.follow(stdout));
        Ok(model)
    }

    /// Returns the address of the model.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the id of its process.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Takes the requests that came since the last call, when all of them have ended.
    pub(super) fn take_asked(&self) -> Vec<Asked> {
        let mark = 1 + self.marks.fetch_add(1, Ordering::Relaxed);
        if let Some(mut stdin) = self.child.stdin.as_ref() {
            // A model that is gone says no more: what it said is what there is.
            let _ = writeln!(stdin, "{mark}");
        }
        self.journal.take(mark)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // Closing its stdin would do; this does not depend on it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Journal {
    fn follow(&self, lines: BufReader<ChildStdout>) {
        for line in lines.lines() {
            match line.map(|line| serde_json::from_str(&line)) {
                Ok(Ok(line)) => self.add(line),
                Ok(Err(error)) => eprintln!("interop: a line of the model: {error}"),
                Err(_) => return,
            }
        }
    }

    fn add(&self, line: Line) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        match line {
            Line::Mark { mark } => said.mark = mark,
            Line::Request {
                request: number,
                script: Some(script),
                end,
            } => said.asked.push(Asked {
                number,
                script,
                end,
            }),
            Line::Request { request, end, .. } => {
                let asked = said.asked.iter_mut();
                for entry in asked.filter(|entry| entry.number == request) {
                    entry.end.clone_from(&end);
                }
            }
        }
        self.changed.notify_all();
    }

    /// Takes what was asked before a mark.
    fn take(&self, mark: u64) -> Vec<Asked> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = |said: &mut Said| {
            said.mark < mark || said.asked.iter().any(|entry| entry.end.is_none())
        };
        let waited = self.changed.wait_timeout_while(said, SETTLE, is_open);
        let (mut said, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut said.asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        serde_json::from_str(text).expect("a line of the journal")
    }

    #[test]
    fn a_request_is_taken_with_its_end() {
        let journal = Arc::new(Journal::default());
        journal.add(line(
            r#"{"request": 7, "dialect": "chat", "script": "slow"}"#,
        ));
        let other = Arc::clone(&journal);
        let ends = thread::spawn(move || {
            other.add(line(r#"{"request": 7, "end": "hung up"}"#));
            other.add(line(r#"{"mark": 1}"#));
        });
        let asked = journal.take(1);
        ends.join().expect("the other thread ends");
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].script, "slow");
        assert_eq!(asked[0].end.as_deref(), Some("hung up"));
        assert_eq!(journal.take(1), []);
    }

    #[test]
    fn what_was_said_before_the_mark_is_waited_for() {
        let journal = Arc::new(Journal::default());
        let other = Arc::clone(&journal);
        let said = thread::spawn(move || {
            other.add(line(
                r#"{"request": 7, "dialect": "chat", "script": "tool"}"#,
            ));
            other.add(line(r#"{"request": 7, "end": "sent"}"#));
            other.add(line(r#"{"mark": 2}"#));
        });
        assert_eq!(journal.take(2).len(), 1);
        said.join().expect("the other thread ends");
    }
}
