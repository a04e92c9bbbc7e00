//! The demo agent: no model, no network, always the same.
//!
//! It shows what an agent can do, so that a client has something to talk to,
//! and it is written with nothing but the [`kit`](crate::kit): its source is an
//! example. The first word of a prompt chooses what it does ([`WORDS`], also
//! as slash commands); any other prompt shows a turn with a bit of everything.

mod asking;
mod client;
mod login;
mod session;
mod speech;
mod words;
mod work;

use std::{future::pending, time::Duration};

use acp_host::{ConfigChoice, ConfigOption, HostError, PromptContent, TurnFailure};
use tokio::time::sleep;

use crate::{
    Agent, AgentBuilder, BuildError,
    kit::{History, Kit, MemoryHistory, Prompt, Turn, TurnEnd, TurnError, TurnHandler},
};
pub use words::WORDS;

/// The mode in which it acts without asking.
const ACT: &str = "act";

/// The option that switches its thoughts on and off.
const THOUGHTS: &str = "thoughts";

/// An agent without a model that shows each ability of an agent.
#[derive(Clone, Debug)]
pub struct DemoAgent {
    pace: Duration,
    login: bool,
}

impl Default for DemoAgent {
    /// Speaks at a pace that can be read: a word each 20 ms. Nobody needs to log
    /// in.
    fn default() -> Self {
        Self {
            pace: Duration::from_millis(20),
            login: false,
        }
    }
}

impl DemoAgent {
    /// Sets how long it rests behind each word; everything else that takes time
    /// takes a multiple of it. With zero it rests nowhere.
    #[must_use]
    pub fn with_pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// Has the user log in before there are sessions. Every login succeeds.
    #[must_use]
    pub fn with_login(mut self) -> Self {
        self.login = true;
        self
    }

    /// Makes an agent of it, ready to serve. It remembers its sessions for as
    /// long as it runs.
    ///
    /// # Errors
    ///
    /// None today; the signature is that of
    /// [`AgentBuilder::build`].
    pub fn into_agent(self) -> Result<Agent, BuildError> {
        self.into_builder_with_history(MemoryHistory::new()).build()
    }

    /// Starts an agent of it that remembers its sessions in this history.
    pub fn into_builder_with_history(self, history: impl History) -> AgentBuilder {
        let login = self.login;
        let builder = Kit::new(self)
            .with_history(history)
            .with_options(options())
            .into_builder()
            .info("acp-demo-agent", env!("CARGO_PKG_VERSION"))
            .title("Demo agent")
            .additional_directories()
            .prompt_content(
                PromptContent::new()
                    .with_image()
                    .with_audio()
                    .with_resource(),
            );
        if login {
            login::require(builder)
        } else {
            builder
        }
    }

    async fn act(&self, turn: &Turn, prompt: &Prompt) -> Result<TurnEnd, TurnError> {
        let text = prompt.text();
        let (word, rest) = words::split(&text);
        let mut end = TurnEnd::Done;
        let answer = match word {
            "echo" if rest.is_empty() => "(nothing)".to_owned(),
            "echo" => rest.to_owned(),
            "think" => self.think(turn).await?,
            "plan" => self.work_by_plan(turn).await?,
            "ask" => self.change_note(turn, turn).await?,
            "tools" => self.use_tools(turn).await?,
            "diff" => self.show_diffs(turn).await?,
            "sub-agent" => self.delegate(turn).await?,
            "question" => self.ask_choice(turn).await?,
            "form" => self.ask_form(turn).await?,
            "address" => self.ask_to_visit(turn).await?,
            "secret" => self.ask_secret(turn).await?,
            "read" => self.read_file(turn, rest).await?,
            "write" => self.write_file(turn, rest).await?,
            "terminal" => self.run_command(turn, rest).await?,
            "timeout" => self.kill_command(turn, rest).await?,
            "image" => self.send_image(turn).await?,
            "link" => self.send_link(turn).await?,
            "title" => self.set_title(turn, rest).await?,
            "mode" => self.switch_mode(turn).await?,
            "commands" => self.offer_commands(turn).await?,
            "notice" => self.send_notices(turn).await?,
            "usage" => self.report_usage(turn).await?,
            "compact" => self.compact(turn).await?,
            "about" => session::setup(turn),
            "content" => session::content(prompt),
            "earlier" => session::earlier(turn).await?,
            "silent" => String::new(),
            "slow" => self.count_slowly(turn).await?,
            "flood" => self.flood(turn, rest).await?,
            "big" => self.send_big(turn, rest).await?,
            "refuse" => {
                turn.refusal("I would rather not.\n").await?;
                return Ok(TurnEnd::Refused);
            }
            "tokens" => {
                end = TurnEnd::MaxTokens;
                "This answer would go on and on and".to_owned()
            }
            "steps" => {
                end = TurnEnd::MaxSteps;
                "There is more to do, but this turn has no steps left.\n".to_owned()
            }
            "wait" => {
                turn.text("Waiting. ").await?;
                turn.cancelled().await;
                return Ok(TurnEnd::Cancelled);
            }
            "deaf" => {
                turn.text("Ignoring. ").await?;
                pending().await
            }
            "fail" => return Err(failure(rest)),
            "panic" => panic!("a prompt asked the demo agent to panic"),
            _ => self.show_all(turn).await?,
        };
        self.say(turn, &answer).await?;
        Ok(end)
    }

    /// Sends a text word by word.
    async fn say(&self, turn: &Turn, text: &str) -> Result<(), TurnError> {
        for word in text.split_inclusive(' ') {
            turn.text(word).await?;
            self.rest(turn, 1).await?;
        }
        Ok(())
    }

    /// Rests for as long as it takes to say so many words.
    async fn rest(&self, turn: &Turn, words: u32) -> Result<(), TurnError> {
        if self.pace.is_zero() {
            return Ok(());
        }
        turn.run_until_cancelled(sleep(self.pace * words)).await
    }
}

impl TurnHandler for DemoAgent {
    async fn turn(&self, turn: &mut Turn, prompt: Prompt) -> Result<TurnEnd, TurnError> {
        self.act(turn, &prompt).await
    }
}

fn or<'a>(text: &'a str, default: &'a str) -> &'a str {
    if text.is_empty() { default } else { text }
}

fn failure(kind: &str) -> TurnError {
    TurnError::failure(match kind {
        "busy" => TurnFailure::RateLimited {
            retry_after: Some(Duration::from_secs(1)),
        },
        "login" => TurnFailure::AuthRequired,
        "context" => TurnFailure::ContextOverflow,
        "empty" => TurnFailure::EmptyResponse,
        "secret" => TurnFailure::Other(HostError::internal("this text stays in the agent")),
        _ => return TurnError::public("the prompt asked for a failure"),
    })
}

/// The options of its sessions: one of each kind.
fn options() -> Vec<ConfigOption> {
    let modes = vec![
        ConfigChoice::new("ask", "Ask").with_description("Asks before it changes anything"),
        ConfigChoice::new(ACT, "Act").with_description("Changes things without asking"),
    ];
    let models = vec![
        ConfigChoice::new("small", "Small").with_group("Fast"),
        ConfigChoice::new("large", "Large").with_group("Slow"),
        ConfigChoice::new("huge", "Huge").with_group("Slow"),
    ];
    let description = "No model at all: it changes nothing";
    vec![
        ConfigOption::mode("ask", modes),
        ConfigOption::select("model", "Model", "small", models)
            .with_category(acp_host::ConfigCategory::Model)
            .with_description(description),
        ConfigOption::switch(THOUGHTS, "Thoughts", true)
            .with_description("Whether it thinks aloud"),
    ]
}
