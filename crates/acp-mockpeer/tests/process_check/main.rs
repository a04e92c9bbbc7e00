//! `acp-mockpeer check`: agents and clients that are right, and others whose faults
//! have to be understood from what it writes.

mod chaos;
mod clients;
mod command_line;
mod logins;
mod processes;
mod reports;

use std::path::PathBuf;
use std::process::{Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_acp-mockpeer");

const HELLO: &str = "-> initialize\n<- result {\"protocolVersion\": 1}\n";

const SESSION: &str = "\
# A session has a name.
proves: R058

-> initialize
<- result {\"protocolVersion\": 1}
-> session/new
<- result {\"sessionId\": \"$s\"}
";
/// A folder with files in it, which is gone when the test is over.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            std::fs::write(folder.path(name), text).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }
}

/// What came of a run.
#[derive(Debug)]
struct Came {
    code: Option<i32>,
    said: String,
    told: String,
}

impl Came {
    #[track_caller]
    fn says(&self, all: &[&str]) -> &Self {
        for text in all {
            assert!(
                self.said.contains(text),
                "{text:?} is not in\n{}\n{}",
                self.said,
                self.told
            );
        }
        self
    }

    #[track_caller]
    fn ends_with(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.said, self.told);
        self
    }
}

fn check(folder: &Folder, args: &[&str], command: &[&str]) -> Came {
    let output = Command::new(PROGRAM)
        .arg("check")
        .args(args)
        .arg("--")
        .args(command)
        .current_dir(folder.0.path())
        .env("ACP_SUITE_API_KEY", "t0ps3cret-of-the-suite")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Came {
        code: output.status.code(),
        said: text(output.stdout),
        told: text(output.stderr),
    }
}
