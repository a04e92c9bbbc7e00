//! An agent on the library: it reads whenever it may, and serves many turns at
//! once.

use std::{collections::HashMap, sync::Arc, time::Duration};

use acp_connection::{BoxFuture, Handler, IncomingNotification, IncomingRequest, SendLane};
use acp_protocol::{
    Notification, Request,
    rpc::{Fault, SendError},
};
use parking_lot::Mutex;
use tokio::{task::JoinSet, time::sleep};

use crate::{
    draw::Draw,
    script::{Act, Script},
    wire::{Cancel, Chunk, Echo, Permission, Prompt, Stopped},
    world::World,
};

pub(crate) struct LibraryAgent {
    world: Arc<World>,
    seed: u64,
    lanes: Mutex<HashMap<Arc<str>, Arc<SendLane>>>,
}

impl LibraryAgent {
    pub(crate) fn new(world: Arc<World>, seed: u64) -> Self {
        Self {
            world,
            seed,
            lanes: Mutex::default(),
        }
    }

    fn lanes(&self) -> parking_lot::MutexGuard<'_, HashMap<Arc<str>, Arc<SendLane>>> {
        self.lanes.lock()
    }
}

impl Handler for LibraryAgent {
    fn request(&self, request: IncomingRequest) -> Option<BoxFuture> {
        match request.method() {
            Echo::METHOD => {
                let mut draw = Draw::new(self.seed, &format!("echo {}", request.id()));
                request.serve(|echo: Echo, _| async move {
                    if draw.chance(30) {
                        sleep(Duration::from_micros(draw.below(3000))).await;
                    }
                    Ok(echo)
                })
            }
            Prompt::METHOD => {
                let lane = Arc::new(request.peer().open_lane());
                let world = Arc::clone(&self.world);
                request.serve(|prompt: Prompt, _| {
                    let session = Arc::clone(&prompt.session_id);
                    let draw = Draw::new(self.seed, &format!("turn {session}"));
                    self.lanes().insert(session, Arc::clone(&lane));
                    turn(world, draw, lane, prompt)
                })
            }
            _ => {
                request.unknown_method();
                None
            }
        }
    }

    fn notification(&self, notification: IncomingNotification<'_>) {
        if notification.method() != Cancel::METHOD {
            return;
        }
        let cancel: Cancel = notification.decode().expect("a cancel of ours");
        let truth = self.world.truth(&cancel.session_id);
        truth.cancelled.send_replace(true);
        if let Some(lane) = self.lanes().get(&cancel.session_id) {
            lane.cancel();
        }
    }
}

async fn turn(
    world: Arc<World>,
    mut draw: Draw,
    lane: Arc<SendLane>,
    prompt: Prompt,
) -> Result<Stopped, Fault> {
    let truth = world.truth(&prompt.session_id);
    let mut script = Script::new(&mut draw, prompt.endless, prompt.asks);
    let permission = Permission {
        session_id: Arc::clone(&prompt.session_id),
    };
    let failed = |error| Fault::internal().with_source(error);
    let mut aside = JoinSet::new();
    while !truth.is_cancelled() {
        match script.next() {
            None => break,
            Some(Act::Update { padding }) => {
                let session = Arc::clone(&prompt.session_id);
                let chunk = Chunk::new(session, truth.sent(), padding);
                match lane.notify(&chunk).await {
                    Ok(()) => truth.count_sent(),
                    Err(SendError::Cancelled) => break,
                    Err(error) => return Err(Fault::internal().with_source(error)),
                }
                if draw.chance(2) {
                    sleep(Duration::from_micros(draw.below(2000))).await;
                } else if draw.chance(10) {
                    tokio::task::yield_now().await;
                }
            }
            Some(Act::Ask) => {
                lane.peer().call(&permission).await.map_err(failed)?;
            }
            Some(Act::AskAside) => {
                let (peer, permission) = (lane.peer().clone(), permission.clone());
                aside.spawn(async move { peer.call(&permission).await });
            }
        }
    }
    while let Some(asked) = aside.join_next().await {
        let answer = asked.map_err(|error| Fault::internal().with_source(error))?;
        answer.map_err(failed)?;
    }
    truth.ended.send_replace(true);
    Ok(Stopped {
        updates: truth.sent(),
    })
}
