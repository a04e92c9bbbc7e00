//! Writes a file of a session. Blocks.

use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use crate::error::ServeError;
use crate::folders::{FolderPath, Roots, explain, may_be_misspelled};
use crate::protected::ProtectedPaths;

/// How often a path is followed anew when it changes while it is used.
const ROUNDS: usize = 16;
/// How many names are tried for the new file before it takes its place.
const NAMES: usize = 8;

/// Where an agent may write.
pub(super) struct WriteAccess<'a> {
    pub(super) protected: &'a ProtectedPaths,
    /// A protected place that a person allowed, without links.
    pub(super) allowed: Option<&'a Path>,
}

/// Why a file was not written.
pub(super) enum WriteRefusal {
    /// This place is protected, and nobody allowed it.
    Protected(crate::protected::ProtectedPath, PathBuf),
    Failed(ServeError),
}

impl<T: Into<ServeError>> From<T> for WriteRefusal {
    fn from(error: T) -> Self {
        Self::Failed(error.into())
    }
}

/// Writes a text file: a new file that takes the place of the old one in one step.
///
/// Whoever reads meanwhile gets the old text or the new one. Another name of the
/// old file (a hard link, which may lie anywhere) keeps the old text.
pub(super) fn write(
    roots: &Roots,
    path: &Path,
    access: &WriteAccess<'_>,
    content: &[u8],
    stopped: impl Fn() -> bool,
) -> Result<(), WriteRefusal> {
    for _ in 0..ROUNDS {
        if stopped() {
            return Err(io::Error::from(io::ErrorKind::Interrupted).into());
        }
        // All links are followed here, and none is below: the place that was judged is the
        // one that is written.
        let place = roots.resolve(path)?.place;
        access.check(path, &place)?;
        match replace(&place, content, &stopped) {
            Ok(WriteOutcome::Written) => return Ok(()),
            Ok(WriteOutcome::NotAFile) => {
                let path = path.to_path_buf();
                return Err(ServeError::NotAFile { path }.into());
            }
            Ok(WriteOutcome::Moved) => {}
            Err(error) if may_be_misspelled(&error) => {}
            Err(error) => return Err(explain(path, error).into()),
        }
    }
    Err(io::Error::other("the path changes all the time").into())
}

impl WriteAccess<'_> {
    /// Refuses a place that is protected: by its name, or by one on the way to it.
    fn check(&self, path: &Path, place: &FolderPath<'_>) -> Result<(), WriteRefusal> {
        let target = place.root.join(&place.below);
        if self.allowed == Some(&*target) {
            return Ok(());
        }
        let by_name = self.protected.find_followed(path);
        match by_name.or_else(|| self.protected.find_spelled(&target)) {
            None => Ok(()),
            Some(mut found) => {
                found.path = path.to_path_buf();
                found.target = Some(target.clone()).filter(|target| target != path);
                Err(WriteRefusal::Protected(found, target))
            }
        }
    }
}

enum WriteOutcome {
    Written,
    /// Something else than a regular file is there.
    NotAFile,
    /// A link has come into the way.
    Moved,
}

fn replace(
    place: &FolderPath<'_>,
    content: &[u8],
    stopped: &impl Fn() -> bool,
) -> io::Result<WriteOutcome> {
    let Some(name) = place.below.file_name().map(Path::new) else {
        return Ok(WriteOutcome::NotAFile);
    };
    let above = place.below.parent().unwrap_or(Path::new(""));
    let parent = open_parent(place.dir, above)?;
    let old = match parent.symlink_metadata(name) {
        Ok(old) if old.is_symlink() => return Ok(WriteOutcome::Moved),
        Ok(old) if !old.is_file() => return Ok(WriteOutcome::NotAFile),
        Ok(old) => {
            // A file that may not be written is not replaced either.
            check_writable(&parent, name, &old)?;
            Some(old)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let mut new = NewFile::create(&parent, old.as_ref())?;
    new.file.write_all(content)?;
    if let Some(old) = &old {
        keep_owner_and_mode(&new.file, old)?;
    }
    if stopped() {
        return Err(io::ErrorKind::Interrupted.into());
    }
    new.rename(name)?;
    Ok(WriteOutcome::Written)
}

/// Opens the folder of a file, and makes what is missing of it. Follows no link: one that
/// has come into the way since the path was judged may lead anywhere.
fn open_parent(root: &Dir, above: &Path) -> io::Result<Dir> {
    let mut dir = root.open_dir(".")?;
    for part in above.components() {
        let Component::Normal(name) = part else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let name = Path::new(name);
        dir = match open_folder(&dir, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => match dir.create_dir(name) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(error);
                }
                _ => open_folder(&dir, name)?,
            },
            opened => opened?,
        };
    }
    Ok(dir)
}

/// Opens a folder, and no link to one.
#[cfg(unix)]
fn open_folder(dir: &Dir, name: &Path) -> io::Result<Dir> {
    use rustix::fs::{Mode, OFlags, openat};
    use rustix::io::Errno;

    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(dir, name, flags, Mode::empty()) {
        Ok(folder) => Ok(Dir::from_std_file(folder.into())),
        // A link, or a file that has come there since: looked at again.
        Err(Errno::NOTDIR) => Err(Errno::LOOP.into()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn open_folder(dir: &Dir, name: &Path) -> io::Result<Dir> {
    match dir.symlink_metadata(name)?.is_symlink() {
        true => Err(io::ErrorKind::NotFound.into()),
        false => dir.open_dir(name),
    }
}

/// The new text, under a name of its own; removed again unless it is renamed.
struct NewFile<'a> {
    parent: &'a Dir,
    name: String,
    file: File,
    renamed: bool,
}

impl<'a> NewFile<'a> {
    fn create(parent: &'a Dir, old: Option<&Metadata>) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if old.is_some() {
            only_for_owner(&mut options);
        }
        let mut tried = 0;
        loop {
            let name = format!(".acp-{:016x}.tmp", random()?);
            match parent.open_with(&name, &options) {
                Ok(file) => {
                    return Ok(Self {
                        parent,
                        name,
                        file,
                        renamed: false,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tried < NAMES => {
                    tried += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Puts it in the place of what has this name, which is never followed.
    fn rename(mut self, name: &Path) -> io::Result<()> {
        self.parent.rename(&self.name, self.parent, name)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for NewFile<'_> {
    fn drop(&mut self) {
        if !self.renamed
            && let Err(error) = self.parent.remove_file(&self.name)
        {
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "a file that was not finished stays behind"
            );
        }
    }
}

fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(unix)]
fn check_writable(parent: &Dir, name: &Path, _: &Metadata) -> io::Result<()> {
    use rustix::fs::{Access, AtFlags, accessat};

    Ok(accessat(parent, name, Access::WRITE_OK, AtFlags::EACCESS)?)
}

#[cfg(not(unix))]
fn check_writable(_: &Dir, _: &Path, old: &Metadata) -> io::Result<()> {
    match old.permissions().readonly() {
        true => Err(io::ErrorKind::PermissionDenied.into()),
        false => Ok(()),
    }
}

/// The text of a file that others may not read is at no moment theirs to read.
#[cfg(unix)]
fn only_for_owner(options: &mut OpenOptions) {
    use cap_std::fs::OpenOptionsExt as _;

    options.mode(0o600);
}

#[cfg(not(unix))]
fn only_for_owner(_: &mut OpenOptions) {}

/// Gives the new file the owner, where the system lets us, and the mode of the old.
#[cfg(unix)]
fn keep_owner_and_mode(new: &File, old: &Metadata) -> io::Result<()> {
    use cap_std::fs::{MetadataExt as _, Permissions, PermissionsExt as _};
    use rustix::fs::{Gid, Uid, fchown};

    let now = new.metadata()?;
    if (now.uid(), now.gid()) != (old.uid(), old.gid()) {
        let (owner, group) = (Uid::from_raw(old.uid()), Gid::from_raw(old.gid()));
        // Only a privileged process gives files away; it is ours then.
        let _ = fchown(new, Some(owner), Some(group));
    }
    // The bits that lend a program rights fall away, as with any write.
    new.set_permissions(Permissions::from_mode(old.mode() & 0o777))
}

#[cfg(not(unix))]
fn keep_owner_and_mode(new: &File, old: &Metadata) -> io::Result<()> {
    new.set_permissions(old.permissions())
}
