//! Reads the files of a crate into modules.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Item, Meta, Token, UseTree, Visibility};

use super::{Module, Place, paths};

/// Reads the crate whose root is this file.
pub(super) fn read(root: &Path) -> Result<Vec<Module>> {
    let mut reader = Reader {
        modules: vec![Module::default()],
    };
    let folder = root.parent().unwrap_or(root);
    reader.file(0, root, folder)?;
    Ok(reader.modules)
}

struct Reader {
    modules: Vec<Module>,
}

/// Where the items stand that are read.
struct Scope<'a> {
    module: usize,
    file: &'a Path,
    /// Where the files of its modules lie.
    folder: PathBuf,
    /// Where those lie that `#[path]` names.
    path_base: PathBuf,
}

impl Reader {
    fn file(&mut self, module: usize, file: &Path, folder: &Path) -> Result<()> {
        let text = fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
        let parsed = syn::parse_file(&text).with_context(|| format!("read {}", file.display()))?;
        self.modules[module].files.insert(file.to_owned());
        let scope = Scope {
            module,
            file,
            folder: folder.to_owned(),
            path_base: file.parent().unwrap_or(file).to_owned(),
        };
        self.items(&scope, parsed.items)
    }

    fn items(&mut self, scope: &Scope<'_>, items: Vec<Item>) -> Result<()> {
        for mut item in items {
            if is_test(&attributes(&item)) {
                continue;
            }
            if let Item::Impl(block) = &mut item {
                block.items.retain(|item| match item {
                    syn::ImplItem::Fn(item) => !is_test(&item.attrs),
                    syn::ImplItem::Const(item) => !is_test(&item.attrs),
                    _ => true,
                });
            }
            if let Item::Mod(inner) = item {
                self.module(scope, inner)?;
                continue;
            }
            let module = &mut self.modules[scope.module];
            let tokens = item.to_token_stream();
            module.lines += paths::code_lines(tokens.clone());
            if let Item::Use(item) = &item {
                imports(module, &mut Vec::new(), &item.tree);
            }
            let place = |line| Place {
                file: scope.file.to_owned(),
                line,
            };
            paths::scan(tokens, &mut |path, line| {
                module.mentions.push((path, place(line)));
            });
            let Some((name, visibility)) = definition(&item) else {
                continue;
            };
            module.items.insert(name.to_string());
            if matches!(visibility, Some(Visibility::Public(_))) {
                let line = name.span().start().line;
                module.types.push((name.to_string(), place(line)));
            }
        }
        Ok(())
    }

    fn module(&mut self, scope: &Scope<'_>, item: syn::ItemMod) -> Result<()> {
        let name = item.ident.to_string();
        let name = name.trim_start_matches("r#").to_owned();
        let child = self.child(scope.module, &name);
        let of_parent = self.modules[scope.module].of_one_system;
        self.modules[child].of_one_system |= of_parent || names_system(&item.attrs);
        if let Some((_, items)) = item.content {
            // A line for the module and one for its end.
            self.modules[child].lines += 2;
            self.modules[child].files.insert(scope.file.to_owned());
            let folder = scope.folder.join(&name);
            let scope = Scope {
                module: child,
                path_base: folder.clone(),
                folder,
                ..*scope
            };
            return self.items(&scope, items);
        }
        self.modules[scope.module].lines += 1;
        let named = named_files(&item.attrs);
        if !named.is_empty() {
            for file in named {
                let file = scope.path_base.join(file);
                let folder = folder_below(&file);
                self.file(child, &file, &folder)?;
            }
            return Ok(());
        }
        let below = scope.folder.join(&name);
        let candidates = [below.with_extension("rs"), below.join("mod.rs")];
        match candidates.iter().find(|file| file.exists()) {
            Some(file) => self.file(child, file, &below),
            None => bail!("{}: module `{name}` has no file", scope.file.display()),
        }
    }

    fn child(&mut self, parent: usize, name: &str) -> usize {
        if let Some(child) = self.modules[parent].children.get(name) {
            return *child;
        }
        let child = self.modules.len();
        let mut path = self.modules[parent].path.clone();
        path.push(name.to_owned());
        self.modules.push(Module {
            path,
            parent,
            ..Module::default()
        });
        self.modules[parent].children.insert(name.to_owned(), child);
        child
    }
}

/// The folder in which the modules of a file lie.
fn folder_below(file: &Path) -> PathBuf {
    match file.file_name() {
        Some(name) if name == "mod.rs" => file.parent().unwrap_or(file).to_owned(),
        _ => file.with_extension(""),
    }
}

/// Collects the names that a `use` brings, and the modules that it takes everything of.
fn imports(module: &mut Module, before: &mut Vec<String>, tree: &UseTree) {
    let length = before.len();
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            imports(module, before, &path.tree);
        }
        UseTree::Name(name) => {
            if name.ident != "self" {
                before.push(name.ident.to_string());
            }
            if let Some(name) = before.last() {
                module.imports.insert(name.clone(), before.clone());
            }
        }
        UseTree::Rename(rename) => {
            if rename.ident != "self" {
                before.push(rename.ident.to_string());
            }
            module
                .imports
                .insert(rename.rename.to_string(), before.clone());
        }
        UseTree::Glob(_) => module.globs.push(before.clone()),
        UseTree::Group(group) => {
            for tree in &group.items {
                imports(module, before, tree);
            }
        }
    }
    before.truncate(length);
}

/// The name that an item defines; and of a type, who may use it.
fn definition(item: &Item) -> Option<(&syn::Ident, Option<&Visibility>)> {
    Some(match item {
        Item::Struct(item) => (&item.ident, Some(&item.vis)),
        Item::Enum(item) => (&item.ident, Some(&item.vis)),
        Item::Union(item) => (&item.ident, Some(&item.vis)),
        Item::Trait(item) => (&item.ident, Some(&item.vis)),
        Item::Type(item) => (&item.ident, Some(&item.vis)),
        Item::Fn(item) => (&item.sig.ident, None),
        Item::Const(item) => (&item.ident, None),
        Item::Static(item) => (&item.ident, None),
        Item::Macro(item) => (item.ident.as_ref()?, None),
        _ => return None,
    })
}

fn attributes(item: &Item) -> Vec<Attribute> {
    let leading = |input: ParseStream<'_>| {
        let attributes = Attribute::parse_outer(input)?;
        input.parse::<TokenStream>()?;
        Ok(attributes)
    };
    leading.parse2(item.to_token_stream()).unwrap_or_default()
}

/// The files that `#[path]` names, alone or under a `cfg_attr`.
fn named_files(attributes: &[Attribute]) -> Vec<String> {
    let text = |meta: &Meta| match meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(literal) => match &literal.lit {
                syn::Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    let mut files = Vec::new();
    for attribute in attributes {
        files.extend(text(&attribute.meta));
        if attribute.path().is_ident("cfg_attr") {
            files.extend(parts(&attribute.meta).iter().filter_map(text));
        }
    }
    files
}

/// Tells whether something is built for tests alone.
fn is_test(attributes: &[Attribute]) -> bool {
    fn demands_test(condition: &Meta) -> bool {
        let path = condition.path();
        if path.is_ident("all") {
            parts(condition).iter().any(demands_test)
        } else if path.is_ident("any") {
            parts(condition).iter().all(demands_test)
        } else {
            path.is_ident("test")
        }
    }
    let conditions = attributes.iter().filter(|one| one.path().is_ident("cfg"));
    conditions
        .flat_map(|attribute| parts(&attribute.meta))
        .any(|condition| demands_test(&condition))
}

/// Tells whether something is built for some systems alone, beside a twin for the others.
fn names_system(attributes: &[Attribute]) -> bool {
    let conditions = attributes.iter().filter(|one| one.path().is_ident("cfg"));
    let words = ["unix", "windows", "target_os", "linux"];
    conditions
        .map(|one| one.to_token_stream().to_string())
        .any(|text| words.iter().any(|word| text.contains(word)))
}

/// The metas between the parentheses of another.
fn parts(meta: &Meta) -> Vec<Meta> {
    let Meta::List(list) = meta else {
        return Vec::new();
    };
    let parser = syn::punctuated::Punctuated::<Meta, Token![,]>::parse_terminated;
    list.parse_args_with(parser)
        .map(|parts| parts.into_iter().collect())
        .unwrap_or_default()
}
