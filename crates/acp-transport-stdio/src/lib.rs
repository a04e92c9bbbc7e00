//! Drives an Agent Client Protocol connection over byte streams, stdio and child processes.
