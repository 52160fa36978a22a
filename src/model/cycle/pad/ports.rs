//! What a pad shows its tile.

use crate::model::cycle::mare::PartFlit;

/// What computes shows the tile in a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ComputeIn {
    /// It takes a part of a query.
    pub vector_ready: bool,
    /// It takes a job.
    pub job_ready: bool,
    /// It takes a flit.
    pub kv_ready: bool,
    /// Its clock has no edge at the end of this period.
    pub apart: bool,
    /// It has nothing to do; read only where stages do not overlap.
    pub idle: bool,
    /// A flit of a partial result.
    pub part: Option<PartFlit>,
    /// Slots freed in the root's buffers, as [`RootFlit::valid`] numbers them.
    pub root_credit: u32,
}
