//! The checks, in the order of `xtask/src/interop/check.rs`.

mod ends;
mod prompts;
mod served;
mod sessions;
mod settings;

use crate::peer::Plan;
use crate::report::{check, end, expect, failed};

/// Tries everything.
pub(crate) async fn all(plan: Plan) {
    let peer = plan.peer(Plan::options());
    check("initialize", async {
        let agent = peer.client.dial().await?;
        expect(agent.protocol_version.0 == 1, "the version is not 1")
    })
    .await;
    check("new", async {
        let (one, other) = (peer.open().await?, peer.open().await?);
        expect(one.id() != other.id(), "two sessions have one id")?;
        let empty = one.id().as_str().is_empty();
        if empty {
            Err(failed("a session has no id"))
        } else {
            Ok(())
        }
    })
    .await;
    prompts::all(&peer).await;
    settings::all(&peer).await;
    sessions::all(&peer).await;
    let plan = peer.plan.clone();
    ends::all(peer).await;
    check("reload", sessions::reload(&plan)).await;
    served::all(&plan).await;
    end();
}
