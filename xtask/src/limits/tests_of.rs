//! The tests of a crate, by name.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use syn::{Attribute, Item};

use super::{parse, rust_files};

/// Lists the tests of a crate, those in its source and those beside it.
pub(super) fn of_crate(root: &Path, name: &str) -> Result<BTreeSet<String>> {
    let folder = root.join("crates").join(name);
    let mut files = Vec::new();
    rust_files(&folder.join("src"), &mut files)?;
    rust_files(&folder.join("tests"), &mut files)?;
    let mut found = BTreeSet::new();
    for file in &files {
        collect(&parse(file)?.items, &mut found);
    }
    Ok(found)
}

/// Collects the functions that a test attribute stands over: `#[test]`, `#[tokio::test]`.
pub(super) fn collect(items: &[Item], found: &mut BTreeSet<String>) {
    for item in items {
        match item {
            Item::Fn(function) if function.attrs.iter().any(is_test) => {
                found.insert(function.sig.ident.to_string());
            }
            Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    collect(items, found);
                }
            }
            _ => {}
        }
    }
}

fn is_test(attribute: &Attribute) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|name| name.ident == "test")
}
