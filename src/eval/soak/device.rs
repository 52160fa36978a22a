//! Random devices whose hosts and memories do what they must not: a case is determined by its seed.

use super::{format_of, in_pages, legal_in_a_format, Draw};
use crate::config::Config;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::ports::DutPorts;
use crate::cosim::dut::verilated::split_device::SplitDevice;
use crate::cosim::memory::FaultKind;
use crate::cosim::workloads::attention::{Job, ModelCore};
use crate::cosim::workloads::device::{
    count_descriptors, Bench, Device, DeviceError, Platform, Trial, Way, REFUSALS,
};
use crate::design::{Design, Mapping, Sharing};
use crate::model::cycle::common::{Rare, Reached};
use crate::model::datapath::tensors::{synthetic, Logits, Synthetic, Tensors};

/// Trials of a case, each on a device of its own.
const TRIALS: u32 = 6;
/// Most tokens of a context.
const TOKENS: u32 = 40;
/// Kinds of faults that no rule of AXI4 forbids: two errors, and two silences, which take a time-out each.
const KINDS: [FaultKind; 6] = [
    FaultKind::SlaveError,
    FaultKind::DecodeError,
    FaultKind::SlaveError,
    FaultKind::DecodeError,
    FaultKind::Mute,
    FaultKind::Deaf,
];
/// Rare states of the core that only a device reaches: queries come beside slices.
pub const BY_DEVICES: [Rare; 2] = [Rare::JobsKept, Rare::RowsFull];
const MAPPINGS: [Mapping; 3] = [Mapping::HeadTile, Mapping::RowAligned, Mapping::StreamStriped];

/// A device, and what is tried on it.
#[derive(Debug, Clone)]
pub struct SoakDevice {
    /// Seed of the case.
    pub seed: u64,
    /// The device.
    pub design: Design,
    tensors: Tensors,
    /// Tokens of each stream; none if all share all.
    lengths: Vec<u32>,
    /// First token, where all share all.
    first: u32,
    mappings: Vec<Mapping>,
    unruly: bool,
    /// Trials, and how the run after each begins.
    pub trials: Vec<(Trial, Way)>,
}

impl SoakDevice {
    /// The case of a seed.
    ///
    /// # Panics
    /// If no draw is legal, which no seed is known to cause.
    pub fn of(seed: u64) -> SoakDevice {
        let mut draw = Draw::new(seed);
        let design = in_pages(seed, legal_in_a_format(seed, &mut draw, config));
        let streams = draw.from(1, design.model.max_streams);
        // New tokens need caches of their own.
        let own = design.append.is_some() || draw.one_in(2);
        let lengths: Vec<u32> = (0..streams).map(|_| draw.from(1, TOKENS)).filter(|_| own).collect();
        let tokens = if own { lengths.iter().sum() } else { draw.from(2, TOKENS) };
        let tensors = synthetic(&Synthetic {
            seed,
            heads: design.model.heads as usize,
            kv_heads: design.model.kv_heads as usize,
            positions: design.model.max_streams as usize,
            tokens: tokens as usize,
            head_dim: design.pe.head_dim as usize,
            logits: Logits::Normal,
        });
        let tensors = tensors.of_design(&design);
        let first = if own { 0 } else { draw.from(0, tokens - 1) };
        let mappings = (0..draw.from(1, 3)).map(|_| draw.of(&MAPPINGS)).collect();
        let unruly = draw.one_in(2);
        let trials = (0..TRIALS).map(|_| (trial(&mut draw, &design), draw.of(&Way::ALL))).collect();
        SoakDevice { seed, design, tensors, lengths, first, mappings, unruly, trials }
    }

    /// The case in a few words.
    pub fn title(&self) -> String {
        let mesh = self.design.mesh;
        let trials: Vec<_> = self.trials.iter().map(|(trial, _)| trial.to_string()).collect();
        let format = format_of(&self.design);
        format!("device of {} x {}{format}: {}", mesh.cols(), mesh.rows(), trials.join(", "))
    }

    /// It may lead to one of these states.
    pub fn leads_to(&self, empty: &[Rare]) -> bool {
        let mut reached = Reached::default();
        for &(_, way) in &self.trials {
            count_descriptors(&self.job(), way, &mut reached);
        }
        // Of the core's own, some are reached in a device alone: there is no telling when.
        let may = |rare: &Rare| reached.of(*rare) > 0 || BY_DEVICES.contains(rare);
        empty.iter().any(may) || self.trials.iter().any(|(trial, _)| trial.leads_to(empty))
    }

    /// The job that each run is.
    pub fn job(&self) -> Job<'_> {
        let (design, tensors, sharing) = (&self.design, &self.tensors, Sharing::KvHead);
        let job = if self.lengths.is_empty() {
            let streams = design.model.max_streams;
            let job = Job::new(design, tensors, (0, streams), self.mappings[0], sharing).expect("it fits");
            if self.first > 0 {
                job.part(self.first..tensors.tokens as u32)
            } else {
                job
            }
        } else {
            let job = Job::ragged(design, tensors, 0, &self.lengths, self.mappings[0], sharing);
            let job = job.expect("it fits");
            if design.append.is_some() {
                job.appending()
            } else {
                job
            }
        };
        job.mapped(&self.mappings)
    }

    /// The front before a model of the core that computes the job.
    ///
    /// # Errors
    /// If the front is of another design, or does not answer.
    pub fn bench(&self, front: Box<dyn DutPorts>, job: &Job) -> Result<Bench, DeviceError> {
        let platform = Platform::of(&self.design);
        let platform = if self.unruly { platform.unruly(self.seed) } else { platform };
        let device = SplitDevice::new(front, Box::new(ModelCore::new(job)), &self.design)?;
        let device = Device::new(Box::new(device), &self.design, &platform, &Clocks::IN_STEP)?;
        Bench::new(device, &self.design, &platform)
    }
}

/// A random configuration of a small device: streams are several, and layers, so that they can be confused.
fn config(draw: &mut Draw) -> Config {
    let mut c = Config::default();
    (c.mesh.cols, c.mesh.rows) = (draw.from(2, 3), draw.from(2, 3));
    (c.noc.flit_width, c.noc.vc_depth) = (draw.of(&[64, 64, 128]), 4);
    (c.noc.router_stages, c.noc.parity) = (draw.of(&[2, 3]), draw.one_in(3));
    (c.kv.segment_tokens, c.pe.head_dim) = (draw.of(&[5, 8]), 32);
    (c.kv.uram_per_tile, c.kv.banks, c.kv.append) = (draw.from(1, 2), 2, draw.one_in(2));
    (c.model.layers, c.model.max_tokens, c.model.max_streams) = (draw.from(2, 4), 128, draw.from(2, 3));
    c.model.kv_heads = draw.from(1, 3);
    c.model.heads = c.model.kv_heads * draw.from(1, 2);
    (c.takv.column_stride, c.takv.swap_epoch) = (draw.of(&[0, 1]), Some(0));
    c.floorplan.slr_registers = draw.one_in(2);
    c.pad.fifo_depth = Some(16);
    c.memory.tiles_per_port = draw.of(&[None, Some(1), Some(2)]);
    c
}

/// A trial that the design can have.
fn trial(draw: &mut Draw, design: &Design) -> Trial {
    let append = design.append.is_some();
    let refusals = if append { REFUSALS.len() } else { REFUSALS.len() - 1 };
    let (kind, share) = (draw.of(&KINDS), draw.from(0, 255));
    match draw.from(0, 19) {
        0 | 1 => Trial::Memory(kind, share),
        2 | 3 => Trial::Read(kind, share),
        4 => Trial::List(kind),
        5 => Trial::Write(kind, share),
        // Early, since the run with the reset may be shorter than the one before.
        6 => Trial::Reset(share / 2),
        7 => Trial::ComputeReset(share / 2),
        8 => Trial::Watchdog,
        9 if append => Trial::Token(kind),
        _ => Trial::Refused(REFUSALS[draw.from(0, refusals as u32 - 1) as usize]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::KvFormat;

    #[test]
    fn cases_follow_from_their_seed_and_lead_to_every_state_of_a_device() {
        let cases: Vec<_> = (6..400).step_by(8).map(SoakDevice::of).collect();
        assert_eq!(format!("{:?}", cases[3].trials), format!("{:?}", SoakDevice::of(30).trials));
        for name in REFUSALS {
            let tried = cases.iter().flat_map(|case| &case.trials);
            assert!(tried.into_iter().any(|(trial, _)| *trial == Trial::Refused(name)), "{name}");
        }
        for case in &cases {
            let job = case.job();
            assert!(!job.descriptors().expect("it fits").is_empty(), "{}", case.title());
        }
        assert!(cases.iter().any(|case| case.first % case.design.placement.segment_tokens % 2 == 1));
        assert!(cases.iter().any(|case| case.job().descriptors().unwrap().len() > 4));
        let in_format =
            |format: KvFormat| cases.iter().filter(|case| case.design.pe.format == format).count();
        assert!(KvFormat::ALL.into_iter().all(|format| in_format(format) > 0));
        assert!(cases.iter().any(|case| case.design.pe.is_scaled() && case.design.append.is_some()));
    }
}
