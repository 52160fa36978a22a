//! The external memory behind the homes: its ports, its layout of a slice, and its speed.
//!
//! A slice is [`half_flits`](crate::design::half_flits) flits of K rows and as many of V rows: row after row,
//! elements of FP16 little-endian, packed. Speed is a property of the platform that only co-simulation needs;
//! the fabric does not depend on it.

use crate::config::Config;
use crate::design::card::fpga::Fpga;
use crate::design::card::refresh::Refresh;
use crate::design::mare::mare::Mare;
use crate::design::mare::slice::{slice_flits, MOST_BURST_FLITS};
use crate::design::network::flit::index_bits;
use crate::design::network::mesh::Mesh;
use crate::design::takv::placement::Placement;
use std::ops::Range;

/// Address boundary that an AXI burst must not cross.
const AXI_BOUNDARY: u32 = 4096;
/// Bits of a burst slot: a tile has up to 8 bursts in flight.
pub(in crate::design) const BURST_SLOT_BITS: u32 = 3;
/// Legal numbers of tiles that share a port.
const TILES_PER_PORT: [u32; 4] = [1, 2, 4, 8];

/// The memory as the fabric sees it. A beat of its bus is a flit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Memory {
    /// AXI4 read masters, assigned to tiles by [`Memory::port`].
    pub ports: u32,
    /// Ports of a row of tiles.
    pub row_ports: u32,
    /// Adjacent tiles of a row that share a port, a power of two. The last port of a row may have fewer.
    pub tiles_per_port: u32,
    /// Beats of a burst: a power of two, so that no burst crosses a boundary of 4096 bytes.
    pub burst_flits: u32,
    /// Bits of a read ID: the tile within its port, above the burst slot.
    pub id_width: u32,
    /// Bits of the burst slot.
    pub slot_width: u32,
    /// Bits of an address: a home, and a byte of its region.
    pub addr_width: u32,
    /// Bits of a byte of a home's region: the regions of two homes of a port lie that far apart.
    pub region_width: u32,
    /// Bits of the number of a slice within its home.
    pub local_width: u32,
    /// Bytes from one slice to the next.
    pub slice_bytes: u64,
    /// Peak bandwidth of a channel, in bytes per network cycle.
    pub bytes_per_cycle_channel: f64,
    /// Rest of each channel for refresh.
    pub refresh: Option<Refresh>,
    /// Network cycles from a read to its first beat without load.
    pub latency_cycles: u32,
    /// The same time in ns.
    pub latency_ns: f64,
    /// Peak bandwidth of all channels together, in GB/s.
    pub bandwidth_gbs: f64,
    /// Memory that KV caches can take, in GiB.
    pub capacity_gib: f64,
}

impl Memory {
    /// Computes the ports and widths from a configuration.
    pub(in crate::design) fn new(config: &Config, mare: &Mare, placement: &Placement) -> Memory {
        let (tiles_per_port, ports) = (tiles_per_port(config), ports(config));
        let region_width = region_width(config, placement);
        let cycles_per_ns = config.clock.noc_mhz / 1000.0;
        let channels = f64::from(Fpga::of(config.board).hbm_channels);
        Memory {
            ports,
            row_ports: config.mesh.cols.div_ceil(tiles_per_port),
            tiles_per_port,
            burst_flits: burst_flits(config, mare.chunk_flits),
            id_width: tiles_per_port.ilog2() + BURST_SLOT_BITS,
            slot_width: BURST_SLOT_BITS,
            addr_width: (place_width(config) + region_width).min(64),
            region_width,
            local_width: local_width(config, placement),
            slice_bytes: slice_bytes(config),
            bytes_per_cycle_channel: config.memory.bandwidth_gbs / cycles_per_ns / channels,
            refresh: Refresh::new(config),
            latency_cycles: (config.memory.latency_ns * cycles_per_ns).ceil() as u32,
            latency_ns: config.memory.latency_ns,
            bandwidth_gbs: config.memory.bandwidth_gbs,
            capacity_gib: config.memory.capacity_gib,
        }
    }

    /// The port of the tile in column `x` and row `y`.
    pub fn port(&self, x: u32, y: u32) -> u32 {
        y * self.row_ports + x / self.tiles_per_port
    }

    /// The place of a home in memory: its port, then the tile within the port. A row whose last port has fewer tiles leaves
    /// places out.
    pub fn place_of_home(&self, x: u32, y: u32) -> u32 {
        self.port(x, y) * self.tiles_per_port + self.place(x)
    }

    /// Bits of a byte of a part of memory: the regions of the homes of a port.
    pub fn part_width(&self) -> u32 {
        self.region_width + self.tiles_per_port.ilog2()
    }

    /// Bytes that a channel gives in a cycle on average, refresh taken off.
    pub fn bytes_per_cycle(&self) -> f64 {
        self.bytes_per_cycle_channel * self.refresh.map_or(1.0, |refresh| refresh.left())
    }

    /// Cycles in which a home's slice is filled behind the bursts that are under way before it.
    pub(in crate::design) fn fill_cycles(&self, slice_flits: u32, flit_bytes: u32) -> u32 {
        let flits = (slice_flits + (self.burst_flits << self.slot_width)) * self.tiles_per_port;
        let beat = (f64::from(flit_bytes) / self.bytes_per_cycle()).max(1.0);
        self.latency_cycles.saturating_add((f64::from(flits) * beat).ceil() as u32)
    }

    /// The place of the tile in column `x` among those of its port.
    pub fn place(&self, x: u32) -> u32 {
        x % self.tiles_per_port
    }

    /// The first column of each port of a row, with the port's number.
    pub fn ports_of_row(&self, y: u32) -> impl Iterator<Item = (u32, u32)> {
        let (ports, tiles) = (self.row_ports, self.tiles_per_port);
        (0..ports).map(move |port| (port * tiles, y * ports + port))
    }
}

/// The fewest tiles per port, at least `least`, for which `channels` are enough for one channel a port. If
/// none are enough, the most.
pub fn fewest_tiles_per_port(mesh: Mesh, least: u32, channels: u32) -> u32 {
    let enough = |tiles: &u32| *tiles >= least && mesh.cols().div_ceil(*tiles) * mesh.rows() <= channels;
    TILES_PER_PORT.into_iter().find(enough).unwrap_or(TILES_PER_PORT[TILES_PER_PORT.len() - 1])
}

/// Tiles that share a port: as configured, else the fewest that the card allows.
pub(in crate::design) fn tiles_per_port(config: &Config) -> u32 {
    let mesh = Mesh::new(config.mesh.cols, config.mesh.rows);
    let channels = Fpga::of(config.board).hbm_channels;
    config.memory.tiles_per_port.unwrap_or_else(|| fewest_tiles_per_port(mesh, 1, channels))
}

/// Memory ports of a mesh.
pub(in crate::design) fn ports(config: &Config) -> u32 {
    config.mesh.cols.div_ceil(tiles_per_port(config)) * config.mesh.rows
}

/// The pseudo-channels in which the homes of a memory port lie: ports are spread evenly, no two share one.
pub fn channels_of(port: u32, ports: u32, channels: u32) -> Range<u32> {
    port * channels / ports..(port + 1) * channels / ports
}

/// Beats of a burst where chunks have so many flits.
pub(in crate::design) fn burst_flits(config: &Config, chunk_flits: u32) -> u32 {
    MOST_BURST_FLITS.min(chunk_flits).min(AXI_BOUNDARY / (config.noc.flit_width / 8))
}

/// Bytes of one slice. Bursts divide chunks and chunks divide its halves, so a slice is whole bursts.
pub(in crate::design) fn slice_bytes(config: &Config) -> u64 {
    u64::from(slice_flits(config)) * u64::from(config.noc.flit_width / 8)
}

/// Bits of the place of a home in memory ([`Memory::place_of_home`]).
pub(in crate::design) fn place_width(config: &Config) -> u32 {
    index_bits(ports(config) * tiles_per_port(config))
}

/// Bits of the number of a slice within its home, wider than each of its terms.
pub(in crate::design) fn local_width(config: &Config, placement: &Placement) -> u32 {
    let model = &config.model;
    let segment = index_bits(placement.places);
    let caches = placement.numbered_caches(model.max_streams);
    let terms = [caches, placement.blocks_of_home(), placement.block_slices()];
    let widest = terms.into_iter().map(index_bits).chain([index_bits(model.layers) + 1, segment + 1]).max();
    bits(slices_of_home(config, placement)).max(widest.expect("there are five") + 1)
}

/// Bits of a byte of a home's region. Homes that share a port lie in channels of their own where the port has enough.
pub(in crate::design) fn region_width(config: &Config, placement: &Placement) -> u32 {
    let fpga = Fpga::of(config.board);
    let (ports, tiles) = (ports(config), tiles_per_port(config));
    let natural = bits(region_bytes(config, placement)).max(local_width(config, placement) + 1);
    let apart = tiles > 1 && fpga.hbm_channels / ports >= tiles;
    let width = if apart { natural.max(fpga.hbm_channel_bytes.ilog2()) } else { natural };
    width.min(64 - place_width(config))
}

/// Bytes of the caches of a home: all streams, segments and KV heads that it may have.
pub(in crate::design) fn region_bytes(config: &Config, placement: &Placement) -> u128 {
    slices_of_home(config, placement) * u128::from(slice_bytes(config))
}

fn slices_of_home(config: &Config, placement: &Placement) -> u128 {
    let caches = placement.numbered_caches(config.model.max_streams);
    let of_home = [caches, placement.blocks_of_home(), placement.block_slices()];
    of_home.into_iter().map(u128::from).product()
}

/// Bits that tell so many values apart.
fn bits(count: u128) -> u32 {
    u128::BITS - (count - 1).leading_zeros()
}

#[cfg(test)]
mod tests {
    use crate::design::card::memory::*;
    use crate::design::Design;

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
        assert_eq!((memory.bytes_per_cycle_channel, memory.addr_width), (57.5, 37));
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
    fn the_last_port_of_a_row_has_the_tiles_that_are_left() {
        let ports = |cols, tiles| {
            let design = design(|c| {
                (c.mesh.cols, c.mesh.rows, c.memory.tiles_per_port) = (cols, 2, Some(tiles));
            });
            let at = design.mesh.nodes().map(|tile| design.mesh.coords(tile));
            let ports: Vec<_> = at.map(|(x, y)| design.memory.port(x, y)).collect();
            assert_eq!(
                design.memory.ports_of_row(1).last(),
                Some((cols - 1) / tiles).map(|p| { (p * tiles, design.memory.ports - 1) })
            );
            (ports, design.memory.ports, design.memory.id_width)
        };
        assert_eq!(ports(3, 1), (vec![0, 1, 2, 3, 4, 5], 6, 3));
        assert_eq!(ports(3, 2), (vec![0, 0, 1, 2, 2, 3], 4, 4));
        assert_eq!(ports(5, 4), (vec![0, 0, 0, 0, 1, 2, 2, 2, 2, 3], 4, 5));
    }

    #[test]
    fn by_default_every_mesh_has_a_port_a_tile_or_as_many_as_the_card_has_channels_for() {
        for (cols, rows) in (2..=16).flat_map(|cols| (2..=16).map(move |rows| (cols, rows))) {
            let mut config = Config::default();
            (config.mesh.cols, config.mesh.rows) = (cols, rows);
            let (tiles, ports) = (tiles_per_port(&config), ports(&config));
            assert!(ports <= 32 && tiles <= cols, "{cols} x {rows}: {ports} ports of {tiles} tiles");
            assert!(tiles == 1 || cols.div_ceil(tiles / 2) * rows > 32, "{cols} x {rows}: {tiles} tiles");
            // The rules of the check agree.
            config.memory.tiles_per_port = Some(tiles);
            let found = crate::design::check("test", &config);
            assert!(found.iter().all(|f| f.key != "memory.tiles_per_port"), "{found:?}");
        }
        let of = |cols, rows| design(|c| (c.mesh.cols, c.mesh.rows) = (cols, rows)).memory.tiles_per_port;
        assert_eq!([of(4, 8), of(8, 8), of(16, 4), of(16, 8), of(16, 16), of(9, 16)], [1, 2, 2, 4, 8, 8]);
    }

    #[test]
    fn no_two_ports_share_a_pseudo_channel_and_none_is_left_over() {
        for ports in 2..=32 {
            let all: Vec<_> = (0..ports).flat_map(|port| channels_of(port, ports, 32)).collect();
            assert_eq!(all, (0..32).collect::<Vec<_>>(), "{ports} ports");
        }
    }
}
