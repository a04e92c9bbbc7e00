//! Where and when something was measured.

use std::fs;
use std::process::Command;

use serde::{Deserialize, Serialize};

/// A machine, on a day.
#[derive(Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) date: String,
    pub(crate) processor: String,
    pub(crate) processors: usize,
    pub(crate) system: String,
    pub(crate) compiler: String,
    /// What else ran, as the average of the last minute.
    pub(crate) load: f64,
}

impl Machine {
    /// This machine, now.
    pub(crate) fn here() -> Self {
        let processors = std::thread::available_parallelism();
        let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpu.lines().find(|line| line.starts_with("model name"));
        let model = model.and_then(|line| line.split_once(": "));
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').next().and_then(|load| load.parse().ok());
        Self {
            date: told("date", &["-u", "+%Y-%m-%d"]),
            processor: model.map_or("unknown", |(_, name)| name).to_owned(),
            processors: processors.map_or(1, usize::from),
            system: told("uname", &["-srm"]),
            compiler: told("rustc", &["--version"]),
            load: load.unwrap_or_default(),
        }
    }
}

/// What a command says, in one line.
fn told(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).trim().to_owned()
}
