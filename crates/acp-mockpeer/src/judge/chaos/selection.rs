//! Which lines of a round are said, and how far each of them is spoiled.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Where a line stands in a round: behind which request of a client (0 where the
/// other side is an agent), and the how manieth it is there.
pub(super) type Place = (u32, u32);

/// A round has far fewer lines than this.
const MOST: usize = 10_000;

/// Some lines of a round of chaos, each with the number of changes that are made to it.
///
/// Written, they are what `--lines` takes: `2,4/1` is the second line as it is, and the
/// fourth with the first of its changes alone. Where a client is under test, a line is
/// `3.2`: the second one while its third request waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lines(BTreeMap<Place, Changes>);

/// How many of the changes to a line are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Changes {
    pub(super) made: usize,
    /// How many there are, where that is known.
    of: Option<usize>,
}

/// Text that names no lines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no line of a round; expected lines such as `2`, `4/1` or `3.2`, or `none`")]
pub struct NoLines(String);

impl Lines {
    /// Notes a line that was said with all of these changes.
    pub(super) fn add(&mut self, place: Place, changes: usize) {
        let of = Some(changes);
        self.0.insert(place, Changes { made: changes, of });
    }

    /// Returns how many changes are made to a line; `None` when it is not said.
    pub(super) fn changes(&self, place: Place) -> Option<usize> {
        self.0.get(&place).map(|changes| changes.made)
    }

    /// Returns how many lines there are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns how many changes are made to all of them.
    pub(super) fn count_changes(&self) -> usize {
        self.0.values().map(|changes| changes.made).sum()
    }

    /// Returns everything that has one line or one change less, the greatest steps first.
    pub(super) fn smaller(&self) -> impl Iterator<Item = Self> + '_ {
        // What was said last is least likely to be the reason, unless it is all there is.
        let places = self.0.keys().rev();
        let left_out = places.clone().map(|place| {
            let mut rest = self.clone();
            rest.0.remove(place);
            rest
        });
        let undone = places.flat_map(|place| {
            let made = self.0[place].made;
            let fewer = [0, made.saturating_sub(1)];
            let fewer = fewer.into_iter().filter(move |fewer| *fewer < made);
            fewer.map(|fewer| {
                let mut rest = self.clone();
                if let Some(changes) = rest.0.get_mut(place) {
                    changes.made = fewer;
                }
                rest
            })
        });
        left_out.chain(undone)
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (index, ((turn, line), changes)) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "," })?;
            if *turn > 0 {
                write!(f, "{turn}.")?;
            }
            write!(f, "{line}")?;
            if changes.of != Some(changes.made) {
                write!(f, "/{}", changes.made)?;
            }
        }
        Ok(())
    }
}

impl FromStr for Lines {
    type Err = NoLines;

    fn from_str(text: &str) -> Result<Self, NoLines> {
        let mut lines = Self::default();
        if text == "none" {
            return Ok(lines);
        }
        for word in text.split(',') {
            let read = line(word).filter(|_| lines.count() < MOST);
            let (place, changes) = read.ok_or_else(|| NoLines(word.to_owned()))?;
            lines.0.insert(place, changes);
        }
        Ok(lines)
    }
}

/// Reads `3`, `3/1` or `2.3/1`.
fn line(word: &str) -> Option<(Place, Changes)> {
    let (place, made) = match word.split_once('/') {
        Some((place, made)) => (place, Some(made.parse().ok()?)),
        None => (word, None),
    };
    let place = match place.split_once('.') {
        Some((turn, line)) => (turn.parse().ok()?, line.parse().ok()?),
        None => (0, place.parse().ok()?),
    };
    let changes = Changes {
        made: made.unwrap_or(usize::MAX),
        of: made.is_none().then_some(usize::MAX),
    };
    Some((place, changes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in ["none", "1", "2,4/1", "1.2,3.0/0", "7/0,9"] {
            let lines: Lines = text.parse().expect("it can be read");
            assert_eq!(lines.to_string(), text);
        }
        for text in ["", "a", "1,", "1/", "1.", "-1", "1/2/3", "1.2.3"] {
            let error = text.parse::<Lines>().expect_err("it cannot be read");
            assert!(error.to_string().contains("is no line of a round"));
        }
    }

    #[test]
    fn lines_are_left_out_before_changes_are_undone() {
        let mut lines = Lines::default();
        lines.add((0, 1), 0);
        lines.add((0, 3), 2);
        let smaller: Vec<String> = lines.smaller().map(|one| one.to_string()).collect();
        assert_eq!(smaller, ["1", "3", "1,3/0", "1,3/1"]);
        assert_eq!(
            lines.smaller().nth(2).map(|one| one.count_changes()),
            Some(0)
        );
        assert!(Lines::default().smaller().next().is_none());
    }
}
