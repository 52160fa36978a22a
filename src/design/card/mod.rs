//! The card: its FPGA, its memory, its regions and wires.

pub(super) mod boards;
pub(super) mod caches;
pub(super) mod channel_use;
pub(super) mod clock;
pub(super) mod floorplan;
pub(super) mod fpga;
pub(super) mod hbm;
pub(super) mod io;
pub(super) mod memory;
pub(super) mod refresh;
pub(super) mod wires;
