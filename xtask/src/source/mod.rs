//! The modules of a crate, read from its source: files, code lines, names and paths.
//!
//! Code under `cfg(test)` is left out. Modules of several platforms that share a name count
//! as one.

mod paths;
mod read;
mod resolve;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Result;
use cargo_metadata::{Package, TargetKind};

/// The modules of one library or program; the first is its root.
pub(crate) struct SourceTree {
    /// The same, and the name of its program where it has both.
    pub(crate) name: String,
    pub(crate) modules: Vec<Module>,
}

/// One module.
#[derive(Default)]
pub(crate) struct Module {
    /// Its names from the root of the crate; none for the root.
    pub(crate) path: Vec<String>,
    /// Whether it, or a module around it, is built for some systems alone.
    pub(crate) of_one_system: bool,
    parent: usize,
    children: BTreeMap<String, usize>,
    pub(crate) files: BTreeSet<PathBuf>,
    /// Lines that hold code, comments and blank lines left out.
    pub(crate) lines: usize,
    /// The types that it defines and that are `pub`.
    pub(crate) types: Vec<(String, Place)>,
    /// The names that it defines.
    items: BTreeSet<String>,
    /// The names that it imports, each with its path.
    imports: BTreeMap<String, Vec<String>>,
    /// The modules from which it imports everything.
    globs: Vec<Vec<String>>,
    /// Every path that stands in its code.
    mentions: Vec<(Vec<String>, Place)>,
}

/// A line of a file.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
}

/// A path in one module that names another module, or what is defined there.
pub(crate) struct Edge {
    pub(crate) to: usize,
    pub(crate) path: String,
    pub(crate) place: Place,
}

impl SourceTree {
    /// Reads the library and the programs of a package.
    ///
    /// # Errors
    ///
    /// Fails when a file of a module is missing or is no Rust.
    pub(crate) fn of_package(package: &Package) -> Result<Vec<Self>> {
        let built = [TargetKind::Lib, TargetKind::Bin, TargetKind::ProcMacro];
        let targets = package.targets.iter();
        targets
            .filter(|target| target.kind.iter().any(|kind| built.contains(kind)))
            .map(|target| {
                let program = target.is_bin() && package.targets.iter().any(|other| other.is_lib());
                let name = match program {
                    true => format!("{} (program {})", package.name, target.name),
                    false => package.name.to_string(),
                };
                Self::of_file(name, target.src_path.as_std_path())
            })
            .collect()
    }

    /// Reads the crate whose root is this file.
    ///
    /// # Errors
    ///
    /// As [`SourceTree::of_package`].
    pub(crate) fn of_file(name: String, root: &Path) -> Result<Self> {
        Ok(Self {
            name,
            modules: read::read(root)?,
        })
    }

    /// The module at the top of the crate in which a module lies.
    pub(crate) fn room(&self, module: usize) -> &str {
        match self.modules[module].path.first() {
            Some(room) => room,
            None => "(root)",
        }
    }
}

impl Module {
    /// Its path as one would write it.
    pub(crate) fn name(&self) -> String {
        match self.path.as_slice() {
            [] => "(root)".to_owned(),
            path => path.join("::"),
        }
    }
}

/// Reads a crate of these files, which are named from the folder of its root.
#[cfg(test)]
pub(crate) fn sample(files: &[(&str, &str)]) -> SourceTree {
    let folder = tempfile::tempdir().expect("make a folder");
    for (name, text) in files {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().expect("it has a folder")).expect("make it");
        std::fs::write(file, text).expect("write the file");
    }
    let root = folder.path().join("lib.rs");
    let mut tree = SourceTree::of_file("sample".to_owned(), &root).expect("the sample can be read");
    for module in &mut tree.modules {
        let places = module.mentions.iter_mut().map(|(_, place)| place);
        for place in places.chain(module.types.iter_mut().map(|(_, place)| place)) {
            place.file = place
                .file
                .strip_prefix(folder.path())
                .expect("below it")
                .to_owned();
        }
    }
    tree
}
