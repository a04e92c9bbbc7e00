//! The turn: ask the model, run the tools it calls, ask again.

use std::error::Error;

use acp_agent::{
    Agent,
    host::{
        Block, ConfigCategory, ConfigChoice, ConfigOption, ContextUse, Notice, NoticeSeverity,
        PromptContent,
    },
    kit::{Kit, MemoryHistory, Prompt, Turn, TurnEnd, TurnError, TurnHandler},
};
use acp_store::SqliteHistory;

use crate::{
    answer::{Finish, Piece},
    config::Config,
    conversation::{self, Call, Message},
    model::{Model, ModelError},
    tools,
};

/// The mode in which nobody is asked.
pub(crate) const ACT: &str = "act";

/// How often a turn asks the model at most: a model that runs in circles costs
/// money.
const MAX_STEPS: u32 = 50;

/// How much of the context may be history, by a rule of thumb: three bytes a
/// token, so that a quarter is left for the answer and what tools say.
const BYTES_A_TOKEN: u64 = 3;

const INSTRUCTIONS: &str = "\
You are an agent that works in a folder of the user, through the tools you are given. \
Look before you act, do what you were asked and no more, and say in a few words what you did.";

/// An agent around a model behind an OpenAI-style chat API.
#[derive(Debug)]
pub struct ChatAgent {
    config: Config,
    model: Model,
}

/// What the model said in one step.
#[derive(Debug)]
struct Step {
    text: String,
    calls: Vec<Call>,
    finish: Finish,
}

impl ChatAgent {
    /// Makes an agent of what it is told. No connection is made yet.
    ///
    /// # Errors
    ///
    /// If the HTTP client cannot be set up.
    pub fn new(config: Config) -> Result<Self, Box<dyn Error>> {
        let model = Model::new(&config)?;
        Ok(Self { config, model })
    }

    /// Makes it ready to serve.
    ///
    /// # Errors
    ///
    /// If the file with its sessions cannot be opened.
    pub fn into_agent(self) -> Result<Agent, Box<dyn Error>> {
        let (store, options) = (self.config.store.clone(), options(&self.config));
        let kit = Kit::new(self).with_options(options);
        let kit = match store {
            Some(file) => kit.with_history(SqliteHistory::open(file)?),
            None => kit.with_history(MemoryHistory::new()),
        };
        let agent = kit
            .into_builder()
            .info("chat-agent", env!("CARGO_PKG_VERSION"))
            .title("Chat agent")
            .prompt_content(PromptContent::new().with_image().with_resource())
            .additional_directories()
            .build()?;
        Ok(agent)
    }

    /// Asks the model once, and tells what it says as it says it.
    async fn step(&self, turn: &Turn, messages: &[Message]) -> Result<Step, TurnError> {
        let model = turn.choice("model");
        let model = model.as_deref().unwrap_or(&self.config.models[0]);
        let tools = tools::definitions();
        let asking = self.model.ask(model, messages, &tools);
        let answer = turn.run_until_cancelled(asking).await?;
        let mut answer = answer.map_err(ModelError::for_user)?;
        let (mut text, mut calls) = (String::new(), Vec::new());
        loop {
            let piece = turn.run_until_cancelled(answer.next()).await?;
            match piece.map_err(ModelError::for_user)? {
                Piece::Text(piece) => {
                    text.push_str(&piece);
                    turn.text(piece).await?;
                }
                Piece::Thought(piece) => turn.thought(piece).await?,
                Piece::Call(call) => calls.push(call),
                Piece::Tokens(used) => {
                    turn.usage(ContextUse::new(used, self.config.context))
                        .await?;
                }
                Piece::Finished(finish) => {
                    return Ok(Step {
                        text,
                        calls,
                        finish,
                    });
                }
            }
        }
    }

    /// What the model is told at the beginning of a turn.
    async fn messages(&self, turn: &Turn, prompt: &Prompt) -> Result<Vec<Message>, TurnError> {
        let budget = self.config.context.saturating_mul(BYTES_A_TOKEN);
        let budget = usize::try_from(budget).unwrap_or(usize::MAX);
        let earlier = conversation::earlier(turn, budget).await?;
        if earlier.is_empty() {
            self.welcome(turn, prompt).await?;
        }
        let folder = turn.setup().cwd.display();
        let mut messages = vec![Message::System {
            content: format!("{INSTRUCTIONS}\nThe folder is {folder}."),
        }];
        messages.extend(earlier);
        messages.push(Message::user(prompt.blocks()));
        Ok(messages)
    }

    /// Begins a session: with a title, and with what it does not do.
    async fn welcome(&self, turn: &Turn, prompt: &Prompt) -> Result<(), TurnError> {
        let text = prompt.blocks().iter().find_map(Block::as_text);
        let line = text
            .and_then(|text| text.lines().next())
            .unwrap_or("A chat");
        turn.title(line.chars().take(80).collect::<String>())
            .await?;
        if !turn.setup().mcp_servers.is_empty() {
            let title = "This agent does not connect to tool servers (MCP).";
            turn.notice(Notice::new(NoticeSeverity::Warning, title))
                .await?;
        }
        Ok(())
    }
}

impl TurnHandler for ChatAgent {
    async fn turn(&self, turn: &mut Turn, prompt: Prompt) -> Result<TurnEnd, TurnError> {
        let mut messages = self.messages(turn, &prompt).await?;
        for _ in 0..MAX_STEPS {
            let step = self.step(turn, &messages).await?;
            match step.finish {
                Finish::Length => return Ok(TurnEnd::MaxTokens),
                Finish::Filter => return Ok(TurnEnd::Refused),
                Finish::Stop if step.calls.is_empty() && step.text.is_empty() => {
                    return Err(TurnError::public("the model said nothing"));
                }
                Finish::Stop if step.calls.is_empty() => return Ok(TurnEnd::Done),
                Finish::Stop => {}
            }
            messages.push(Message::Assistant {
                content: (!step.text.is_empty()).then_some(step.text),
                tool_calls: step.calls.clone(),
            });
            for call in step.calls {
                let content = tools::run(turn, &call).await?;
                messages.push(Message::Tool {
                    tool_call_id: call.id,
                    content,
                });
            }
        }
        Ok(TurnEnd::MaxSteps)
    }
}

/// What the user can set.
fn options(config: &Config) -> Vec<ConfigOption> {
    let modes = vec![
        ConfigChoice::new("ask", "Ask").with_description("Asks before it changes anything"),
        ConfigChoice::new(ACT, "Act").with_description("Writes and runs without asking"),
    ];
    let models = config.models.iter();
    let models = models
        .map(|model| ConfigChoice::new(model, model))
        .collect();
    vec![
        ConfigOption::mode("ask", modes),
        ConfigOption::select("model", "Model", config.models[0].as_str(), models)
            .with_category(ConfigCategory::Model),
    ]
}
