//! Folders, where files have neither owners nor modes as on Unix.

use std::path::Path;

use super::{IsolationError, inner};

/// Makes what is missing, and refuses links; permissions are those of the folder above.
pub(super) fn make(root: &Path, user: &str, agent: &str) -> Result<(), IsolationError> {
    let user = root.join(user);
    let home = user.join(agent);
    for path in [root, &user, &home] {
        let io = |source| IsolationError::Io {
            path: path.to_owned(),
            source,
        };
        std::fs::create_dir_all(path).map_err(io)?;
        if !path.symlink_metadata().map_err(io)?.is_dir() {
            let path = path.to_owned();
            return Err(IsolationError::NotAFolder { path });
        }
    }
    for steps in inner() {
        let mut path = home.clone();
        path.extend(steps);
        std::fs::create_dir_all(&path).map_err(|source| IsolationError::Io { path, source })?;
    }
    Ok(())
}
