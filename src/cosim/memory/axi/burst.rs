//! Rules for a single burst.

use super::signals::{Limits, Request};

/// Size of the blocks whose borders a burst may not cross (A3.4.1).
const PAGE: u64 = 4096;
/// AxBURST of an incrementing burst.
const INCREMENTING: u32 = 1;

/// Rules that a burst breaks.
pub(super) fn faults(request: &Request, limits: &Limits) -> Vec<String> {
    let beats = request.len + 1;
    let bytes = u64::from(beats) * u64::from(limits.beat_bytes);
    let last = request.address.saturating_add(bytes - 1);
    let most = format!("the burst has more than {} beats", limits.beats);
    let rules = [
        (request.burst != INCREMENTING, "the burst does not increment"),
        (1 << request.size.min(31) != limits.beat_bytes, "a beat is not as wide as the bus"),
        (beats > limits.beats, &most),
        (!request.address.is_multiple_of(u64::from(limits.beat_bytes)), "the address is inside a beat"),
        (request.address / PAGE != last / PAGE, "the burst crosses a border of 4 KiB (A3.4.1)"),
    ];
    let broken = rules.into_iter().filter(|(broken, _)| *broken);
    broken.map(|(_, rule)| format!("{rule}: {request:x?}")).collect()
}
