//! What is told whole each time: plans, and the options of a session.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::MOST;

/// What was told last, by session.
#[derive(Debug, Default)]
pub(super) struct Whole {
    plans: HashMap<String, BTreeSet<String>>,
    options: HashMap<String, BTreeSet<String>>,
}

impl Whole {
    /// Takes a plan; names what it leaves out of the plan before, if it has
    /// nothing new (R138).
    pub(super) fn plan(&mut self, session: &str, update: &Value) -> Option<String> {
        left_out(&mut self.plans, session, &update["entries"], "content")
    }

    /// Takes the options of a session; names what they leave out of those
    /// before, if they have nothing new (R172, R173).
    pub(super) fn options(&mut self, session: &str, holder: &Value) -> Option<String> {
        left_out(&mut self.options, session, &holder["configOptions"], "id")
    }

    /// A turn begins: its plan is another one.
    pub(super) fn begin_turn(&mut self, session: &str) {
        self.plans.remove(session);
    }
}

fn left_out(
    all: &mut HashMap<String, BTreeSet<String>>,
    session: &str,
    values: &Value,
    key: &str,
) -> Option<String> {
    let values = values.as_array()?.iter();
    let now: BTreeSet<String> = values
        .filter_map(|value| value[key].as_str())
        .map(ToOwned::to_owned)
        .collect();
    if all.len() >= MOST && !all.contains_key(session) {
        return None;
    }
    let before = all.insert(session.to_owned(), now.clone())?;
    let is_part = !now.is_empty() && now.is_subset(&before);
    let mut missing = before.difference(&now);
    missing.next().filter(|_| is_part).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_part_is_not_the_whole() {
        let mut whole = Whole::default();
        let mut plan = |entries: &[&str]| {
            let entries: Vec<Value> = entries
                .iter()
                .map(|entry| json!({"content": entry}))
                .collect();
            whole.plan("s", &json!({"entries": entries}))
        };
        assert_eq!(plan(&["a", "b"]), None);
        assert_eq!(plan(&["b", "a", "c"]), None);
        assert_eq!(plan(&["a", "c"]).as_deref(), Some("b"));
        // Another plan, and none at all.
        assert_eq!(plan(&["d"]), None);
        assert_eq!(plan(&[]), None);
        whole.begin_turn("s");
        assert_eq!(
            whole.plan("s", &json!({"entries": [{"content": "a"}]})),
            None
        );
    }

    #[test]
    fn options_are_of_their_session() {
        let mut whole = Whole::default();
        let two = json!({"configOptions": [{"id": "a"}, {"id": "b"}]});
        let one = json!({"configOptions": [{"id": "a"}]});
        assert_eq!(whole.options("s", &two), None);
        assert_eq!(whole.options("r", &one), None);
        assert_eq!(whole.options("s", &json!({"title": "x"})), None);
        assert_eq!(whole.options("s", &one).as_deref(), Some("b"));
    }
}
