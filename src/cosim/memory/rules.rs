//! What a master must keep to at a read address channel, and what meshkv promises beyond AXI4.

use super::super::violation::{ViolationKind, Violations};
use super::Shape;
use std::collections::BTreeMap;

/// Bytes that a burst may not cross the border of (AXI4, A3.4.1).
const PAGE: u64 = 4096;
/// Beats of the longest burst that any U280 memory port takes (AXI3 behind the HBM switch).
const LONGEST: u32 = 16;
/// ARBURST of an incrementing burst.
const INCREMENTING: u32 = 1;

/// A read request as it stands on the wires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// ARID.
    pub id: u32,
    /// ARADDR.
    pub address: u64,
    /// ARLEN: beats less one.
    pub len: u32,
    /// ARSIZE: log2 of the bytes of a beat.
    pub size: u32,
    /// ARBURST.
    pub burst: u32,
}

/// One master, as its port sees it.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// The request that stood there and was not taken.
    held: Option<Request>,
    /// Requests that wait for their last beat, by ID.
    outstanding: BTreeMap<u32, u32>,
}

impl Rules {
    /// The last beat of a request was taken.
    pub(super) fn answered(&mut self, id: u32) {
        if let Some(count) = self.outstanding.get_mut(&id) {
            *count -= 1;
            if *count == 0 {
                self.outstanding.remove(&id);
            }
        }
    }

    /// Judges what stands on the wires; `taken` if the port takes it.
    pub(super) fn judge(
        &mut self,
        port: usize,
        cycle: u64,
        request: Option<Request>,
        taken: bool,
        shape: &Shape,
        violations: &mut Violations,
    ) {
        let mut broken = |what: String| {
            violations.add(ViolationKind::Protocol, || format!("cycle {cycle}: memory port {port}, {what}"));
        };
        if let Some(held) = self.held.filter(|held| request != Some(*held)) {
            let now = request.map_or("is gone".to_owned(), |r| format!("has become {r:x?}"));
            broken(format!("the request {held:x?} was not taken and {now}"));
        }
        self.held = request.filter(|_| !taken);
        let Some(request) = request.filter(|_| taken) else { return };
        for rule in faults(&request, shape) {
            broken(format!("{rule}: {request:x?}"));
        }
        let count = self.outstanding.entry(request.id).or_default();
        *count += 1;
        if *count > 1 {
            broken(format!("ID {:#x} is used for a second request before the first has ended", request.id));
        }
    }
}

/// The rules that a request breaks by itself.
fn faults(request: &Request, shape: &Shape) -> Vec<&'static str> {
    let beats = request.len + 1;
    let bytes = u64::from(beats) * u64::from(shape.flit_bytes);
    let end = request.address.saturating_add(bytes);
    let last = end.saturating_sub(1);
    let rules = [
        (request.burst != INCREMENTING, "the burst does not increment"),
        (1 << request.size.min(31) != shape.flit_bytes, "a beat is not a flit"),
        (beats > LONGEST, "the burst has more than 16 beats"),
        (beats > shape.burst_flits, "the burst is longer than the design says"),
        (!request.address.is_multiple_of(u64::from(shape.flit_bytes)), "the address is inside a flit"),
        (request.address / PAGE != last / PAGE, "the burst crosses a border of 4 KiB"),
        (last / shape.slice_bytes >= shape.slices, "the burst is outside the homes' regions"),
        (request.address / shape.slice_bytes != last / shape.slice_bytes, "the burst leaves its slice"),
    ];
    rules.into_iter().filter(|(broken, _)| *broken).map(|(_, rule)| rule).collect()
}
