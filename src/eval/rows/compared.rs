//! Outputs beside attention in f64 and FlashAttention-2.

use crate::cosim::workloads::attention::Job;
use crate::model::datapath::reference::{
    dequantised, exact_sunk, flash_attention2_sunk, Error, FLASH_BLOCKS,
};

/// Outputs, their reference, and FlashAttention-2's for each size of its blocks.
#[derive(Default)]
pub(in crate::eval) struct Compared {
    ours: Vec<u16>,
    exact: Vec<f64>,
    theirs: [Vec<u16>; FLASH_BLOCKS.len()],
}

impl Compared {
    pub(in crate::eval) fn add(&mut self, job: &Job, (stream, head): (u32, u32), output: &[u16]) {
        let (q, (k, v)) = (job.query(head, stream), job.kv(head, job.attended(stream)));
        let [q, k, v, output] = [q, k, v, output].map(|rows| job.tensors.of_model(rows));
        self.ours.extend(output);
        let factors = job.factors(head, job.attended(stream));
        self.exact.extend(exact_sunk(&q, &k, &v, &factors, job.sink(head)));
        let of = |part: usize| factors.iter().map(move |factors| factors[part]);
        let (k, v) = (dequantised(&k, q.len(), of(0)), dequantised(&v, q.len(), of(1)));
        for (theirs, block) in self.theirs.iter_mut().zip(FLASH_BLOCKS) {
            theirs.extend(flash_attention2_sunk(&q, &k, &v, block, job.sink(head)));
        }
    }

    pub(in crate::eval) fn extend(&mut self, other: Compared) {
        self.ours.extend(other.ours);
        self.exact.extend(other.exact);
        self.theirs.iter_mut().zip(other.theirs).for_each(|(all, more)| all.extend(more));
    }

    pub(in crate::eval) fn ours(&self) -> Error {
        Error::of(&self.ours, &self.exact)
    }

    pub(in crate::eval) fn theirs(&self) -> Error {
        Error::least(self.theirs.iter().map(|block| Error::of(block, &self.exact)))
    }

    /// Half of the distance of two FP16 numbers at the largest exact output: the error of rounding alone, or a little more.
    pub(in crate::eval) fn rounding(&self) -> f64 {
        let most = self.exact.iter().fold(0_f64, |most, x| most.max(x.abs()));
        if most > 0.0 {
            1.01 * 2_f64.powf(most.log2().floor() - 11.0)
        } else {
            0.0
        }
    }
}
