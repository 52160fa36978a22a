//! Valid stays high, with a stable payload, until ready (A3.2.1).

use super::signals::{Findings, Wires};
use std::fmt::Debug;

/// Payload of a channel that was valid and not ready.
#[derive(Debug)]
pub(super) struct Held<T> {
    channel: &'static str,
    waits: Option<T>,
}

impl<T: Clone + PartialEq + Debug> Held<T> {
    pub(super) fn new(channel: &'static str) -> Held<T> {
        Held { channel, waits: None }
    }

    /// Judges the next period. Returns the payload if this is its first period.
    pub(super) fn judge<'w>(&mut self, wires: Wires<&'w T>, found: &mut Findings) -> Option<&'w T> {
        let shown = wires.shown;
        let fresh = self.waits.is_none();
        if let Some(waits) = self.waits.as_ref().filter(|waits| shown != Some(*waits)) {
            let now = shown.map_or("is gone".to_owned(), |now| format!("has become {now:x?}"));
            found.add(self.channel, format_args!("{waits:x?} was not taken and {now} (A3.2.1)"));
        }
        if wires.ready {
            self.waits = None;
        } else if self.waits.as_ref() != shown {
            self.waits = shown.cloned();
        }
        shown.filter(|_| fresh)
    }
}
