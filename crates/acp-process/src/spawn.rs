//! Starting what a launch describes.

use crate::launch::{Launch, SpawnError};
use crate::platform::{self, Child};

impl Launch {
    /// Starts the child.
    ///
    /// Blocks for the few milliseconds that starting a process takes. When it
    /// returns an error, nothing is left running.
    ///
    /// # Errors
    ///
    /// [`SpawnError`]; a launch that does not [`validate`](Self::validate) and
    /// an unsupported system are refused before anything is started.
    pub fn spawn(&self) -> Result<Child, SpawnError> {
        self.validate()?;
        platform::spawn(self)
    }
}
