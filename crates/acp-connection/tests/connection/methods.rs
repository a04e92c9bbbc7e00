//! The methods of the tests, and who serves them.

use acp_connection::{BoxFuture, Handler, IncomingNotification, IncomingRequest};
use acp_protocol::{Notification, Request, method::Side, rpc::Fault};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub(crate) struct Echo {
    pub(crate) text: String,
}

impl Request for Echo {
    const METHOD: &'static str = "_test/echo";
    const SERVED_BY: Side = Side::Both;
    type Response = Self;
}

/// Asks the other side to echo before it answers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Relay {
    pub(crate) text: String,
}

impl Request for Relay {
    const METHOD: &'static str = "_test/relay";
    const SERVED_BY: Side = Side::Agent;
    type Response = Echo;
}

/// Is answered when it is cancelled.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Wait {}

impl Request for Wait {
    const METHOD: &'static str = "_test/wait";
    const SERVED_BY: Side = Side::Agent;
    type Response = Echo;
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) number: usize,
}

impl Notification for Note {
    const METHOD: &'static str = "_test/note";
    const SERVED_BY: Side = Side::Both;
}

/// Serves the methods above, and tells what it saw.
pub(crate) struct Serves {
    pub(crate) seen: mpsc::UnboundedSender<String>,
}

impl Handler for Serves {
    fn request(&self, request: IncomingRequest) -> Option<BoxFuture> {
        match request.method() {
            Echo::METHOD => request.serve(|echo: Echo, _| async move { Ok(echo) }),
            Relay::METHOD => request.serve(|relay: Relay, context| async move {
                let echo = Echo { text: relay.text };
                context
                    .peer()
                    .call(&echo)
                    .await
                    .map_err(|error| Fault::internal().with_source(error))
            }),
            Wait::METHOD => {
                let seen = self.seen.clone();
                request.serve(move |_: Wait, context| async move {
                    let _ = seen.send("waiting".into());
                    context.cancelled().await;
                    let _ = seen.send("cancelled".into());
                    Err(Fault::cancelled())
                })
            }
            "_test/panic" => panic!("as the test wants"),
            "_test/panic_later" => Some(Box::pin(async move {
                let _request = request;
                tokio::task::yield_now().await;
                panic!("as the test wants");
            })),
            "_test/drop" => None,
            _ => {
                request.unknown_method();
                None
            }
        }
    }

    fn notification(&self, notification: IncomingNotification<'_>) {
        if let Ok(note) = notification.decode::<Note>() {
            let _ = self.seen.send(format!("note {}", note.number));
        }
    }
}

/// Fails for a reason that is none of the peer's business.
pub(crate) struct Fails;

impl Handler for Fails {
    fn request(&self, request: IncomingRequest) -> Option<BoxFuture> {
        request.serve(|_: Wait, _| async move {
            Err(Fault::internal().with_source("a secret of the host"))
        })
    }
}
