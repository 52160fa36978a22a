//! Flits on packed ports, for the whole fabric and for its nodes.

use super::packed::Ports;
use crate::model::cycle::mare::{KvFlit, PartFlit};

/// Writes a flit for PaD to valid, tag, index, mask and data.
pub(super) fn show_kv(ports: &mut Ports, at: [Option<usize>; 5], tile: usize, kv: Option<&KvFlit>) {
    let [valid, tag, index, mask, data] = at;
    ports.put(valid, tile, kv.is_some());
    let Some(kv) = kv else { return };
    ports.put(tag, tile, kv.tag);
    ports.put(index, tile, kv.index);
    ports.put(mask, tile, kv.mask);
    ports.put(data, tile, kv.data);
}

/// Reads a flit of PART from first, last, others and data. The caller adds stream, layer and head.
pub(super) fn part(ports: &Ports, at: [Option<usize>; 4], tile: usize) -> PartFlit {
    let [first, last, others, data] = at;
    PartFlit {
        first: ports.bit(first, tile),
        last: ports.bit(last, tile),
        others: ports.get32(others, tile),
        data: ports.get(data, tile),
        ..PartFlit::default()
    }
}

/// Writes a flit of PART.
pub(super) fn show_part(ports: &mut Ports, at: [Option<usize>; 4], tile: usize, part: &PartFlit) {
    let [first, last, others, data] = at;
    ports.put(first, tile, part.first);
    ports.put(last, tile, part.last);
    ports.put(others, tile, part.others);
    ports.put(data, tile, part.data);
}
