//! The demo agent with a store, as real processes: killed, started again, several on
//! one file.
#![cfg(unix)]

mod agent;
mod kills;
mod sharing;
mod transcript;

use std::fs;

use agent::{Agent, Store, new_params};
use serde_json::json;

#[test]
fn a_session_lasts_that_was_never_prompted() {
    let store = Store::new();
    let mut agent = Agent::start(&store);
    let ids: Vec<_> = (0..3).map(|_| agent.new_session()).collect();
    agent.kill();

    let mut agent = Agent::start(&store);
    assert_eq!(agent.list(), ids);
    let (told, answer) = agent.call("session/load", new_params(Some(&ids[0])));
    assert!(answer["result"].is_object(), "{answer}");
    assert_eq!(transcript::turns(&told), []);
    let (_, answer) = agent.call("session/resume", new_params(Some(&ids[1])));
    assert!(answer["result"].is_object(), "{answer}");
    let (_, answer) = agent.call("session/delete", json!({ "sessionId": ids[2] }));
    assert!(answer["result"].is_object(), "{answer}");
    // Both can be prompted.
    for id in &ids[..2] {
        agent.prompt(id, "echo hello");
    }
    agent.kill();

    let mut agent = Agent::start(&store);
    assert_eq!(agent.list(), ids[..2]);
    let (_, answer) = agent.call("session/load", new_params(Some(&ids[2])));
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    agent.end();
    assert_eq!(store.names(), ["sessions.db"]);
}

#[test]
fn a_file_that_is_no_history_is_named_and_left_alone() {
    let store = Store::new();
    for (bytes, want) in [
        ("precious notes", "the file holds something else"),
        ("", "the file is empty"),
    ] {
        fs::write(&store.file, bytes).unwrap();
        let ended = Agent::command(&store).output().unwrap();
        assert_eq!(ended.status.code(), Some(3));
        assert_eq!(ended.stdout, b"");
        let told = String::from_utf8(ended.stderr).unwrap();
        assert!(
            told.starts_with("acp: failed to open the session history /"),
            "{told}"
        );
        assert!(told.contains(want), "{told}");
        assert_eq!(fs::read_to_string(&store.file).unwrap(), bytes);
    }
    assert_eq!(store.names(), ["sessions.db"]);
}
