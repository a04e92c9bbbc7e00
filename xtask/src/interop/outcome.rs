//! What one check with one peer came to, against what is known of the peer.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use super::report::Told;

/// How one check with one peer went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed(Duration),
    /// It went as it always goes with this peer, which is not as it should.
    Differs(String),
    /// The peer does not offer what is needed, as is known.
    Lacks,
    Failed(String),
    /// The peer cannot be had here.
    Skipped,
}

/// What is known of a peer: how it differs from what it should do, and what it lacks.
///
/// Exact both ways: what is better than known fails as well, so that this stays true. Only
/// where chance decides, either will do.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Known {
    /// The checks that need something it does not offer.
    #[serde(default)]
    pub(super) lacks: Vec<String>,
    /// The checks that go otherwise.
    #[serde(default)]
    pub(super) differs: BTreeMap<String, Difference>,
}

/// What is seen instead, and who is to blame.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Difference {
    /// Parts of what is seen; one of them is.
    pub(super) seen: Vec<String>,
    /// Why this is right to expect.
    pub(super) why: String,
    /// Chance decides: now and then it goes as it should.
    #[serde(default)]
    pub(super) by_chance: bool,
}

impl Known {
    /// Compares what was told of a check with what is known.
    pub(super) fn judge(&self, check: &str, told: Option<&Told>) -> Outcome {
        let lacks = self.lacks.iter().any(|name| name == check);
        let differs = self.differs.get(check);
        match (told, differs) {
            (None, _) => Outcome::Failed("nothing was told of it".to_owned()),
            (Some(Told::Passed(_)), Some(known)) if known.by_chance => {
                Outcome::Differs(known.why.clone())
            }
            (Some(Told::Passed(_)), Some(known)) => Outcome::Failed(format!(
                "it passes, where {:?} was known: take that out of the recipe",
                known.seen
            )),
            (Some(Told::Passed(_)), None) if lacks => Outcome::Failed(
                "it passes, though it was known to be lacking: take that out of the recipe"
                    .to_owned(),
            ),
            (Some(Told::Passed(time)), None) => Outcome::Passed(*time),
            (Some(Told::Absent(_)), _) if lacks => Outcome::Lacks,
            (Some(Told::Failed(seen) | Told::Absent(seen)), Some(known)) => {
                if known.seen.iter().any(|part| seen.contains(part)) {
                    Outcome::Differs(known.why.clone())
                } else {
                    Outcome::Failed(format!("{seen} (known was {:?})", known.seen))
                }
            }
            (Some(Told::Failed(seen)), None) => Outcome::Failed(seen.clone()),
            (Some(Told::Absent(seen)), None) => Outcome::Failed(format!("lacking: {seen}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        let text = "lacks = [\"list\"]\n[differs.close]\nseen = [\"-32601\"]\nwhy = \"a switch\"\n\
            [differs.cancel]\nseen = [\"end_turn\"]\nwhy = \"a race\"\nby-chance = true";
        toml::from_str(text).expect("a table of what is known")
    }

    #[track_caller]
    fn check(check: &str, told: Told, expected: &str) {
        let outcome = match known().judge(check, Some(&told)) {
            Outcome::Passed(_) => "passed".to_owned(),
            Outcome::Differs(why) => format!("differs: {why}"),
            Outcome::Lacks => "lacks".to_owned(),
            Outcome::Skipped => "skipped".to_owned(),
            Outcome::Failed(why) => format!("failed: {why}"),
        };
        assert_eq!(outcome, expected);
    }

    fn failed(why: &str) -> Told {
        Told::Failed(why.to_owned())
    }

    fn absent(what: &str) -> Told {
        Told::Absent(what.to_owned())
    }

    #[test]
    fn what_is_as_it_should_be_passes() {
        check("new", Told::Passed(Duration::ZERO), "passed");
        check("new", failed("no answer"), "failed: no answer");
        check("new", absent("session/new"), "failed: lacking: session/new");
    }

    #[test]
    fn what_is_known_is_exact_both_ways() {
        check("list", absent("session/list"), "lacks");
        let better =
            "failed: it passes, though it was known to be lacking: take that out of the recipe";
        check("list", Told::Passed(Duration::ZERO), better);
        check("list", failed("no answer"), "failed: no answer");

        check("close", failed("refused with -32601"), "differs: a switch");
        let other = "failed: refused with -32603 (known was [\"-32601\"])";
        check("close", failed("refused with -32603"), other);
        let better = "failed: it passes, where [\"-32601\"] was known: take that out of the recipe";
        check("close", Told::Passed(Duration::ZERO), better);
    }

    #[test]
    fn what_chance_decides_may_pass_and_not_fail_otherwise() {
        check("cancel", Told::Passed(Duration::ZERO), "differs: a race");
        check("cancel", failed("stop reason end_turn"), "differs: a race");
        let other = "failed: no answer (known was [\"end_turn\"])";
        check("cancel", failed("no answer"), other);
    }

    #[test]
    fn silence_is_a_failure() {
        let silence = Outcome::Failed("nothing was told of it".to_owned());
        assert_eq!(known().judge("close", None), silence);
    }
}
