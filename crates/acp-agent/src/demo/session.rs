//! The session as the demo agent reports it.

use acp_host::{
    Block, ConfigValue, ContextUse, Cost, Notice, NoticeSeverity, ResourceBody, SlashCommand,
};

use super::{ACT, DemoAgent, options, words::WORDS};
use crate::kit::{Prompt, RecordBody, Turn, TurnError};

impl DemoAgent {
    pub(super) async fn give_title(&self, turn: &Turn, title: &str) -> Result<(), TurnError> {
        let title = if title.is_empty() {
            "A look at the demo agent"
        } else {
            title
        };
        turn.title(title).await?;
        self.say(turn, &format!("This session is now called: {title}\n"))
            .await
    }

    pub(super) async fn change_mode(&self, turn: &Turn) -> Result<(), TurnError> {
        let is_acting = turn.mode().as_deref() == Some(ACT);
        let mode = if is_acting { "ask" } else { ACT };
        turn.set_mode(mode).await?;
        self.say(turn, &format!("The mode is now `{mode}`.\n"))
            .await
    }

    pub(super) async fn offer_commands(&self, turn: &Turn) -> Result<(), TurnError> {
        let commands = WORDS.iter().map(|(word, about)| {
            let (about, hint) = about.split_once(": ").unwrap_or((about, ""));
            let command = SlashCommand::new(*word, about);
            match hint.split_once(' ') {
                Some((_, hint)) => command.with_hint(hint),
                None => command,
            }
        });
        turn.commands(commands).await?;
        self.say(turn, "Every word is a command now.\n").await
    }

    pub(super) async fn tell_notices(&self, turn: &Turn) -> Result<(), TurnError> {
        for (severity, title) in [
            (NoticeSeverity::Info, "The plants are green"),
            (NoticeSeverity::Warning, "The water runs low"),
            (NoticeSeverity::Error, "There is no water"),
        ] {
            let notice = Notice::new(severity, title).with_description("Only an example.");
            turn.notice(notice).await?;
        }
        let text = if turn.setup().client.notices {
            "You got three notices.\n"
        } else {
            "You show no notices.\n"
        };
        self.say(turn, text).await
    }

    pub(super) async fn tell_usage(&self, turn: &Turn) -> Result<(), TurnError> {
        for used in [1_000, 50_000, 90_000] {
            let cost = Cost::new(used as f64 / 1e6, "EUR");
            turn.usage(ContextUse::new(used, 100_000).with_cost(cost))
                .await?;
            self.rest(turn, 5).await?;
        }
        self.say(turn, "Nine tenths of the context are used.\n")
            .await
    }

    pub(super) async fn shorten(&self, turn: &Turn) -> Result<(), TurnError> {
        let running = turn.compact().await?;
        self.rest(turn, 25).await?;
        running
            .complete("Somebody tried the demo agent, and it shortened this.")
            .await?;
        let text = if turn.setup().client.compaction {
            "The conversation is shorter now.\n"
        } else {
            "You do not show it, but the conversation is shorter now.\n"
        };
        self.say(turn, text).await
    }

    /// Lists the abilities of the client, and the options.
    pub(super) async fn tell_setup(&self, turn: &Turn) -> Result<(), TurnError> {
        let setup = turn.setup();
        let client = &setup.client;
        let mut lines = vec![format!("folder: {}", setup.cwd.display())];
        for more in &setup.additional_directories {
            lines.push(format!("further folder: {}", more.display()));
        }
        for server in &setup.mcp_servers {
            lines.push(format!("tool server (not used): {}", server.name()));
        }
        if let Some(name) = &client.name {
            let version = client.version.as_deref().unwrap_or_default();
            lines.push(format!("client: {name} {version}"));
        }
        for (has, ability) in [
            (client.read_text_file, "reads files"),
            (client.write_text_file, "writes files"),
            (client.terminal, "runs commands"),
            (client.forms, "shows forms"),
            (client.urls, "opens addresses"),
            (client.boolean_options, "shows switches"),
            (client.notices, "shows notices"),
            (client.compaction, "shows compactions"),
            (client.terminal_login, "logs in by a terminal"),
        ] {
            if has {
                lines.push(format!("client: {ability}"));
            }
        }
        for option in options() {
            let value = match turn.option(&option.id) {
                Some(ConfigValue::Choice(choice)) => choice,
                Some(ConfigValue::Switch(is_on)) => is_on.to_string(),
                _ => continue,
            };
            lines.push(format!("{}: {value}", option.id));
        }
        for line in lines {
            self.say(turn, &format!("* {line}\n")).await?;
        }
        Ok(())
    }

    /// Says what a prompt holds.
    pub(super) async fn tell_content(&self, turn: &Turn, prompt: &Prompt) -> Result<(), TurnError> {
        for block in prompt.blocks() {
            let line = match block {
                Block::Text(text) => format!("text of {} bytes", text.len()),
                Block::Image(image) => format!("picture ({})", image.media_type),
                Block::Audio(audio) => format!("sound ({})", audio.media_type),
                Block::Link(link) => format!("link to {}", link.uri),
                Block::Resource(resource) => {
                    let kind = match &resource.body {
                        ResourceBody::Text(text) => format!("text of {} bytes", text.len()),
                        _ => "bytes".to_owned(),
                    };
                    format!("{kind} from {}", resource.uri)
                }
                _ => "something else".to_owned(),
            };
            self.say(turn, &format!("* {line}\n")).await?;
        }
        Ok(())
    }

    /// Says what was asked before.
    pub(super) async fn remember(&self, turn: &Turn) -> Result<(), TurnError> {
        let mut earlier = turn.earlier();
        let mut count = 0;
        while let Some(record) = earlier.next().await? {
            if let RecordBody::Asked(blocks) = record.body {
                count += 1;
                let texts: Vec<_> = blocks.iter().filter_map(Block::as_text).collect();
                let text = format!("{count}. {}\n", texts.join(" "));
                self.say(turn, &text).await?;
            }
        }
        if count == 0 {
            self.say(turn, "You asked nothing before.\n").await?;
        }
        Ok(())
    }
}
