//! Networks of a whole mesh with a watchdog: the model, and a verilated one.

use crate::cosim::build::Library;
use crate::cosim::dut::error::DutError;
use crate::cosim::dut::model_mesh::ModelMesh;
use crate::cosim::dut::verilated::verilated_mesh::VerilatedMesh;
use crate::design::Design;

/// Cycles with flits inside and none entering or leaving, after which the fabric counts as stuck.
pub const WATCHDOG: u64 = 2_000;

/// Seed of register values before the reset; any value must work.
pub const POWER_UP_SEED: u64 = 1;

/// The model of a mesh.
pub fn modelled(design: &Design) -> ModelMesh {
    let mut model = ModelMesh::with_numbers(design);
    model.watchdog(WATCHDOG);
    model
}

/// A verilated mesh, after reset.
///
/// # Errors
/// As [`VerilatedMesh::open`].
pub fn verilated(library: &Library, design: &Design) -> Result<VerilatedMesh, DutError> {
    let mut dut = VerilatedMesh::open(library, design, POWER_UP_SEED)?;
    dut.watchdog(WATCHDOG);
    Ok(dut)
}
