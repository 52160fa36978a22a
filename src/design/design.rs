//! The [`Design`] and the decisions that follow from several of its parts.

use super::depths::{BUS_DEPTH, CROSSING_CYCLES, VALUE_WIDTH};
use crate::config::Config;
use crate::design::card::clock::Clock;
use crate::design::card::floorplan::Floorplan;
use crate::design::card::fpga::Fpga;
use crate::design::card::memory::Memory;
use crate::design::card::wires::Wires;
use crate::design::device::totals::{COUNTER_KINDS, FLAW_BITS, SELECT_TILE_BITS, TILE_ERRORS, TOTAL_BITS};
use crate::design::mare::mare::Mare;
use crate::design::network::flit::{index_bits, FlitLayout};
use crate::design::network::mesh::Mesh;
use crate::design::network::round_trip::round_trip;
use crate::design::network::router::Router;
use crate::design::pad::head::row_of;
use crate::design::pad::model::Model;
use crate::design::pad::pe::Pe;
use crate::design::takv::append::{Append, TOKEN_WAY_BITS};
use crate::design::takv::bus::Bus;
use crate::design::takv::mapping::Heads;
use crate::design::takv::pages::Pages;
use crate::design::takv::placement::{Placement, PlacementKind};

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
    /// Home tiles of macro-blocks.
    pub placement: Placement,
    /// Assignment of rows to the SLRs of the FPGA.
    pub floorplan: Floorplan,
    /// Assignment of query heads to columns.
    pub heads: Heads,
    /// The column bus.
    pub bus: Bus,
    /// The pages of the cache, if it has some.
    pub pages: Option<Pages>,
    /// The way of new tokens into the cache, if there is one.
    pub append: Option<Append>,
    /// The external memory behind the homes.
    pub memory: Memory,
    /// The processing elements of a tile.
    pub pe: Pe,
    /// The model, and the largest load.
    pub model: Model,
    /// The clocks.
    pub clock: Clock,
    /// Decode steps between two swaps of homes (K); 0 without swaps.
    pub swap_epoch: u32,
    /// The placement stride a of pi(l, s).
    pub takv_a: u32,
    /// Macro-blocks a tile must be able to home (N_max of the paper).
    pub blocks_per_tile: u32,
    /// The configuration of the design, defaults filled in.
    pub(super) config: Config,
}

impl Design {
    /// The same design; with `never` its external memory is never refreshed, whatever the configuration says.
    #[must_use]
    pub fn without_refresh(mut self, never: bool) -> Design {
        self.memory.refresh = self.memory.refresh.filter(|_| !never);
        self
    }

    /// The configuration as it was written, defaults filled in: to print it, or to make another from it. A value of the
    /// fabric is a field or method of the design.
    pub fn configuration(&self) -> &Config {
        &self.config
    }

    /// SHA-256 of the configuration, which names the design in results: [`Config::sha256`].
    pub fn config_sha256(&self) -> String {
        self.config.sha256()
    }

    /// Key of the file that gives heads of the model `elements` elements: that of a row, if they fill one and no other key
    /// is written.
    pub fn key_of_head_dim(&self, elements: u32) -> &'static str {
        match self.config.model.head_dim {
            None if row_of(elements) == Some(elements) => "pe.head_dim",
            _ => "model.head_dim",
        }
    }

    /// The FPGA and its card.
    pub fn fpga(&self) -> &'static Fpga {
        Fpga::of(self.config.board)
    }

    /// UltraRAMs of a tile's staging memory.
    pub fn staging_urams(&self) -> u32 {
        self.config.kv.uram_per_tile
    }

    /// True if wires between rows of two SLRs pass registers.
    pub fn slr_registers(&self) -> bool {
        self.config.floorplan.slr_registers
    }

    /// True if homes can swap: the configuration enables it and there is more than one home.
    pub fn swaps(&self) -> bool {
        self.swap_epoch > 0 && self.placement.kind != PlacementKind::Hub
    }

    /// True if all signals between `row` and the row north of it pass a register between two SLRs.
    pub fn crosses(&self, row: u32) -> bool {
        self.slr_registers() && self.floorplan.crosses(row)
    }

    /// Result of [`Design::crosses`] for all rows, one bit a row.
    pub fn crossings(&self) -> u32 {
        (0..self.mesh.rows()).fold(0, |all, row| all | u32::from(self.crosses(row)) << row)
    }

    /// Registered SLR boundaries between `row` and the host and memory ports.
    pub fn boundaries(&self, row: u32) -> u32 {
        if self.slr_registers() {
            self.floorplan.slr(row)
        } else {
            0
        }
    }

    /// Bits between a memory port and its read guard, in each direction. To the guard: address, length and ID
    /// of a burst, without the bits of address and length that are always 0, and valid. Back: a beat with ID, response, last and valid, and an address credit.
    pub fn way_bits(&self) -> [u32; 2] {
        let memory = &self.memory;
        let asks = memory.addr_width - index_bits(self.flit.data_width / 8) + index_bits(memory.burst_flits);
        [memory.id_width + asks + 1, memory.id_width + self.flit.data_width + 3 + 1 + 1]
    }

    /// Bits of the errors that a tile reports.
    pub fn error_bits(&self) -> u32 {
        TILE_ERRORS + if self.flit.parity { FLAW_BITS } else { 0 }
    }

    /// Wires that cross between SLRs, per column, port, tile and row. They do not depend on the floorplan or
    /// its registers.
    pub fn wires(&self) -> Wires {
        let (flit, vcs) = (&self.flit, self.router.vcs());
        // Each direction of a link carries valid and payload, and the credits of the opposite direction.
        let payload = flit.carried_width() + flit.link_parity();
        let link = payload + flit.head_width + flit.column_dest_width + 2 * vcs;
        // The bus goes north with a valid bit. Its credit and the occupancy value go south.
        let value = if self.swaps() { VALUE_WIDTH + 1 } else { 0 };
        // Words of new tokens, with valid, credit, and whether any waits.
        let append = if self.append.is_some() { TOKEN_WAY_BITS + 1 } else { 0 };
        Wires {
            column: [link + self.bus.word + 1, link + 1 + value],
            port: self.way_bits().iter().sum::<u32>() + append,
            tiles_per_port: self.memory.tiles_per_port,
            tile: self.error_bits(),
            row: COUNTER_KINDS * TOTAL_BITS + RESETS,
            once: COUNTER_KINDS * SELECT_TILE_BITS,
        }
    }

    /// Registers between SLRs along a column from one row to another.
    pub fn crossed(&self, a: u32, b: u32) -> u32 {
        (self.crossings() >> a.min(b) & ((1 << a.abs_diff(b)) - 1)).count_ones()
    }

    /// Words that a stop of the column bus holds: as many as are sent before the first credit returns.
    pub fn bus_depth(&self) -> u32 {
        BUS_DEPTH + if self.crossings() == 0 { 0 } else { CROSSING_CYCLES }
    }

    /// Cycles in which the queries of a stream go in: a group of words a cycle, and a word a cycle into each column.
    pub fn query_cycles(&self) -> u32 {
        let words = self.pe.head_dim / 4;
        let of_column = self.heads.most() * words;
        of_column.max(self.heads.heads() * words / self.bus.query_group_words)
    }

    /// Cycles from a fetch to its first flit without load: both ways over the mean distance of two tiles.
    pub fn round_trip(&self) -> u32 {
        round_trip(&self.config, &self.floorplan)
    }

    /// Decides everything from a legal configuration.
    pub(super) fn decide(name: &str, config: &Config) -> Design {
        let mesh = Mesh::new(config.mesh.cols, config.mesh.rows);
        let multicast = config.mare.enable && config.mare.multicast;
        let placement = Placement::new(config, mesh).expect("the check has seen the hub inside the mesh");
        let (heads, mare) = (Heads::new(config), Mare::new(config));
        let (flit, fpga) = (FlitLayout::new(config, mesh, multicast), Fpga::of(config.board));
        let bus = Bus::new(config, mesh, &flit, &placement, &heads);
        let memory = Memory::new(config, &mare, &placement);
        let mare = mare.with_fill(config, memory.fill_cycles(mare.slice_flits, flit.data_width / 8));
        let mut design = Design {
            name: name.to_owned(),
            mesh,
            flit,
            router: Router {
                vn0_vcs: config.noc.vn0_vcs,
                vn1_vcs: config.noc.vn1_vcs,
                vc_depth: config.noc.vc_depth,
                stages: config.noc.router_stages,
                multicast,
            },
            mare,
            placement,
            floorplan: Floorplan::by_shares(mesh, fpga),
            heads,
            bus,
            pages: Pages::new(config, &placement),
            append: Append::new(config, mesh, bus.query_group_words),
            memory,
            pe: Pe::new(config),
            model: Model::new(config),
            clock: Clock::new(config),
            swap_epoch: config.takv.swaps_every(),
            takv_a: placement.a,
            blocks_per_tile: placement.all_blocks().div_ceil(mesh.tiles() as u64) as u32,
            config: config.clone(),
        };
        let wires = design.wires();
        // The floorplan depends on the number of wires, which does not depend on the floorplan.
        design.floorplan = Floorplan::new(mesh, fpga, |plan| wires.across(mesh, fpga, plan, 0));
        design
    }
}
