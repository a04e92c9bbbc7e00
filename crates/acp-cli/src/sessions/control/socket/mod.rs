//! Sockets that only their owner reaches.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as platform;

#[cfg(not(unix))]
mod other;
#[cfg(not(unix))]
use other as platform;

pub(super) use platform::{Listener, Stream, connect, same_user};

pub(crate) use platform::overlong_path;
