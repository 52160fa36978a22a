//! Outputs of a PaD to its tile.

use crate::model::cycle::mare::PartFlit;

/// Outputs of the PaD in a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ComputeIn {
    /// It takes part of a query.
    pub vector_ready: bool,
    /// It takes a job.
    pub job_ready: bool,
    /// It takes a flit.
    pub kv_ready: bool,
    /// Its clock has no edge at the end of this period.
    pub apart: bool,
    /// It has nothing to do; used only where stages do not overlap.
    pub idle: bool,
    /// Flit of a partial result.
    pub part: Option<PartFlit>,
    /// Slots freed in the root's buffers, numbered as in
    /// [`RootFlit::valid`](crate::model::cycle::mare::RootFlit::valid).
    pub root_credit: u32,
}
