//! A port of a memory: bursts that wait, and the one that is answered.

/// A burst that was requested from a port.
pub(super) struct Burst {
    pub(super) ready: u64,
    pub(super) id: u64,
    pub(super) address: u64,
    pub(super) beats: u64,
    pub(super) bad: bool,
}

/// The state of a memory port.
#[derive(Default)]
pub(super) struct Port {
    pub(super) waiting: Vec<Burst>,
    /// The burst that is being answered, and its next beat.
    pub(super) answering: Option<(Burst, u64)>,
}
