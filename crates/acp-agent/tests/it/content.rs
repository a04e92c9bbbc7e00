//! What prompts may hold.

use acp_agent::{
    AgentBuilder,
    host::{Block, PromptContent},
};
use serde_json::{Value, json};

use crate::{
    client::Client,
    host::{host, scene},
};

#[tokio::test(start_paused = true)]
async fn content_of_prompts() {
    let blocks = |second: Value| json!([{"type": "text", "text": "look"}, second]);
    let link = json!({"type": "resource_link", "uri": "file:///a.md", "name": "a.md", "size": 3,
        "mimeType": "text/markdown", "title": "A"});
    let image = json!({"type": "image", "data": "QUJD", "mimeType": "image/png"});
    let audio = json!({"type": "audio", "data": "QUJD", "mimeType": "audio/wav"});
    let text = json!({"type": "resource", "resource": {"uri": "file:///b.md", "text": "B"}});
    let blob = json!({"type": "resource", "resource": {"uri": "file:///c", "blob": "QUJD"}});
    let chart = json!({"type": "chart", "bars": 3});

    let (_strings, mut client, id, session) = scene().await;
    for refused in [&image, &audio, &text, &blob, &chart] {
        let params = json!({"sessionId": id, "prompt": blocks(refused.clone())});
        let answer = client.call("session/prompt", params).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(
            answer["error"]["message"]
                .as_str()
                .unwrap()
                .contains("prompt[1]"),
            "{answer}"
        );
    }
    let params = json!({"sessionId": id, "prompt": blocks(link)});
    client.start_call("session/prompt", params).await;
    let content = session.submission().await.content;
    let Block::Link(link) = &content[1] else {
        panic!("{content:?}")
    };
    assert_eq!((&*link.name, link.size), ("a.md", Some(3)));

    let (host, mut strings) = host();
    let all = PromptContent::new()
        .with_image()
        .with_audio()
        .with_resource();
    let agent = AgentBuilder::new(host).prompt_content(all).build().unwrap();
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;
    let session = strings.session().await;
    let params = json!({"sessionId": id, "prompt": [image, audio, text, blob]});
    client.start_call("session/prompt", params).await;
    let content = session.submission().await.content;
    assert!(
        matches!(
            &content[..],
            [
                Block::Image(_),
                Block::Audio(_),
                Block::Resource(_),
                Block::Resource(_)
            ]
        ),
        "{content:?}"
    );
    let params = json!({"sessionId": id, "prompt": [chart]});
    client.call("session/prompt", params).await;
}
