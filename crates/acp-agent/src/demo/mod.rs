//! The demo agent: no model, no network, always the same.
//!
//! It shows what an agent can do, so that a client has something to talk to,
//! and it is written with nothing but the [`kit`](crate::kit): its source is an
//! example. The first word of a prompt chooses what it shows ([`WORDS`], also
//! with a slash in front); any other prompt shows a turn with a bit of
//! everything.

mod asking;
mod client;
mod ends;
mod login;
mod session;
mod speech;
mod words;
mod work;

use std::time::Duration;

use acp_host::{ConfigChoice, ConfigOption, PromptContent};
use tokio::time::sleep;

use crate::{
    Agent, AgentBuilder, BuildError,
    kit::{History, Kit, MemoryHistory, Prompt, Turn, TurnEnd, TurnError, TurnHandler},
};
use words::Word;

pub use words::WORDS;

/// The mode in which it acts without asking.
const ACT: &str = "act";

/// The switch for its thoughts.
const THOUGHTS: &str = "thoughts";

/// An agent that shows what an agent can do.
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

    async fn show(&self, turn: &Turn, prompt: &Prompt) -> Result<TurnEnd, TurnError> {
        let text = prompt.text();
        let (word, rest) = Word::read(&text);
        let Some(word) = word else {
            self.show_all(turn).await?;
            return Ok(TurnEnd::Done);
        };
        match word {
            Word::Echo => self.echo(turn, rest).await?,
            Word::Think => self.think(turn).await?,
            Word::Plan => self.work_by_plan(turn).await?,
            Word::Ask => self.change_note(turn, turn).await?,
            Word::Tools => self.use_tools(turn).await?,
            Word::Diff => self.show_diffs(turn).await?,
            Word::SubAgent => self.delegate(turn).await?,
            Word::Question => self.ask_choice(turn).await?,
            Word::Form => self.ask_form(turn).await?,
            Word::Address => self.send_away(turn).await?,
            Word::Secret => self.ask_secret(turn).await?,
            Word::Read => self.read_file(turn, rest).await?,
            Word::Write => self.write_file(turn, rest).await?,
            Word::Terminal => self.run_command(turn, rest).await?,
            Word::Timeout => self.kill_command(turn, rest).await?,
            Word::Image => self.show_picture(turn).await?,
            Word::Link => self.show_link(turn).await?,
            Word::Title => self.give_title(turn, rest).await?,
            Word::Mode => self.change_mode(turn).await?,
            Word::Commands => self.offer_commands(turn).await?,
            Word::Notice => self.tell_notices(turn).await?,
            Word::Usage => self.tell_usage(turn).await?,
            Word::Compact => self.shorten(turn).await?,
            Word::About => self.tell_setup(turn).await?,
            Word::Content => self.tell_content(turn, prompt).await?,
            Word::Earlier => self.remember(turn).await?,
            Word::Slow => self.count_slowly(turn).await?,
            Word::Flood => self.flood(turn, rest).await?,
            Word::Big => self.say_much(turn, rest).await?,
            Word::Refuse
            | Word::Tokens
            | Word::Steps
            | Word::Silent
            | Word::Wait
            | Word::Deaf
            | Word::Fail
            | Word::Panic => return self.end(turn, word, rest).await,
        }
        Ok(TurnEnd::Done)
    }

    /// Says a text word by word.
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
        self.show(turn, &prompt).await
    }
}

/// What can be set in its sessions: each sort of option once.
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
