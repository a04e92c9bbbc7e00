//! What the schema does not say: `schema/overlay.toml`.
//!
//! Each entry must be used, so that the file tells nothing that is not so.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The overlay, and which of its entries were used.
#[derive(Debug, Default)]
pub(crate) struct Overlay {
    entries: Entries,
    used: RefCell<BTreeSet<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Entries {
    /// Envelopes, which `rpc` reads and writes.
    envelopes: BTreeSet<String>,
    /// Definitions without content, for extensions.
    extensions: BTreeSet<String>,
    /// Definitions written by hand, and the path of the type.
    handwritten: BTreeMap<String, String>,
    /// Names of fields, by `Definition.member`.
    fields: BTreeMap<String, String>,
    /// Members whose value is not shown, by `Definition.member`.
    secret: BTreeSet<String>,
    /// Members whose `null` differs from their absence, by `Definition.member`.
    patch: BTreeSet<String>,
    /// Lists that are written also when they are empty, by `Definition.member`.
    written: BTreeSet<String>,
    /// Definitions that are boxed where they are an optional member, and variants
    /// (`Union.Variant`) whose payload is boxed.
    boxed: BTreeSet<String>,
    /// Unions that stand among the members of an object, by the object's name.
    flat: BTreeMap<String, Flat>,
    /// Unions whose variant without a tag also takes unknown tags.
    lenient_fallback: BTreeSet<String>,
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
        let entries = toml::from_str(text).context("read the overlay")?;
        Ok(Self {
            entries,
            used: RefCell::default(),
        })
    }

    /// Tells whether the definition is an envelope.
    pub(crate) fn is_envelope(&self, name: &str) -> bool {
        self.hit("envelopes", name, self.entries.envelopes.contains(name))
    }

    /// Tells whether the definition is an extension's.
    pub(crate) fn is_extension(&self, name: &str) -> bool {
        self.hit("extensions", name, self.entries.extensions.contains(name))
    }

    /// Returns the path of a type written by hand.
    pub(crate) fn handwritten(&self, name: &str) -> Option<&str> {
        let path = self.entries.handwritten.get(name);
        self.hit("handwritten", name, path.is_some());
        path.map(String::as_str)
    }

    /// Returns the name that a field is given.
    pub(crate) fn field(&self, definition: &str, member: &str) -> Option<&str> {
        let key = format!("{definition}.{member}");
        let name = self.entries.fields.get(&key);
        self.hit("fields", &key, name.is_some());
        name.map(String::as_str)
    }

    /// Tells whether a member is secret.
    pub(crate) fn is_secret(&self, definition: &str, member: &str) -> bool {
        let key = format!("{definition}.{member}");
        self.hit("secret", &key, self.entries.secret.contains(&key))
    }

    /// Tells whether a member is a patch.
    pub(crate) fn is_patch(&self, definition: &str, member: &str) -> bool {
        let key = format!("{definition}.{member}");
        self.hit("patch", &key, self.entries.patch.contains(&key))
    }

    /// Tells whether a list is written also when it is empty.
    pub(crate) fn is_written(&self, definition: &str, member: &str) -> bool {
        let key = format!("{definition}.{member}");
        self.hit("written", &key, self.entries.written.contains(&key))
    }

    /// Tells whether a definition, or the payload of a variant, is boxed.
    pub(crate) fn is_boxed(&self, key: &str) -> bool {
        self.hit("boxed", key, self.entries.boxed.contains(key))
    }

    /// Returns how the union among the members of an object is called.
    pub(crate) fn flat(&self, name: &str) -> Option<&Flat> {
        let flat = self.entries.flat.get(name);
        self.hit("flat", name, flat.is_some());
        flat
    }

    /// Tells whether the variant without a tag also takes unknown tags.
    pub(crate) fn takes_unknown(&self, name: &str) -> bool {
        self.hit(
            "lenient_fallback",
            name,
            self.entries.lenient_fallback.contains(name),
        )
    }

    /// Checks that every entry was used.
    pub(crate) fn check_used(&self) -> Result<()> {
        let entries = &self.entries;
        let sections: [(&str, Vec<&String>); 10] = [
            ("envelopes", entries.envelopes.iter().collect()),
            ("extensions", entries.extensions.iter().collect()),
            ("handwritten", entries.handwritten.keys().collect()),
            ("fields", entries.fields.keys().collect()),
            ("secret", entries.secret.iter().collect()),
            ("patch", entries.patch.iter().collect()),
            ("written", entries.written.iter().collect()),
            ("boxed", entries.boxed.iter().collect()),
            ("flat", entries.flat.keys().collect()),
            (
                "lenient_fallback",
                entries.lenient_fallback.iter().collect(),
            ),
        ];
        let used = self.used.borrow();
        for (section, keys) in sections {
            for key in keys {
                if !used.contains(&format!("{section} {key}")) {
                    bail!("overlay: `{key}` in `{section}` matches nothing in the schema");
                }
            }
        }
        Ok(())
    }

    fn hit(&self, section: &str, key: &str, found: bool) -> bool {
        if found {
            self.used.borrow_mut().insert(format!("{section} {key}"));
        }
        found
    }
}
