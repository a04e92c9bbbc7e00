//! The corpus, read and written by the schema crate that the protocol's authors
//! publish.
//!
//! Where it does otherwise than we do, `oracle.txt` names the case and the reason.
//! The file is exact in both directions; `UPDATE_EXPECT=1` writes it anew.

#[rustfmt::skip]
mod definitions;

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use definitions::each_definition;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

mod published {
    pub(crate) use agent_client_protocol_schema::ProtocolVersion;
    pub(crate) use agent_client_protocol_schema::v1::*;
}

type Case = BTreeMap<String, Value>;

#[test]
fn published_crate_agrees_but_for_known_differences() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = String::new();
    let mut unexplained = String::new();
    let mut compared = 0;
    macro_rules! compare_each {
        ($($name:ident: $type:ty,)*) => { $(
            let path = folder.join(concat!("../../tests/corpus/v1/", stringify!($name), ".json"));
            let cases: BTreeMap<String, Case> =
                serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
            for (case_name, case) in cases {
                compared += 1;
                let Some(difference) = difference::<published::$name>(&case) else { continue };
                match reason(&case_name, &difference) {
                    Some(reason) => {
                        let _ = writeln!(found, "{}, {case_name}: {reason}", stringify!($name));
                    }
                    None => {
                        let _ = writeln!(
                            unexplained,
                            "{}, {case_name}: {difference:?}", stringify!($name)
                        );
                    }
                }
            }
        )* };
    }
    each_definition!(compare_each);
    assert!(compared > 1500, "{compared}");
    assert!(unexplained.is_empty(), "{unexplained}");
    let path = folder.join("tests/oracle.txt");
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(&path).unwrap());
}

/// What the published crate does otherwise.
#[derive(Debug)]
enum Difference {
    Accepts(#[expect(dead_code, reason = "shown where it is unexplained")] Value),
    Refuses(#[expect(dead_code, reason = "shown where it is unexplained")] String),
    Writes { theirs: Value, ours: Value },
}

fn difference<T: DeserializeOwned + Serialize>(case: &Case) -> Option<Difference> {
    let wire = &case["wire"];
    let theirs = T::deserialize(wire)
        .map(|read| serde_json::to_value(read).unwrap())
        .map_err(|error| error.to_string());
    match (case.get("refused"), theirs) {
        (Some(_), Err(_)) => None,
        (Some(_), Ok(theirs)) => Some(Difference::Accepts(theirs)),
        (None, Err(error)) => Some(Difference::Refuses(error)),
        (None, Ok(theirs)) => {
            let ours = case.get("written").unwrap_or(wire).clone();
            (theirs != ours).then_some(Difference::Writes { theirs, ours })
        }
    }
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
        Difference::Refuses(_) if case.starts_with("without ") => {
            Some("it refuses an answer without its list")
        }
        Difference::Writes { .. } if case.starts_with("unrecognized") => {
            Some("it forgets what it does not know")
        }
        Difference::Writes { theirs, ours } if ours["status"] == "pending" => {
            let mut without = ours.clone();
            without.as_object_mut()?.remove("status");
            (without == *theirs).then_some("it leaves out the status `pending`, the default")
        }
        _ => None,
    }
}
