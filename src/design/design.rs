//! The [`Design`] and the decisions that follow from several of its parts.

use super::bus::Bus;
use super::depths::{BUS_DEPTH, CROSSING_CYCLES, VALUE_WIDTH};
use super::flit::FlitLayout;
use super::floorplan::Floorplan;
use super::fpga::Fpga;
use super::mapping::Heads;
use super::mare::Mare;
use super::memory::Memory;
use super::mesh::Mesh;
use super::placement::{Placement, PlacementKind};
use super::router::Router;
use super::slice::segments;
use super::totals::{COUNTER_KINDS, SELECT_TILE_BITS, TILE_ERRORS, TOTAL_BITS};
use super::wires::Wires;
use crate::config::Config;

/// Resets of a row, one in each clock.
const RESETS: u32 = 2;

/// The fabric as it will be built.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// Name of the configuration: the stem of its file. Names the output folder and the core.
    pub name: String,
    /// Tiles and coordinates.
    pub mesh: Mesh,
    /// The flit.
    pub flit: FlitLayout,
    /// The router's virtual channels and buffers.
    pub router: Router,
    /// Home agents and requesters.
    pub mare: Mare,
    /// Where macro-blocks live.
    pub placement: Placement,
    /// Which rows stand in which region of the device.
    pub floorplan: Floorplan,
    /// Which column computes which query heads.
    pub heads: Heads,
    /// The column bus.
    pub bus: Bus,
    /// The external memory behind the homes.
    pub memory: Memory,
    /// The placement stride a of pi(l, s).
    pub takv_a: u32,
    /// Macro-blocks a tile must be able to home (N_max of the paper).
    pub blocks_per_tile: u32,
    /// The configuration all this was decided from, defaults filled in.
    pub config: Config,
}

impl Design {
    /// Whether homes can swap: there is more than one, and the configuration wants it.
    pub fn swaps(&self) -> bool {
        self.config.takv.swap_epoch > 0 && self.placement.kind != PlacementKind::Hub
    }

    /// Whether all that leads from `row` to the row north of it, and back, passes a register between two SLRs.
    pub fn crosses(&self, row: u32) -> bool {
        self.config.floorplan.slr_registers && self.floorplan.crosses(row)
    }

    /// The same of all rows: bit y says it of row y.
    pub fn crossings(&self) -> u32 {
        (0..self.mesh.rows()).fold(0, |all, row| all | u32::from(self.crosses(row)) << row)
    }

    /// Boundaries between SLRs from `row` to what faces host and memories, that have registers.
    pub fn boundaries(&self, row: u32) -> u32 {
        if self.config.floorplan.slr_registers {
            self.floorplan.slr(row)
        } else {
            0
        }
    }

    /// Bits between a memory port and what guards it, to the guard and back: address, length and name of a burst with a
    /// valid bit; a beat with its name, response, whether it is the last, a valid bit, and a credit for an address.
    pub fn way_bits(&self) -> [u32; 2] {
        let memory = &self.memory;
        [memory.id_width + memory.addr_width + 8 + 1, memory.id_width + self.flit.data_width + 3 + 1 + 1]
    }

    /// Wires that one of each thing has that crosses between SLRs, with or without registers. The floorplan does not matter.
    pub fn wires(&self) -> Wires {
        let (flit, vcs) = (&self.flit, self.router.vcs());
        // A link carries valid and payload one way, and the credits of the link the other way.
        let link = flit.data_width + flit.head_width + flit.column_dest_width + 2 * vcs;
        // The bus goes north with a valid bit, its credit south, and with it the value of an occupancy.
        let value = if self.swaps() { VALUE_WIDTH + 1 } else { 0 };
        Wires {
            column: [link + self.bus.word + 1, link + 1 + value],
            port: self.way_bits().iter().sum(),
            tiles_per_port: self.memory.tiles_per_port,
            tile: TILE_ERRORS,
            row: COUNTER_KINDS * TOTAL_BITS + RESETS,
            once: COUNTER_KINDS * SELECT_TILE_BITS,
        }
    }

    /// Registers between SLRs on the way along a column from one row to another.
    pub fn crossed(&self, a: u32, b: u32) -> u32 {
        (self.crossings() >> a.min(b) & ((1 << a.abs_diff(b)) - 1)).count_ones()
    }

    /// Words that a stop of the column bus holds: as many as leave before the first of them is given back.
    pub fn bus_depth(&self) -> u32 {
        BUS_DEPTH + if self.crossings() == 0 { 0 } else { CROSSING_CYCLES }
    }

    /// Decides everything from a configuration that is legal.
    pub(super) fn decide(name: &str, config: &Config) -> Design {
        let mesh = Mesh::new(config.mesh.cols, config.mesh.rows);
        let multicast = config.mare.enable && config.mare.multicast;
        let blocks = u64::from(config.model.layers) * u64::from(segments(config));
        let placement = Placement::new(config, mesh).expect("the check has seen the hub inside the mesh");
        let (heads, mare) = (Heads::new(config), Mare::new(config));
        let (flit, fpga) = (FlitLayout::new(config, mesh, multicast), Fpga::of(config.board));
        let bus = Bus::new(config, mesh, &flit, &placement, &heads);
        let mut design = Design {
            name: name.to_owned(),
            mesh,
            flit,
            router: Router {
                vn0_vcs: config.noc.vn0_vcs,
                vn1_vcs: config.noc.vn1_vcs,
                vc_depth: config.noc.vc_depth,
                multicast,
            },
            mare,
            placement,
            floorplan: Floorplan::by_shares(mesh, fpga),
            heads,
            bus,
            memory: Memory::new(config, &mare, &placement),
            takv_a: placement.a,
            blocks_per_tile: blocks.div_ceil(mesh.tiles() as u64) as u32,
            config: config.clone(),
        };
        let wires = design.wires();
        // How many wires cross decides how rows are dealt; how wide they are does not depend on it.
        design.floorplan = Floorplan::new(mesh, fpga, |plan| wires.across(mesh, fpga, plan, 0));
        design
    }
}
