//! How a question of the agent was answered, and by whom.

use acp_client::{ElicitationAnswer, Question};

/// How a question was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answered {
    Accepted { by: By },
    Declined { by: By },
    Cancelled { by: By },
}

/// Who answered a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Person,
    /// The agent itself, by what it proposes.
    Defaults,
    Nobody,
}

impl By {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Defaults => "defaults",
            Self::Nobody => "nobody",
        }
    }
}

impl Answered {
    /// Tells how a question was answered without a person.
    pub(crate) fn headless(question: &Question, answer: &ElicitationAnswer) -> Self {
        match question.link() {
            _ if answer.is_accepted() => Self::Accepted { by: By::Defaults },
            Some(_) => Self::Cancelled { by: By::Nobody },
            None => Self::Declined { by: By::Nobody },
        }
    }
}
