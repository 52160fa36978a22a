//! Records of the packets and flits under way.

use crate::cosim::tile_set::TileSet;
use crate::cosim::traffic::packet::Packet;

/// Low bits of a flit's key, which are the slot of its record; the bits above count flits.
pub(super) const SLOT_BITS: u32 = 24;

#[derive(Debug, Clone, Copy)]
pub(super) struct PacketRecord {
    pub(super) packet: Packet,
    /// Number of the packet, and of its tag unless a trace set another.
    pub(super) serial: u64,
    /// Deliveries still to come, of any flit to any tile.
    pub(super) left: u32,
    /// Cycle in which its first flit may leave; later the cycle in which it has left.
    pub(super) entered: u64,
    pub(super) in_network: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct FlitRecord {
    pub(super) key: u64,
    pub(super) packet: u32,
    pub(super) index: u32,
    pub(super) headed: u64,
    /// Key of the flit before it in its packet.
    pub(super) before: Option<u64>,
    pub(super) all: TileSet,
    pub(super) left: TileSet,
}

/// Slot of the record of the flit with this key.
pub(super) fn slot_of(key: u64) -> u32 {
    (key & ((1 << SLOT_BITS) - 1)) as u32
}
