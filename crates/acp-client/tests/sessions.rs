//! Sessions: opened, set up, closed; and what the agent may ask of the client.

mod support;

use std::time::Duration;

use acp_client::{
    ClientError, ClientOptions, ErrorCode, Fault, ReadFiles, ServeError, SessionSetup, WriteFiles,
};
use acp_protocol::v1::{
    AuthMethod, McpServer, McpServerHttp, ReadTextFileRequest, ReadTextFileResponse,
    WriteTextFileRequest, WriteTextFileResponse,
};
use serde_json::{Value, json};
use support::{SESSION, brief, chunk, dialed, open, opened, pair, selected};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn updates_that_come_before_the_session_has_a_name_are_kept() {
    let (client, mut agent) = dialed(ClientOptions::new(), json!({})).await;
    let serve = async {
        let request = agent.request("session/new").await;
        assert_eq!(request["params"], json!({"cwd": "/code", "mcpServers": []}));
        for text in ["a", "b", "c"] {
            agent.text(text).await;
        }
        agent.update("s-other", chunk("not ours")).await;
        agent.answer(&request, json!({"sessionId": SESSION})).await;
        agent.text("d").await;
    };
    let (session, ()) = tokio::join!(client.new_session("/code"), serve);
    let mut session = session.unwrap();
    assert_eq!(session.id(), SESSION);
    let mut updates = session.updates();
    for expected in ["a", "b", "c", "d"] {
        assert_eq!(brief(&updates.next().await.unwrap()), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_may_ask_before_we_have_read_the_name_of_the_session() {
    let (client, mut agent) = dialed(ClientOptions::new(), json!({})).await;
    let tool = json!({"toolCallId": "t", "kind": "read"});
    let serve = async {
        let request = agent.request("session/new").await;
        // Before its answer, and right behind it.
        agent.ask_permission(1, tool.clone()).await;
        agent.hears_nothing_for(SECOND / 2).await;
        agent.answer(&request, json!({"sessionId": SESSION})).await;
        agent.ask_permission(2, tool.clone()).await;
        let mut answered = [agent.next().await, agent.next().await];
        answered.sort_by_key(|answer| answer["id"].as_i64());
        for (answer, id) in answered.iter().zip([1, 2]) {
            assert_eq!(answer["id"], id, "{answer}");
            assert_eq!(answer["result"], selected("no"), "{answer}");
        }
    };
    let (session, ()) = tokio::join!(client.new_session("/code"), serve);
    drop(session.unwrap());
    // An agent that will not say the name before it is answered is not waited for.
    let serve = async {
        let request = agent.request("session/new").await;
        agent.ask_permission(3, tool.clone()).await;
        assert_eq!(agent.refusal(3).await, -32002);
        agent.answer(&request, json!({"sessionId": SESSION})).await;
    };
    let (session, ()) = tokio::join!(client.new_session("/code"), serve);
    drop(session.unwrap());
    agent.ask_permission(4, tool).await;
    assert_eq!(agent.refusal(4).await, -32002, "nobody is left to name one");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_wants_a_login_says_so_and_how() {
    let (client, mut agent) = pair(ClientOptions::new());
    let serve = async {
        let hello = agent.request("initialize").await;
        let methods = json!([{"id": "key", "name": "API key"}, {"id": "tty", "name": "Log in", "type": "terminal"}]);
        agent
            .answer(
                &hello,
                json!({"protocolVersion": 1, "authMethods": methods}),
            )
            .await;
        let request = agent.request("session/new").await;
        agent.refuse(&request, -32000).await;
    };
    let opening = async {
        client.dial().await.unwrap();
        client.new_session("/code").await.unwrap_err()
    };
    let (error, ()) = tokio::join!(opening, serve);
    let ClientError::AuthRequired {
        method, methods, ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(*method, "session/new");
    assert!(
        matches!(&methods[..], [AuthMethod::Agent(key), AuthMethod::Terminal(_)] if key.id.as_str() == "key")
    );
    assert_eq!(
        error.to_string(),
        "open a session: the agent wants a login first"
    );
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_open_already_stays_as_it_is() {
    let (client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let serve = async {
        let request = agent.request("session/new").await;
        agent.answer(&request, json!({"sessionId": SESSION})).await;
        agent.text("for the first").await;
    };
    let (second, ()) = tokio::join!(client.new_session("/code"), serve);
    assert!(
        matches!(second, Err(ClientError::DuplicateSession { session }) if session == *SESSION)
    );
    assert_eq!(
        brief(&session.updates().next().await.unwrap()),
        "for the first"
    );
}

#[tokio::test(start_paused = true)]
async fn an_id_can_be_used_again_after_its_session_is_gone() {
    let (client, session, mut agent) = opened(ClientOptions::new()).await;
    agent.text("for the first").await;
    agent.hears_nothing_for(SECOND).await;
    drop(session);
    let mut session = open(&client, &mut agent, json!({})).await;
    agent.text("for the second").await;
    assert_eq!(
        brief(&session.updates().next().await.unwrap()),
        "for the second"
    );
}

#[tokio::test(start_paused = true)]
async fn opening_a_session_takes_a_while_but_not_for_ever() {
    let (client, mut agent) = dialed(
        ClientOptions::new(),
        json!({"sessionCapabilities": {"close": {}}}),
    )
    .await;
    let serve = async {
        let request = agent.request("session/new").await;
        tokio::time::sleep(121 * SECOND).await;
        request
    };
    let start = tokio::time::Instant::now();
    let opening = async {
        let error = client.new_session("/code").await.unwrap_err();
        (error, start.elapsed())
    };
    let ((error, took), request) = tokio::join!(opening, serve);
    assert!(
        matches!(
            error,
            ClientError::TimedOut {
                method: "session/new",
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(error.to_string(), "open a session within 120 s");
    assert_eq!(took, 120 * SECOND);
    // It comes after all: nobody wants it any more.
    agent.answer(&request, json!({"sessionId": SESSION})).await;
    let mut heard = agent.next().await;
    if heard["method"] == "$/cancel_request" {
        heard = agent.next().await;
    }
    assert_eq!(heard["method"], "session/close");
    assert_eq!(heard["params"]["sessionId"], SESSION);
}

#[tokio::test(start_paused = true)]
async fn what_the_agent_does_not_offer_is_not_asked_for() {
    let (client, mut agent) = dialed(ClientOptions::new(), json!({})).await;
    let refused = async |new: SessionSetup| client.new_session(new).await.unwrap_err().to_string();
    let http = McpServer::from(McpServerHttp::new("x", "http://127.0.0.1:1", Vec::new()));
    assert_eq!(
        refused(SessionSetup::new("/code").with_mcp_servers([http])).await,
        "use `mcpCapabilities.http`, which the agent does not offer"
    );
    assert_eq!(
        refused(SessionSetup::new("/code").with_additional_directories(["/more"])).await,
        "use `sessionCapabilities.additionalDirectories`, which the agent does not offer"
    );
    assert_eq!(
        refused(SessionSetup::new("work")).await,
        "work in work: the path must be absolute, and UTF-8"
    );
    let session = open(&client, &mut agent, json!({})).await;
    assert!(matches!(
        session.close().await,
        Err(ClientError::Unsupported { .. })
    ));
    agent.hears_nothing_for(SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_is_closed_at_the_agent() {
    let (client, mut agent) = dialed(
        ClientOptions::new(),
        json!({"sessionCapabilities": {"close": {}}}),
    )
    .await;
    let session = open(&client, &mut agent, json!({})).await;
    let serve = async {
        let request = agent.request("session/close").await;
        agent.answer(&request, json!({})).await;
    };
    let (closed, ()) = tokio::join!(session.close(), serve);
    closed.unwrap();
    // And those that are left, with the client: it waits for the agent, whoever asks.
    let _session = open(&client, &mut agent, json!({})).await;
    let serve = async {
        let request = agent.request("session/close").await;
        agent.hears_nothing_for(SECOND).await;
        agent.answer(&request, json!({})).await;
        agent.hears_the_end().await;
    };
    let (first, second, ()) = tokio::join!(client.close(), client.close(), serve);
    assert!(first.is_none() && second.is_none());
}

fn modes() -> Value {
    json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]})
}

fn mode_option(current: &str) -> Value {
    json!([
        {"id": "theme", "name": "Theme", "type": "boolean", "currentValue": true, "category": "mode"},
        {"id": "m", "name": "Mode", "category": "mode", "type": "select", "currentValue": current, "options": [
            {"group": "g", "name": "G", "options": [{"value": "plan", "name": "Plan"}, {"value": "ask", "name": "Ask"}]},
        ]},
    ])
}

#[tokio::test(start_paused = true)]
async fn a_mode_is_set_as_an_option_where_there_is_one() {
    let (client, mut agent) = dialed(ClientOptions::new(), json!({})).await;
    let more = json!({"modes": modes(), "configOptions": mode_option("plan")});
    let session = open(&client, &mut agent, more).await;
    let serve = async {
        let request = agent.request("session/set_config_option").await;
        assert_eq!(
            request["params"],
            json!({"sessionId": SESSION, "configId": "m", "value": "ask"})
        );
        agent
            .answer(&request, json!({"configOptions": mode_option("ask")}))
            .await;
        let request = agent.request("session/set_mode").await;
        assert_eq!(
            request["params"],
            json!({"sessionId": SESSION, "modeId": "code"})
        );
        agent.answer(&request, json!({})).await;
    };
    let control = session.control();
    let setting = async {
        control.set_mode("ask").await.unwrap();
        control.set_mode("code").await.unwrap();
        control.set_mode("fly").await.unwrap_err()
    };
    let (error, ()) = tokio::join!(setting, serve);
    let ClientError::UnknownMode { offered, .. } = &error else {
        panic!("{error}");
    };
    let offered: Vec<&str> = offered.iter().map(|mode| mode.as_str()).collect();
    assert_eq!(offered, ["plan", "ask", "code"]);
    assert_eq!(session.modes().unwrap().current_mode_id, *"code");
    let options = serde_json::to_value(session.config_options().unwrap()).unwrap();
    assert_eq!(options[1]["currentValue"], "ask");
}

#[tokio::test(start_paused = true)]
async fn an_option_is_set_to_a_value_or_switched() {
    let options = ClientOptions::new().with_boolean_options();
    assert_eq!(
        serde_json::to_value(options.capabilities()).unwrap()["session"],
        json!({"configOptions": {"boolean": {}}})
    );
    let (client, mut agent) = dialed(options, json!({})).await;
    let more = json!({"configOptions": mode_option("plan")});
    let session = open(&client, &mut agent, more).await;
    let serve = async {
        let mut asked = Vec::new();
        // The second says nothing of what came of it, the third nothing at all, and the
        // last makes no sense.
        for answer in [
            json!({"configOptions": mode_option("ask")}),
            json!({}),
            json!(null),
            json!("done"),
        ] {
            let request = agent.request("session/set_config_option").await;
            asked.push(request["params"].clone());
            agent.answer(&request, answer).await;
        }
        asked
    };
    let control = session.control();
    let setting = async {
        control.set_config_option("m", "ask").await.unwrap();
        control.set_config_option("theme", false).await.unwrap();
        control.set_config_option("m", "plan").await.unwrap();
        control.set_config_option("m", "ask").await.unwrap_err()
    };
    let (error, asked) = tokio::join!(setting, serve);
    assert!(
        matches!(
            error,
            ClientError::BadAnswer {
                method: "session/set_config_option",
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(
        asked[0],
        json!({"sessionId": SESSION, "configId": "m", "value": "ask"})
    );
    assert_eq!(
        asked[1],
        json!({"sessionId": SESSION, "configId": "theme", "type": "boolean", "value": false})
    );
    let options = serde_json::to_value(session.config_options().unwrap()).unwrap();
    assert_eq!(options[0]["currentValue"], false);
    assert_eq!(options[1]["currentValue"], "plan");
}

#[tokio::test(start_paused = true)]
async fn settings_follow_what_the_agent_tells() {
    let (client, mut agent) = dialed(ClientOptions::new(), json!({})).await;
    let mut session = open(&client, &mut agent, json!({"modes": modes()})).await;
    let update = json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"});
    agent.update(SESSION, update).await;
    let update =
        json!({"sessionUpdate": "config_option_update", "configOptions": mode_option("plan")});
    agent.update(SESSION, update).await;
    let mut updates = session.updates();
    assert_eq!(brief(&updates.next().await.unwrap()), "current_mode_update");
    assert_eq!(
        brief(&updates.next().await.unwrap()),
        "config_option_update"
    );
    drop(updates);
    assert_eq!(session.modes().unwrap().current_mode_id, *"code");
    assert_eq!(session.config_options().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_session_without_modes_says_so() {
    let (_client, session, mut agent) = opened(ClientOptions::new()).await;
    let error = session.control().set_mode("ask").await.unwrap_err();
    assert!(matches!(error, ClientError::Unsupported { .. }), "{error}");
    agent.hears_nothing_for(SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn unknown_requests_are_refused_at_once() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let _turn = session.prompt("one").await.unwrap();
    agent.request("session/prompt").await;
    for (id, method) in ["craft/drain", "fs/read_text_file", "terminal/create"]
        .into_iter()
        .enumerate()
    {
        let id = i64::try_from(id).unwrap();
        agent.ask(id, method, json!({"sessionId": SESSION})).await;
        assert_eq!(agent.refusal(id).await, -32601, "{method}");
    }
    let note = json!({"jsonrpc": "2.0", "method": "_auth/status_update", "params": {}});
    agent.say(note).await;
    agent.hears_nothing_for(SECOND).await;
}

/// Knows one file.
struct OneFile;

impl ReadFiles for OneFile {
    async fn read(&self, request: ReadTextFileRequest) -> Result<ReadTextFileResponse, ServeError> {
        match request.path.as_str() {
            "/home/ada/notes" => Ok(ReadTextFileResponse::new("text")),
            "/etc/shadow" => Err(ServeError::OutsideRoots {
                path: request.path.into(),
            }),
            "/home/ada/locked" => {
                let fault = Fault::new(ErrorCode(-32010), "locked by its editor");
                Err(fault.with_data(&json!({"retryAfter": 1})).into())
            }
            "/home/ada/broken" => Err(ServeError::Io(std::io::Error::other("secret path"))),
            _ => Err(ServeError::NotFound {
                path: request.path.into(),
            }),
        }
    }
}

impl WriteFiles for OneFile {
    async fn write(&self, _: WriteTextFileRequest) -> Result<WriteTextFileResponse, ServeError> {
        Err(ServeError::Denied)
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_of_the_hosts_own_chooses_code_message_and_data() {
    let options = ClientOptions::new().with_read_files(OneFile);
    let (_client, _session, mut agent) = opened(options).await;
    let read = json!({"sessionId": SESSION, "path": "/home/ada/locked"});
    agent.ask(0, "fs/read_text_file", read).await;
    let answer = agent.next().await;
    assert_eq!(
        answer["error"],
        json!({"code": -32010, "message": "locked by its editor", "data": {"retryAfter": 1}})
    );
}

#[tokio::test(start_paused = true)]
async fn files_are_served_after_a_look_at_the_request() {
    let options = ClientOptions::new()
        .with_read_files(OneFile)
        .with_write_files(OneFile);
    let (_client, _session, mut agent) = opened(options).await;
    let read = |path: &str| json!({"sessionId": SESSION, "path": path});
    agent
        .ask(0, "fs/read_text_file", read("/home/ada/notes"))
        .await;
    assert_eq!(agent.result(0).await, json!({"content": "text"}));
    let cases = [
        (read("/home/ada/none"), -32002),
        (read("/etc/shadow"), -32602),
        (read("/home/ada/broken"), -32603),
        (read("notes"), -32602),
        (read(""), -32602),
        (read("/home/ada/../etc/shadow"), -32602),
        (
            json!({"sessionId": "s-9", "path": "/home/ada/notes"}),
            -32002,
        ),
        (json!({"sessionId": "", "path": "/home/ada/notes"}), -32602),
        (
            json!({"sessionId": SESSION, "path": "/home/ada/notes", "line": 0}),
            -32602,
        ),
        (json!({"path": "/home/ada/notes"}), -32602),
    ];
    for (params, code) in cases {
        agent.ask(1, "fs/read_text_file", params.clone()).await;
        assert_eq!(agent.refusal(1).await, code, "{params}");
    }
    let write = json!({"sessionId": SESSION, "path": "/home/ada/notes", "content": "x"});
    agent.ask(2, "fs/write_text_file", write).await;
    let refusal = agent.next().await;
    assert_eq!(
        refusal["error"],
        json!({"code": -32600, "message": "the user refused"})
    );
}
