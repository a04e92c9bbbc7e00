//! Sockets in the file system.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use acp_harness::files;
use rustix::process::getuid;
use tokio::net::{UnixListener, UnixStream};

pub(crate) type Stream = UnixStream;

/// Bytes that a path may have on every system.
const MAX_PATH: usize = 103;

/// Listens at a path.
#[derive(Debug)]
pub(crate) struct Listener(UnixListener);

impl Listener {
    /// Takes the path, whatever lies there.
    pub(crate) fn bind(path: &Path) -> io::Result<Self> {
        let folder = path.parent().unwrap_or(path);
        files::make_folder(folder)?;
        let owner = fs::symlink_metadata(folder)?;
        if !owner.is_dir() || owner.uid() != getuid().as_raw() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        files::remove(path)?;
        let listener = UnixListener::bind(path)?;
        // Until now the folder and the peer's name have kept others out.
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        Ok(Self(listener))
    }

    /// Gives the path up.
    pub(crate) fn remove(path: &Path) {
        // One that is left is taken by the next, and leads nobody anywhere.
        let _ = files::remove(path);
    }

    pub(crate) async fn accept(&self) -> io::Result<Stream> {
        self.0.accept().await.map(|(stream, _)| stream)
    }
}

pub(crate) async fn connect(path: &Path) -> io::Result<Stream> {
    UnixStream::connect(path).await
}

/// Tells whether the other side is a process of this user.
pub(crate) fn same_user(stream: &Stream) -> bool {
    stream
        .peer_cred()
        .is_ok_and(|peer| peer.uid() == getuid().as_raw())
}

/// Returns where a socket is that a path is too long for; `None` when it is not.
///
/// The folder is another one for each user, and whoever connects looks who listens.
pub(crate) fn overlong_path(path: &Path, name: &str) -> Option<PathBuf> {
    (path.as_os_str().len() > MAX_PATH).then(|| {
        let folder = format!("acp-{}", getuid().as_raw());
        Path::new("/tmp").join(folder).join(name)
    })
}
