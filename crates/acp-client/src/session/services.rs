//! The files and terminals of one session.

use std::sync::Arc;

use crate::files::{DynReadFiles, DynWriteFiles};
use crate::folders::SessionFolders;
use crate::options::ClientOptions;
use crate::terminal::TerminalRequests;

/// The files and terminals of one session, until it ends.
///
/// Whoever serves a request holds a part of it; such requests end with the session,
/// so nothing of it is left soon afterwards.
#[derive(Default)]
pub(crate) struct Services {
    pub(crate) read_files: Option<Arc<dyn DynReadFiles>>,
    pub(crate) write_files: Option<Arc<dyn DynWriteFiles>>,
    pub(crate) terminals: Option<Arc<dyn TerminalRequests>>,
}

impl Services {
    /// Opens what is configured, for a session that works in these folders.
    pub(super) async fn open(options: &ClientOptions, folders: &SessionFolders) -> Self {
        let mut services = Self {
            read_files: options.read_files.clone(),
            write_files: options.write_files.clone(),
            terminals: None,
        };
        if let Some(files) = &options.session_files {
            let (read, write) = files.open.open_boxed(folders).await;
            services.read_files.get_or_insert(read);
            if files.writable {
                services.write_files.get_or_insert(write);
            }
        }
        if let Some(terminals) = &options.terminals {
            services.terminals = Some(terminals.open_boxed(folders).await);
        }
        services
    }
}
