//! Turns the counts of a run of decode steps into the metrics of the specification, a
//! [`DecodeRow`].

use crate::cosim::workloads::decode::{Decoded, Plan, Step, StepCounts};
use crate::design::{Class, Design, NodeId, Port};
use crate::emit::TILE_EVENTS;
use crate::eval::energy::{Activity, Energies};
use crate::eval::rows::decode_row::{DecodeRow, Flits, Platform, Sample, StepRow, WholeStep};
use crate::eval::rows::row::{links, Row};
use crate::eval::time::bounds::{accepted_a_cycle, imbalance, Carried, Phase};

/// The links across the middle columns: eastwards, and westwards.
fn bisection(design: &Design) -> [Vec<(NodeId, Port)>; 2] {
    let middle = design.mesh.cols() / 2;
    let column = |x: u32, port: Port| {
        (0..design.mesh.rows()).filter_map(|y| design.mesh.node(x, y)).map(|node| (node, port)).collect()
    };
    [column(middle - 1, Port::East), column(middle, Port::West)]
}

impl DecodeRow {
    /// The metrics of a run of a plan that sends `step` again and again.
    pub fn new(design: &Design, step: &Step, plan: &Plan, done: &Decoded, batch: u32) -> DecodeRow {
        DecodeRow::priced(design, step, plan, done, (batch, Energies::published(design.pe.format)))
    }

    /// The same with other energies.
    pub fn priced(
        design: &Design,
        step: &Step,
        plan: &Plan,
        done: &Decoded,
        (batch, energies): (u32, Energies),
    ) -> DecodeRow {
        let [part, kv_fetch, kv_data] = Class::ALL.map(|class| done.traversals(design.mesh, class));
        let flits = Flits { part: part as f64, kv_fetch: kv_fetch as f64, kv_data: kv_data as f64 };
        let (useful, stall) = use_of_bisection(design, done);
        let sample = sample_of(step);
        let activity = activity(design, step, plan, done, &flits);
        let [kv_phase, total] = phases(design, plan, done);
        let beats: Vec<u64> = done.ports.iter().map(|p| p.beats).collect();
        DecodeRow {
            mapping: plan.descriptors[0].mapping.name(),
            traffic: part + kv_fetch + kv_data,
            flits_by_class: Class::ALL.map(Class::name).into_iter().zip([part, kv_fetch, kv_data]).collect(),
            useful,
            stall,
            other: 1.0 - useful - stall,
            cycles: done.cycles,
            kv_cycles: done.kv_cycles,
            kv_gbs: total.kv_gbs,
            share: total.share,
            share_left: total.share_left,
            bounds: total.bounds,
            kv_phase,
            run_us: done.cycles as f64 / f64::from(plan.steps) / design.clock.noc_mhz,
            bound_by: total.bounds.near_tightest(),
            over_bound: total.over_bound(),
            imbalance: imbalance(design, &beats),
            accepted_a_cycle: accepted_a_cycle(design, &done.pad),
            energy_nj: energies.of(&activity),
            whole: whole_step(design, (plan, done), &sample, &flits, &activity, (batch, energies)),
            sample,
            steps: done.steps.iter().map(|step| step_row(step, design.mesh.cols())).collect(),
            swaps: done.steps.iter().map(|s| s.swaps.len()).sum(),
            platform: Platform {
                bandwidth_gbs: design.memory.bandwidth_gbs,
                latency_ns: design.memory.latency_ns,
                channels: design.fpga().hbm_channels,
                ports: design.memory.ports,
                noc_mhz: design.clock.noc_mhz,
            },
            attended_tokens: step.attended,
            delivered: done.taken.iter().sum(),
            head_flits: done.head_flits,
            overtaking: done.overtaking,
            memory_bytes: beats.iter().sum::<u64>() * u64::from(design.flit.data_width / 8),
            packets: done.packets,
            counters: TILE_EVENTS.iter().map(|&name| (name, done.event(name))).collect(),
            violations: done.violations,
            violation_list: done.violation_list.clone(),
        }
    }
}

/// Shares of the link cycles across the middle, while KV flows, in which a flit passes, and in which one waits.
fn use_of_bisection(design: &Design, done: &Decoded) -> (f64, f64) {
    let across = bisection(design).concat();
    let link_cycles = done.kv_cycles.max(1) as f64 * across.len() as f64;
    let share = |counter: usize| {
        let counts = across.iter().map(|&(node, port)| done.link(node, port)[counter]);
        counts.sum::<u64>() as f64 / link_cycles
    };
    (share(2), share(3))
}

fn sample_of(step: &Step) -> Sample {
    Sample {
        layers: step.layers.1,
        of_layers: step.layers.0,
        segments: step.segments.1,
        of_segments: step.segments.0,
        imbalance: step.imbalance.1,
        of_imbalance: step.imbalance.0,
    }
}

fn link_bits(design: &Design) -> f64 {
    f64::from(design.flit.data_width) + f64::from(design.flit.head_width)
}

/// Events of a run that take energy.
fn activity(design: &Design, step: &Step, plan: &Plan, done: &Decoded, flits: &Flits) -> Activity {
    let flit_bits = f64::from(design.flit.data_width);
    let beats: u64 = done.ports.iter().map(|p| p.beats).sum();
    // Into the staging memory and out of it, into the FIFO of a tile and out of it.
    let taken: u64 = done.taken.iter().sum();
    let sram_flits = done.event("flits_filled") + done.event("flits_streamed") + 2 * taken;
    // Every row of K and of V is multiplied for each head that attends.
    let row_macs = 2 * u64::from(design.model.heads) * u64::from(design.pe.head_dim);
    Activity {
        link_bits: flits.all() * link_bits(design),
        sram_bits: sram_flits as f64 * flit_bits,
        macs: (step.rows * row_macs) as f64 * f64::from(plan.steps),
        memory_bits: beats as f64 * flit_bits,
    }
}

/// A whole step, scaled from the sample that ran.
fn whole_step(
    design: &Design,
    (plan, done): (&Plan, &Decoded),
    sample: &Sample,
    flits: &Flits,
    activity: &Activity,
    (batch, energies): (u32, Energies),
) -> WholeStep {
    let steps = f64::from(plan.steps);
    let (data, layers) = (sample.data_factor() / steps, sample.layer_factor() / steps);
    let whole =
        Flits { part: flits.part * layers, kv_fetch: flits.kv_fetch * data, kv_data: flits.kv_data * data };
    let kv = done.kv_cycles.min(done.cycles) as f64;
    let cycles = kv * data + (done.cycles as f64 - kv) * layers;
    let noc_mhz = design.clock.noc_mhz;
    WholeStep {
        traffic: whole.all(),
        cycles,
        error: sample.error(),
        latency_us: cycles / noc_mhz,
        tokens_per_second: f64::from(batch) * 1e6 * noc_mhz / cycles.max(1.0),
        energy_nj: energies.of(&Activity {
            link_bits: whole.all() * link_bits(design),
            sram_bits: activity.sram_bits * data,
            macs: activity.macs * data,
            memory_bits: activity.memory_bits * data,
        }),
        flits_by_class: whole,
    }
}

/// The phase in which KV flows, and the whole run, each with its bounds.
fn phases(design: &Design, plan: &Plan, done: &Decoded) -> [Phase; 2] {
    let streamed = done.event_by_tile("flits_streamed");
    let beats: Vec<u64> = done.ports.iter().map(|p| p.beats).collect();
    let carried = Carried {
        links: &done.links,
        streamed: &streamed,
        pad: &done.pad,
        beats: &beats,
        io_beats: 0,
        packets: &done.packets_by_column,
        bytes_per_cycle: plan.memory.mean_bytes_per_cycle(),
    };
    let mut phases = carried.phases(design, done.kv_cycles, done.cycles);
    // A pace slower than that of the arrays.
    let paced = done.taken.iter().copied().max().unwrap_or(0) * u64::from(plan.pace.flit_cycles);
    phases.iter_mut().for_each(|phase| phase.bounds.array = phase.bounds.array.max(paced));
    phases
}

fn step_row(step: &StepCounts, cols: u32) -> StepRow {
    let sampled = !step.occupancy.is_empty();
    StepRow {
        cycles: step.cycles(),
        occupancy_squares: sampled.then(|| step.occupancy_squares()),
        row_squares: sampled.then(|| step.row_squares(cols)),
        swaps: step.swaps.iter().map(|swap| swap.tiles).collect(),
    }
}

/// Load of the links and tiles of a run, for the heat map.
pub fn link_row(design: &Design, done: &Decoded) -> Row {
    Row {
        links: links(design.mesh, &done.links),
        delivered: done.taken.clone(),
        window: done.cycles,
        ..Row::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::cosim::dut::network::{COUNTERS, COUNTERS_PER_PORT};
    use crate::cosim::memory::PortCounts;
    use crate::cosim::workloads::decode::step;
    use crate::cosim::workloads::decode::Workload;
    use crate::design::{Mapping, Sharing};
    use crate::eval::rows::decode::*;

    /// A mesh of 4 x 2, and a quarter of the segments of half of the layers.
    fn run(change: impl FnOnce(&mut Decoded)) -> DecodeRow {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = (4, 2);
        (config.model.layers, config.model.max_tokens) = (4, 1024);
        config.clock.noc_mhz = 200.0;
        let design = Design::from_config("test", &config).unwrap();
        let load = Workload {
            tokens: 1024,
            batch: 1,
            prefix: 0,
            mapping: Mapping::RowAligned,
            sharing: Sharing::KvHead,
            segments: Some(4),
            layers: 2,
            stride: 1,
            append: false,
        };
        let step = step(&design, &load).unwrap();
        let plan = Plan::new(&design, step.descriptors.clone(), 1);
        let mut done = Decoded {
            periods: 0,
            cycles: 1200,
            kv_cycles: 1000,
            steps: vec![StepCounts::default()],
            links: vec![[0; COUNTERS]; 8],
            events: vec![[0; TILE_EVENTS.len()]; 8],
            ports: vec![PortCounts::default(); 4],
            taken: vec![0; 8],
            pad: vec![vec![0; 10]; 8],
            packets_by_column: vec![0; 4],
            head_flits: 0,
            overtaking: 0,
            jobs: 0,
            packets: 0,
            violations: 0,
            faults: Vec::new(),
            struck: Vec::new(),
            flipped: None,
            reached: None,
            tokens_written: 0,
            violation_list: Vec::new(),
        };
        change(&mut done);
        DecodeRow::new(&design, &step, &plan, &done, load.batch)
    }

    fn counter(port: Port, counter: usize) -> usize {
        port.index() * COUNTERS_PER_PORT + counter
    }

    #[test]
    fn bisection_is_the_middle_links_of_both_directions() {
        let row = run(|done| {
            // East out of column 1 and west out of column 2 are in it; others are not.
            done.links[1][counter(Port::East, 2)] = 800;
            done.links[1][counter(Port::East, 3)] = 100;
            done.links[6][counter(Port::West, 2)] = 400;
            done.links[6][counter(Port::West, 1)] = 40;
            done.links[0][counter(Port::East, 2)] = 1000;
            done.links[1][counter(Port::North, 0)] = 5;
            done.links[1][counter(Port::Local, 2)] = 999;
        });
        assert_eq!((row.useful, row.stall), (0.3, 0.025));
        assert!((row.other - 0.675).abs() < 1e-12);
        assert_eq!(row.traffic, 800 + 400 + 40 + 1000 + 5);
        let by_class: Vec<_> = row.flits_by_class.iter().map(|(k, v)| (*k, *v)).collect();
        assert_eq!(by_class, [("KV_DATA", 2200), ("KV_FETCH", 40), ("PART", 5)]);
    }

    #[test]
    fn the_tightest_bound_is_named_with_those_near_it() {
        let streamed = TILE_EVENTS.iter().position(|&e| e == "flits_streamed").unwrap();
        let bound = |change: fn(&mut Decoded, usize)| run(|done| change(done, streamed)).bound_by;
        assert_eq!(bound(|done, _| done.ports[2].beats = 900), "memory");
        assert_eq!(bound(|done, at| done.events[3][at] = 700), "injection");
        assert_eq!(bound(|done, _| done.taken[7] = 500), "array");
        assert_eq!(bound(|done, _| done.links[5][counter(Port::East, 2)] = 500), "links");
        assert_eq!(bound(|done, _| done.packets_by_column[3] = 5), "root");
        let both = |done: &mut Decoded, at: usize| {
            done.events[3][at] = 500;
            done.links[5][counter(Port::East, 2)] = 490;
        };
        assert_eq!(bound(both), "injection+links");
        // Times its bound is said of bytes and passes, not of what the placement makes of them.
        let passes = |done: &mut Decoded| {
            both(done, streamed);
            done.taken[7] = 400;
        };
        assert_eq!(run(passes).over_bound, 1200.0 / 400.0);
    }

    #[test]
    fn a_sample_grows_by_what_was_left_out() {
        let row = run(|done| {
            done.links[0][counter(Port::East, 2)] = 1000;
            done.links[0][counter(Port::North, 0)] = 10;
        });
        let sample = Sample {
            layers: 2,
            of_layers: 4,
            segments: 4,
            of_segments: 16,
            imbalance: 4.0,
            of_imbalance: 4.0,
        };
        assert_eq!(row.sample, sample);
        assert!(!sample.is_whole());
        let whole = row.whole;
        assert_eq!((whole.flits_by_class.kv_data, whole.flits_by_class.part), (8000.0, 20.0));
        assert_eq!(whole.cycles, 8000.0 + 400.0);
        assert_eq!((row.run_us, whole.latency_us), (6.0, 42.0));
        assert_eq!(whole.error, 0.11);
        let uneven = Sample { imbalance: 8.0, ..sample };
        assert!((uneven.error() - 1.11).abs() < 1e-12);
        // 4 segments of 64 tokens in 2 layers, 32 heads of 128 elements, K and V, 2 pJ each.
        assert_eq!(row.energy_nj.mac, f64::from(4 * 64 * 2 * 32 * 128 * 2 * 2) / 1000.0);
        assert_eq!(whole.energy_nj.mac, 8.0 * row.energy_nj.mac);
    }
}
