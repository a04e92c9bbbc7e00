//! Drives any agent of the Agent Client Protocol.
