//! Public type names, which are unique in the workspace: one name means one thing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::table::Names;
use crate::source::SourceTree;

/// Returns the names that several public types share, each with its places, and the entries
/// of the list of exceptions that no duplicate needs.
pub(super) fn check(trees: &[SourceTree], names: &Names, root: &Path) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for tree in trees {
        // Twins for several systems are one type.
        let mut twins = BTreeSet::new();
        for module in &tree.modules {
            for (name, place) in &module.types {
                if module.of_one_system && !twins.insert(name) {
                    continue;
                }
                let file = place.file.strip_prefix(root).unwrap_or(&place.file);
                let place = format!("{}:{}", file.display(), place.line);
                places.entry(name).or_default().push(place);
            }
        }
    }
    places.retain(|_, places| places.len() > 1);
    let stale = names.shared.keys();
    let stale = stale.filter(|name| !places.contains_key(name.as_str()));
    let stale =
        stale.map(|name| format!("`{name}` of [workspace.metadata.names] is shared by nobody"));
    let shared = places.iter();
    let shared = shared.filter(|(name, _)| !names.shared.contains_key(**name));
    let shared = shared.map(|(name, places)| {
        format!(
            "{} public types are called `{name}`: {}",
            places.len(),
            places.join(", ")
        )
    });
    shared.chain(stale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::sample;

    #[test]
    fn a_shared_name_is_found_and_an_idle_exception_too() {
        let trees = [
            sample(&[(
                "lib.rs",
                "pub struct Taken;\nstruct Own;\npub enum Fine {}\n",
            )]),
            sample(&[
                (
                    "lib.rs",
                    "#[cfg(unix)] mod a;\n#[cfg(windows)] mod b;\nstruct Own;\n#[cfg(test)] pub struct Fine;\n",
                ),
                (
                    "a.rs",
                    "pub type Taken = ();\npub trait Twin {}\npub enum Error {}\n",
                ),
                ("b.rs", "pub struct Twin;\n"),
            ]),
            sample(&[("lib.rs", "pub enum Error {}\n")]),
        ];
        let reason = |name: &str| (name.to_owned(), "each crate's own".to_owned());
        let names = Names {
            shared: ["Error", "Gone"].map(reason).into(),
        };
        assert_eq!(
            check(&trees, &names, Path::new("/")),
            [
                "2 public types are called `Taken`: lib.rs:1, a.rs:1",
                "`Gone` of [workspace.metadata.names] is shared by nobody",
            ]
        );
    }
}
