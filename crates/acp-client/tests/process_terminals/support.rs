//! A session with terminals, and a look at the processes it has.

use std::fs;
use std::future::Future;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use acp_client::{
    Environment, LocalTerminals, OpenTerminals, ServeError, ServeTerminals, SessionFolders,
    SessionTerminals,
};
use acp_protocol::v1::{
    CreateTerminalRequest, KillTerminalRequest, ReleaseTerminalRequest, TerminalId,
    TerminalOutputRequest, WaitForTerminalExitRequest,
};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

/// Long enough for the slowest machine; only a failing test waits so long.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// A variable by which the processes of one test are known, whatever they become.
const MARK: &str = "ACP_TEST_MARK";

/// A workspace, and terminals whose processes can be counted.
pub(crate) struct Place {
    dir: TempDir,
    mark: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            dir: tempfile::tempdir().unwrap(),
            mark: format!("{}-{number}", std::process::id()),
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn environment(&self) -> Environment {
        let mut environment = Environment::inherited(["PATH"]);
        environment.set(MARK, self.mark.as_str()).unwrap();
        environment
    }

    pub(crate) fn options(&self) -> LocalTerminals {
        LocalTerminals::new().with_environment(self.environment())
    }

    pub(crate) async fn terminals(&self) -> Terminals {
        self.terminals_by(self.options()).await
    }

    pub(crate) async fn terminals_by(&self, options: LocalTerminals) -> Terminals {
        Terminals(options.open(&SessionFolders::new(self.path())).await)
    }

    /// The processes of this test that run.
    pub(crate) fn running(&self) -> Vec<u32> {
        let mark = format!("{MARK}={}", self.mark);
        let has_mark = |pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|variable| variable == mark.as_bytes())
        };
        let entries = fs::read_dir("/proc").unwrap().flatten();
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| has_mark(pid) && runs(*pid))
            .collect()
    }

    pub(crate) async fn wait_until_none_runs(&self) {
        until("the end of all processes", || self.running().is_empty()).await;
    }
}

impl Drop for Place {
    /// A test that fails must not leave anything either.
    fn drop(&mut self) {
        for pid in self.running() {
            let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

/// Terminals in few words.
pub(crate) struct Terminals(pub(crate) SessionTerminals);

/// Output, whether it was cut, and the exit in words.
pub(crate) type Seen = (String, bool, Option<String>);

impl Terminals {
    pub(crate) async fn create(
        &self,
        request: CreateTerminalRequest,
    ) -> Result<TerminalId, ServeError> {
        let created = within("the start", self.0.create(request)).await;
        created.map(|answer| answer.terminal_id)
    }

    /// Starts `/bin/sh -c SCRIPT`.
    pub(crate) async fn sh(&self, script: &str) -> TerminalId {
        self.create(sh(script)).await.unwrap()
    }

    pub(crate) async fn output(&self, id: &TerminalId) -> Seen {
        let request = TerminalOutputRequest::new("s", id.clone());
        let answer = self.0.output(request).await.unwrap();
        let exit = answer
            .exit_status
            .map(|exit| words(exit.exit_code, exit.signal));
        (answer.output, answer.truncated, exit)
    }

    /// Waits until the output holds a line, and gives the last one.
    pub(crate) async fn line(&self, id: &TerminalId) -> String {
        let line = async {
            loop {
                let (output, _, _) = self.output(id).await;
                if let Some((line, _)) = output.rsplit_once('\n') {
                    return line.rsplit('\n').next().unwrap().to_owned();
                }
                sleep(Duration::from_millis(2)).await;
            }
        };
        within("a line", line).await
    }

    /// Waits until this is the output.
    pub(crate) async fn says(&self, id: &TerminalId, output: &str) {
        let said = async {
            while self.output(id).await.0 != output {
                sleep(Duration::from_millis(2)).await;
            }
        };
        within(output, said).await;
    }

    pub(crate) async fn pid(&self, id: &TerminalId) -> u32 {
        self.line(id).await.parse().unwrap()
    }

    pub(crate) async fn wait(&self, id: &TerminalId) -> String {
        let request = WaitForTerminalExitRequest::new("s", id.clone());
        let answer = within("the exit", self.0.wait_for_exit(request))
            .await
            .unwrap();
        words(answer.exit_code, answer.signal)
    }

    pub(crate) async fn kill(&self, id: &TerminalId) {
        let request = KillTerminalRequest::new("s", id.clone());
        within("the kill", self.0.kill(request)).await.unwrap();
    }

    pub(crate) async fn release(&self, id: &TerminalId) {
        let request = ReleaseTerminalRequest::new("s", id.clone());
        within("the release", self.0.release(request))
            .await
            .unwrap();
    }

    /// Runs a script to its end, and gives its output and exit.
    pub(crate) async fn run(&self, script: &str) -> (String, String) {
        let id = self.sh(script).await;
        let exit = self.wait(&id).await;
        let (output, cut, told) = self.output(&id).await;
        assert!(!cut);
        assert_eq!(told.as_deref(), Some(exit.as_str()));
        self.release(&id).await;
        (output, exit)
    }
}

pub(crate) fn sh(script: &str) -> CreateTerminalRequest {
    command("/bin/sh").with_args(["-c", script].map(str::to_owned))
}

pub(crate) fn command(command: &str) -> CreateTerminalRequest {
    CreateTerminalRequest::new("s", command)
}

pub(crate) fn words(code: Option<u32>, signal: Option<String>) -> String {
    match (code, signal) {
        (Some(code), None) => code.to_string(),
        (None, Some(signal)) => signal,
        other => format!("{other:?}"),
    }
}

/// Tells whether a process runs; a zombie does not.
pub(crate) fn runs(pid: u32) -> bool {
    state(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// The state letter of a process, `None` when there is none.
pub(crate) fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// Awaits something that comes soon, or fails.
pub(crate) async fn within<F: Future>(what: &str, future: F) -> F::Output {
    timeout(LIMIT, future)
        .await
        .unwrap_or_else(|_| panic!("waited {LIMIT:?} for {what}"))
}

/// Looks again and again until it is so, or fails.
pub(crate) async fn until(what: &str, so: impl Fn() -> bool) {
    let look = async {
        while !so() {
            sleep(Duration::from_millis(2)).await;
        }
    };
    within(what, look).await;
}
