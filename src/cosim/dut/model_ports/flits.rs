//! Flits on packed ports, as the whole fabric and its nodes alike have them.

use super::packed::Ports;
use crate::model::cycle::mare::{KvFlit, PartFlit};

/// Shows a flit for what computes on valid, tag, index, mask and data.
pub(super) fn show_kv(ports: &mut Ports, at: [Option<usize>; 5], tile: usize, kv: Option<&KvFlit>) {
    let [valid, tag, index, mask, data] = at;
    ports.put(valid, tile, kv.is_some());
    let Some(kv) = kv else { return };
    ports.put(tag, tile, kv.tag);
    ports.put(index, tile, kv.index);
    ports.put(mask, tile, kv.mask);
    ports.put(data, tile, kv.data);
}

/// A flit of PART from first, last, alone and data; whose it is, is for the caller to add.
pub(super) fn part(ports: &Ports, at: [Option<usize>; 4], tile: usize) -> PartFlit {
    let [first, last, alone, data] = at;
    PartFlit {
        first: ports.bit(first, tile),
        last: ports.bit(last, tile),
        alone: ports.bit(alone, tile),
        data: ports.get(data, tile),
        ..PartFlit::default()
    }
}

/// Shows the same.
pub(super) fn show_part(ports: &mut Ports, at: [Option<usize>; 4], tile: usize, part: &PartFlit) {
    let [first, last, alone, data] = at;
    ports.put(first, tile, part.first);
    ports.put(last, tile, part.last);
    ports.put(alone, tile, part.alone);
    ports.put(data, tile, part.data);
}
