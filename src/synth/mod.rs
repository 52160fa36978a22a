//! What a design takes on the device: its parts synthesised by Yosys, scaled to the mesh, held against each region.
//!
//! * [`yosys`]: one module mapped to Xilinx cells and timed, cached by content; [`netlist`] counts the cells.
//! * [`parts`]: the modules a design is made of, how often each stands where.
//! * [`Estimate`]: all of it against the device, a super logic region (SLR) at a time.
//! * [`bound`]: what no implementation of the same structure can do without.
//! * [`shrink`]: what else would fit.
//! * [`floorplan_picture`]: where things stand and how full that makes each region.
//!
//! All is an estimate: Yosys is not Vivado, and nothing here is placed or routed. `docs/estimate.md` has the
//! formulas, their sources and what they leave out.

mod bound;
mod estimate;
mod netlist;
mod parts;
mod picture;
pub mod shrink;
mod yosys;

pub use bound::{bound_of_tile, lower_bounds, Bound};
pub use estimate::{Boundary, Demand, Estimate, Limits, Over, Shell};
pub use netlist::{Area, Netlist};
pub use parts::{parts, Clock, Part, Scale};
pub use picture::floorplan_picture;
pub use yosys::{Costs, Effort, Step, Yosys};
