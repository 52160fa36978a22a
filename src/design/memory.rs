//! The external memory behind the homes: its ports, how a slice lies in it, how fast it is.
//!
//! A slice is [`half_flits`](super::half_flits) flits of K rows and as many of V rows: row after
//! row, elements of FP16 little-endian, packed. Speed is a fact of the platform that co-simulation
//! needs; the fabric is built the same for any.

use super::{Design, Mare, Placement, PlacementKind};
use crate::config::Config;
use std::ops::Range;

/// Longest burst. A slice comes in many, so that two tiles of one port take turns.
const MOST_BURST_FLITS: u32 = 16;
/// AXI forbids a burst to cross an address boundary of this size.
const AXI_BOUNDARY: u32 = 4096;
/// Bits of the number of a burst under way of one tile, of which there are up to 8.
const BURST_SLOT_BITS: u32 = 3;

/// The memory as the fabric sees it. A beat of its bus is a flit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Memory {
    /// AXI4 read masters, one a pair of tiles `(2k, y)`, `(2k + 1, y)`. The port of tile (x, y) is
    /// `y * ceil(cols / 2) + x / 2`; with an odd number of columns the last tile of a row is alone.
    pub ports: u32,
    /// Beats of a burst: a power of two, so that no burst crosses a boundary of 4096 bytes.
    pub burst_flits: u32,
    /// Bits of a read's id: whether the tile is the eastern one of its pair, then the burst's slot.
    pub id_width: u32,
    /// Bits of an address.
    pub addr_width: u32,
    /// Bytes from one slice to the next.
    pub slice_bytes: u64,
    /// Share of a port in the bandwidth, in bytes a network cycle.
    pub bytes_per_cycle_port: f64,
    /// Network cycles from a read to its first beat without load.
    pub latency_cycles: u32,
}

impl Memory {
    /// As the configuration has it.
    pub(super) fn new(config: &Config, mare: &Mare, placement: &Placement) -> Memory {
        let flit_bytes = config.noc.flit_width / 8;
        let ports = Memory::ports_of(config.mesh.cols, config.mesh.rows);
        let burst_flits = MOST_BURST_FLITS.min(mare.chunk_flits).min(AXI_BOUNDARY / flit_bytes);
        let slice_bytes = slice_bytes(config);
        let bytes = slices(config, placement) * u128::from(slice_bytes);
        let cycles_per_ns = config.clock.noc_mhz / 1000.0;
        Memory {
            ports,
            burst_flits,
            id_width: 1 + BURST_SLOT_BITS,
            addr_width: (128 - (bytes - 1).leading_zeros()).min(64),
            slice_bytes,
            bytes_per_cycle_port: config.memory.bandwidth_gbs / cycles_per_ns / f64::from(ports),
            latency_cycles: (config.memory.latency_ns * cycles_per_ns).ceil() as u32,
        }
    }

    /// Ports of a mesh of so many columns and rows.
    pub fn ports_of(cols: u32, rows: u32) -> u32 {
        cols.div_ceil(2) * rows
    }

    /// The port of the tile in column `x` and row `y` of a mesh of `cols` columns.
    pub fn port(cols: u32, x: u32, y: u32) -> u32 {
        y * cols.div_ceil(2) + x / 2
    }
}

/// The pseudo-channels that a memory port is wired to where homes do not swap: ports spread evenly; where there are
/// more ports, neighbours share a channel.
pub fn channels_of(port: u32, ports: u32, channels: u32) -> Range<u32> {
    let first = port * channels / ports;
    first..((port + 1) * channels / ports).max(first + 1)
}

/// Bytes of one slice. Bursts divide chunks and chunks divide its halves, so it is whole bursts.
pub(super) fn slice_bytes(config: &Config) -> u64 {
    u64::from(super::slice_flits(config)) * u64::from(config.noc.flit_width / 8)
}

/// Slice numbers there are: each home has a region for every stream or prefix.
fn slices(config: &Config, placement: &Placement) -> u128 {
    [placement.homes(), config.model.max_streams, placement.blocks_of_home(), config.model.kv_heads]
        .into_iter()
        .map(u128::from)
        .product()
}

impl Design {
    /// The number of a slice in memory; `prefix` is the stream or shared prefix whose cache it is.
    ///
    /// The *logical* home counts: a swap moves who reads a slice, not where it lies.
    pub fn slice_number(&self, prefix: u32, layer: u32, segment: u32, kv_head: u32) -> u64 {
        let (placement, model) = (&self.placement, &self.config.model);
        let home = match placement.kind {
            PlacementKind::Hub => 0,
            PlacementKind::Takv | PlacementKind::RoundRobin => placement.home(layer, segment).index() as u64,
        };
        let region = home * u64::from(model.max_streams) + u64::from(prefix);
        let block =
            region * u64::from(placement.blocks_of_home()) + u64::from(placement.block(layer, segment));
        block * u64::from(model.kv_heads) + u64::from(kv_head)
    }

    /// The byte at which a slice begins.
    pub fn slice_address(&self, prefix: u32, layer: u32, segment: u32, kv_head: u32) -> u64 {
        self.slice_number(prefix, layer, segment, kv_head) * self.memory.slice_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn design(change: impl Fn(&mut Config)) -> Design {
        let mut config = Config::default();
        change(&mut config);
        Design::from_config("test", &config).unwrap()
    }

    #[test]
    fn the_reference_reads_through_32_ports_of_a_pseudo_channel_each() {
        let memory = design(|_| {}).memory;
        assert_eq!((memory.ports, memory.burst_flits, memory.id_width), (32, 16, 4));
        assert_eq!((memory.slice_bytes, memory.latency_cycles), (32 * 1024, 31));
        // 460 GB/s at 250 MHz are 1840 bytes a cycle; 8 caches of 16 GiB are 2^37 bytes.
        assert_eq!((memory.bytes_per_cycle_port, memory.addr_width), (57.5, 37));
    }

    #[test]
    fn bursts_divide_chunks_and_slices_and_never_cross_a_boundary() {
        for (flit_width, tokens, depth) in [(1024, 64, 48), (64, 7, 48), (512, 1, 2), (64, 64, 1024)] {
            let design = design(|c| {
                (c.noc.flit_width, c.kv.segment_tokens, c.pad.fifo_depth) = (flit_width, tokens, Some(depth));
                (c.kv.uram_per_tile, c.model.max_streams, c.model.max_tokens) = (64, 1, 1024);
            });
            let (memory, mare) = (design.memory, design.mare);
            assert!(memory.burst_flits <= 16 && mare.chunk_flits.is_multiple_of(memory.burst_flits));
            let bytes = u64::from(memory.burst_flits * flit_width / 8);
            assert!(4096_u64.is_multiple_of(bytes) && memory.slice_bytes.is_multiple_of(bytes));
        }
    }

    #[test]
    fn an_odd_column_has_a_port_alone() {
        let design = design(|c| (c.mesh.cols, c.mesh.rows) = (3, 2));
        let ports: Vec<_> = design
            .mesh
            .nodes()
            .map(|tile| design.mesh.coords(tile))
            .map(|(x, y)| Memory::port(3, x, y))
            .collect();
        assert_eq!((ports, design.memory.ports), (vec![0, 0, 1, 2, 2, 3], 4));
    }

    #[test]
    fn no_two_slices_overlap_and_all_have_an_address() {
        for kind in [PlacementKind::Takv, PlacementKind::RoundRobin, PlacementKind::Hub] {
            let design = design(|c| {
                (c.mesh.cols, c.mesh.rows, c.takv.placement) = (3, 2, kind);
                (c.model.layers, c.model.heads, c.model.kv_heads) = (4, 6, 3);
                (c.model.max_tokens, c.model.max_streams) = (64 * 9, 2);
            });
            let mut taken = BTreeSet::new();
            for prefix in 0..2 {
                for (layer, segment) in (0..4).flat_map(|l| (0..9).map(move |s| (l, s))) {
                    for kv_head in 0..3 {
                        assert!(taken.insert(design.slice_number(prefix, layer, segment, kv_head)));
                        let address = design.slice_address(prefix, layer, segment, kv_head);
                        assert!(address + design.memory.slice_bytes <= 1 << design.memory.addr_width);
                    }
                }
            }
        }
    }
}
