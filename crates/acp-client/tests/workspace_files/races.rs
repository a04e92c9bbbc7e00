//! What happens while somebody changes the paths all the time (B099).

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::support::{Tree, ok};

/// Enough to meet each state of the path many times, few enough for every run.
const ROUNDS: usize = 300;
/// Where a test that does not meet all states gives up.
const MOST_ROUNDS: usize = 100_000;

/// Changes something again and again while `work` runs.
fn under_load<T>(mut change: impl FnMut(usize) + Send, work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                change(turn);
            }
        });
        let given = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        done.store(true, Ordering::Relaxed);
        given.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Puts each of these in turn in the place of a name, in one step.
fn take_turns(tree: &Tree, place: &str, makers: &[&(dyn Fn(&str) + Sync)], turn: usize) {
    let next = "ws/app/next";
    makers[turn % makers.len()](next);
    fs::rename(tree.at(next), tree.at(place)).unwrap();
}

/// Reads and writes until every outcome that can be was met, and counts them.
fn outcomes(tree: &Tree, below: &str, wanted: &[&str]) -> BTreeMap<String, usize> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let mut seen = BTreeMap::new();
    runtime.block_on(async {
        let files = tree.files().await;
        let path = tree.at(below);
        for round in 0..MOST_ROUNDS {
            let read = match files.read(&path).await {
                Ok(text) if text == "inside" || text == "written" => "read".to_owned(),
                Ok(other) => panic!("read {other:?}"),
                Err(why) => format!("read {why}"),
            };
            let write = match files.write(&path, "written").await {
                Ok(()) => "write".to_owned(),
                Err(why) => format!("write {why}"),
            };
            for outcome in [read, write] {
                *seen.entry(outcome).or_default() += 1;
            }
            let met = |outcome: &&str| seen.contains_key(*outcome);
            if round >= ROUNDS && wanted.iter().all(met) {
                return;
            }
        }
        panic!("of {wanted:?} only {seen:?} were met");
    });
    seen
}

#[track_caller]
fn check_known(seen: &BTreeMap<String, usize>, known: &[&str]) {
    for outcome in seen.keys() {
        assert!(known.contains(&outcome.as_str()), "{seen:?}");
    }
}

#[test]
fn a_folder_that_turns_into_a_link_leads_nobody_out() {
    let tree = Tree::new();
    fs::create_dir(tree.at("ws/app/real")).unwrap();
    tree.put("ws/app/real/x", "inside");
    tree.link("ws/app/way", "real");
    let makers: [&(dyn Fn(&str) + Sync); 3] = [
        &|name| tree.link(name, "../../out"),
        &|name| tree.link(name, "real"),
        &|name| tree.link(name, tree.at("out")),
    ];
    let seen = under_load(
        |turn| take_turns(&tree, "ws/app/way", &makers, turn),
        || {
            outcomes(
                &tree,
                "ws/app/way/x",
                &["read", "read outside", "write", "write outside"],
            )
        },
    );
    check_known(&seen, &["read", "read outside", "write", "write outside"]);
    tree.check_outside();
    assert_eq!(tree.names("ws/app/real"), ["x"]);
}

#[test]
fn a_folder_that_turns_into_a_link_leads_to_nothing_protected() {
    use rustix::fs::{RenameFlags, renameat_with};

    let tree = Tree::new();
    fs::create_dir(tree.at("ws/app/.git")).unwrap();
    fs::create_dir(tree.at("ws/app/way")).unwrap();
    tree.put("ws/app/way/x", "inside");
    tree.put("ws/app/.git/x", "inside");
    tree.link("ws/app/other", ".git");
    let (way, other) = (tree.at("ws/app/way"), tree.at("ws/app/other"));
    let exchange = |_| renameat_with(CWD, &way, CWD, &other, RenameFlags::EXCHANGE).unwrap();
    let protected = "write protected: version control runs commands and hooks that are named there";
    under_load(exchange, || {
        outcomes(&tree, "ws/app/way/x", &["read", "write", protected])
    });
    assert_eq!(tree.text("ws/app/.git/x"), "inside");
    assert_eq!(tree.names("ws/app/.git"), ["x"]);
}

#[test]
fn a_file_that_turns_into_a_link_or_a_pipe_leads_nobody_out() {
    let tree = Tree::new();
    tree.put("ws/app/x", "inside");
    let makers: [&(dyn Fn(&str) + Sync); 3] = [
        &|name| tree.link(name, tree.at("out/x")),
        &|name| tree.put(name, "inside"),
        &|name| mknodat(CWD, tree.at(name), FileType::Fifo, Mode::RWXU, 0).unwrap(),
    ];
    let seen = under_load(
        |turn| take_turns(&tree, "ws/app/x", &makers, turn),
        || {
            let wanted = ["read", "read outside", "read no file", "write"];
            outcomes(&tree, "ws/app/x", &wanted)
        },
    );
    check_known(
        &seen,
        &[
            "read",
            "read outside",
            "read no file",
            "write",
            "write outside",
            "write no file",
        ],
    );
    tree.check_outside();
}

#[test]
fn whoever_reads_gets_a_whole_text() {
    let tree = Tree::new();
    let texts = [1, 2].map(|number| format!("{number}\n").repeat(50_000));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let files = tree.files().await;
        let path = tree.at("ws/app/x");
        files.write(&path, &texts[0]).await.unwrap();
        for round in 0..ROUNDS {
            let text = &texts[round % 2];
            let (written, read) = tokio::join!(files.write(&path, text), files.read(&path));
            written.unwrap();
            let read = read.unwrap();
            assert!(texts.contains(&read), "{} bytes", read.len());
            assert_eq!(
                files.read(&path).await,
                ok(text),
                "what was written is there"
            );
        }
    });
    assert_eq!(tree.names("ws/app"), ["src", "x"]);
}
