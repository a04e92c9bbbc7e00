//! Formatted text of a generated file.

use anyhow::{Context, Result};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{Item, ItemMacro};

/// Formats `items` below `head`.
///
/// `prettyplease` formats everything but tables, the macros whose rows it would
/// run together.
pub(crate) fn print(head: &str, items: TokenStream) -> Result<String> {
    let file: syn::File = syn::parse2(items).context("what the generator wrote is no Rust")?;
    let mut text = head.to_owned();
    let mut after_import = false;
    for item in file.items {
        let is_import = matches!(item, Item::Use(_));
        if !(after_import && is_import) {
            text.push('\n');
        }
        after_import = is_import;
        match &item {
            Item::Macro(table) if has_rows(table) => text.push_str(&print_table(table)),
            _ => text.push_str(&prettyplease::unparse(&syn::File {
                shebang: None,
                attrs: Vec::new(),
                items: vec![item],
            })),
        }
    }
    Ok(text)
}

fn has_rows(table: &ItemMacro) -> bool {
    table.mac.tokens.clone().into_iter().any(
        |token| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace),
    )
}

/// Prints a macro with one row of a braced list a line.
fn print_table(table: &ItemMacro) -> String {
    let path = &table.mac.path;
    let name = quote::quote!(#path);
    let mut text = format!("{name}!(");
    for token in table.mac.tokens.clone() {
        match token {
            TokenTree::Group(group) => {
                text.push_str(" {\n");
                for row in rows(group.stream()) {
                    text.push_str("    ");
                    text.push_str(&row);
                    text.push_str(",\n");
                }
                text.push('}');
            }
            other => {
                if text.ends_with('}') || text.ends_with("flat") {
                    text.push(' ');
                }
                text.push_str(&other.to_string());
            }
        }
    }
    text.push_str(");\n");
    text
}

fn rows(stream: TokenStream) -> Vec<String> {
    let mut rows = vec![String::new()];
    for token in stream {
        let row = rows.last_mut().expect("there is one from the start");
        match token.to_string().as_str() {
            "," => rows.push(String::new()),
            text @ (":" | "<" | ">") => row.push_str(text),
            text => {
                let after_colon = row.ends_with(':') && !row.ends_with("::");
                if after_colon || row.ends_with('=') || text == "=" {
                    row.push(' ');
                }
                row.push_str(text);
            }
        }
    }
    rows.retain(|row| !row.is_empty());
    rows
}
