//! Starting what a launch describes.

use crate::launch::{Launch, SpawnError};
use crate::platform::{self, Child};
use crate::sandbox::{OsSandbox, SandboxError};

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

impl OsSandbox {
    /// Checks that a child can be held here as this says.
    ///
    /// # Errors
    ///
    /// [`SandboxError`] with what is missing, or the grant that would give too much. That
    /// an account may not make a sandbox shows only when a child is started.
    pub fn check(&self) -> Result<(), SandboxError> {
        self.grants()?;
        platform::check_sandbox()
    }
}
