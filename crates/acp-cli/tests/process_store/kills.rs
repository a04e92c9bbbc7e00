//! `kill -9` in the middle of turns, many times: what was acknowledged is there, once.
//!
//! `ACP_STORE_KILLS` says how often (25 without it), `ACP_STORE_SEED` at which places.

use std::{
    collections::BTreeMap,
    env, fs,
    hint::spin_loop,
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use acp_store::SqliteHistory;
use serde_json::{Value, json};

use crate::{
    agent::{Agent, Store, new_params},
    transcript::{Turn, turns},
};

/// The same numbers for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    /// Lets less than so many microseconds pass. Nothing depends on it but where the
    /// kill hits.
    fn pause(&mut self, end: u64) {
        let until = Instant::now() + Duration::from_micros(self.below(end));
        while Instant::now() < until {
            spin_loop();
        }
    }
}

/// A turn that was begun.
#[derive(Debug)]
struct Begun {
    asked: String,
    /// As it was told, if its end was.
    acknowledged: Option<Turn>,
}

#[derive(Default)]
struct Seen {
    kills: u64,
    acknowledged: u64,
    /// Turns that were cut off, and of them those of which nothing is left.
    cut_off: u64,
    lost: u64,
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "whoever runs it for long wants the figures"
)]
fn what_was_acknowledged_is_there_after_kill_9() {
    let number = |name, default| env::var(name).map_or(default, |text| text.parse().unwrap());
    let (kills, seed) = (number("ACP_STORE_KILLS", 25), number("ACP_STORE_SEED", 1));
    let started = Instant::now();
    let mut random = Random(seed);
    let store = Store::new();
    let mut sessions: BTreeMap<String, Vec<Begun>> = BTreeMap::new();
    let (mut current, mut turn, mut seen) = (String::new(), 0, Seen::default());

    for life in 0..kills {
        let mut agent = Agent::start(&store);
        assert_eq!(
            agent.list(),
            sessions.keys().cloned().collect::<Vec<_>>(),
            "life {life}"
        );
        if life % 8 == 0 {
            // One that is never prompted, and one that is.
            for _ in 0..2 {
                current = agent.new_session();
                sessions.insert(current.clone(), Vec::new());
            }
        } else {
            check(&mut agent, &current, &sessions[&current]);
        }

        let begun = sessions.get_mut(&current).unwrap();
        let mut lines = random.below(100);
        let mut told = Vec::new();
        let mut id = prompt(&mut agent, &current, &mut turn, begun);
        // A prompt is open whenever this ends.
        while lines > 0 {
            lines -= 1;
            let message = agent.next().expect("the agent goes on");
            agent.allow(&message);
            if note(message, id, &mut told, begun) {
                id = prompt(&mut agent, &current, &mut turn, begun);
            }
        }
        random.pause(3000);
        for message in agent.kill() {
            note(message, id, &mut told, begun);
        }
        seen.kills += 1;
        check_copy(&store);
    }

    let mut agent = Agent::start(&store);
    for (id, begun) in &sessions {
        let there = check(&mut agent, id, begun);
        for turn in begun {
            seen.acknowledged += u64::from(turn.acknowledged.is_some());
            let is_there = there.iter().any(|there| there.asked == turn.asked);
            seen.cut_off += u64::from(turn.acknowledged.is_none());
            seen.lost += u64::from(!is_there);
        }
        agent.call("session/close", json!({ "sessionId": id }));
        agent.call("session/delete", json!({ "sessionId": id }));
    }
    assert_eq!(agent.list(), [""; 0]);
    agent.end();
    assert_eq!(store.names(), ["sessions.db"]);
    let bytes = fs::read(&store.file).unwrap();
    assert!(
        !bytes.windows(6).any(|part| part == b"canary"),
        "deleted is overwritten"
    );

    let Seen {
        kills,
        acknowledged,
        cut_off,
        lost,
    } = seen;
    println!(
        "{kills} kills (seed {seed}) in {:.1?}: {} sessions, {acknowledged} turns acknowledged and \
         there, {cut_off} cut off, of which {lost} left nothing",
        started.elapsed(),
        sessions.len(),
    );
}

#[test]
fn a_file_is_whole_however_early_its_agent_is_killed() {
    let mut random = Random(1);
    for _ in 0..15 {
        let store = Store::new();
        let mut child = Agent::command(&store)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        random.pause(40_000);
        child.kill().unwrap();
        child.wait().unwrap();
        if store.file.exists() {
            check_copy(&store);
        }
        let mut agent = Agent::start(&store);
        assert_eq!(agent.list(), [""; 0]);
        agent.end();
        assert_eq!(store.names(), ["sessions.db"]);
    }
}

/// Prompts, with something to do that changes from turn to turn.
fn prompt(agent: &mut Agent, session: &str, turn: &mut usize, begun: &mut Vec<Begun>) -> u64 {
    let words = ["echo", "ask", "plan", "tools", "think", "everything"];
    let asked = format!("{} canary {turn}", words[*turn % words.len()]);
    *turn += 1;
    let id = agent.send_prompt(session, &asked);
    begun.push(Begun {
        asked,
        acknowledged: None,
    });
    id
}

/// Takes note of a message. True if the turn has ended by it.
fn note(mut message: Value, id: u64, told: &mut Vec<Value>, begun: &mut [Begun]) -> bool {
    let is_answer = message["id"] == id && message["method"].is_null();
    if is_answer {
        assert_eq!(message["result"]["stopReason"], "end_turn", "{message}");
        let turn = begun.last_mut().unwrap();
        turn.acknowledged = Some(Turn::new(&turn.asked, told));
        told.clear();
    } else {
        told.push(message["params"]["update"].take());
    }
    is_answer
}

/// Loads a session, and holds it against what was seen of it.
fn check(agent: &mut Agent, id: &str, begun: &[Begun]) -> Vec<Turn> {
    let (told, answer) = agent.call("session/load", new_params(Some(id)));
    assert!(answer["result"].is_object(), "{id}: {answer}");
    let there = turns(&told);
    // In the order in which they were begun; some that were cut off are missing.
    let mut rest = there.iter().peekable();
    for turn in begun {
        let found = rest.next_if(|there| there.asked == turn.asked);
        if let Some(acknowledged) = &turn.acknowledged {
            assert_eq!(found, Some(acknowledged), "{id}");
        }
    }
    assert_eq!(rest.next(), None, "{id}: twice, or never begun");
    there
}

/// Reads all of what the kill left, on a copy: the next agent has to find it as it is.
fn check_copy(store: &Store) {
    let copy = Store::new();
    for end in ["", "-wal"] {
        let [from, to] = [&store.file, &copy.file].map(|file| {
            let mut name = file.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        });
        if from.exists() {
            fs::copy(from, to).unwrap();
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let history = SqliteHistory::open(&copy.file).unwrap();
        history.check().await.unwrap();
        history.close().await;
    });
}
