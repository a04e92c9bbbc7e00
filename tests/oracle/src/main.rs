//! Compares the corpus of the protocol types with what the schema crate says that
//! the protocol's authors publish.
//!
//! `cargo run --manifest-path tests/oracle/Cargo.toml` fails where it does otherwise
//! than `differences.txt` tells; with `-- --write` it writes that file anew. The
//! first line of the file is the hash of the corpus, so that the tests of the
//! workspace notice a corpus that was never shown to it.

#[path = "../../../crates/acp-protocol/tests/definitions/mod.rs"]
#[rustfmt::skip]
mod definitions;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use definitions::each_definition;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};

mod published {
    pub(crate) use agent_client_protocol_schema::ProtocolVersion;
    pub(crate) use agent_client_protocol_schema::v1::*;
}

type Case = BTreeMap<String, Value>;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut differences = Differences::default();
    macro_rules! compare_each {
        ($($name:ident: $type:ty,)*) => {
            $(differences.compare::<published::$name>(stringify!($name))?;)*
        };
    }
    each_definition!(compare_each);
    if !differences.unexplained.is_empty() {
        eprintln!(
            "the published crate does otherwise:\n{}",
            differences.unexplained
        );
        return Ok(ExitCode::FAILURE);
    }
    let text = format!("corpus {}\n{}", corpus_hash()?, differences.explained);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("differences.txt");
    if std::env::args().any(|argument| argument == "--write") {
        fs::write(&path, &text)?;
    } else if fs::read_to_string(&path)? != text {
        eprintln!("differences.txt is not up to date: run with `-- --write`, and look at it");
        return Ok(ExitCode::FAILURE);
    }
    println!("{} cases compared", differences.compared);
    Ok(ExitCode::SUCCESS)
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/v1")
}

/// Returns the hash over names and contents of all files of the corpus.
fn corpus_hash() -> Result<String, Box<dyn Error>> {
    let mut files = fs::read_dir(corpus())?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>, std::io::Error>>()?;
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().as_encoded_bytes();
        hash.update(name);
        hash.update(fs::read(&file)?);
    }
    Ok(hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

#[derive(Default)]
struct Differences {
    explained: String,
    unexplained: String,
    compared: usize,
}

impl Differences {
    fn compare<T: DeserializeOwned + Serialize>(
        &mut self,
        name: &str,
    ) -> Result<(), Box<dyn Error>> {
        let text = fs::read_to_string(corpus().join(format!("{name}.json")))?;
        let cases: BTreeMap<String, Case> = serde_json::from_str(&text)?;
        for (case_name, case) in cases {
            self.compared += 1;
            let Some(difference) = difference::<T>(&case)? else {
                continue;
            };
            match reason(&case_name, &difference) {
                Some(reason) => writeln!(self.explained, "{name}, {case_name}: {reason}")?,
                None => writeln!(self.unexplained, "{name}, {case_name}: {difference:?}")?,
            }
        }
        Ok(())
    }
}

/// What the published crate does otherwise than the corpus says.
#[derive(Debug)]
#[expect(
    dead_code,
    reason = "what is not read is shown where it is unexplained"
)]
enum Difference {
    Accepts(Value),
    Refuses(String),
    Writes { theirs: Value, ours: Value },
}

fn difference<T>(case: &Case) -> Result<Option<Difference>, serde_json::Error>
where
    T: DeserializeOwned + Serialize,
{
    let wire = &case["wire"];
    Ok(match (case.contains_key("refused"), T::deserialize(wire)) {
        (true, Err(_)) => None,
        (true, Ok(theirs)) => Some(Difference::Accepts(serde_json::to_value(theirs)?)),
        (false, Err(error)) => Some(Difference::Refuses(error.to_string())),
        (false, Ok(theirs)) => {
            let theirs = serde_json::to_value(theirs)?;
            let ours = case.get("written").unwrap_or(wire).clone();
            (theirs != ours).then_some(Difference::Writes { theirs, ours })
        }
    })
}

/// Why the published crate does otherwise.
fn reason(case: &str, difference: &Difference) -> Option<&'static str> {
    match difference {
        Difference::Accepts(_) if case == "no object" => {
            Some("derived code reads an object from an array too")
        }
        Difference::Refuses(_) if case.starts_with("unrecognized") => {
            Some("it refuses what it does not know")
        }
        Difference::Refuses(_) if case.starts_with("in use: ") => {
            Some("it refuses what agents in use send")
        }
        Difference::Refuses(_) if case.starts_with("without ") => {
            Some("it refuses an answer without its list")
        }
        Difference::Refuses(_) if case.starts_with("object ") => {
            Some("it reads no object as a list of name and value")
        }
        Difference::Writes { .. } if case.starts_with("unrecognized") => {
            Some("it forgets what it does not know")
        }
        Difference::Writes { theirs, ours } if ours["status"] == "pending" => {
            let mut without = ours.clone();
            without.as_object_mut()?.remove("status");
            (without == *theirs).then_some("it leaves out the status `pending`, the default")
        }
        Difference::Writes { theirs, ours } if ours["mcpServers"] == Value::Array(Vec::new()) => {
            let mut without = ours.clone();
            without.as_object_mut()?.remove("mcpServers");
            (without == *theirs).then_some("it leaves out an empty list of tool servers")
        }
        _ => None,
    }
}
