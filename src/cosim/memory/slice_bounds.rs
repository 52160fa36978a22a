//! meshkv's promise for its reads beyond AXI4: a read stays inside one slice.

use super::axi::Request;
use super::behaviour::Shape;

/// Promises that a request at this address of the memory breaks.
pub(super) fn faults(request: &Request, shape: &Shape) -> impl Iterator<Item = String> {
    let beats = request.len + 1;
    let bytes = u64::from(beats) * u64::from(shape.flit_bytes);
    let last = request.address.saturating_add(bytes - 1);
    let [from, to] = [request.address, last].map(|address| shape.slice_at(address).map(|(number, _)| number));
    let rules = [
        (beats > shape.burst_flits, "the burst is longer than the design says"),
        (to.is_none(), "the burst is outside the homes' regions"),
        (from != to, "the burst leaves its slice"),
    ];
    let request = *request;
    rules.into_iter().filter(|(broken, _)| *broken).map(move |(_, rule)| format!("{rule}: {request:x?}"))
}
