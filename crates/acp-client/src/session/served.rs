//! What a client serves to one session.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::SessionFolders;
use crate::files::{DynReadFiles, DynWriteFiles};
use crate::options::{ClientOptions, FilesBy};
use crate::terminal::TerminalTable;

/// The files and terminals of one session, until it ends.
///
/// Whoever serves a request holds a part of it; such requests end with the session,
/// so nothing of it is left soon afterwards.
#[derive(Default)]
pub(crate) struct Served {
    parts: Mutex<Parts>,
}

#[derive(Default)]
struct Parts {
    read_files: Option<Arc<dyn DynReadFiles>>,
    write_files: Option<Arc<dyn DynWriteFiles>>,
    terminals: Option<Arc<TerminalTable>>,
}

impl Served {
    /// Opens what is configured, for a session that works in these folders.
    pub(crate) async fn open(options: &ClientOptions, folders: &SessionFolders) -> Self {
        let (mut read, mut write) = (None, None);
        if let Some(files) = &options.files {
            let opened = files.open_boxed(folders).await;
            (read, write) = (Some(opened.0), Some(opened.1));
        }
        let terminals = match &options.terminals {
            Some(terminals) => {
                let terminals = terminals.open_boxed(folders).await;
                Some(Arc::new(TerminalTable::new(terminals)))
            }
            None => None,
        };
        let parts = Parts {
            read_files: chosen(options.read_files.as_ref(), read),
            write_files: chosen(options.write_files.as_ref(), write),
            terminals,
        };
        Self {
            parts: Mutex::new(parts),
        }
    }

    pub(crate) fn read_files(&self) -> Option<Arc<dyn DynReadFiles>> {
        self.parts.lock().read_files.clone()
    }

    pub(crate) fn write_files(&self) -> Option<Arc<dyn DynWriteFiles>> {
        self.parts.lock().write_files.clone()
    }

    pub(crate) fn terminals(&self) -> Option<Arc<TerminalTable>> {
        self.parts.lock().terminals.clone()
    }

    /// Ends it: files are closed and commands ended.
    pub(crate) fn end(&self) {
        let parts = std::mem::take(&mut *self.parts.lock());
        drop(parts);
    }
}

fn chosen<T: ?Sized>(by: Option<&FilesBy<T>>, opened: Option<Arc<T>>) -> Option<Arc<T>> {
    match by? {
        FilesBy::All(files) => Some(Arc::clone(files)),
        FilesBy::Session => opened,
    }
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served").finish_non_exhaustive()
    }
}
