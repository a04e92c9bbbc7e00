//! What is talked about with one agent.

use agent_client_protocol::Error;
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, DeleteSessionRequest, ElicitationContentValue, PermissionOptionKind,
    ResumeSessionRequest, SessionConfigKind, SessionConfigValueId, SessionId, SessionUpdate,
    SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, SetSessionModeRequest,
    StopReason, ToolCallStatus,
};

use crate::outcome::{check, ended, expect, offered, refused};
use crate::peer::Peer;

/// Holds the conversations that need one agent; returns what the last one needs.
pub(crate) async fn converse(peer: &Peer) -> Result<(SessionId, AgentCapabilities), Error> {
    let heard = &peer.heard;
    let mut can = AgentCapabilities::new();
    check("initialize", async {
        let agent = peer.initialize(true).await?;
        let version = agent.protocol_version;
        expect(version == ProtocolVersion::V1, format!("version {version}"))?;
        let name = agent.agent_info.map(|info| info.name);
        expect(
            name.as_deref() == Some("acp-demo-agent"),
            format!("agent {name:?}"),
        )?;
        can = agent.agent_capabilities;
        Ok(())
    })
    .await;

    let session = peer.open().await?;
    check("new", async {
        expect(session != peer.open().await?, "two sessions have one id")
    })
    .await;

    check("prompt", async {
        heard.choose(Some(PermissionOptionKind::AllowOnce));
        ended(peer.prompt(&session, "hello").await?, StopReason::EndTurn)?;
        let named = heard.text(&session).contains("demo agent");
        expect(named, "the agent did not say who it is")?;
        let plans = heard.count(&session, |told| matches!(told, SessionUpdate::Plan(_)));
        expect(plans > 0, "no plan was made")?;
        let thoughts = heard.count(&session, |told| {
            matches!(told, SessionUpdate::AgentThoughtChunk(_))
        });
        expect(thoughts > 0, "no thought was thought")
    })
    .await;

    let ask = async |kind, status| {
        let session = peer.open().await?;
        heard.choose(Some(kind));
        ended(peer.prompt(&session, "ask").await?, StopReason::EndTurn)?;
        let asked = heard.state().asked;
        expect(asked == 1, format!("asked {asked} times"))?;
        let calls = heard.count(&session, |told| matches!(told, SessionUpdate::ToolCall(_)));
        expect(calls == 1, "no tool was called")?;
        let last = heard.last_tool_status(&session);
        expect(last == Some(status), format!("the tool ended as {last:?}"))
    };
    check(
        "allow",
        ask(PermissionOptionKind::AllowOnce, ToolCallStatus::Completed),
    )
    .await;
    check(
        "reject",
        ask(PermissionOptionKind::RejectOnce, ToolCallStatus::Failed),
    )
    .await;

    check("cancel", async {
        let session = peer.open().await?;
        let (reason, cancelled) = tokio::join!(peer.prompt(&session, "slow"), async {
            heard.waits_for_text(&session).await;
            peer.cancel(&session)
        });
        cancelled?;
        ended(reason?, StopReason::Cancelled)
    })
    .await;

    check("cancel-at-once", async {
        let session = peer.open().await?;
        // The branches are polled in order: the prompt is sent, and the cancel right behind.
        let (reason, cancelled) =
            tokio::join!(biased; peer.prompt(&session, "slow"), async { peer.cancel(&session) });
        cancelled?;
        ended(reason?, StopReason::Cancelled)
    })
    .await;

    check("cancel-asking", async {
        let session = peer.open().await?;
        heard.choose(None);
        ended(peer.prompt(&session, "ask").await?, StopReason::Cancelled)
    })
    .await;

    check("two-sessions", async {
        let (one, other) = (peer.open().await?, peer.open().await?);
        let (slow, rest) = tokio::join!(peer.prompt(&one, "slow"), async {
            heard.waits_for_text(&one).await;
            ended(peer.prompt(&other, "plan").await?, StopReason::EndTurn)?;
            let strays = heard.count(&one, |told| matches!(told, SessionUpdate::Plan(_)));
            peer.cancel(&one)?;
            expect(strays == 0, "the plan went to the other session")
        });
        rest?;
        ended(slow?, StopReason::Cancelled)
    })
    .await;

    check("unknown-session", async {
        let nowhere = SessionId::new("no-such-session");
        refused(
            peer.prompt(&nowhere, "hello").await,
            "a prompt to no session",
        )
    })
    .await;

    served(peer).await;
    settings(peer).await;
    sessions(peer, &session, &can).await;
    Ok((session, can))
}

/// What the agent asks of its client.
pub(crate) async fn served(peer: &Peer) {
    let heard = &peer.heard;
    let says = |session: &SessionId, what: &str| {
        let text = heard.text(session);
        expect(text.contains(what), format!("it said {text:?}"))
    };
    let value = |text: &str| ElicitationContentValue::String(text.to_owned());
    check("question", async {
        let session = peer.open().await?;
        heard.fill(Some([("answer", value("ivy"))].as_slice()));
        peer.prompt(&session, "question").await?;
        let forms = heard.state().forms.len();
        expect(forms == 1, format!("asked {forms} times"))?;
        says(&session, "Watering the Ivy")?;
        heard.fill(None);
        peer.prompt(&session, "question").await?;
        says(&session, "You declined to answer")
    })
    .await;

    check("form", async {
        let session = peer.open().await?;
        let gifts = vec!["ivy".to_owned(), "cactus".to_owned()];
        let content = [
            ("name", value("Ada")),
            ("plant", value("fern")),
            ("gifts", ElicitationContentValue::StringArray(gifts)),
            ("pots", ElicitationContentValue::Integer(3)),
            ("litres", ElicitationContentValue::Number(1.5)),
            ("express", ElicitationContentValue::Boolean(true)),
        ];
        heard.fill(Some(content.as_slice()));
        peer.prompt(&session, "form").await?;
        says(
            &session,
            "For Ada (no e-mail): Fern, 2 gifts, 3 pots, 1.5 litres, express true.",
        )
    })
    .await;

    check("files", async {
        let session = peer.open().await?;
        heard.choose(Some(PermissionOptionKind::AllowOnce));
        let note = peer.cwd.join("interop.md");
        peer.prompt(&session, "write interop.md").await?;
        let written = std::fs::read_to_string(&note).unwrap_or_default();
        expect(
            written.starts_with("# Notes"),
            format!("it wrote {written:?}"),
        )?;
        let wrote = std::fs::write(&note, "one\ntwo\nthree\n");
        expect(wrote.is_ok(), "the note cannot be written")?;
        peer.prompt(&session, "read interop.md").await?;
        says(&session, "The file has 3 lines")
    })
    .await;

    check("terminal", async {
        let session = peer.open().await?;
        heard.choose(Some(PermissionOptionKind::AllowOnce));
        peer.prompt(&session, "terminal echo interop").await?;
        says(&session, "exited with status 0 and wrote 8 bytes")?;
        let released = heard.state().released;
        expect(released == 1, format!("{released} terminals were released"))
    })
    .await;
}

/// Modes and options, good and bad.
pub(crate) async fn settings(peer: &Peer) {
    let heard = &peer.heard;
    check("mode", async {
        let session = peer.open().await?;
        let set = async |mode: &str| {
            let request = SetSessionModeRequest::new(session.clone(), mode.to_owned());
            peer.agent.send_request(request).block_task().await
        };
        set("act").await?;
        heard.choose(Some(PermissionOptionKind::RejectOnce));
        peer.prompt(&session, "ask").await?;
        let asked = heard.state().asked;
        expect(asked == 0, "it asked, though it need not")?;
        refused(set("no-such-mode").await, "a mode that is not there")
    })
    .await;

    check("option", async {
        let session = peer.open().await?;
        let set = async |option: &str, value: &str| {
            let (option, value) = (option.to_owned(), value.to_owned());
            let request = SetSessionConfigOptionRequest::new(
                session.clone(),
                option,
                SessionConfigValueId::new(value),
            );
            peer.agent.send_request(request).block_task().await
        };
        let answer: SetSessionConfigOptionResponse = set("model", "large").await?;
        let mut options = answer.config_options.into_iter();
        let now = options.find_map(|option| match option.kind {
            SessionConfigKind::Select(select) if &*option.id.0 == "model" => Some(select),
            _ => None,
        });
        let now = now.map(|select| select.current_value.0);
        expect(
            now.as_deref() == Some("large"),
            format!("its value is {now:?} now"),
        )?;
        refused(
            set("model", "no-such-model").await,
            "a value that is not there",
        )?;
        refused(
            set("no-such-option", "large").await,
            "an option that is not there",
        )
    })
    .await;
}

/// The life of a session beyond its turns.
pub(crate) async fn sessions(peer: &Peer, session: &SessionId, can: &AgentCapabilities) {
    let heard = &peer.heard;
    let sessions = &can.session_capabilities;
    check("list", async {
        offered(sessions.list.is_some(), "session/list")?;
        let found = peer.listed(session).await?;
        let cwd = found.map(|info| info.cwd);
        expect(
            cwd.as_ref() == Some(&peer.cwd),
            format!("its folder is {cwd:?}"),
        )
    })
    .await;

    let told = heard.text(session);
    check("load", async {
        offered(can.load_session, "session/load")?;
        peer.close(session).await?;
        peer.replay(session, "hello", &told).await?;
        let nowhere = SessionId::new("no-such-session");
        refused(peer.load(&nowhere).await, "a load of no session")
    })
    .await;

    check("resume", async {
        offered(sessions.resume.is_some(), "session/resume")?;
        peer.close(session).await?;
        let before = heard.text(session);
        let request = ResumeSessionRequest::new(session.clone(), &peer.cwd);
        peer.agent.send_request(request).block_task().await?;
        expect(
            heard.text(session) == before,
            "a resumed session was replayed",
        )?;
        ended(peer.prompt(session, "plan").await?, StopReason::EndTurn)
    })
    .await;

    check("close", async {
        offered(sessions.close.is_some(), "session/close")?;
        let session = peer.open().await?;
        peer.close(&session).await?;
        refused(
            peer.prompt(&session, "hello").await,
            "a prompt to a closed session",
        )
    })
    .await;

    check("delete", async {
        offered(sessions.delete.is_some(), "session/delete")?;
        let session = peer.open().await?;
        ended(peer.prompt(&session, "plan").await?, StopReason::EndTurn)?;
        peer.close(&session).await?;
        let request = DeleteSessionRequest::new(session.clone());
        peer.agent.send_request(request).block_task().await?;
        expect(
            peer.listed(&session).await?.is_none(),
            "the session is still in the list",
        )
    })
    .await;
}
