//! Questions that were open when the client cancelled the turn.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{MOST, broken};
use crate::rules::Finding;

/// Requests for permission that wait for their answer.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// By session: the ids of those that wait.
    open: BTreeMap<String, BTreeSet<String>>,
    /// Those whose turn was cancelled while they waited.
    cancelled: BTreeSet<String>,
    count: usize,
}

impl Questions {
    pub(super) fn asked(&mut self, session: &str, id: &Value) {
        if self.count < MOST {
            self.count += 1;
            let open = self.open.entry(session.to_owned()).or_default();
            open.insert(id.to_string());
        }
    }

    /// The client cancels the turn of a session.
    pub(super) fn cancel(&mut self, session: &str) {
        if let Some(open) = self.open.get_mut(session) {
            self.cancelled.append(open);
        }
    }

    /// Looks at the answer; `None` is an error.
    pub(super) fn answered(
        &mut self,
        session: &str,
        id: &Value,
        result: Option<&Value>,
    ) -> Option<Finding> {
        let id = id.to_string();
        if let Some(open) = self.open.get_mut(session) {
            open.remove(&id);
        }
        if !self.cancelled.remove(&id) {
            return None;
        }
        let outcome = result.map(|result| &result["outcome"]["outcome"]);
        let told = outcome.is_some_and(|outcome| outcome == "cancelled");
        (!told).then(|| {
            let text = match outcome {
                Some(outcome) => format!("the turn was cancelled before, and this says {outcome}"),
                None => "the turn was cancelled before, and this is an error".to_owned(),
            };
            broken(&["R117", "R130"], text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_waited_is_answered_as_cancelled() {
        let cancelled = json!({"outcome": {"outcome": "cancelled"}});
        let selected = json!({"outcome": {"outcome": "selected", "optionId": "yes"}});
        let mut questions = Questions::default();
        for id in 1..=4 {
            questions.asked("s", &json!(id));
        }
        questions.asked("other", &json!(9));
        assert_eq!(questions.answered("s", &json!(1), Some(&selected)), None);
        questions.cancel("s");
        assert_eq!(questions.answered("s", &json!(2), Some(&cancelled)), None);
        assert!(
            questions
                .answered("s", &json!(3), Some(&selected))
                .is_some()
        );
        assert!(questions.answered("s", &json!(4), None).is_some());
        assert_eq!(
            questions.answered("other", &json!(9), Some(&selected)),
            None
        );
        // What is asked behind it belongs to what comes then.
        questions.asked("s", &json!(5));
        assert_eq!(questions.answered("s", &json!(5), Some(&selected)), None);
    }
}
