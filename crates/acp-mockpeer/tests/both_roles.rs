//! One text, played by both sides against each other.

mod support;

use acp_mockpeer::Play;
use support::{meet, run, scenario};

/// Plays both sides of a scenario; both have to pass.
#[track_caller]
fn check(text: &str) {
    let both = scenario("both.acpt", text);
    let (agent, client) = run(meet(Play::agent(&both), Play::client(&both)));
    agent.assert_passed();
    client.assert_passed();
}

#[test]
fn a_cancelled_prompt() {
    check(
        r#"
# A prompt that is cancelled while it waits for consent still answers.
-> initialize {"protocolVersion": 1}
<- result {"protocolVersion": 1}
-> session/new {"cwd": "/home/ada/project", "mcpServers": []}
<- result {"sessionId": "$s"}
-> session/prompt {"sessionId": "$s", "prompt": [{"type": "text", "text": "tidy up"}]} as prompt
<- session/request_permission {"sessionId": "$s"} as ask
-> session/cancel {"sessionId": "$s"}
-> reply ask {"outcome": {"outcome": "cancelled"}}
<- result of prompt {"stopReason": "cancelled"} within 2s
"#,
    );
}

#[test]
fn what_is_left_out_is_filled_in() {
    check(
        "-> initialize\n<- result\n-> session/new\n<- result\n-> session/prompt\n\
         <- session/update\n<- session/request_permission\n-> result\n<- result\n",
    );
}

#[test]
fn choices() {
    check(
        r#"
-> initialize
<- result
-> session/new
either
  <- error -32000
or
  <- result
end
-> session/new
either
  <- result {"sessionId": "$s"}
or
  <- error
end
-> session/prompt {"sessionId": "$s"}
<- session/update*
optional
  <- session/request_permission as ask
  -> result of ask {"outcome": {"outcome": "selected", "optionId": "allow"}}
end
any order
  <- session/update {"update": {"sessionUpdate": "plan"}}
  <- session/update {"update": {"sessionUpdate": "tool_call"}}
end
repeat 3 as $i
  <- session/update {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "$i. "}}}
end
<- result {"stopReason": "end_turn" | "max_tokens"}
"#,
    );
}
