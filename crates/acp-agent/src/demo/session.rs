//! Updates about the session, and lists of what the client sent.

use std::fmt::Display;

use acp_host::{
    Block, ConfigValue, ContextUse, Cost, Notice, NoticeSeverity, ResourceBody, SlashCommand,
};

use super::{ACT, DemoAgent, options, or, words::WORDS};
use crate::kit::{Prompt, RecordBody, Turn, TurnError};

impl DemoAgent {
    pub(super) async fn set_title(&self, turn: &Turn, title: &str) -> Result<String, TurnError> {
        let title = or(title, "A look at the demo agent");
        turn.title(title).await?;
        Ok(format!("The title of this session is now: {title}\n"))
    }

    pub(super) async fn switch_mode(&self, turn: &Turn) -> Result<String, TurnError> {
        let is_acting = turn.mode().as_deref() == Some(ACT);
        let mode = if is_acting { "ask" } else { ACT };
        turn.set_mode(mode).await?;
        Ok(format!("The mode is now `{mode}`.\n"))
    }

    pub(super) async fn offer_commands(&self, turn: &Turn) -> Result<String, TurnError> {
        let commands = WORDS.iter().map(|(word, about)| {
            let (about, usage) = about.split_once(": ").unwrap_or((about, ""));
            let command = SlashCommand::new(*word, about);
            match usage.split_once(' ') {
                Some((_, hint)) => command.with_hint(hint),
                None => command,
            }
        });
        turn.commands(commands).await?;
        Ok("Every word is a slash command now.\n".to_owned())
    }

    pub(super) async fn send_notices(&self, turn: &Turn) -> Result<String, TurnError> {
        for (severity, title) in [
            (NoticeSeverity::Info, "The plants are green"),
            (NoticeSeverity::Warning, "The water runs low"),
            (NoticeSeverity::Error, "There is no water"),
        ] {
            let notice = Notice::new(severity, title).with_description("Only an example.");
            turn.notice(notice).await?;
        }
        Ok(match turn.setup().client.notices {
            true => "I sent three notices.\n",
            false => "Your client does not show notices.\n",
        }
        .to_owned())
    }

    pub(super) async fn report_usage(&self, turn: &Turn) -> Result<String, TurnError> {
        for used in [1_000, 50_000, 90_000] {
            let cost = Cost::new(used as f64 / 1e6, "EUR");
            let usage = ContextUse::new(used, 100_000).with_cost(cost);
            turn.usage(usage).await?;
            self.rest(turn, 5).await?;
        }
        Ok("90 % of the context is used.\n".to_owned())
    }

    pub(super) async fn compact(&self, turn: &Turn) -> Result<String, TurnError> {
        let running = turn.compact().await?;
        self.rest(turn, 25).await?;
        let summary = "The user tried the demo agent, and asked it to compact this.";
        running.complete(summary).await?;
        Ok(match turn.setup().client.compaction {
            true => "The conversation is compacted.\n",
            false => "The conversation is compacted, which your client does not show.\n",
        }
        .to_owned())
    }
}

/// Lists folders, MCP servers, the client's capabilities, and the options.
pub(super) fn setup(turn: &Turn) -> String {
    let setup = turn.setup();
    let client = &setup.client;
    let mut list = format!("* folder: {}\n", setup.cwd.display());
    let mut add = |name: &str, value: &dyn Display| list.push_str(&format!("* {name}: {value}\n"));
    for more in &setup.additional_directories {
        add("additional folder", &more.display());
    }
    for server in &setup.mcp_servers {
        add("MCP server (not used)", &server.name());
    }
    if let Some(name) = &client.name {
        let version = client.version.as_deref().unwrap_or_default();
        add("client", &format_args!("{name} {version}"));
    }
    for (has, ability) in [
        (client.read_text_file, "reads files"),
        (client.write_text_file, "writes files"),
        (client.terminal, "runs commands"),
        (client.forms, "shows forms"),
        (client.urls, "opens web pages"),
        (client.boolean_options, "shows switches"),
        (client.notices, "shows notices"),
        (client.compaction, "shows compactions"),
        (client.terminal_login, "logs in by a terminal"),
    ] {
        if has {
            add("client", &ability);
        }
    }
    for option in options() {
        match turn.option(&option.id) {
            Some(ConfigValue::Choice(choice)) => add(&option.id, &choice),
            Some(ConfigValue::Switch(is_on)) => add(&option.id, &is_on),
            _ => {}
        }
    }
    list
}

/// Lists the parts of a prompt.
pub(super) fn content(prompt: &Prompt) -> String {
    let parts = prompt.blocks().iter().map(|block| {
        let part = match block {
            Block::Text(text) => format!("text of {} bytes", text.len()),
            Block::Image(image) => format!("image ({})", image.media_type),
            Block::Audio(audio) => format!("audio ({})", audio.media_type),
            Block::Link(link) => format!("link to {}", link.uri),
            Block::Resource(resource) => match &resource.body {
                ResourceBody::Text(text) => {
                    format!("text of {} bytes from {}", text.len(), resource.uri)
                }
                _ => format!("bytes from {}", resource.uri),
            },
            _ => "something else".to_owned(),
        };
        format!("* {part}\n")
    });
    parts.collect()
}

/// Lists the prompts before this one.
pub(super) async fn earlier(turn: &Turn) -> Result<String, TurnError> {
    let mut earlier = turn.earlier();
    let (mut list, mut count) = (String::new(), 0);
    while let Some(record) = earlier.next().await? {
        if let RecordBody::Asked(blocks) = record.body {
            count += 1;
            let texts: Vec<_> = blocks.iter().filter_map(Block::as_text).collect();
            list.push_str(&format!("{count}. {}\n", texts.join(" ")));
        }
    }
    if count == 0 {
        list.push_str("There are no earlier prompts.\n");
    }
    Ok(list)
}
