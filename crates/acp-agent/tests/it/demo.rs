//! The demo agent: each of its words, in every case.

use std::collections::BTreeSet;

use acp_agent::demo::{DemoAgent, WORDS};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::client::Client;

/// Runs a prompt, answers permission requests, and gives the updates and how the
/// turn ended. Other questions are answered in order by `answers`.
async fn converse(
    client: &mut Client,
    id: &str,
    text: &str,
    option: &str,
    answers: &[(&str, Value)],
) -> (Vec<Value>, Value) {
    let request = client.prompt(id, text).await;
    let mut updates = Vec::new();
    let mut answers = answers.iter();
    loop {
        let mut message = client.next().await;
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        match &*method {
            "session/request_permission" => {
                let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
                client.reply(&message["id"], outcome).await;
            }
            "session/update" => updates.push(message["params"]["update"].take()),
            "" if message["id"] == request => {
                assert!(answers.next().is_none(), "{text}: {message}");
                return (updates, message);
            }
            "" => panic!("{message}"),
            // A notification that something is done.
            _ if message["id"].is_null() => {}
            _ => {
                let (asked, answer) = answers.next().unwrap_or_else(|| panic!("{message}"));
                assert_eq!(method, *asked);
                client.reply(&message["id"], answer.clone()).await;
            }
        }
    }
}

/// Runs a prompt that asks for nothing but permission.
async fn run(client: &mut Client, id: &str, text: &str, option: &str) -> Vec<Value> {
    let (updates, end) = converse(client, id, text, option, &[]).await;
    assert_eq!(end["result"]["stopReason"], "end_turn", "{end}");
    updates
}

/// Runs a prompt that asks for nothing, and gives its text.
async fn hear(client: &mut Client, id: &str, prompt: &str) -> String {
    text(&run(client, id, prompt, "").await)
}

/// A client with these abilities, and a session.
async fn scene_with(demo: DemoAgent, capabilities: Value) -> (Client, String) {
    let mut client = Client::ready_with(&demo.into_agent().unwrap(), capabilities).await;
    let id = client.new_session().await;
    (client, id)
}

async fn scene() -> (Client, String) {
    scene_with(DemoAgent::default(), json!({})).await
}

/// A client with every ability.
async fn able() -> (Client, String) {
    let capabilities = json!({
        "fs": {"readTextFile": true, "writeTextFile": true},
        "terminal": true,
        "elicitation": {"form": {}, "url": {}},
        "session": {"notices": {}, "compaction": {}, "configOptions": {"boolean": {}}},
    });
    scene_with(DemoAgent::default(), capabilities).await
}

fn of_kind<'a>(updates: &'a [Value], kind: &str) -> Vec<&'a Value> {
    updates
        .iter()
        .filter(|update| update["sessionUpdate"] == kind)
        .collect()
}

fn text(updates: &[Value]) -> String {
    let chunks = of_kind(updates, "agent_message_chunk");
    chunks
        .iter()
        .filter_map(|chunk| chunk["content"]["text"].as_str())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn any_prompt_shows_everything_and_always_the_same() {
    let (mut client, id) = scene().await;
    let began = Instant::now();
    let first = run(&mut client, &id, "tidy up my notes", "approve").await;
    assert!(began.elapsed().as_secs() < 3, "{:?}", began.elapsed());
    assert!(of_kind(&first, "agent_message_chunk").len() > 20);
    assert!(!of_kind(&first, "agent_thought_chunk").is_empty());
    let plans = of_kind(&first, "plan");
    assert_eq!(plans[0]["entries"][0]["status"], "in_progress");
    let last = plans.last().unwrap();
    assert!(
        last["entries"]
            .as_array()
            .unwrap()
            .iter()
            .all(|e| e["status"] == "completed")
    );
    assert_eq!(of_kind(&first, "tool_call")[0]["status"], "pending");
    assert_eq!(of_kind(&first, "tool_call").len(), 1);
    assert_eq!(
        of_kind(&first, "tool_call_update").last().unwrap()["status"],
        "completed"
    );

    let again = run(&mut client, &id, "tidy up my notes", "approve").await;
    assert_eq!(text(&first), text(&again));
    for (word, about) in WORDS {
        assert!(text(&first).contains(&format!("`{word}`: {about}")));
    }
    assert_eq!(first.len(), again.len());

    let denied = run(&mut client, &id, "tidy up my notes", "deny").await;
    assert_eq!(
        of_kind(&denied, "tool_call_update").last().unwrap()["status"],
        "failed"
    );
    assert!(text(&denied).contains("You did not allow it"));
}

#[tokio::test(start_paused = true)]
async fn without_pace_nothing_rests() {
    let demo = DemoAgent::default().with_pace(std::time::Duration::ZERO);
    let (mut client, id) = scene_with(demo, json!({})).await;
    let began = Instant::now();
    for word in ["hello", "plan", "slow", "tools", "think", "compact"] {
        run(&mut client, &id, word, "approve").await;
    }
    assert_eq!(began.elapsed().as_millis(), 0);
}

#[tokio::test(start_paused = true)]
async fn words_that_only_tell() {
    let (mut client, id) = able().await;
    for (prompt, want) in [
        ("echo a b", "a b"),
        ("/echo a b", "a b"),
        ("think", "There are two plants. Both of them are dry.\n"),
        ("diff", "One file would change, one would be new.\n"),
        ("tools", "I called every tool I have.\n"),
        ("image", "A chess board:\nIt is eight pixels wide.\n"),
        ("link", "A link, and the embedded file:\n"),
        ("title Plants", "The title of this session is now: Plants\n"),
        ("notice", "I sent three notices.\n"),
        ("usage", "90 % of the context is used.\n"),
        ("compact", "The conversation is compacted.\n"),
        ("commands", "Every word is a slash command now.\n"),
        ("silent", ""),
        ("flood 3", "1 2 3 "),
        ("flood many", "I count from 1 to 1000000 at most.\n"),
        ("big 0", "I send 1 to 31744 KiB at once.\n"),
    ] {
        assert_eq!(hear(&mut client, &id, prompt).await, want, "{prompt}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_words_show_besides_text() {
    let (mut client, id) = able().await;
    let mut show = async |prompt| run(&mut client, &id, prompt, "").await;

    let updates = show("think").await;
    assert_eq!(of_kind(&updates, "agent_thought_chunk").len(), 12);
    let updates = show("plan").await;
    let plans = of_kind(&updates, "plan");
    assert_eq!(plans.len(), 4);
    let priorities = [0, 1, 2].map(|at| plans[0]["entries"][at]["priority"].clone());
    assert_eq!(priorities, ["high", "medium", "low"]);

    let updates = show("tools").await;
    let tools = of_kind(&updates, "tool_call");
    let kinds: BTreeSet<_> = tools.iter().map(|tool| tool["kind"].to_string()).collect();
    assert_eq!((tools.len(), kinds.len()), (10, 10), "{kinds:?}");
    for tool in &tools {
        assert_eq!(tool["locations"][0]["line"], 3);
        assert!(tool["rawInput"]["path"].is_string());
    }
    let ends = of_kind(&updates, "tool_call_update");
    let failed = ends.iter().filter(|end| end["status"] == "failed").count();
    let returned = ends.iter().filter(|end| end["rawOutput"]["ok"] == true);
    assert_eq!((failed, returned.count()), (1, 9));

    let updates = show("diff").await;
    let shown = &of_kind(&updates, "tool_call_update").last().unwrap()["content"];
    assert!(shown[0]["oldText"].is_string() && shown[1]["oldText"].is_null());
    assert_eq!(
        (&shown[0]["type"], &shown[1]["type"]),
        (&json!("diff"), &json!("diff"))
    );

    let updates = show("image").await;
    assert!(
        updates
            .iter()
            .any(|update| update["content"]["mimeType"] == "image/png")
    );
    let updates = show("link").await;
    let kinds = updates.iter().map(|update| &update["content"]["type"]);
    let kinds: BTreeSet<_> = kinds.map(|kind| kind.as_str().unwrap()).collect();
    assert_eq!(kinds, BTreeSet::from(["text", "resource_link", "resource"]));

    let updates = show("title Plants").await;
    assert_eq!(updates[0]["title"], "Plants");
    let updates = show("notice").await;
    let notices = of_kind(&updates, "notice");
    let severities: Vec<_> = notices.iter().map(|notice| &notice["severity"]).collect();
    assert_eq!(severities, ["info", "warning", "error"]);
    let updates = show("usage").await;
    let used = of_kind(&updates, "usage_update");
    assert_eq!(used.last().unwrap()["used"], 90_000);
    assert_eq!(used.last().unwrap()["cost"]["amount"], 0.09);
    let updates = show("compact").await;
    let compactions = of_kind(&updates, "compaction_update");
    assert_eq!(compactions[1]["status"], "completed");
    let updates = show("commands").await;
    let offered = updates[0]["availableCommands"].as_array().unwrap();
    assert_eq!(offered.len(), WORDS.len());
    let flood = offered.iter().find(|command| command["name"] == "flood");
    assert_eq!(flood.unwrap()["input"]["hint"], "[NUMBER]");
    let updates = show("big 64").await;
    assert_eq!(updates.len(), 1);
    assert_eq!(text(&updates).len(), 64 << 10);
    assert_eq!(show("flood").await.len(), 1000);
}

#[tokio::test(start_paused = true)]
async fn permission_is_asked_as_the_mode_says() {
    let (mut client, id) = able().await;
    let denied = run(&mut client, &id, "ask", "deny").await;
    assert!(text(&denied).contains("You did not allow it"));
    let once = run(&mut client, &id, "ask", "approve").await;
    assert!(text(&once).contains("The note has its line"));
    let asked = run(&mut client, &id, "sub-agent", "approve").await;
    assert_eq!(of_kind(&asked, "tool_call").len(), 1);
    assert!(!text(&asked).contains("The client does not see"));

    // Who allows it for good is not asked again.
    let always = run(&mut client, &id, "ask", "approve_always_workspace").await;
    assert_eq!(
        of_kind(&always, "current_mode_update")[0]["currentModeId"],
        "act"
    );
    let (_, end) = converse(&mut client, &id, "ask", "nobody is asked", &[]).await;
    assert_eq!(end["result"]["stopReason"], "end_turn");
    let back = run(&mut client, &id, "mode", "").await;
    assert_eq!(
        of_kind(&back, "current_mode_update")[0]["currentModeId"],
        "ask"
    );
}

#[tokio::test(start_paused = true)]
async fn options_are_set_by_the_user() {
    let (mut client, id) = able().await;
    for (option, value) in [
        ("mode", json!({"value": "act"})),
        ("model", json!({"value": "huge"})),
        ("thoughts", json!({"type": "boolean", "value": false})),
    ] {
        let mut params = json!({"sessionId": id, "configId": option});
        params
            .as_object_mut()
            .unwrap()
            .extend(value.as_object().unwrap().clone());
        let (_, answer) = client.told("session/set_config_option", params).await;
        assert!(answer["result"].is_object(), "{answer}");
    }
    let about = hear(&mut client, &id, "about").await;
    for line in [
        "mode: act",
        "model: huge",
        "thoughts: false",
        "client: shows forms",
    ] {
        assert!(about.contains(&format!("* {line}\n")), "{about}");
    }
    let updates = run(&mut client, &id, "think", "").await;
    assert!(of_kind(&updates, "agent_thought_chunk").is_empty());
}

#[tokio::test(start_paused = true)]
async fn questions_are_asked() {
    let (mut client, id) = able().await;
    let accept = |content: Value| json!({"action": "accept", "content": content});
    let order = json!({"name": "Ada", "plant": "ivy", "gifts": ["fern"], "pots": 2,
        "litres": 0.5, "express": true});
    for (prompt, answer, want) in [
        (
            "question",
            accept(json!({"answer": "fern"})),
            "Watering the Fern.\n",
        ),
        (
            "question",
            json!({"action": "decline"}),
            "You declined to answer.\n",
        ),
        (
            "question",
            json!({"action": "cancel"}),
            "You did not answer.\n",
        ),
        (
            "form",
            accept(order),
            "For Ada (no e-mail): Ivy, 1 gifts, 2 pots, 0.5 litres, express true.\n",
        ),
        ("form", accept(json!({})), "You ordered nothing.\n"),
        ("address", json!({"action": "accept"}), "Welcome back.\n"),
        (
            "address",
            json!({"action": "decline"}),
            "You did not open the page.\n",
        ),
        (
            "secret",
            json!({"action": "accept"}),
            "Your secret is safe.\n",
        ),
        (
            "secret",
            json!({"action": "cancel"}),
            "You entered no secret.\n",
        ),
    ] {
        let answers = [("elicitation/create", answer)];
        let (updates, end) = converse(&mut client, &id, prompt, "", &answers).await;
        assert_eq!(end["result"]["stopReason"], "end_turn", "{end}");
        assert_eq!(text(&updates), want);
    }
}

#[tokio::test(start_paused = true)]
async fn files_and_commands_of_the_client() {
    let (mut client, id) = able().await;
    let read = [("fs/read_text_file", json!({"content": "a\nb\n"}))];
    let (updates, _) = converse(&mut client, &id, "read src/./../lib.rs", "", &read).await;
    assert_eq!(text(&updates), "The file has 2 lines.\n");
    assert_eq!(
        updates[0]["locations"][0]["path"],
        "/home/ada/project/lib.rs"
    );
    for outside in [
        "read /etc/hosts",
        "read ../etc/hosts",
        "write /home/ada/projects",
    ] {
        let said = hear(&mut client, &id, outside).await;
        assert_eq!(said, "This path is outside the session's folders.\n");
    }
    let write = [("fs/write_text_file", json!({}))];
    let (updates, _) = converse(&mut client, &id, "write", "approve", &write).await;
    assert_eq!(text(&updates), "The file is written.\n");
    assert_eq!(
        hear(&mut client, &id, "write").await,
        "You did not allow it, so I wrote nothing.\n"
    );

    let run_it = [
        ("terminal/create", json!({"terminalId": "t1"})),
        ("terminal/wait_for_exit", json!({"exitCode": 3})),
        (
            "terminal/output",
            json!({"output": "ab", "truncated": false}),
        ),
        ("terminal/release", json!({})),
    ];
    let (updates, _) = converse(&mut client, &id, "terminal ls -l", "approve", &run_it).await;
    assert_eq!(
        text(&updates),
        "The command exited with status 3 and wrote 2 bytes.\n"
    );
    let shown = of_kind(&updates, "tool_call_update");
    let terminal = json!([{"type": "terminal", "terminalId": "t1"}]);
    assert!(shown.iter().any(|update| update["content"] == terminal));

    let kill_it = [
        ("terminal/create", json!({"terminalId": "t2"})),
        ("terminal/kill", json!({})),
        ("terminal/output", json!({"output": "a", "truncated": true})),
        ("terminal/release", json!({})),
    ];
    let (updates, _) = converse(&mut client, &id, "timeout", "approve", &kill_it).await;
    let said = "I killed the command after a moment; it wrote 1 bytes.\n";
    assert_eq!(text(&updates), said);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_can_do_nothing_is_told_so() {
    let (mut client, id) = scene().await;
    for (prompt, want) in [
        ("read", "I could not read the file.\n"),
        ("write", "I could not write the file.\n"),
        ("terminal", "I could not run the command.\n"),
        ("form", "Your client does not show forms.\n"),
        ("timeout", "I could not run the command.\n"),
        ("address", "Your client does not open web pages.\n"),
        ("secret", "Your client does not open web pages.\n"),
        ("notice", "Your client does not show notices.\n"),
    ] {
        let updates = run(&mut client, &id, prompt, "approve").await;
        assert_eq!(text(&updates), want);
    }
    let question = hear(&mut client, &id, "question").await;
    assert!(question.contains("* Fern: Likes the shade\n"), "{question}");
    assert!(
        hear(&mut client, &id, "compact")
            .await
            .contains("which your client does not show")
    );
}

#[tokio::test(start_paused = true)]
async fn turns_end_in_every_way() {
    let (mut client, id) = scene().await;
    for (prompt, want) in [
        ("refuse", "refusal"),
        ("tokens", "max_tokens"),
        ("steps", "max_turn_requests"),
        ("silent", "end_turn"),
    ] {
        let (_, end) = converse(&mut client, &id, prompt, "", &[]).await;
        assert_eq!(end["result"]["stopReason"], want);
    }
    for (prompt, code) in [
        ("fail", -32603),
        ("fail busy", -32603),
        ("fail login", -32000),
        ("fail context", -32603),
        ("fail empty", -32603),
        ("fail secret", -32603),
        ("panic", -32603),
    ] {
        let (_, end) = converse(&mut client, &id, prompt, "", &[]).await;
        assert_eq!(end["error"]["code"], code, "{prompt}: {end}");
        assert!(!end.to_string().contains("stays in the agent"));
    }
}

#[tokio::test(start_paused = true)]
async fn turns_are_cancelled() {
    let (mut client, id) = scene().await;
    for (word, first, most_millis) in [
        ("slow", "1 ", 10),
        ("wait", "Waiting. ", 10),
        // It is dropped after its grace.
        ("deaf", "Ignoring. ", 5010),
    ] {
        let request = client.prompt(&id, word).await;
        assert_eq!(client.update().await["content"]["text"], first);
        let cancelled_at = Instant::now();
        client.cancel(&id).await;
        assert_eq!(client.stop_reason(request).await, "cancelled");
        assert!(cancelled_at.elapsed().as_millis() <= most_millis, "{word}");
    }
}

#[tokio::test(start_paused = true)]
async fn sessions_are_remembered() {
    let agent = DemoAgent::default().into_agent().unwrap();
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;
    assert_eq!(
        hear(&mut client, &id, "earlier").await,
        "There are no earlier prompts.\n"
    );
    hear(&mut client, &id, "title Plants").await;
    assert_eq!(
        hear(&mut client, &id, "earlier").await,
        "1. earlier\n2. title Plants\n"
    );
    client.hang_up().await;

    let mut client = Client::ready(&agent).await;
    let listed = client.call("session/list", json!({})).await;
    assert_eq!(listed["result"]["sessions"][0]["title"], "Plants");
    let params = json!({"sessionId": id, "cwd": "/home/ada/project", "mcpServers": []});
    let (told, _) = client.told("session/load", params).await;
    let asked = of_kind(&told, "user_message_chunk").len();
    assert_eq!(asked, 3);
    client.call("session/close", json!({"sessionId": id})).await;
    client
        .call("session/delete", json!({"sessionId": id}))
        .await;
    let listed = client.call("session/list", json!({})).await;
    assert_eq!(listed["result"]["sessions"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn prompts_may_hold_everything() {
    let (mut client, id) = scene().await;
    let prompt = json!([
        {"type": "text", "text": "content"},
        {"type": "image", "mimeType": "image/png", "data": "AAAA"},
        {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"},
        {"type": "resource_link", "uri": "file:///a", "name": "a"},
        {"type": "resource", "resource": {"uri": "file:///b", "text": "bb"}},
    ]);
    let params = json!({"sessionId": id, "prompt": prompt});
    let (updates, _) = client.told("session/prompt", params).await;
    let want = "* text of 7 bytes\n* image (image/png)\n* audio (audio/wav)\n\
        * link to file:///a\n* text of 2 bytes from file:///b\n";
    assert_eq!(text(&updates), want);
}

#[tokio::test(start_paused = true)]
async fn a_login_may_be_needed() {
    let agent = DemoAgent::default().with_login().into_agent().unwrap();
    let mut client = Client::start(&agent);
    let params = json!({"protocolVersion": 1});
    let answer = client.call("initialize", params).await;
    assert_eq!(answer["result"]["authMethods"][0]["id"], "knock");
    let params = json!({"cwd": "/home/ada/project", "mcpServers": []});
    let answer = client.call("session/new", params.clone()).await;
    assert_eq!(answer["error"]["code"], -32000, "{answer}");
    client
        .call("authenticate", json!({"methodId": "wave"}))
        .await;
    client.new_session().await;
    client.call("logout", json!({})).await;
    let answer = client.call("session/new", params).await;
    assert_eq!(answer["error"]["code"], -32000, "{answer}");
}
