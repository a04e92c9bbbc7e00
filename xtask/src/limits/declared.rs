//! The limits in bytes that the crates declare.

use std::path::{Path, PathBuf};

use anyhow::Result;
use syn::{Attribute, Expr, Fields, Item, Lit, Meta, Type};

use super::{parse, rust_files};

/// A limit in bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) krate: String,
    /// The module of the crate whose limit it is; the name alone may stand there twice.
    pub(super) room: String,
    pub(super) name: String,
    pub(super) file: PathBuf,
}

impl Declared {
    /// How the table calls it.
    pub(super) fn key(&self) -> String {
        let Self {
            krate, room, name, ..
        } = self;
        match room.is_empty() {
            true => format!("{krate}::{name}"),
            false => format!("{krate}::{room}::{name}"),
        }
    }
}

/// Finds those of all crates.
pub(super) fn of_workspace(root: &Path) -> Result<Vec<Declared>> {
    let mut files = Vec::new();
    rust_files(&root.join("crates"), &mut files)?;
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.ends_with("limits.rs")) {
        let inner = file.strip_prefix(root.join("crates")).unwrap_or(file);
        let mut parts = inner.iter().map(|part| part.to_string_lossy().into_owned());
        let krate = parts.next().unwrap_or_default();
        let rooms: Vec<String> = parts.skip(1).filter(|part| part != "limits.rs").collect();
        for name in in_file(&parse(file)?) {
            found.push(Declared {
                krate: krate.clone(),
                room: rooms.join("::"),
                name,
                file: inner.to_path_buf(),
            });
        }
    }
    Ok(found)
}

/// Finds those of one file: constants, and fields of structures.
pub(super) fn in_file(file: &syn::File) -> Vec<String> {
    let mut found = Vec::new();
    for item in &file.items {
        match item {
            Item::Const(item) if is_in_bytes(&item.attrs, &item.ty) => {
                found.push(item.ident.to_string());
            }
            Item::Struct(item) => {
                let Fields::Named(fields) = &item.fields else {
                    continue;
                };
                let fields = fields.named.iter();
                let fields = fields.filter(|field| is_in_bytes(&field.attrs, &field.ty));
                found.extend(
                    fields
                        .filter_map(|field| field.ident.as_ref())
                        .map(ToString::to_string),
                );
            }
            _ => {}
        }
    }
    found
}

/// Tells whether the first sentence of the documentation counts bytes.
fn is_in_bytes(attributes: &[Attribute], of: &Type) -> bool {
    let is_number = matches!(of, Type::Path(of) if of.path.get_ident().is_some_and(|name| {
        ["usize", "u64", "u32", "i64"].iter().any(|number| name == number)
    }));
    let text: Vec<String> = attributes.iter().filter_map(doc).collect();
    let text = text.join(" ");
    let first = text.split(". ").next().unwrap_or_default().to_lowercase();
    is_number && first.contains("bytes")
}

fn doc(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    match &pair.value {
        Expr::Lit(value) if pair.path.is_ident("doc") => match &value.lit {
            Lit::Str(text) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    }
}
