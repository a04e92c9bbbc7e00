//! The rooms of each crate: its top-level modules, and the rings of modules across them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use crate::source::{Edge, SourceTree};

/// Returns what there is to see of all crates, and the crates that have rings.
pub(super) fn check(trees: &[SourceTree], root: &Path) -> (String, Vec<String>) {
    let mut report = String::new();
    let mut faults = Vec::new();
    for tree in trees {
        let plan = Plan::new(tree);
        report += &plan.report(root);
        report.push('\n');
        let rings = plan.rings.len();
        if rings > 0 {
            faults.push(format!(
                "{}: rings of modules that cross rooms: {rings}",
                tree.name
            ));
        }
    }
    (report, faults)
}

/// Modules that reach each other, in more than one room.
struct Ring {
    modules: BTreeSet<usize>,
    rooms: BTreeSet<String>,
}

/// The modules of a crate, who names whom, and the rings across rooms.
struct Plan<'a> {
    tree: &'a SourceTree,
    edges: Vec<Vec<Edge>>,
    rings: Vec<Ring>,
}

impl<'a> Plan<'a> {
    fn new(tree: &'a SourceTree) -> Self {
        let edges: Vec<_> = (0..tree.modules.len()).map(|at| tree.edges(at)).collect();
        let rings = rings(tree, &edges);
        Self { tree, edges, rings }
    }

    /// The crate's rooms with their sizes, and each ring with the lines that make it.
    fn report(&self, root: &Path) -> String {
        let mut rooms: BTreeMap<&str, (BTreeSet<&Path>, usize)> = BTreeMap::new();
        for (at, module) in self.tree.modules.iter().enumerate() {
            let (files, lines) = rooms.entry(self.tree.room(at)).or_default();
            files.extend(module.files.iter().map(|file| file.as_path()));
            *lines += module.lines;
        }
        let files: BTreeSet<_> = rooms.values().flat_map(|(files, _)| files).collect();
        let lines: usize = rooms.values().map(|(_, lines)| lines).sum();
        let mut text = format!(
            "{:38}{:>4} files{lines:>8} lines\n",
            self.tree.name,
            files.len()
        );
        for (room, (files, lines)) in &rooms {
            let rings = self.rings.iter().enumerate();
            let mine = rings.filter(|(_, ring)| ring.rooms.contains(*room));
            let mine: Vec<_> = mine
                .map(|(number, _)| format!("  ring {}", number + 1))
                .collect();
            let mine = mine.concat();
            let _ = writeln!(
                text,
                "  {room:36}{:>4} files{lines:>8} lines{mine}",
                files.len()
            );
        }
        for (number, ring) in self.rings.iter().enumerate() {
            let (modules, rooms) = (ring.modules.len(), ring.rooms.len());
            let _ = writeln!(
                text,
                "  ring {}: {modules} modules reach each other across {rooms} rooms",
                number + 1
            );
            for from in &ring.modules {
                for edge in self.edges[*from]
                    .iter()
                    .filter(|edge| ring.joins(self.tree, *from, edge))
                {
                    let (from, to) = (&self.tree.modules[*from], &self.tree.modules[edge.to]);
                    let file = edge
                        .place
                        .file
                        .strip_prefix(root)
                        .unwrap_or(&edge.place.file);
                    let _ = writeln!(
                        text,
                        "    {} -> {}  {}:{}  {}",
                        from.name(),
                        to.name(),
                        file.display(),
                        edge.place.line,
                        edge.path
                    );
                }
            }
        }
        text
    }
}

impl Ring {
    /// Whether an edge joins two rooms of this ring.
    fn joins(&self, tree: &SourceTree, from: usize, edge: &Edge) -> bool {
        self.modules.contains(&edge.to) && tree.room(from) != tree.room(edge.to)
    }
}

/// Finds the groups of modules that reach each other and lie in several rooms.
fn rings(tree: &SourceTree, edges: &[Vec<Edge>]) -> Vec<Ring> {
    let reach: Vec<BTreeSet<usize>> = (0..edges.len()).map(|at| reached(edges, at)).collect();
    let mut seen: BTreeSet<usize> = BTreeSet::new();
    let mut found = Vec::new();
    for at in 0..edges.len() {
        if !reach[at].contains(&at) || seen.contains(&at) {
            continue;
        }
        let modules = reach[at].iter().copied();
        let modules: BTreeSet<usize> = modules
            .filter(|other| reach[*other].contains(&at))
            .collect();
        seen.extend(&modules);
        let rooms: BTreeSet<_> = modules.iter().map(|at| tree.room(*at).to_owned()).collect();
        if rooms.len() > 1 {
            found.push(Ring { modules, rooms });
        }
    }
    found
}

/// The modules that can be reached from one, itself among them only through others.
fn reached(edges: &[Vec<Edge>], from: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        open.extend(
            edges[at]
                .iter()
                .map(|edge| edge.to)
                .filter(|to| reached.insert(*to)),
        );
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::sample;

    /// Checks which rings a crate of these files has: the lines of its edges, `[]` for none.
    #[track_caller]
    fn rings_of(files: &[(&str, &str)], expected: &[&str]) {
        let tree = sample(files);
        let report = Plan::new(&tree).report(Path::new("/"));
        let lines = report.lines().filter(|line| line.contains(" -> "));
        let lines: Vec<_> = lines.map(str::trim).collect();
        assert_eq!(lines, expected, "{report}");
    }

    #[test]
    fn a_ring_is_found_through_re_exports_and_macros() {
        rings_of(
            &[
                (
                    "lib.rs",
                    "mod a;\nmod b;\npub use a::deep::A;\npub use b::*;\n",
                ),
                ("a/mod.rs", "pub mod deep;\n"),
                (
                    "a/deep.rs",
                    "pub struct A;\nfn f() { println!(\"{:?}\", crate::B::new()); }\n",
                ),
                ("b.rs", "pub struct B(crate::A);\n"),
            ],
            &[
                "a::deep -> b  a/deep.rs:2  crate::B::new",
                "b -> a::deep  b.rs:1  crate::A",
            ],
        );
    }

    #[test]
    fn a_ring_within_a_room_and_one_of_tests_are_none() {
        rings_of(
            &[
                (
                    "lib.rs",
                    "mod a;\n#[cfg(test)]\nmod tests;\npub mod c { pub use crate::a::x::X; }\n",
                ),
                (
                    "a/mod.rs",
                    "pub mod x;\nmod y;\n#[cfg(test)]\nmod tests { use crate::c::X; }\n",
                ),
                ("a/x.rs", "pub struct X(super::y::Y);\n// crate::c::X\n"),
                (
                    "a/y.rs",
                    "pub(in crate::a) struct Y(Box<super::x::X>);\n/// [`crate::c`]\nfn y() {}\n",
                ),
            ],
            &[],
        );
    }

    #[test]
    fn twins_of_two_platforms_are_one_module() {
        rings_of(
            &[
                (
                    "lib.rs",
                    "#[cfg_attr(unix, path = \"u.rs\")]\n#[cfg_attr(windows, path = \"w.rs\")]\n\
                     mod system;\nmod user;\n",
                ),
                ("u.rs", "use crate::{user::{self as who, User}};\n"),
                ("w.rs", ""),
                ("user.rs", "pub struct User;\nuse super::system;\n"),
            ],
            &[
                "system -> user  u.rs:1  crate::user",
                "user -> system  user.rs:2  super::system",
            ],
        );
    }
}
