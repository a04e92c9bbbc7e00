//! Makes a round that failed smaller, as long as it fails.

use std::collections::BTreeSet;

use super::selection::Lines;

/// How often a round is played again, smaller: each is a process, and one that hangs
/// takes its time.
pub(super) const MOST_TRIES: usize = 64;

/// A search for the smallest round that still fails.
///
/// Lines are left out one by one and changes undone, until nothing more can be
/// without the round being survived, or it was tried often enough.
#[derive(Debug)]
pub(super) struct Shrink {
    smallest: Lines,
    trying: Option<Lines>,
    tried: BTreeSet<Lines>,
}

impl Shrink {
    /// Begins with what was said in the round that failed.
    pub(super) fn new(said: Lines) -> Self {
        Self {
            smallest: said,
            trying: None,
            tried: BTreeSet::new(),
        }
    }

    /// Returns what is to be tried next.
    pub(super) fn next(&mut self) -> Option<Lines> {
        if self.tried.len() >= MOST_TRIES {
            return None;
        }
        let next = self
            .smallest
            .smaller()
            .find(|one| !self.tried.contains(one))?;
        self.tried.insert(next.clone());
        self.trying = Some(next.clone());
        Some(next)
    }

    /// Takes what came of it.
    pub(super) fn tell(&mut self, failed: bool) {
        if let Some(tried) = self.trying.take().filter(|_| failed) {
            self.smallest = tried;
        }
    }

    /// Returns the smallest that failed.
    pub(super) fn smallest(&self) -> &Lines {
        &self.smallest
    }

    /// Returns how many were tried.
    pub(super) fn tries(&self) -> usize {
        self.tried.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(lines: u32, changes: usize) -> Lines {
        let mut all = Lines::default();
        for line in 1..=lines {
            all.add((0, line), changes);
        }
        all
    }

    fn shrink(all: Lines, fails: impl Fn(&Lines) -> bool) -> Shrink {
        let mut shrink = Shrink::new(all);
        while let Some(next) = shrink.next() {
            shrink.tell(fails(&next));
        }
        shrink
    }

    #[test]
    fn what_is_needed_is_left() {
        let needs = |lines: &Lines| {
            lines.changes((0, 2)).is_some() && lines.changes((0, 7)).is_some_and(|made| made >= 2)
        };
        let found = shrink(all(11, 3), needs);
        assert_eq!(found.smallest().to_string(), "2/0,7/2");
        assert!(found.tries() < MOST_TRIES, "{}", found.tries());
    }

    #[test]
    fn who_fails_at_nothing_fails_at_less() {
        assert_eq!(shrink(all(11, 3), |_| true).smallest().to_string(), "none");
    }

    #[test]
    fn who_fails_once_stays_as_it_was() {
        let found = shrink(all(3, 1), |_| false);
        assert_eq!(found.smallest(), &all(3, 1));
        assert_eq!(found.tries(), 6);
    }

    #[test]
    fn tries_are_bounded() {
        let found = shrink(all(500, 3), |_| false);
        assert_eq!(found.tries(), MOST_TRIES);
    }
}
