//! The area estimate, and the reading of emitted files by every tool.
//!
//! For the estimate Yosys synthesises the parts of a design, which are scaled to the mesh and compared with each region.
//!
//! * `yosys`: one module mapped to Xilinx cells, cached by content.
//! * `netlist`: the reader of what Yosys writes, for the estimate and for lint; it counts cells.
//! * `timing`: the longest paths of a netlist, and those of a whole design.
//! * `parts`: the modules of a design, with number and place of their instances.
//! * [`Estimate`]: compares the total with the FPGA, a super logic region (SLR) at a time.
//! * [`lint`]: every tool reads the emitted files.
//! * [`prove`]: properties of control blocks are proved.
//! * `pending`: modules without a result in the cache, and how long they take.
//! * `bound`: lower bounds of any implementation of the same structure.
//! * [`shrink`]: changes that may fit.
//! * [`floorplan_picture`]: a drawing of the parts and the utilisation of each region.
//!
//! All is an estimate: Yosys is not Vivado, and nothing here is placed or routed. `docs/estimate.md` has the
//! formulas, their sources and what they leave out.

mod bound;
mod estimate;
pub mod lint;
mod netlist;
mod parts;
mod pending;
mod picture;
pub mod prove;
pub mod shrink;
mod timing;
mod yosys;

pub use bound::{bound_of_tile, lower_bounds, Bound};
pub use estimate::{Boundary, Demand, Estimate, Limits, Over, Shell};
pub use netlist::{area::Area, flat::Netlist, modules::Modules};
pub use parts::{parts, Clock, Part, Scale};
pub use pending::{pending, Pending};
pub use picture::floorplan_picture;
pub use timing::timed::design_timing;
pub use timing::{ClockPaths, Net, PartTiming, Path, Placed, Step as PathStep, Timing};
pub use timing::{Reference, REFERENCE, REFERENCE_VERSION};
pub use yosys::{Costs, Effort, Step, Yosys};
