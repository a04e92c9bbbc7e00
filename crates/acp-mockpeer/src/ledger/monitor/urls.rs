//! Visits to addresses: which are open, and under which ids.

use std::collections::HashMap;

use serde_json::Value;

use super::MOST;

/// The visits that an agent asked for.
#[derive(Debug, Default)]
pub(super) struct Visits {
    /// Whether each is still open.
    all: HashMap<String, bool>,
}

impl Visits {
    /// The agent sends somebody to an address; `false` if another visit with
    /// this id is still open (R205).
    pub(super) fn begin(&mut self, id: &Value) -> bool {
        let Some(id) = id.as_str() else { return true };
        if self.all.len() >= MOST {
            return true;
        }
        self.all.insert(id.to_owned(), true) != Some(true)
    }

    /// The client answers; who does not accept ends it.
    pub(super) fn answered(&mut self, id: &Value, result: Option<&Value>) {
        let accepted = result.is_some_and(|result| result["action"] == "accept");
        if !accepted {
            self.end(id);
        }
    }

    /// The agent tells that a visit is over; `false` if it never was one (R207).
    pub(super) fn complete(&mut self, id: &Value) -> bool {
        let known = id.as_str().is_none_or(|id| self.all.contains_key(id));
        self.end(id);
        known || self.all.len() >= MOST
    }

    fn end(&mut self, id: &Value) {
        let open = id.as_str().and_then(|id| self.all.get_mut(id));
        if let Some(open) = open {
            *open = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ids_are_of_one_open_visit() {
        let mut visits = Visits::default();
        let (a, b) = (json!("a"), json!("b"));
        assert!(visits.begin(&a));
        assert!(visits.begin(&b));
        assert!(!visits.begin(&a));
        visits.answered(&a, Some(&json!({"action": "accept"})));
        assert!(!visits.begin(&a));
        visits.answered(&a, Some(&json!({"action": "decline"})));
        assert!(visits.begin(&a));
        visits.answered(&b, None);
        assert!(visits.begin(&b));
    }

    #[test]
    fn only_visits_are_completed() {
        let mut visits = Visits::default();
        assert!(!visits.complete(&json!("a")));
        visits.begin(&json!("a"));
        assert!(visits.complete(&json!("a")));
        assert!(visits.begin(&json!("a")), "it is over");
    }
}
