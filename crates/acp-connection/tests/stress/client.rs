//! The client's answers to requests for permission.

use std::{sync::Arc, time::Duration};

use acp_connection::{BoxFuture, Handler, IncomingRequest};
use acp_protocol::Request;
use tokio::{sync::oneshot, time::sleep};

use crate::{
    draw::Draw,
    wire::{Echo, Granted, Note, Permission},
    world::World,
};

pub(crate) struct Client {
    pub(crate) world: Arc<World>,
    pub(crate) seed: u64,
}

impl Handler for Client {
    fn request(&self, request: IncomingRequest) -> Option<BoxFuture> {
        if request.method() != Permission::METHOD {
            request.unknown_method();
            return None;
        }
        let mut draw = Draw::new(self.seed, &format!("permission {}", request.id()));
        let world = Arc::clone(&self.world);
        let after = request.received_after();
        request.serve(|permission: Permission, context| async move {
            let truth = world.truth(&permission.session_id);
            truth.asked.notify_one();
            if let Some(consumer) = truth.consumer() {
                let (ask, granted) = oneshot::channel();
                if consumer.send(ask).is_ok() {
                    // An error: its turn is over, and it needs no answer.
                    let _ = granted.await;
                }
            } else if let Some(mailbox) = truth.control() {
                mailbox.consumed_through(after).await;
            } else {
                match draw.below(5) {
                    0 => sleep(Duration::from_micros(draw.below(20_000))).await,
                    1 => {
                        let padding = "a".repeat(draw.length(200));
                        let _ = context.peer().call(&Echo { padding }).await;
                    }
                    2 => {
                        let padding = "n".repeat(1500);
                        let _ = context.peer().notify(&Note { padding }).await;
                    }
                    _ => {}
                }
            }
            Ok(Granted {})
        })
    }
}
