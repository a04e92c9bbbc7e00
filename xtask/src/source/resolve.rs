//! The module that a path leads to, through every re-export on the way.

use std::collections::BTreeMap;

use super::{Edge, SourceTree};

/// What a path leads to.
#[derive(Clone, Copy)]
enum Target {
    Module(usize),
    /// Something that this module defines.
    Item(usize),
    /// Another crate, or nothing that is known here.
    Outside,
}

/// Longer ways than this go round in a circle.
const LONGEST_WAY: usize = 24;

impl SourceTree {
    /// The other modules that a module names, each with the first place where it does.
    pub(crate) fn edges(&self, from: usize) -> Vec<Edge> {
        let mut edges = BTreeMap::new();
        for (path, place) in &self.modules[from].mentions {
            let (Target::Module(to) | Target::Item(to)) = self.resolve(from, path, 0) else {
                continue;
            };
            if to != from {
                edges.entry(to).or_insert_with(|| Edge {
                    to,
                    path: path.join("::"),
                    place: place.clone(),
                });
            }
        }
        edges.into_values().collect()
    }

    fn resolve(&self, from: usize, path: &[String], way: usize) -> Target {
        match path.split_first() {
            Some((first, rest)) if first == "crate" => self.walk(0, rest, way),
            Some((first, _)) if first == "self" || first == "super" => self.walk(from, path, way),
            Some((first, rest)) => self
                .look_up(from, first, rest, way)
                .unwrap_or(Target::Outside),
            None => Target::Outside,
        }
    }

    fn walk(&self, at: usize, path: &[String], way: usize) -> Target {
        match path.split_first() {
            None => Target::Module(at),
            Some((first, _)) if first == "*" => Target::Module(at),
            Some((first, rest)) if first == "self" => self.walk(at, rest, way),
            Some((first, rest)) if first == "super" => {
                self.walk(self.modules[at].parent, rest, way)
            }
            Some((first, rest)) => self
                .look_up(at, first, rest, way)
                .unwrap_or(Target::Item(at)),
        }
    }

    /// Looks for a name in a module: among its modules, its own items and its imports.
    fn look_up(&self, at: usize, name: &str, rest: &[String], way: usize) -> Option<Target> {
        if way > LONGEST_WAY {
            return None;
        }
        let module = &self.modules[at];
        if let Some(child) = module.children.get(name) {
            return Some(self.walk(*child, rest, way + 1));
        }
        if module.items.contains(name) {
            return Some(Target::Item(at));
        }
        if let Some(path) = module.imports.get(name) {
            let target = match path.as_slice() {
                [own] if own == name => Target::Outside,
                path => self.resolve(at, path, way + 1),
            };
            return Some(match target {
                Target::Module(module) => self.walk(module, rest, way + 1),
                other => other,
            });
        }
        module
            .globs
            .iter()
            .find_map(|path| match self.resolve(at, path, way + 1) {
                Target::Module(other) if other != at => self.look_up(other, name, rest, way + 1),
                _ => None,
            })
    }
}
