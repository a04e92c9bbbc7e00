//! What the agent asks of its client: files, terminals, questions.

use std::fs;

use acp_client::{ClientOptions, ElicitationModes, Headless};
use acp_protocol::v1::StopReason;

use crate::peer::{Peer, Plan};
use crate::report::{Outcome, absent, check, ended, expect, failed};
use crate::turn::{Consent, run};
use crate::watched::{Calls, WatchedFiles, WatchedTerminals};

/// Tries everything that a client can serve, with an agent of its own.
pub(super) async fn all(plan: &Plan) {
    let calls = Calls::default();
    let options: ClientOptions = Plan::options()
        .with_files(WatchedFiles::new(&calls))
        .with_terminals(WatchedTerminals::new(&calls))
        .with_elicitation_in_stream(ElicitationModes::FORM, Headless::default());
    let peer = plan.peer(options);
    // What goes wrong with it, each check tells.
    let _ = peer.client.dial().await;
    check("read", read(&peer, &calls)).await;
    check("write", write(&peer, &calls)).await;
    check("terminal", terminal(&peer, &calls)).await;
    check("question", question(&peer)).await;
    peer.client.close().await;
}

async fn read(peer: &Peer, calls: &Calls) -> Outcome {
    let file = peer.plan.folder.join("mock_read.txt");
    fs::write(&file, "a file to read\n").map_err(|error| failed(error.to_string()))?;
    calls.reset();
    let prompt = format!("USE_READ CWD={}", peer.folder()?);
    let seen = run(&mut peer.open().await?, &prompt, Consent::Allow).await?;
    if calls.reads() == 0 {
        return Err(absent("it reads no files of the client"));
    }
    ended(&seen.stop, &StopReason::EndTurn)?;
    let told = seen.text.contains("a file to read");
    expect(told, format!("the tool said {:?}", seen.text))
}

async fn write(peer: &Peer, calls: &Calls) -> Outcome {
    let file = peer.plan.folder.join("mock_write.txt");
    calls.reset();
    let prompt = format!("USE_WRITE CWD={}", peer.folder()?);
    let seen = run(&mut peer.open().await?, &prompt, Consent::Allow).await?;
    if calls.writes() == 0 {
        return Err(absent("it writes no files of the client"));
    }
    ended(&seen.stop, &StopReason::EndTurn)?;
    let written = fs::read_to_string(&file).unwrap_or_default();
    expect(
        written == "written by mock\n",
        format!("it wrote {written:?}"),
    )
}

async fn terminal(peer: &Peer, calls: &Calls) -> Outcome {
    let file = peer.plan.folder.join("mock_shell.txt");
    if file.exists() {
        fs::remove_file(&file).map_err(|error| failed(error.to_string()))?;
    }
    calls.reset();
    let prompt = format!("USE_TOOL CWD={}", peer.folder()?);
    let seen = run(&mut peer.open().await?, &prompt, Consent::Allow).await?;
    if calls.commands() == 0 {
        return Err(absent("it runs no commands at the client"));
    }
    ended(&seen.stop, &StopReason::EndTurn)?;
    let written = fs::read_to_string(&file).unwrap_or_default();
    expect(written == "mock\n", format!("it wrote {written:?}"))?;
    let told = seen.text.contains("mock wrote a file");
    expect(told, format!("the tool said {:?}", seen.text))
}

/// A question is answered with its first choice, and declined.
async fn question(peer: &Peer) -> Outcome {
    let mut session = peer.open().await?;
    if let Some((option, value)) = &peer.plan.question_option {
        let control = session.control();
        control
            .set_config_option(option.as_str(), value.as_str())
            .await?;
    }
    let seen = run(&mut session, "ASK", Consent::Allow).await?;
    if seen.questions == 0 {
        return Err(absent("it asks no questions"));
    }
    ended(&seen.stop, &StopReason::EndTurn)?;
    expect(
        seen.text.contains("Red"),
        format!("the tool said {:?}", seen.text),
    )?;
    let seen = run(&mut session, "ASK", Consent::Reject).await?;
    expect(
        seen.questions == 1,
        format!("it asked {} times", seen.questions),
    )?;
    let ends = [StopReason::EndTurn, StopReason::Cancelled];
    expect(
        ends.contains(&seen.stop),
        format!("stop reason {}", seen.stop.as_str()),
    )?;
    expect(
        !seen.text.contains("Red"),
        format!("the tool said {:?}", seen.text),
    )
}
