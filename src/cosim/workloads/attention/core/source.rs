//! The source of a job's outputs: the ports of the design, or numbers that are computed beside its model.

use crate::cosim::workloads::attention::job::Job;
use crate::cosim::workloads::attention::observed::expected::Numbers;
use crate::cosim::workloads::attention::observed::visit_order::Visit;
use crate::cosim::workloads::attention::result::HeadSums;
use crate::design::Design;

/// An output of a head.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// FP16.
    pub(super) elements: Vec<u16>,
    /// A logit of the head saturated.
    pub(super) void: bool,
    /// Its sums, if they are computed.
    pub(super) sums: Option<HeadSums>,
}

/// Source of the outputs.
#[derive(Debug)]
pub(in super::super) enum Source {
    /// The output ports.
    Pins,
    /// Computed from the jobs and merges of the model.
    Model(Box<Numbers>),
    /// None.
    Nobody,
}

impl Source {
    /// Notes that the partial result of a row is merged; false if there can be none.
    pub(super) fn merge(&mut self, design: &Design, x: u32, (stream, head): (u32, u32), y: u32) -> bool {
        let Source::Model(numbers) = self else { return true };
        let tile = design.mesh.node(x, y);
        tile.is_some_and(|tile| numbers.merge(design, Visit { tile, stream, head }))
    }

    /// The output of a head; `shown` is what the ports have of it.
    pub(super) fn output(&mut self, job: &Job, of: (u32, u32), shown: Output) -> Output {
        match self {
            Source::Pins => shown,
            Source::Model(numbers) => {
                let head = numbers.output(job, of);
                Output { elements: head.output, void: head.void, sums: Some(head.sums) }
            }
            Source::Nobody => Output::default(),
        }
    }
}
