//! The thirty-line agent: it has no more lines, and it works.

#[expect(dead_code, unreachable_pub, reason = "it is a program")]
#[path = "../../examples/thirty_lines.rs"]
mod example;

use acp_agent::{AgentBuilder, kit::Kit};
use serde_json::json;

use crate::client::Client;

#[test]
fn thirty_lines_are_thirty_lines() {
    let source = include_str!("../../examples/thirty_lines.rs");
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    let lines = source.lines().filter(is_code).count();
    assert!(lines <= 30, "{lines} lines");
    // Formatted, so that no line holds two.
    assert!(source.lines().all(|line| line.len() <= 100));
}

#[test]
fn they_are_the_first_page_of_the_documentation() {
    let first_page = include_str!("../../src/lib.rs");
    let lines = first_page.lines();
    let lines = lines.skip_while(|line| *line != "//! ```no_run").skip(1);
    let shown = lines.take_while(|line| *line != "//! ```");
    let shown = shown.map(|line| {
        line.trim_start_matches("//!")
            .strip_prefix(' ')
            .unwrap_or("")
    });
    let source = include_str!("../../examples/thirty_lines.rs");
    let (_, source) = source.split_once("\n\n").unwrap();
    assert!(shown.eq(source.lines()), "they differ");
}

#[tokio::test(start_paused = true)]
async fn the_thirty_lines_work() {
    let agent = AgentBuilder::new(Kit::new(example::Gardener));
    let mut client = Client::ready(&agent.build().unwrap()).await;
    let id = client.new_session().await;
    for (option, status) in [("approve", "completed"), ("deny", "failed")] {
        let request = client.prompt(&id, "hello").await;
        assert_eq!(
            client.update().await["content"]["text"],
            "You said: hello\n"
        );
        let announced = client.update().await;
        let asked = client.asked("session/request_permission").await;
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
        client.reply(&asked["id"], outcome).await;
        let mut last = client.update().await;
        if last["status"] == "in_progress" {
            last = client.update().await;
        }
        assert_eq!(last["toolCallId"], announced["toolCallId"]);
        assert_eq!(last["status"], status);
        assert_eq!(client.update().await["content"]["text"], "Done for today.");
        assert_eq!(client.stop_reason(request).await, "end_turn");
    }
}
