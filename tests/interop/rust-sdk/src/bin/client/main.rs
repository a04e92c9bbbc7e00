//! A client on the official Rust SDK: `client AGENT [ARGUMENT…]`.
//!
//! Holds every conversation of `xtask/src/interop/check.rs` with the demo agent and tells
//! how each went, one JSON object a line. Without an agent it is the adapter by which
//! `acp check --role client` judges a client on this SDK.

mod conversations;
mod heard;
mod outcome;
mod peer;
mod tasks;

use std::process::ExitCode;

use serde_json::json;
use tokio::sync::watch;

use crate::conversations::converse;
use crate::heard::Heard;
use crate::outcome::{Trouble, check, expect, offered};
use crate::peer::with_agent;

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    if std::env::args_os().len() == 1 {
        return tasks::run().await;
    }
    let heard = Heard::default();
    let (tell, mut told) = watch::channel(None);
    let status = with_agent(heard.clone(), async |peer| {
        let left = converse(&peer).await?;
        tell.send_replace(Some(left));
        Ok(())
    })
    .await;
    check("eof", async {
        let status = status.map_err(|error| Trouble::Failed(error.to_string()))?;
        expect(status.success(), format!("it ended with {status}"))
    })
    .await;

    let left = told.borrow_and_update().clone();
    let (session, can) = left.ok_or("the conversations came to no end")?;
    check("reload", async {
        offered(can.load_session, "session/load")?;
        let told = heard.text(&session);
        let resumed = can.session_capabilities.resume.is_some();
        let prompts = if resumed { "helloplan" } else { "hello" };
        let mut outcome = Ok(());
        with_agent(Heard::default(), async |peer| {
            peer.initialize(true).await?;
            outcome = peer.replay(&session, prompts, &told).await;
            if outcome.is_ok() && can.session_capabilities.list.is_some() {
                let listed = peer.listed(&session).await?.is_some();
                outcome = expect(listed, "the session is not in the list");
            }
            Ok(())
        })
        .await
        .map_err(|error| Trouble::Failed(error.to_string()))?;
        outcome
    })
    .await;
    println!("{}", json!({"end": true}));
    Ok(ExitCode::SUCCESS)
}
