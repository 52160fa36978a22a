//! External memory: ports, bursts, and new tokens on their way to it.

pub(super) mod burst;
pub(super) mod memory_port;
pub(super) mod new_token;
pub(super) mod patch;
