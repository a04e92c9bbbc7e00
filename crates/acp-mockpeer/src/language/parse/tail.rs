//! Reads the words behind a message: its name, its id, its time, its form.

use std::sync::Arc;
use std::time::Duration;

use acp_recording::PeerSide;

use super::pattern;
use super::units::rules;
use crate::language::pattern::Pattern;
use crate::language::reader::{Parsed, Reader};
use crate::language::step::{Ending, Split, Writing};
use crate::rules::Rule;

/// The words behind a message.
#[derive(Default)]
pub(super) struct Tail {
    pub(super) name: Option<Arc<str>>,
    pub(super) id: Option<Pattern>,
    pub(super) within: Option<Duration>,
    pub(super) writing: Writing,
    pub(super) rules: Vec<&'static Rule>,
}

/// Reads them, up to what it does not know.
pub(super) fn tail(reader: &mut Reader<'_>, from: PeerSide) -> Parsed<Tail> {
    const WORDS: [&str; 9] = [
        "as", "with", "within", "for", "split", "pausing", "ended", "after", "padded",
    ];
    let mut tail = Tail::default();
    while let Some(word) = reader.one_of(WORDS.map(|word| (word, word))) {
        match word {
            "as" => tail.name = Some(reader.word("a name for the request")?.into()),
            "with" => {
                reader.words(&["id"], "`id` after `with`")?;
                tail.id = Some(pattern::pattern(reader)?);
            }
            "within" => tail.within = Some(reader.duration()?),
            "for" => tail.rules = rules(reader, from)?,
            "split" => tail.writing.split = split(reader)?,
            "pausing" => tail.writing.pausing = reader.duration()?,
            "ended" => tail.writing.ending = ending(reader)?,
            "after" => {
                reader.words(&["bom"], "`bom` after `after`")?;
                tail.writing.bom = true;
            }
            _ => {
                reader.words(&["to"], "`to` and a size: `padded to 40MiB`")?;
                tail.writing.padded_to = reader.size()?;
            }
        }
    }
    Ok(tail)
}

fn split(reader: &mut Reader<'_>) -> Parsed<Split> {
    if reader.eat_word("every") {
        return Ok(Split::Every(reader.size()?.max(1)));
    }
    reader.words(&["at"], "`at` or `every` after `split`")?;
    let mut places = vec![reader.size()?];
    while reader
        .rest()
        .trim_start_matches([' ', '\t'])
        .starts_with(',')
    {
        reader.skip_blanks();
        reader.advance(1);
        places.push(reader.size()?);
    }
    places.sort_unstable();
    Ok(Split::At(places))
}

fn ending(reader: &mut Reader<'_>) -> Parsed<Ending> {
    let endings = [
        ("crlf", Ending::CrLf),
        ("lf", Ending::LineFeed),
        ("nothing", Ending::Nothing),
    ];
    let by = reader.eat_word("by");
    let found = by.then(|| reader.one_of(endings)).flatten();
    found.ok_or_else(|| reader.expected("`by crlf`, `by lf` or `by nothing` after `ended`"))
}
