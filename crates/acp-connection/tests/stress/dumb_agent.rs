//! An agent as a beginner writes it: one loop, which reads nothing while it
//! writes. It shares no code with the library.

use std::{
    collections::{BTreeMap, HashMap},
    future::ready,
    io,
    sync::Arc,
};

use acp_protocol::{Notification, Request};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf, split};

use crate::{
    draw::Draw,
    script::{Act, Script},
    wire::{Cancel, Chunk, Echo, Permission, Prompt},
    world::World,
};

pub(crate) struct DumbAgent {
    world: Arc<World>,
    draw: Draw,
    reader: ReadHalf<DuplexStream>,
    writer: WriteHalf<DuplexStream>,
    unread: Vec<u8>,
    turns: BTreeMap<Arc<str>, Turn>,
    /// Which turn waits for the answer to which request, and whether it stands
    /// still meanwhile.
    asked: HashMap<u64, (Arc<str>, bool)>,
    next_id: u64,
}

struct Turn {
    prompt: Value,
    script: Script,
    unanswered: usize,
    stands: bool,
}

impl DumbAgent {
    pub(crate) fn new(world: Arc<World>, seed: u64, io: DuplexStream) -> Self {
        let (reader, writer) = split(io);
        Self {
            world,
            draw: Draw::new(seed, "dumb agent"),
            reader,
            writer,
            unread: Vec::new(),
            turns: BTreeMap::new(),
            asked: HashMap::new(),
            next_id: 0,
        }
    }

    /// Works until the client goes away.
    pub(crate) async fn run(mut self) {
        // An error is the end of the pipe: the run is over.
        while self.work().await.is_ok() {}
    }

    async fn work(&mut self) -> io::Result<()> {
        let ready = self.turns_that_can_go_on();
        self.read(ready.is_empty()).await?;
        while let Some(line) = self.next_line() {
            self.take(&line).await?;
        }
        if !ready.is_empty() {
            let session = &ready[self.draw.length(ready.len() as u64)];
            self.go_on(session).await?;
            if self.draw.chance(20) {
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    fn turns_that_can_go_on(&self) -> Vec<Arc<str>> {
        let can_go_on = |session: &Arc<str>, turn: &Turn| {
            let cancelled = self.world.truth(session).is_cancelled();
            !turn.stands || (cancelled && turn.unanswered == 0)
        };
        self.turns
            .iter()
            .filter(|(session, turn)| can_go_on(session, turn))
            .map(|(session, _)| Arc::clone(session))
            .collect()
    }

    /// Reads what is there; waits for something only if there is nothing to do.
    async fn read(&mut self, wait: bool) -> io::Result<()> {
        let mut chunk = [0; 512];
        let length = tokio::select! {
            biased;
            length = self.reader.read(&mut chunk) => length?,
            () = ready(()), if !wait => return Ok(()),
        };
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.unread.extend_from_slice(&chunk[..length]);
        Ok(())
    }

    fn next_line(&mut self) -> Option<Value> {
        let end = self.unread.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.unread.drain(..=end).collect();
        Some(serde_json::from_slice(&line).expect("the client writes JSON"))
    }

    async fn take(&mut self, message: &Value) -> io::Result<()> {
        let params = &message["params"];
        match message["method"].as_str() {
            Some(Echo::METHOD) => self.answer(&message["id"], params).await?,
            Some(Prompt::METHOD) => {
                let prompt: Prompt = serde_json::from_value(params.clone())?;
                let mut draw = Draw::new(self.draw.below(u64::MAX), &prompt.session_id);
                let turn = Turn {
                    prompt: message["id"].clone(),
                    script: Script::new(&mut draw, prompt.endless, prompt.asks),
                    unanswered: 0,
                    stands: false,
                };
                self.turns.insert(prompt.session_id, turn);
            }
            Some(Cancel::METHOD) => {
                let cancel: Cancel = serde_json::from_value(params.clone())?;
                let truth = self.world.truth(&cancel.session_id);
                truth.cancelled.send_replace(true);
            }
            Some(_) => {}
            None => self.take_answer(message),
        }
        Ok(())
    }

    fn take_answer(&mut self, message: &Value) {
        assert!(message.get("result").is_some(), "refused: {message}");
        let id = message["id"].as_u64().expect("an id of ours");
        let (session, stood) = self.asked.remove(&id).expect("answered once");
        let turn = self.turns.get_mut(&session).expect("a turn waits for it");
        turn.unanswered -= 1;
        if stood || turn.unanswered == 0 {
            turn.stands = false;
        }
    }

    /// Does the next thing in a turn.
    async fn go_on(&mut self, session: &Arc<str>) -> io::Result<()> {
        let truth = self.world.truth(session);
        let Some(turn) = self.turns.get_mut(session) else {
            return Ok(());
        };
        let act = if truth.is_cancelled() {
            None
        } else {
            turn.script.next()
        };
        match act {
            None if turn.unanswered > 0 => turn.stands = true,
            None => {
                let prompt = turn.prompt.clone();
                self.turns.remove(session);
                truth.ended.send_replace(true);
                self.answer(&prompt, &json!({"updates": truth.sent()}))
                    .await?;
            }
            Some(Act::Update { padding }) => {
                let chunk = Chunk::new(Arc::clone(session), truth.sent(), padding);
                truth.count_sent();
                self.write(&json!({"jsonrpc": "2.0", "method": Chunk::METHOD, "params": chunk}))
                    .await?;
            }
            Some(act @ (Act::Ask | Act::AskAside)) => {
                turn.stands = matches!(act, Act::Ask);
                turn.unanswered += 1;
                let id = self.next_id;
                self.next_id += 1;
                self.asked.insert(id, (Arc::clone(session), turn.stands));
                let params = Permission {
                    session_id: Arc::clone(session),
                };
                self.write(&json!({"jsonrpc": "2.0", "id": id, "method": Permission::METHOD, "params": params}))
                    .await?;
            }
        }
        Ok(())
    }

    async fn answer(&mut self, id: &Value, result: &Value) -> io::Result<()> {
        self.write(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
            .await
    }

    /// Writes a line, and does nothing else until all of it is written.
    async fn write(&mut self, message: &Value) -> io::Result<()> {
        let mut line = message.to_string();
        line.push('\n');
        self.writer.write_all(line.as_bytes()).await
    }
}
