//! The agent: it writes what it is told to, and goes.

use std::time::Duration;

use tokio::{
    io::{AsyncWriteExt, DuplexStream},
    time::sleep,
};

/// Longest line that either side takes.
pub(crate) const MAX_LINE: usize = 2000;

/// One thing the agent does. What it writes of a session has a number in it, which counts
/// all that it wrote of that session.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// An update.
    Update { session: usize, padding: usize },
    /// Thirty updates in one write.
    Burst { session: usize },
    /// An update that is well formed and means nothing.
    Senseless { session: usize },
    /// An update that is longer than the limit.
    Long { session: usize },
    /// One more, whose session stands behind what is kept of it.
    LongOfSomebody { session: usize },
    /// An update that is no JSON.
    Torn { session: usize },
    /// A line of a log, with the id of a prompt.
    Noise,
    /// The answer to the prompt of a session; a second one is for nobody.
    Answer { session: usize },
    /// It takes its time.
    Sleep { millis: u64 },
}

/// How the agent goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// It closes its stream.
    Closes,
    /// It closes its stream in the middle of an update of the first session.
    ClosesInALine,
    /// Its process ends, and the stream with it.
    Exits,
    /// Its process ends, and somebody it left behind keeps the stream open.
    LeavesThePipeOpen,
}

/// The lines of one session, as they were written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    /// Updates of the session, those that cannot be read included.
    pub(crate) updates: u64,
    /// Lines of other sessions that may have been of this one.
    pub(crate) foreign: u64,
    /// The answer, and how many gaps and updates came before it.
    pub(crate) answered_after: Option<u64>,
}

impl Written {
    /// The number of updates that its consumer is to get, in gaps or not.
    pub(crate) fn received(&self) -> u64 {
        self.updates + self.foreign
    }
}

/// The id of the prompt of a session: prompts are sent in order.
fn prompt(session: usize) -> u64 {
    (1 << 32) + session as u64
}

fn line(session: usize, number: u64, padding: usize) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s{session}\",\"update\":{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"type\":\"text\",\"text\":\"{number} {}\"}}}}}}}}\n",
        "x".repeat(padding)
    )
}

/// Writes everything, and tells what that was. The stream is given back where somebody
/// keeps it open.
pub(crate) async fn write(
    steps: &[Step],
    leaving: Leaving,
    sessions: usize,
    mut stream: DuplexStream,
) -> (Vec<Written>, Option<DuplexStream>) {
    let mut written = vec![Written::default(); sessions];
    for step in steps {
        let text = match step {
            Step::Sleep { millis } => {
                sleep(Duration::from_millis(*millis)).await;
                continue;
            }
            step => next_line(step, &mut written),
        };
        // The client may have closed by now, which only a fault makes it do.
        stream
            .write_all(text.as_bytes())
            .await
            .expect("it reads on");
    }
    match leaving {
        Leaving::ClosesInALine => {
            let text = line(0, written[0].updates, 10);
            let half = &text.as_bytes()[..text.len() - 6];
            stream.write_all(half).await.expect("it reads on");
            written[0].updates += 1;
        }
        Leaving::LeavesThePipeOpen => return (written, Some(stream)),
        Leaving::Closes | Leaving::Exits => {}
    }
    stream.shutdown().await.expect("it reads on");
    (written, None)
}

fn next_line(step: &Step, written: &mut [Written]) -> String {
    match *step {
        Step::Update { session, padding } => {
            written[session].updates += 1;
            line(session, written[session].updates - 1, padding)
        }
        Step::Burst { session } => {
            let first = written[session].updates;
            written[session].updates += 30;
            (first..first + 30)
                .map(|number| line(session, number, 100))
                .collect()
        }
        Step::Senseless { session } => {
            let number = written[session].updates;
            written[session].updates += 1;
            line(session, number, 0).replace("{\"type\":\"text\"", "{\"type\":7")
        }
        Step::Long { session } => {
            let number = written[session].updates;
            written[session].updates += 1;
            line(session, number, MAX_LINE)
        }
        Step::LongOfSomebody { session } => {
            let number = written[session].updates;
            let text = line(session, number, MAX_LINE);
            let id = format!("\"sessionId\":\"s{session}\",");
            let text = text.replace(&id, "");
            // Each session with a turn has a gap.
            for (which, of) in written.iter_mut().enumerate() {
                if of.answered_after.is_none() {
                    match which == session {
                        true => of.updates += 1,
                        false => of.foreign += 1,
                    }
                }
            }
            text
        }
        Step::Torn { session } => {
            let number = written[session].updates;
            written[session].updates += 1;
            line(session, number, 10).replace("\"content\":", "\"content\"")
        }
        Step::Noise => {
            format!(
                "{{\"level\":\"info\",\"id\":{},\"msg\":\"still there\"}}\n",
                prompt(0)
            )
        }
        Step::Answer { session } => {
            let of = &mut written[session];
            let received = of.received();
            of.answered_after.get_or_insert(received);
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"stopReason\":\"end_turn\"}}}}\n",
                prompt(session)
            )
        }
        Step::Sleep { .. } => String::new(),
    }
}
