//! One turn, and what was seen of it.

use acp_client::{
    ElicitationAnswer, PendingPermission, PendingQuestion, PromptResult, Session, Turn, TurnEvent,
};
use acp_protocol::v1::{
    ContentBlock, ElicitationPropertySchema, PermissionOptionKind, SessionUpdate, StopReason,
    ToolCallStatus,
};

use crate::report::{Trouble, failed};

/// How permission requests are answered, and questions: yes with [`Consent::Allow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// With the first option that allows once.
    Allow,
    Reject,
    /// The turn is cancelled while the first one waits.
    Cancel,
}

/// What was seen of a turn.
#[derive(Debug)]
pub(crate) struct Seen {
    /// What the agent said.
    pub(crate) text: String,
    /// How many permissions it asked for.
    pub(crate) asked: usize,
    /// How many questions it asked.
    pub(crate) questions: usize,
    /// How many tool calls it told of.
    pub(crate) tools: usize,
    /// The statuses that tools came to, in order.
    pub(crate) statuses: Vec<ToolCallStatus>,
    pub(crate) stop: StopReason,
}

/// Sends a prompt and sees the turn to its end.
pub(crate) async fn run(
    session: &mut Session,
    prompt: &str,
    consent: Consent,
) -> Result<Seen, Trouble> {
    let turn = session.prompt(prompt).await?;
    see(turn, consent, |_, _| {}).await
}

/// Sees a turn to its end; `each` is called after every piece of text with all of it.
pub(crate) async fn see(
    mut turn: Turn,
    consent: Consent,
    mut each: impl FnMut(&Turn, &str),
) -> Result<Seen, Trouble> {
    let mut seen = Seen {
        text: String::new(),
        asked: 0,
        questions: 0,
        tools: 0,
        statuses: Vec::new(),
        stop: StopReason::EndTurn,
    };
    while let Some(event) = turn.next().await {
        match event {
            TurnEvent::Update(update) => {
                seen.learn(&update.update, |text| each(&turn, text));
            }
            TurnEvent::Permission(pending) => {
                seen.asked += 1;
                answer(&turn, pending, consent)?;
            }
            TurnEvent::Question(pending) => {
                seen.questions += 1;
                reply(pending, consent)?;
            }
            TurnEvent::Unreadable { error, .. } => {
                return Err(failed(format!("an update makes no sense: {error}")));
            }
            TurnEvent::Gap { dropped } => {
                return Err(failed(format!("{dropped} updates were lost")));
            }
            // What was told before the turn is no part of it.
            _ => {}
        }
    }
    let PromptResult { stop_reason, .. } = turn.end().await?;
    seen.stop = stop_reason;
    Ok(seen)
}

fn answer(turn: &Turn, pending: PendingPermission, consent: Consent) -> Result<(), Trouble> {
    match consent {
        Consent::Allow => {
            let options = pending.request().options().iter();
            let mut allowing =
                options.filter(|option| option.kind == PermissionOptionKind::AllowOnce);
            let option = allowing.next().map(|option| option.option_id.clone());
            let option = option.ok_or_else(|| failed("no option allows once"))?;
            pending
                .select(&option)
                .map_err(|error| failed(error.to_string()))
        }
        Consent::Reject => {
            pending.reject();
            Ok(())
        }
        Consent::Cancel => {
            turn.cancel();
            // Answered by the cancel; this keeps it open until then.
            drop(pending);
            Ok(())
        }
    }
}

/// Answers a question with the first choice of each field that has any, or declines it.
fn reply(pending: PendingQuestion, consent: Consent) -> Result<(), Trouble> {
    let Some(form) = pending.request().form() else {
        return Err(failed("the question is no form"));
    };
    if consent != Consent::Allow {
        pending.decline();
        return Ok(());
    }
    let mut answer = ElicitationAnswer::accept();
    for (name, field) in form.fields() {
        if let ElicitationPropertySchema::String(field) = field
            && let Some(choice) = field.one_of.iter().flatten().next()
        {
            answer = answer.with(name, choice.value.clone());
        }
    }
    pending
        .answer(answer)
        .map_err(|error| failed(error.to_string()))
}

impl Seen {
    /// Takes an update in; a piece of text is followed by all the text there is.
    fn learn(&mut self, update: &SessionUpdate, each: impl FnOnce(&str)) {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                if let ContentBlock::Text(text) = &chunk.content {
                    self.text.push_str(&text.text);
                    each(&self.text);
                }
            }
            SessionUpdate::ToolCall(call) => {
                self.tools += 1;
                self.statuses.extend(call.status.clone());
            }
            SessionUpdate::ToolCallUpdate(update) => self.statuses.extend(update.status.clone()),
            _ => {}
        }
    }
}
