//! The comparison of the tables with the graph.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, Metadata, NodeDep, PackageId};

use super::table::{Pure, Tables};

/// A dependency, or a row, that breaks a rule of the root manifest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Violation {
    /// A crate of the workspace that no row speaks of.
    NoRow { name: String },
    /// A row, or a name in a row, that no crate of the workspace has.
    NoCrate { name: String, place: String },
    /// A dependency that the row of its crate does not grant.
    Edge { edge: Edge, granted: Vec<String> },
    /// A dependency on a crate that only others may use.
    Reserved { edge: Edge, used_by: Vec<String> },
    /// A row that grants a crate which only others may use.
    ReservedRow { from: String, to: String },
    /// A forbidden package under a pure crate, with the way down to it.
    Impure { way: Vec<String>, in_tests: bool },
}

/// A dependency of one crate of the workspace on another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    from: String,
    to: String,
    kind: &'static str,
}

/// Compares the tables of the root manifest with the graph.
///
/// # Errors
///
/// Fails when the tables cannot be read.
pub(super) fn violations(metadata: &Metadata) -> Result<Vec<Violation>> {
    let tables = Tables::from_metadata(&metadata.workspace_metadata)?;
    let members: BTreeSet<&str> = metadata
        .workspace_packages()
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let mut found = rows(&tables, &members);
    found.extend(edges(&tables, metadata, &members));
    found.extend(impurities(&tables.pure, metadata)?);
    found.sort();
    found.dedup();
    Ok(found)
}

/// Compares the rows, and the names in them, with the crates that exist.
fn rows(tables: &Tables, members: &BTreeSet<&str>) -> Vec<Violation> {
    let mut found = Vec::new();
    for name in members {
        if !tables.layers.contains_key(*name) {
            let name = (*name).to_owned();
            found.push(Violation::NoRow { name });
        }
    }
    let mut expect = |name: &String, place: String| {
        if !members.contains(name.as_str()) {
            let name = name.clone();
            found.push(Violation::NoCrate { name, place });
        }
    };
    for (name, row) in &tables.layers {
        expect(name, "a row of [workspace.metadata.layers]".to_owned());
        for other in &row.uses {
            expect(other, format!("`uses` of the row {name}"));
        }
        for other in &row.dev {
            expect(other, format!("`dev` of the row {name}"));
        }
        for other in row.used_by.iter().flatten() {
            expect(other, format!("`used-by` of the row {name}"));
        }
    }
    for name in &tables.pure.crates {
        expect(name, "`crates` of [workspace.metadata.pure]".to_owned());
    }
    for (from, row) in &tables.layers {
        for to in row.uses.union(&row.dev) {
            if reserved_for(tables, to).is_some_and(|only| !only.contains(from)) {
                found.push(Violation::ReservedRow {
                    from: from.clone(),
                    to: to.clone(),
                });
            }
        }
    }
    found
}

/// Compares what each manifest declares with what its row grants.
///
/// Declared, not resolved: an optional or platform-bound dependency counts too.
fn edges(tables: &Tables, metadata: &Metadata, members: &BTreeSet<&str>) -> Vec<Violation> {
    let mut found = Vec::new();
    for package in metadata.workspace_packages() {
        let from = package.name.as_str();
        let Some(row) = tables.layers.get(from) else {
            continue;
        };
        for dependency in &package.dependencies {
            let to = dependency.name.as_str();
            if !members.contains(to) {
                continue;
            }
            let is_dev = dependency.kind == DependencyKind::Development;
            let edge = Edge {
                from: from.to_owned(),
                to: to.to_owned(),
                kind: kind_name(dependency.kind),
            };
            if !(row.uses.contains(to) || is_dev && row.dev.contains(to)) {
                let dev = row.dev.iter().filter(|_| is_dev);
                found.push(Violation::Edge {
                    edge: edge.clone(),
                    granted: row.uses.iter().chain(dev).cloned().collect(),
                });
            }
            if let Some(only) = reserved_for(tables, to)
                && !only.contains(from)
            {
                found.push(Violation::Reserved {
                    edge,
                    used_by: only.iter().cloned().collect(),
                });
            }
        }
    }
    found
}

fn reserved_for<'a>(tables: &'a Tables, name: &str) -> Option<&'a BTreeSet<String>> {
    tables.layers.get(name)?.used_by.as_ref()
}

fn kind_name(kind: DependencyKind) -> &'static str {
    match kind {
        DependencyKind::Development => "dev-dependency",
        DependencyKind::Build => "build-dependency",
        _ => "dependency",
    }
}

/// Walks the resolved graph down from each pure crate.
fn impurities(pure: &Pure, metadata: &Metadata) -> Result<Vec<Violation>> {
    let graph = Graph::new(metadata)?;
    let mut found = Vec::new();
    for package in metadata.workspace_packages() {
        if !pure.crates.contains(package.name.as_str()) {
            continue;
        }
        for (forbidden, in_tests) in [(&pure.forbidden, false), (&pure.forbidden_in_tests, true)] {
            let ways = graph.ways(&package.id, forbidden, in_tests).into_iter();
            found.extend(ways.map(|way| Violation::Impure { way, in_tests }));
        }
    }
    Ok(found)
}

/// The resolved graph, with every feature on and for every platform.
struct Graph<'a> {
    names: BTreeMap<&'a PackageId, &'a str>,
    below: BTreeMap<&'a PackageId, &'a [NodeDep]>,
}

impl<'a> Graph<'a> {
    fn new(metadata: &'a Metadata) -> Result<Self> {
        let resolve = metadata
            .resolve
            .as_ref()
            .context("cargo metadata printed no resolved graph")?;
        let packages = metadata.packages.iter();
        let nodes = resolve.nodes.iter();
        Ok(Self {
            names: packages.map(|p| (&p.id, p.name.as_str())).collect(),
            below: nodes.map(|node| (&node.id, node.deps.as_slice())).collect(),
        })
    }

    /// Finds the shortest way from `top` to each forbidden package.
    ///
    /// With `tests`, the dev-dependencies of `top` are walked (those alone: what lies
    /// under its other dependencies is the business of the stricter walk).
    fn ways(&self, top: &PackageId, forbidden: &BTreeSet<String>, tests: bool) -> Vec<Vec<String>> {
        let mut from: BTreeMap<&PackageId, &PackageId> = BTreeMap::new();
        let mut queue = VecDeque::from([top]);
        let mut found = Vec::new();
        while let Some(id) = queue.pop_front() {
            for dependency in self.below.get(id).copied().unwrap_or_default() {
                let wanted = |kind| (kind == DependencyKind::Development) == (tests && id == top);
                let walked = dependency.dep_kinds.iter().any(|info| wanted(info.kind));
                let next = &dependency.pkg;
                if !walked || next == top || from.contains_key(next) {
                    continue;
                }
                from.insert(next, id);
                queue.push_back(next);
                if forbidden.contains(self.names[next]) {
                    found.push(self.way(&from, top, next));
                }
            }
        }
        found
    }

    fn way(
        &self,
        from: &BTreeMap<&PackageId, &PackageId>,
        top: &PackageId,
        bottom: &PackageId,
    ) -> Vec<String> {
        let mut way = vec![self.names[bottom].to_owned()];
        let mut at = bottom;
        while at != top {
            at = from[at];
            way.push(self.names[at].to_owned());
        }
        way.reverse();
        way
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRow { name } => write!(
                f,
                "{name} has no row: add `{name} = {{ uses = [] }}` to [workspace.metadata.layers]"
            ),
            Self::NoCrate { name, place } => {
                write!(f, "{name}, named in {place}, is no crate of the workspace")
            }
            Self::Edge { edge, granted } if granted.is_empty() => {
                write!(f, "{edge} is forbidden: its row grants nothing")
            }
            Self::Edge { edge, granted } => write!(
                f,
                "{edge} is forbidden: its row grants only {}",
                granted.join(", ")
            ),
            Self::Reserved { edge, used_by } => write!(
                f,
                "{edge} is forbidden: {} may be used by {} alone",
                edge.to,
                used_by.join(", ")
            ),
            Self::ReservedRow { from, to } => write!(
                f,
                "the row {from} grants {to}, whose `used-by` does not name {from}"
            ),
            Self::Impure { way, in_tests } => {
                let top = &way[0];
                let place = if *in_tests { " and its tests" } else { "" };
                write!(
                    f,
                    "{top}{place} must stay pure, but it reaches a forbidden package: {}",
                    way.join(" -> ")
                )
            }
        }
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {} ({})", self.from, self.to, self.kind)
    }
}
