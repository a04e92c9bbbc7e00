//! What the schema does not say: `schema/overlay.toml`.
//!
//! Each entry must be used, so that the file tells nothing that is not so.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use heck::ToSnakeCase;
use serde::Deserialize;

/// The overlay, and which of its entries nothing asked for yet.
#[derive(Debug, Default)]
pub(crate) struct Overlay {
    entries: Entries,
    unused: RefCell<BTreeSet<(String, String)>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Entries {
    /// Definitions written by hand, and the path of the type.
    handwritten: BTreeMap<String, String>,
    /// Names of fields, by `Definition.member`.
    fields: BTreeMap<String, String>,
    /// Other keys under which members are read, by `Definition.member`.
    aliases: BTreeMap<String, String>,
    /// Unions that stand among the members of an object, by the object's name.
    flat: BTreeMap<String, Flat>,
    /// Everything else only marks something; an unknown section is an error.
    #[serde(flatten)]
    marked: BTreeMap<Mark, BTreeSet<String>>,
}

/// A section that lists the names it is about.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mark {
    /// Envelopes, which `rpc` reads and writes.
    Envelopes,
    /// Definitions without content, for extensions.
    Extensions,
    /// Members whose value is not shown, by `Definition.member`.
    Secret,
    /// Members whose `null` differs from their absence, by `Definition.member`.
    Patch,
    /// Lists that are written also when they are empty, by `Definition.member`.
    Written,
    /// Required lists that may be missing all the same, by `Definition.member`.
    Omitted,
    /// Lists of name and value that may be objects, by `Definition.member`.
    Pairs,
    /// Definitions that are boxed where they are an optional member, and variants
    /// (`Union.Variant`) whose payload is boxed.
    Boxed,
    /// Unions whose variant without a tag also takes unknown tags.
    LenientFallback,
    /// Unions of which some unknown tags are understood, by `mend` of the type.
    Mended,
}

/// How a union among the members of an object is called.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flat {
    /// The name of the union.
    pub(crate) union: String,
    /// The field that holds it.
    pub(crate) field: String,
    /// What it is, for the documentation.
    pub(crate) about: String,
}

impl Overlay {
    /// Reads an overlay.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let entries: Entries = toml::from_str(text).context("read the overlay")?;
        let mut unused = BTreeSet::new();
        let mut section = |name: &str, keys: Vec<&String>| {
            let keys = keys.into_iter().cloned();
            unused.extend(keys.map(|key| (name.to_owned(), key)));
        };
        section("handwritten", entries.handwritten.keys().collect());
        section("fields", entries.fields.keys().collect());
        section("aliases", entries.aliases.keys().collect());
        section("flat", entries.flat.keys().collect());
        for (mark, keys) in &entries.marked {
            section(&mark.name(), keys.iter().collect());
        }
        let unused = unused.into();
        Ok(Self { entries, unused })
    }

    /// Tells whether a definition is marked.
    pub(crate) fn marks(&self, mark: Mark, name: &str) -> bool {
        self.note_use(&mark.name(), name);
        let marked = self.entries.marked.get(&mark);
        marked.is_some_and(|names| names.contains(name))
    }

    /// Tells whether a member of a definition is marked.
    pub(crate) fn marks_member(&self, mark: Mark, definition: &str, member: &str) -> bool {
        self.marks(mark, &format!("{definition}.{member}"))
    }

    /// Returns the path of a type written by hand.
    pub(crate) fn handwritten(&self, name: &str) -> Option<&str> {
        self.note_use("handwritten", name);
        self.entries.handwritten.get(name).map(String::as_str)
    }

    /// Returns the name that a field is given.
    pub(crate) fn field(&self, definition: &str, member: &str) -> Option<&str> {
        let key = format!("{definition}.{member}");
        self.note_use("fields", &key);
        self.entries.fields.get(&key).map(String::as_str)
    }

    /// Returns another key under which a member is read.
    pub(crate) fn alias(&self, definition: &str, member: &str) -> Option<&str> {
        let key = format!("{definition}.{member}");
        self.note_use("aliases", &key);
        self.entries.aliases.get(&key).map(String::as_str)
    }

    /// Returns how the union among the members of an object is called.
    pub(crate) fn flat(&self, name: &str) -> Option<&Flat> {
        self.note_use("flat", name);
        self.entries.flat.get(name)
    }

    /// Checks that every entry was used.
    pub(crate) fn check_used(&self) -> Result<()> {
        if let Some((section, key)) = self.unused.borrow().first() {
            bail!("overlay: `{key}` in `{section}` matches nothing in the schema");
        }
        Ok(())
    }

    fn note_use(&self, section: &str, key: &str) {
        let entry = (section.to_owned(), key.to_owned());
        self.unused.borrow_mut().remove(&entry);
    }
}

impl Mark {
    /// Returns the name of the section in the file.
    fn name(self) -> String {
        format!("{self:?}").to_snake_case()
    }
}
