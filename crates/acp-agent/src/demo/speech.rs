//! Messages of the demo agent: text, thoughts, pictures and links.

use acp_host::{Block, Media, Resource, ResourceLink};

use super::{
    DemoAgent, THOUGHTS,
    words::WORDS,
    work::{NOTE, plan},
};
use crate::kit::{Turn, TurnError};

/// A chess board of eight by eight pixels, as PNG.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAAAAADhZOFXAAAAE0lEQVR42mP4zwCBDAz/0SBJIgB8BB/hHeoAAQAAAABJRU5ErkJggg==";

/// The largest number of updates of a flood.
const MAX_FLOOD: usize = 1_000_000;

/// The largest update in KiB: a client has to accept 32 MiB, with what stands
/// around the text.
const MAX_BIG: usize = 31 << 10;

impl DemoAgent {
    /// Shows a bit of everything: thought, plan, text, a tool behind a
    /// permission request, and the list of words.
    pub(super) async fn show_all(&self, turn: &Turn) -> Result<String, TurnError> {
        self.think_aloud(turn, "The user wants to see what I can do. ")
            .await?;
        self.think_aloud(turn, "A plan, a note, a question: that will do.")
            .await?;
        let hello = "Hello! I am the demo agent. I have no model, but I can show you a turn.\n\n";
        let note = "I would like to add a line to a note.\n\n";
        for (done, text) in [hello, note].into_iter().enumerate() {
            turn.plan(plan(done)).await?;
            self.say(turn, text).await?;
        }
        let outcome = self.change_note(turn, turn).await?;
        self.say(turn, &outcome).await?;
        turn.plan(plan(2)).await?;
        let list = "\nThat was all. Begin a prompt with a word to see one thing alone:\n\n";
        self.say(turn, list).await?;
        for (word, about) in WORDS {
            turn.text(format!("* `{word}`: {about}\n")).await?;
            self.rest(turn, 1).await?;
        }
        turn.plan(plan(3)).await?;
        Ok(String::new())
    }

    async fn think_aloud(&self, turn: &Turn, text: &str) -> Result<(), TurnError> {
        if turn.is_on(THOUGHTS) {
            turn.thought(text).await?;
            self.rest(turn, 1).await?;
        }
        Ok(())
    }

    /// Thinks, answers, thinks again, answers again.
    pub(super) async fn think(&self, turn: &Turn) -> Result<String, TurnError> {
        for (thought, text) in [
            ("How many plants are there? ", "There are two plants. "),
            ("And how many of them are dry? ", "Both of them are dry.\n"),
        ] {
            for word in thought.split_inclusive(' ') {
                self.think_aloud(turn, word).await?;
            }
            self.say(turn, text).await?;
        }
        Ok(String::new())
    }

    pub(super) async fn send_image(&self, turn: &Turn) -> Result<String, TurnError> {
        self.say(turn, "A chess board:\n").await?;
        turn.image(Media::new("image/png", PICTURE)).await?;
        Ok("It is eight pixels wide.\n".to_owned())
    }

    pub(super) async fn send_link(&self, turn: &Turn) -> Result<String, TurnError> {
        let uri = format!("file://{}", turn.setup().cwd.join("notes.md").display());
        self.say(turn, "A link, and the embedded file:\n").await?;
        let link = ResourceLink::new(uri.as_str(), "notes.md")
            .with_title("Notes")
            .with_media_type("text/markdown")
            .with_size(NOTE.len() as u64);
        turn.show(Block::Link(link)).await?;
        let file = Resource::text(uri, NOTE).with_media_type("text/markdown");
        turn.show(Block::Resource(file)).await?;
        Ok(String::new())
    }

    /// Counts until it is cancelled, or comes to the end.
    pub(super) async fn count_slowly(&self, turn: &Turn) -> Result<String, TurnError> {
        for number in 1..=60 {
            turn.text(format!("{number} ")).await?;
            self.rest(turn, 25).await?;
        }
        Ok("The turn was not cancelled.\n".to_owned())
    }

    /// Counts as fast as the client reads.
    pub(super) async fn flood(&self, turn: &Turn, number: &str) -> Result<String, TurnError> {
        let Some(number) = number_of(number, 1000, MAX_FLOOD) else {
            return Ok(format!("I count from 1 to {MAX_FLOOD} at most.\n"));
        };
        for number in 1..=number {
            turn.text(format!("{number} ")).await?;
        }
        Ok(String::new())
    }

    /// Sends one large update.
    pub(super) async fn send_big(&self, turn: &Turn, number: &str) -> Result<String, TurnError> {
        let Some(kib) = number_of(number, 1024, MAX_BIG) else {
            return Ok(format!("I send 1 to {MAX_BIG} KiB at once.\n"));
        };
        // Sixteen bytes, so that nothing is cut.
        turn.text("sixteen letters ".repeat(kib * 64)).await?;
        Ok(String::new())
    }
}

/// A number from 1 to `max`; `None` for anything else.
fn number_of(text: &str, default: usize, max: usize) -> Option<usize> {
    if text.is_empty() {
        return Some(default);
    }
    let number = text.parse().ok()?;
    (1..=max).contains(&number).then_some(number)
}
