//! Writes to protected paths, which a person at the terminal allows one by one.

use std::io;

use acp_client::{AllowProtected, ProtectedPath, ProtectedWrite};
use acp_text::{Clean, clean};
use tokio::sync::{mpsc, oneshot};

use super::person::Person;
use crate::show::{AskText, Output};

/// Questions that wait for the person; the agent waits with more.
const MAX_WAITING: usize = 16;

/// A write that waits for the person, and where the answer goes.
pub(super) struct ProtectedQuestion {
    pub(super) write: ProtectedWrite,
    pub(super) answer: oneshot::Sender<bool>,
}

/// Makes what asks, and where the questions come out.
pub(super) fn questions() -> (
    impl AllowProtected + Clone,
    mpsc::Receiver<ProtectedQuestion>,
) {
    let (sender, receiver) = mpsc::channel(MAX_WAITING);
    let ask = move |write: ProtectedWrite| {
        let sender = sender.clone();
        async move {
            let (answer, answered) = oneshot::channel();
            let question = ProtectedQuestion { write, answer };
            // Nobody answers any more once the turn is over.
            sender.send(question).await.is_ok() && answered.await.unwrap_or(false)
        }
    };
    (ask, receiver)
}

/// Warns of a protected path, whole and with its reason.
pub(super) fn warning(found: &ProtectedPath) -> AskText {
    warn(AskText::new().words(clean!("\n")), found)
}

fn warn(text: AskText, found: &ProtectedPath) -> AskText {
    let mut text = text.item(clean!("  careful: "), &found.path.to_string_lossy());
    if let Some(target) = &found.target {
        text = text.item(clean!("  which is "), &target.to_string_lossy());
    }
    text.words(clean!("  is protected: {}\n", Clean::line(found.reason)))
}

impl Person {
    /// Asks whether a protected file may be written.
    ///
    /// # Cancel safety
    ///
    /// As [`permit`](Self::permit).
    pub(super) async fn allow_write(
        &mut self,
        write: &ProtectedWrite,
        output: &mut Output,
    ) -> io::Result<bool> {
        self.forget_typed();
        output.ask(&question_text(write))?;
        let line = self.line().await.unwrap_or_default();
        Ok(matches!(line.trim(), "y" | "Y" | "yes"))
    }
}

/// Shows the whole path, and of a long text its beginning and its end.
fn question_text(write: &ProtectedWrite) -> AskText {
    let text = AskText::new().words(clean!("\nThe agent wants to write a protected file.\n"));
    let content = write.content.strip_suffix('\n').unwrap_or(&write.content);
    warn(text, &write.protected)
        .words(clean!("  the new text:\n"))
        .quoted(content)
        .words(clean!("  Allow this one write? [y/N] "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use acp_client::ProtectedPaths;
    use std::path::Path;

    fn write(content: &str) -> ProtectedWrite {
        let path = Path::new("/p/.git\u{202e}/../.git/config");
        let protected = ProtectedPaths::new().find_spelled(path).unwrap();
        ProtectedWrite::new("s", protected, "/p/.git/config", content)
    }

    #[test]
    fn the_whole_path_and_the_text_are_shown() {
        let shown = question_text(&write(&"[core]\u{1b}[2J\n".repeat(3)));
        expect_test::expect![[r#"

            The agent wants to write a protected file.
              careful: /p/.git\u{202e}/../.git/config
              is protected: version control runs commands and hooks that are named there
              the new text:
              | [core]\u{1b}[2J
              | [core]\u{1b}[2J
              | [core]\u{1b}[2J
              Allow this one write? [y/N] "#]]
        .assert_eq(shown.laid_out(None).as_str());
    }

    #[tokio::test]
    async fn only_a_yes_is_one() {
        for (typed, is_allowed) in [
            ("y", true),
            ("yes", true),
            ("", false),
            ("n", false),
            ("ok", false),
        ] {
            let (sender, lines) = mpsc::channel(1);
            let mut person = Person::typing(lines);
            let mut output = Output::nowhere();
            let write = write("x");
            let asking = person.allow_write(&write, &mut output);
            let typing = async { sender.send(typed.to_owned()).await.unwrap() };
            // What was typed before the question is forgotten, so it is asked first.
            let (answer, ()) = tokio::join!(asking, typing);
            assert_eq!(answer.unwrap(), is_allowed, "{typed:?}");
        }
    }
}
