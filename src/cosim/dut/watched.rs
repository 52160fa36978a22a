//! Networks of a whole mesh with a watchdog: the model, and a verilated one.

use crate::cosim::build::Library;
use crate::cosim::dut::error::DutError;
use crate::cosim::dut::model_mesh::ModelMesh;
use crate::cosim::dut::verilated::verilated_mesh::VerilatedMesh;
use crate::cosim::hash::mix;
use crate::design::Design;

/// Cycles with flits inside and none entering or leaving, after which the fabric counts as stuck.
pub const WATCHDOG: u64 = 2_000;

/// Seed of what registers hold before the reset, drawn from the seed of a run; any value must work.
pub fn power_up(seed: u64) -> u64 {
    mix(seed ^ 0x706f_7765_725f_7570)
}

/// The model of a mesh.
pub fn modelled(design: &Design) -> ModelMesh {
    let mut model = ModelMesh::with_numbers(design);
    model.watchdog(WATCHDOG);
    model
}

/// A verilated mesh, after reset; `seed` is that of the run.
///
/// # Errors
/// As [`VerilatedMesh::open`].
pub fn verilated(library: &Library, design: &Design, seed: u64) -> Result<VerilatedMesh, DutError> {
    let mut dut = VerilatedMesh::open(library, design, power_up(seed))?;
    dut.watchdog(WATCHDOG);
    Ok(dut)
}
