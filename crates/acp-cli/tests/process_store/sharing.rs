//! Two agents on one file.

use std::{sync::Barrier, thread};

use crate::{
    agent::{Agent, Store, new_params},
    transcript::{Turn, turns},
};

#[test]
fn two_agents_write_to_one_file_at_once() {
    let store = Store::new();
    let barrier = Barrier::new(2);
    let work = || {
        let mut agent = Agent::start(&store);
        barrier.wait();
        let id = agent.new_session();
        let told: Vec<_> = (0..25)
            .map(|number| {
                let asked = format!("ask {number}");
                let told = agent.prompt(&id, &asked);
                Turn::new(&asked, &told)
            })
            .collect();
        (agent, id, told)
    };
    let worked = thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads.map(|thread| thread.join().unwrap())
    });
    let mut third = Agent::start(&store);
    let mut ids: Vec<_> = worked.iter().map(|(_, id, _)| id.clone()).collect();
    ids.sort();
    assert_eq!(third.list(), ids);
    for (agent, id, told) in worked {
        let (replayed, _) = third.call("session/load", new_params(Some(&id)));
        assert_eq!(turns(&replayed), told);
        agent.end();
    }
    third.end();
    assert_eq!(store.names(), ["sessions.db"]);
}

#[test]
fn the_latest_prompt_has_the_session() {
    let store = Store::new();
    let (mut one, mut two) = (Agent::start(&store), Agent::start(&store));
    let id = one.new_session();
    let (_, answer) = two.call("session/load", new_params(Some(&id)));
    assert!(answer["result"].is_object(), "{answer}");

    // The first one waits for its user.
    let request = one.send_prompt(&id, "ask first");
    let asked = loop {
        let message = one.next().unwrap();
        if message["method"] == "session/request_permission" {
            break message;
        }
    };
    let told = two.prompt(&id, "echo second");
    one.allow(&asked);
    let (_, answer) = one.finish(request);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("gone on elsewhere"), "{answer}");
    assert!(!answer.to_string().contains("sessions.db"), "{answer}");
    // One that was killed leaves no lock behind.
    one.kill();

    let mut three = Agent::start(&store);
    let (replayed, _) = three.call("session/load", new_params(Some(&id)));
    let turns = turns(&replayed);
    assert_eq!(turns.len(), 2);
    assert_eq!(turns[0].asked, "ask first");
    assert_eq!(turns[1], Turn::new("echo second", &told));
}
