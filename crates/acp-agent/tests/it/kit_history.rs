//! The kit and its history: what is kept when, who owns a session, bounds.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use acp_agent::{
    Agent,
    demo::DemoAgent,
    host::{Block, CatalogEntry, CatalogQuery, ConfigChoice, ConfigOption, HostError, SessionId},
    kit::{
        History, HistoryError, Kit, MemoryHistory, Page, Prompt, Record, RecordBody, RecordedEnd,
        StoredSession, Turn, TurnEnd, TurnError, TurnHandler,
    },
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::client::{Client, prompt};

/// Says what it is told to say; with `hold`, in the middle of a tool until the
/// test lets it go on.
struct Talker(Arc<Notify>);

impl TurnHandler for Talker {
    async fn turn(&self, turn: &mut Turn, prompt: Prompt) -> Result<TurnEnd, TurnError> {
        let text = prompt.text();
        for word in text.split_inclusive(' ') {
            turn.text(word).await?;
        }
        match &*text {
            "hold" => {
                let tool = turn.tool("wait", "Wait").start().await?;
                let _open = turn.tool("rest", "Rest").start().await?;
                self.0.notified().await;
                tool.complete(vec![]).await?;
            }
            "pause here" => self.0.notified().await,
            "call it work" => turn.title("Work").await?,
            "too many" => return Ok(TurnEnd::MaxSteps),
            _ => {}
        }
        Ok(TurnEnd::Done)
    }
}

fn agent(history: impl History) -> (Agent, Arc<Notify>) {
    let go_on = Arc::new(Notify::new());
    let modes = vec![
        ConfigChoice::new("ask", "Ask"),
        ConfigChoice::new("act", "Act"),
    ];
    let kit = Kit::new(Talker(Arc::clone(&go_on)))
        .with_options(vec![
            ConfigOption::mode("ask", modes),
            ConfigOption::switch("web", "Web", false),
        ])
        .with_history(history);
    (kit.into_builder().build().unwrap(), go_on)
}

fn params(id: &str) -> Value {
    json!({"sessionId": id, "cwd": "/home/ada/project", "mcpServers": []})
}

async fn say(client: &mut Client, id: &str, text: &str) -> Value {
    client.told("session/prompt", prompt(id, text)).await.1
}

/// All that is kept of a session.
async fn kept(history: &impl History, id: &str) -> Vec<Record> {
    let id = SessionId::new(id).unwrap();
    let (mut records, mut from) = (Vec::new(), 0);
    loop {
        let page = history.read(&id, from).await.unwrap();
        if page.records.is_empty() {
            return records;
        }
        records.extend(page.records);
        from = page.next;
    }
}

fn endings(records: &[Record]) -> Vec<RecordedEnd> {
    let ends = records.iter().filter_map(|record| match record.body {
        RecordBody::Ended(end) => Some(end),
        _ => None,
    });
    ends.collect()
}

/// Counts appends, and fails from one of them on.
#[derive(Clone)]
struct Counted {
    history: MemoryHistory,
    appends: Arc<AtomicU64>,
    fail_at: u64,
}

impl Counted {
    fn new(fail_at: u64) -> Self {
        Self {
            history: MemoryHistory::new(),
            appends: Arc::default(),
            fail_at,
        }
    }
}

impl History for Counted {
    async fn create(&self, session: StoredSession) -> Result<(), HistoryError> {
        self.history.create(session).await
    }

    async fn get(&self, id: &SessionId) -> Result<Option<StoredSession>, HistoryError> {
        self.history.get(id).await
    }

    async fn update(&self, session: StoredSession) -> Result<(), HistoryError> {
        self.history.update(session).await
    }

    async fn append(
        &self,
        id: &SessionId,
        at: u64,
        records: Vec<Record>,
    ) -> Result<(), HistoryError> {
        // A store takes its time.
        tokio::task::yield_now().await;
        if self.appends.fetch_add(1, Ordering::Relaxed) + 1 >= self.fail_at {
            let error = HostError::internal("canary").with_public_text("the disk is full");
            return Err(HistoryError::Failed(error));
        }
        self.history.append(id, at, records).await
    }

    async fn read(&self, id: &SessionId, from: u64) -> Result<Page, HistoryError> {
        self.history.read(id, from).await
    }

    async fn list(&self, query: CatalogQuery) -> Result<Vec<CatalogEntry>, HistoryError> {
        self.history.list(query).await
    }

    async fn delete(&self, id: &SessionId) -> Result<(), HistoryError> {
        self.history.delete(id).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_never_prompted_is_one() {
    let history = MemoryHistory::new();
    let mut client = Client::ready(&agent(history.clone()).0).await;
    let ids = [client.new_session().await, client.new_session().await];
    client.hang_up().await;

    let mut client = Client::ready(&agent(history).0).await;
    let listed = client.call("session/list", json!({})).await;
    assert_eq!(listed["result"]["sessions"].as_array().unwrap().len(), 2);
    let answer = client.call("session/load", params(&ids[0])).await;
    assert!(answer["result"].is_object(), "{answer}");
    let answer = client.call("session/resume", params(&ids[1])).await;
    assert!(answer["result"].is_object(), "{answer}");
    for id in &ids {
        assert_eq!(
            say(&mut client, id, "hi").await["result"]["stopReason"],
            "end_turn"
        );
        client.call("session/close", json!({"sessionId": id})).await;
        let answer = client
            .call("session/delete", json!({"sessionId": id}))
            .await;
        assert!(answer["result"].is_object(), "{answer}");
    }
    let listed = client.call("session/list", json!({})).await;
    assert_eq!(listed["result"]["sessions"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn options_and_title_come_back() {
    let history = MemoryHistory::new();
    let mut client = Client::ready(&agent(history.clone()).0).await;
    let id = client.new_session().await;
    let mode = json!({"sessionId": id, "modeId": "act"});
    client.told("session/set_mode", mode).await;
    say(&mut client, &id, "call it work").await;
    client.hang_up().await;

    for method in ["session/load", "session/resume"] {
        let mut client = Client::ready(&agent(history.clone()).0).await;
        let (_, answer) = client.told(method, params(&id)).await;
        assert_eq!(
            answer["result"]["modes"]["currentModeId"], "act",
            "{answer}"
        );
    }
    let stored = history
        .get(&SessionId::new(&*id).unwrap())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stored.entry.title.as_deref(), Some("Work"));
}

#[tokio::test(start_paused = true)]
async fn an_answer_leaves_when_all_of_its_turn_is_kept() {
    let counted = Counted::new(u64::MAX);
    let mut client = Client::ready(&agent(counted.clone()).0).await;
    let id = client.new_session().await;
    let words = "word ".repeat(500);
    let answer = say(&mut client, &id, &words).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    // RecordBody was asked, and all the rest at once.
    assert_eq!(counted.appends.load(Ordering::Relaxed), 2);
    let records = kept(&counted, &id).await;
    assert!(matches!(&records[0].body, RecordBody::Asked(_)));
    assert!(matches!(&records[1].body, RecordBody::Said(block) if block.as_text() == Some(&words)));
    assert_eq!(endings(&records), [RecordedEnd::Done]);
    assert_eq!(records.len(), 3);

    say(&mut client, &id, "too many").await;
    assert_eq!(
        endings(&kept(&counted, &id).await),
        [RecordedEnd::Done, RecordedEnd::MaxSteps]
    );
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_cannot_be_kept_fails() {
    // Its beginning, its end.
    for (fail_at, words) in [(1, 0), (2, 1)] {
        let mut client = Client::ready(&agent(Counted::new(fail_at)).0).await;
        let id = client.new_session().await;
        let (updates, answer) = client.told("session/prompt", prompt(&id, "hi")).await;
        assert_eq!(updates.len(), words);
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(text.contains("the disk is full"), "{answer}");
        assert!(!answer.to_string().contains("canary"));
    }
}

#[tokio::test(start_paused = true)]
async fn the_latest_prompt_has_the_session() {
    let history = MemoryHistory::new();
    let (one, go_on) = agent(history.clone());
    let (other, _) = agent(history.clone());
    let mut one = Client::ready(&one).await;
    let id = one.new_session().await;
    let held = one.prompt(&id, "hold").await;
    assert_eq!(one.update().await["content"]["text"], "hold");
    assert_eq!(one.update().await["status"], "in_progress");
    let open = one.update().await["toolCallId"].take();

    // In another process: the turn that was not finished is there, and its tool
    // no longer runs.
    let mut other = Client::ready(&other).await;
    let (updates, _) = other.told("session/load", params(&id)).await;
    assert_eq!(updates.last().unwrap()["status"], "failed", "{updates:?}");
    assert_eq!(
        say(&mut other, &id, "mine").await["result"]["stopReason"],
        "end_turn"
    );

    go_on.notify_one();
    let mut failed = Vec::new();
    loop {
        let message = one.next().await;
        let update = &message["params"]["update"];
        if update["status"] == "failed" {
            failed.push(update["toolCallId"].clone());
        }
        if message["id"] == held {
            let text = message["error"]["message"].as_str().unwrap();
            assert!(text.contains("has gone on elsewhere"), "{message}");
            break;
        }
    }
    // Nothing runs on in a turn that has failed.
    assert_eq!(failed, [open]);
    let records = kept(&history, &id).await;
    assert_eq!(endings(&records), [RecordedEnd::Done]);
    // The next prompt has it again, and begins behind all that happened.
    assert_eq!(
        say(&mut one, &id, "mine").await["result"]["stopReason"],
        "end_turn"
    );
    assert_eq!(endings(&kept(&history, &id).await).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_session_does_not_come_back() {
    let history = MemoryHistory::new();
    let (agent, go_on) = agent(history.clone());
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;
    let request = client.prompt(&id, "hold").await;
    for _ in 0..3 {
        client.update().await;
    }
    let key = SessionId::new(&*id).unwrap();
    history.delete(&key).await.unwrap();
    go_on.notify_one();
    for _ in 0..2 {
        client.update().await;
    }
    let answer = client.answer(request).await;
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    let mode = json!({"sessionId": id, "modeId": "act"});
    assert!(client.call("session/set_mode", mode).await["error"].is_object());
    assert!(history.get(&key).await.unwrap().is_none());
}

/// Of the turns that others interrupted, nothing was promised; each that was
/// acknowledged is there once, whole, with nothing of another in it.
#[tokio::test(start_paused = true)]
async fn many_processes_on_one_session() {
    let counted = Counted::new(u64::MAX);
    let mut first = Client::ready(&agent(counted.clone()).0).await;
    let id = first.new_session().await;
    let prompts = (0..4).map(|process| {
        let (counted, id) = (counted.clone(), id.clone());
        tokio::spawn(async move {
            let mut client = Client::ready(&agent(counted).0).await;
            let answer = client.call("session/resume", params(&id)).await;
            assert!(answer["result"].is_object(), "{answer}");
            let (mut kept, mut lost) = (Vec::new(), 0);
            for number in 0..25 {
                let text = format!("turn {process}.{number}");
                let answer = say(&mut client, &id, &text).await;
                match answer["error"]["message"].as_str() {
                    None => kept.push(text),
                    Some(why) => {
                        assert!(why.contains("has gone on elsewhere"), "{why}");
                        lost += 1;
                    }
                }
            }
            (kept, lost)
        })
    });
    let prompts: Vec<_> = prompts.collect();
    let (mut acknowledged, mut lost) = (Vec::new(), 0);
    for task in prompts {
        let (kept, more) = task.await.unwrap();
        acknowledged.extend(kept);
        lost += more;
    }
    assert!(lost > 0, "they did not meet");
    assert!(!acknowledged.is_empty());

    let records = kept(&counted, &id).await;
    let turns: Vec<&[Record]> = records.chunk_by(|a, b| a.turn == b.turn).collect();
    let names: std::collections::BTreeSet<_> = turns.iter().map(|turn| &turn[0].turn).collect();
    assert_eq!(names.len(), turns.len(), "a turn is in two pieces");
    let asked = |turn: &[Record]| match &turn[0].body {
        RecordBody::Asked(blocks) => blocks[0].as_text().unwrap().to_owned(),
        other => panic!("a turn begins with {other:?}"),
    };
    let mut whole: Vec<_> = turns
        .iter()
        .filter(|turn| endings(turn) == [RecordedEnd::Done])
        .map(|turn| asked(turn))
        .collect();
    whole.sort();
    acknowledged.sort();
    assert_eq!(whole, acknowledged);
}

#[tokio::test(start_paused = true)]
async fn text_is_kept_within_a_second_and_marked_if_its_end_is_missing() {
    let history = MemoryHistory::new();
    let (agent, go_on) = agent(history.clone());
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;
    let request = client.prompt(&id, "pause here").await;
    client.update().await;
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let said = |records: &[Record]| {
        let is_said = |record: &&Record| matches!(&record.body, RecordBody::Said(Block::Text(text)) if text == "pause here");
        records.iter().filter(is_said).count()
    };
    let records = kept(&history, &id).await;
    assert_eq!(said(&records), 1, "{records:?}");

    // As after a crash: its end is missing, and a client that loads it learns that.
    let mut other = Client::ready(&agent).await;
    let (updates, _) = other.told("session/load", params(&id)).await;
    let mark = updates.iter().find(|update| {
        update["sessionUpdate"] == "agent_thought_chunk"
            && update["content"]["text"]
                .as_str()
                .unwrap()
                .contains("interrupted")
    });
    assert!(mark.is_some(), "{updates:?}");
    other.hang_up().await;

    go_on.notify_one();
    while client.next().await["id"] != request {}
    assert_eq!(said(&kept(&history, &id).await), 1, "it is kept once");
    client.hang_up().await;
    let mut other = Client::ready(&agent).await;
    let (updates, _) = other.told("session/load", params(&id)).await;
    let thoughts = updates
        .iter()
        .filter(|update| update["sessionUpdate"] == "agent_thought_chunk");
    assert_eq!(thoughts.count(), 0, "{updates:?}");
}

/// The names of the events of tool calls, with the calls and their states.
async fn tool_events(client: &mut Client, request: i64) -> Vec<[String; 3]> {
    let mut events = Vec::new();
    loop {
        let message = client.next().await;
        if message["id"] == request && message["method"].is_null() {
            return events;
        }
        if message["method"] == "session/request_permission" {
            let outcome = json!({"outcome": {"outcome": "selected", "optionId": "approve"}});
            client.reply(&message["id"], outcome).await;
        }
        let params = &message["params"];
        if let Some(tool) = params["update"]["toolCallId"].as_str() {
            let name = params["_meta"]["eventId"].as_str().unwrap().to_owned();
            let status = params["update"]["status"].to_string();
            events.push([name, tool.to_owned(), status]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_has_one_name_live_and_replayed() {
    let history = MemoryHistory::new();
    let demo = DemoAgent::default().with_pace(Duration::ZERO);
    let agent = demo.into_builder_with_history(history).build().unwrap();
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;
    let mut live = Vec::new();
    for text in ["sub-agent", "ask", "tools"] {
        let request = client.prompt(&id, text).await;
        live.extend(tool_events(&mut client, request).await);
    }
    client.hang_up().await;
    let mut client = Client::ready(&agent).await;
    let load = client.start_call("session/load", params(&id)).await;
    let replayed = tool_events(&mut client, load).await;
    assert_eq!(live, replayed);
    let names: BTreeSet<_> = live.iter().map(|[name, ..]| name).collect();
    assert_eq!(names.len(), live.len(), "{live:?}");
    assert!(live.len() > 6, "{live:?}");
}

#[tokio::test(start_paused = true)]
async fn the_cost_of_a_session_comes_back() {
    let demo = DemoAgent::default().with_pace(Duration::ZERO);
    let agent = demo.into_agent().unwrap();
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;
    let usage = |updates: &[Value]| {
        let of_usage = |update: &&Value| update["sessionUpdate"] == "usage_update";
        updates.iter().rfind(of_usage).cloned().unwrap()
    };
    let (live, _) = client.told("session/prompt", prompt(&id, "usage")).await;
    client.hang_up().await;
    let mut client = Client::ready(&agent).await;
    let (replayed, _) = client.told("session/load", params(&id)).await;
    assert_eq!(usage(&live), usage(&replayed));
    assert_eq!(usage(&live)["cost"]["currency"], "EUR");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_taken_up_again_gives_its_events_new_names() {
    /// The names of what is reported of the title, up to an answer.
    async fn titles(client: &mut Client, request: i64) -> Vec<String> {
        let mut names = Vec::new();
        loop {
            let message = client.next().await;
            if message["id"] == request {
                return names;
            }
            let params = &message["params"];
            if params["update"]["sessionUpdate"] == "session_info_update" {
                names.push(params["_meta"]["eventId"].as_str().unwrap().to_owned());
            }
        }
    }
    let history = MemoryHistory::new();
    let mut client = Client::ready(&agent(history.clone()).0).await;
    let id = client.new_session().await;
    let request = client.prompt(&id, "call it work").await;
    let mut names = titles(&mut client, request).await;
    client.hang_up().await;
    for _ in 0..2 {
        let mut client = Client::ready(&agent(history.clone()).0).await;
        let load = client.start_call("session/load", params(&id)).await;
        names.extend(titles(&mut client, load).await);
        client.hang_up().await;
    }
    let distinct: BTreeSet<_> = names.iter().collect();
    assert_eq!((names.len(), distinct.len()), (3, 3), "{names:?}");
}
