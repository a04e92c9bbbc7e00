//! What the demo agent says.

use acp_host::{Block, Media, Resource, ResourceLink};

use super::{DemoAgent, THOUGHTS, words::WORDS, work::plan};
use crate::kit::{Turn, TurnError};

/// A chess board of eight by eight pixels, as PNG.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAAAAADhZOFXAAAAE0lEQVR42mP4zwCBDAz/0SBJIgB8BB/hHeoAAQAAAABJRU5ErkJggg==";

/// The most updates of a flood.
const MAX_FLOOD: u64 = 1_000_000;

/// The most KiB of one update: what a client has to take is 32 MiB, with what
/// stands around the text.
const MAX_BIG: usize = 31 << 10;

impl DemoAgent {
    /// Shows a bit of everything: thought, plan, text, a tool behind a
    /// permission, and what else there is.
    pub(super) async fn show_all(&self, turn: &Turn) -> Result<(), TurnError> {
        self.think_aloud(turn, "Someone wants to see what I can do. ")
            .await?;
        self.think_aloud(turn, "A plan, a note, a question: that will do.")
            .await?;
        turn.plan(plan(0)).await?;
        self.say(
            turn,
            "Hello! I am the demo agent. I have no model, but I can show you a turn.\n\n",
        )
        .await?;
        turn.plan(plan(1)).await?;
        self.say(turn, "I would like to add a line to a note.\n\n")
            .await?;
        self.change_note(turn, turn).await?;
        turn.plan(plan(2)).await?;
        self.say(
            turn,
            "That was all. Begin a prompt with a word to see one thing alone:\n\n",
        )
        .await?;
        for (word, about) in WORDS {
            turn.text(format!("* `{word}`: {about}\n")).await?;
            self.rest(turn, 1).await?;
        }
        turn.plan(plan(3)).await
    }

    pub(super) async fn think_aloud(&self, turn: &Turn, text: &str) -> Result<(), TurnError> {
        if turn.is_on(THOUGHTS) {
            turn.thought(text).await?;
            self.rest(turn, 1).await?;
        }
        Ok(())
    }

    /// Repeats the prompt.
    pub(super) async fn echo(&self, turn: &Turn, text: &str) -> Result<(), TurnError> {
        self.say(turn, if text.is_empty() { "(nothing)" } else { text })
            .await
    }

    /// Thinks, answers, thinks again, answers again.
    pub(super) async fn think(&self, turn: &Turn) -> Result<(), TurnError> {
        for (thought, text) in [
            ("How many plants are there? ", "There are two plants. "),
            ("And how many of them are dry? ", "Both of them are dry.\n"),
        ] {
            for word in thought.split_inclusive(' ') {
                self.think_aloud(turn, word).await?;
            }
            self.say(turn, text).await?;
        }
        Ok(())
    }

    pub(super) async fn show_picture(&self, turn: &Turn) -> Result<(), TurnError> {
        self.say(turn, "This is all I can draw:\n").await?;
        turn.image(Media::new("image/png", PICTURE)).await?;
        self.say(turn, "It is eight pixels wide.\n").await
    }

    pub(super) async fn show_link(&self, turn: &Turn) -> Result<(), TurnError> {
        let path = turn.setup().cwd.join("notes.md");
        let uri = format!("file://{}", path.display());
        self.say(turn, "A link, and the file as a whole:\n").await?;
        let link = ResourceLink::new(uri.as_str(), "notes.md")
            .with_title("Notes")
            .with_media_type("text/markdown")
            .with_size(super::work::NOTE.len() as u64);
        turn.show(Block::Link(link)).await?;
        let whole = Resource::text(uri, super::work::NOTE).with_media_type("text/markdown");
        turn.show(Block::Resource(whole)).await
    }

    /// Counts until it is cancelled, or comes to the end.
    pub(super) async fn count_slowly(&self, turn: &Turn) -> Result<(), TurnError> {
        for number in 1..=60 {
            turn.text(format!("{number} ")).await?;
            self.rest(turn, 25).await?;
        }
        turn.text("Nobody cancelled me.\n").await
    }

    /// Counts as fast as the client reads.
    pub(super) async fn flood(&self, turn: &Turn, number: &str) -> Result<(), TurnError> {
        let Some(number) = number_of(number, 1000, MAX_FLOOD) else {
            let text = format!("I can count to {MAX_FLOOD}.\n");
            return self.say(turn, &text).await;
        };
        for number in 1..=number {
            turn.text(format!("{number} ")).await?;
        }
        Ok(())
    }

    /// Says much at once.
    pub(super) async fn say_much(&self, turn: &Turn, number: &str) -> Result<(), TurnError> {
        let Some(kib) = number_of(number, 1024, MAX_BIG) else {
            let text = format!("I can say {MAX_BIG} KiB at once.\n");
            return self.say(turn, &text).await;
        };
        // Sixteen bytes, so that nothing is cut.
        turn.text("sixteen letters ".repeat(kib * 64)).await
    }
}

/// A number of at least one; none if it is no number, or too large.
fn number_of<T>(text: &str, default: T, max: T) -> Option<T>
where
    T: std::str::FromStr + PartialOrd + From<u8>,
{
    if text.is_empty() {
        return Some(default);
    }
    let number = text.parse().ok()?;
    (number >= T::from(1) && number <= max).then_some(number)
}
