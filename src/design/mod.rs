//! What will be built: every width, count and default, decided in one place.
//!
//! [`Design::from_config`] is the only reader of a [`Config`]. Templates, traffic,
//! scoreboard, model and reports read the [`Design`]; nobody reads emitted Verilog back.

mod array;
mod bus;
mod check;
mod counters;
pub mod deadlock;
pub mod depths;
mod flit;
mod floorplan;
mod fpga;
pub mod hash;
mod mapping;
mod mare;
mod memory;
mod mesh;
pub mod octave;
mod placement;
pub mod registers;
mod staging;
mod turns;
pub mod visits;
mod wires;

pub use array::{Array, JOB_DEPTH, LOAD_LATENCY};
pub use bus::Bus;
pub use check::{check, check_for_the_card};
pub use counters::{pad_events, PAD_EVENTS, TILE_EVENTS};
pub use flit::{index_bits, Class, DestKind, Field, FlitLayout};
pub use floorplan::Floorplan;
pub use fpga::{Fpga, Resources, Slr};
pub use mapping::{tile_of, Heads, Mapping, Piece, Sharing};
pub use mare::Mare;
pub use memory::{channels_of, Memory};
pub use mesh::{Mesh, NodeId, Port};
pub use placement::{Placement, PlacementKind};
pub use staging::Staging;
pub use turns::{Turns, TURNS};
pub use wires::Wires;

use crate::config::{self, Config, Finding, Report, Severity};
use std::fmt;
use std::path::Path;

/// Cycles from a router's input to its output without load: write the buffer, then switch.
pub const ROUTER_CYCLES: u32 = 2;

/// Times a virtual channel's head may be passed over by others of its port while it could leave.
pub const STARVE_LIMIT: u32 = 15;
/// Kinds of totals that tiles show: of links, of fetching, of what computes.
pub const COUNTER_KINDS: u32 = 3;
/// Bits of a total that is counted.
pub const TOTAL_BITS: u32 = 32;
/// Bits of a tile's number where a total is looked for.
pub const SELECT_TILE_BITS: u32 = 9;
/// Errors that a tile tells: its memory answered by one, or not at all.
pub const TILE_ERRORS: u32 = 2;

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

/// What one router is built of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Router {
    /// Virtual channels of VN0 (PART): indices `0..vn0_vcs`.
    pub vn0_vcs: u32,
    /// Virtual channels of VN1: the first carries KV_FETCH, the others KV_DATA.
    pub vn1_vcs: u32,
    /// Flits a virtual channel buffers.
    pub vc_depth: u32,
    /// Whether routers replicate flits along XYM trees.
    pub multicast: bool,
}

impl Router {
    /// Virtual channels of a port.
    pub fn vcs(self) -> u32 {
        self.vn0_vcs + self.vn1_vcs
    }

    /// The class that travels on a virtual channel.
    pub fn class_of_vc(self, vc: u32) -> Class {
        if vc < self.vn0_vcs {
            Class::Part
        } else if vc == self.vn0_vcs {
            Class::KvFetch
        } else {
            Class::KvData
        }
    }

    /// The virtual channels that carry a class.
    pub fn vcs_of_class(self, class: Class) -> std::ops::Range<u32> {
        match class {
            Class::Part => 0..self.vn0_vcs,
            Class::KvFetch => self.vn0_vcs..self.vn0_vcs + 1,
            Class::KvData => self.vn0_vcs + 1..self.vcs(),
        }
    }
}

/// Segments of a layer at the longest context: ceil(T / P).
pub fn segments(config: &Config) -> u32 {
    config.model.max_tokens.div_ceil(config.kv.segment_tokens)
}

/// Flits of one slice: P rows of K, then V of the same tokens.
///
/// V lies transposed in blocks of as many tokens as a flit has elements: `head_dim` flits a block, a dim
/// each, so that a flit of either half meets one stationary vector. The last block is filled up.
pub fn slice_flits(config: &Config) -> u32 {
    2 * half_flits(config)
}

/// Flits of either half of a slice: what V takes, which is what K takes or, where the last block of V is
/// not full, more.
pub fn half_flits(config: &Config) -> u32 {
    config.kv.segment_tokens.div_ceil(flit_elements(config)) * config.pe.head_dim
}

/// Elements of a flit (E), which is also the tokens of a block of V.
pub fn flit_elements(config: &Config) -> u32 {
    config.noc.flit_width / (8 * config.kv.bytes_per_element)
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}

/// A legal placement stride: odd and coprime to `rows` (section TaKV of the paper).
fn legal_stride(a: u32, rows: u32) -> bool {
    a % 2 == 1 && gcd(a, rows) == 1
}

/// `cols + 1` if that is legal, else the smallest legal stride.
fn default_stride(cols: u32, rows: u32) -> u32 {
    std::iter::once(cols + 1).chain(1..).find(|&a| legal_stride(a, rows)).unwrap_or(1)
}

/// A configuration that cannot be built: every reason, none of them a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Illegal(pub Vec<Finding>);

impl std::error::Error for Illegal {}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.0.iter().map(|f| format!("{}; {}", f.sentence(false), f.help)).collect();
        f.write_str(&lines.join("\n"))
    }
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

    /// Registers between SLRs on the way along a column from one row to another.
    pub fn crossed(&self, a: u32, b: u32) -> u32 {
        (self.crossings() >> a.min(b) & ((1 << a.abs_diff(b)) - 1)).count_ones()
    }

    /// Words that a stop of the column bus holds: as many as leave before the first of them is given back.
    pub fn bus_depth(&self) -> u32 {
        depths::BUS_DEPTH + if self.crossings() == 0 { 0 } else { depths::CROSSING_CYCLES }
    }

    /// Reads a configuration file and decides everything; the design is named after the file.
    /// Beside it comes what is unwise about the configuration.
    ///
    /// # Errors
    /// All problems of the file at once, each with its line, caret and way out.
    pub fn load(path: &Path) -> Result<(Design, Report), Report> {
        Design::load_checked(path, check)
    }

    /// The same for who makes files for the card: beside it comes also what the card cannot hold.
    ///
    /// # Errors
    /// As [`Design::load`].
    pub fn load_for_the_card(path: &Path) -> Result<(Design, Report), Report> {
        Design::load_checked(path, check_for_the_card)
    }

    fn load_checked(
        path: &Path,
        check: impl FnOnce(&str, &Config) -> Vec<Finding>,
    ) -> Result<(Design, Report), Report> {
        let loaded = config::load(path, check)?;
        Ok((Design::decide(&loaded.name, &loaded.config), loaded.warnings))
    }

    /// Decides everything from a configuration that is named `name`.
    ///
    /// # Errors
    /// When the configuration cannot be built, with every reason.
    pub fn from_config(name: &str, config: &Config) -> Result<Design, Illegal> {
        let errors: Vec<_> =
            check(name, config).into_iter().filter(|f| f.severity == Severity::Error).collect();
        if errors.is_empty() {
            Ok(Design::decide(name, config))
        } else {
            Err(Illegal(errors))
        }
    }

    fn decide(name: &str, config: &Config) -> Design {
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
        // How many wires cross decides how rows are dealt; how wide they are does not depend on it.
        design.floorplan = Floorplan::new(mesh, fpga, &Wires::of(&design));
        design
    }
}
