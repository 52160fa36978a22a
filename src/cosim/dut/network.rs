//! The fabric as a network: traffic and scoreboard drive it through the trait [`Network`].
//!
//! The verilated mesh and the cycle-exact model both implement it, so that one run, one scoreboard
//! and one set of figures serve both. Nothing here knows how flits move.
//!
//! Time is counted in clock periods from reset. A flit that is ready at cycle `c` is on the wires
//! of its tile's local port in period `c` when nothing blocks it. The cycle of an ejection is the
//! period in which the flit is on the wires to the tile.

use crate::design::{Class, NodeId, Port};

/// Counters of a tile in the order of `stat_index`; the last seven are spare.
pub const COUNTERS: usize = 32;

/// Counters of one output port: flits of PART, KV_FETCH and KV_DATA, cycles blocked for credit, idle cycles.
pub const COUNTERS_PER_PORT: usize = 5;

/// Result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepStatus {
    /// All cycles were run.
    Done,
    /// The watchdog: flits are inside and nothing has moved. The step ended early.
    Stuck,
}

/// One flit on its way into the fabric; words are little-endian, unused top bits zero.
#[derive(Debug, Clone, Copy)]
pub struct Injection<'a> {
    /// Tile at which it enters.
    pub tile: NodeId,
    /// Chooses the source queue: the flits of a class enter a tile in order.
    pub class: Class,
    /// VCs the packet may choose from, one bit each; read at its first flit.
    pub vc_mask: u32,
    /// First cycle it may be on the wires.
    pub ready_cycle: u64,
    /// Last flit of its packet: the next one may choose another VC.
    pub last: bool,
    /// `dest_width` bits.
    pub dest: &'a [u32],
    /// `head_width` bits.
    pub head: &'a [u32],
    /// `flit_width` bits.
    pub data: &'a [u32],
}

/// One flit that left the fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ejection<'a> {
    /// The period in which it was on the wires.
    pub cycle: u64,
    /// Tile at which it left.
    pub tile: NodeId,
    /// VC on which it left.
    pub vc: u32,
    /// `head_width` bits.
    pub head: &'a [u32],
    /// `flit_width` bits.
    pub data: &'a [u32],
}

/// One flit that entered the fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The period it was on the wires.
    pub cycle: u64,
    /// Tile at which it entered.
    pub tile: NodeId,
    /// Class of its source queue.
    pub class: Class,
    /// Flits of this queue that entered before it, since reset.
    pub sequence: u64,
    /// VC on which it entered.
    pub vc: u32,
}

/// A fabric that carries flits between the tiles of a mesh.
pub trait Network {
    /// Empties everything and restarts at cycle 0.
    ///
    /// # Errors
    /// If the simulation has failed for good.
    fn reset(&mut self) -> anyhow::Result<()>;

    /// Periods simulated so far, which is the number of the next one.
    fn cycle(&self) -> u64;

    /// Appends a flit to the source queue of its tile and class.
    ///
    /// # Errors
    /// If the queue cannot grow.
    fn inject(&mut self, flit: &Injection<'_>) -> anyhow::Result<()>;

    /// Words that it carries of a payload of `all`: all of them, or the first ones where payloads
    /// are numbers that cannot change in part.
    fn payload_words(&self, all: usize) -> usize {
        all
    }

    /// By tile that stalls, the part of all cycles in which it takes no flit.
    fn stalls(&self) -> Vec<f64>;

    /// Simulates `cycles` periods, fewer if a watchdog finds that nothing moves.
    ///
    /// # Errors
    /// If the simulation itself fails, for example at an assertion of the RTL.
    fn step(&mut self, cycles: u64) -> anyhow::Result<StepStatus>;

    /// Passes the flits that left a source queue in the last step, in the order of their cycles.
    fn take_entries(&mut self, receive: &mut dyn FnMut(Entry));

    /// Passes the flits that left the fabric in the last step, in the order of their cycles.
    fn take_ejections(&mut self, receive: &mut dyn FnMut(Ejection<'_>));

    /// Counters of every tile since reset, modulo 2^32, indexed `output port * COUNTERS_PER_PORT +
    /// counter`. A fabric may read them out in turn; a window is exact if its length is a multiple
    /// of the turn.
    fn counters(&self) -> Vec<[u32; COUNTERS]>;

    /// Input virtual channels that hold a flit: the router, its input port, the channel.
    fn busy_vcs(&self) -> Vec<(NodeId, Port, u32)>;

    /// True if every sender has all its credits.
    fn credits_home(&self) -> bool;
}
