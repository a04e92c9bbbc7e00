//! Serves a product to every client of the Agent Client Protocol.
