//! Decode steps on small fabrics, for tests.

use crate::support::verilated::{self, beside, emitted, library_of};
use meshkv::config::Config;
use meshkv::cosim::build::{BuildForm, Library};
use meshkv::cosim::dut::verilated::verilated_ports::verilated;
use meshkv::cosim::dut::watched::power_up;
use meshkv::cosim::workloads::decode::{step, Bench, DecodeError, Decoded, Plan, Workload};
use meshkv::design::{Design, Mapping, Sharing};

/// A mesh of 3 x 2 with 6 heads of 3 KV heads, 64-bit flits and segments of 8 tokens, changed.
pub fn small(change: impl FnOnce(&mut Config)) -> Design {
    sized(3, 2, change)
}

/// The same of another size.
pub fn sized(cols: u32, rows: u32, change: impl FnOnce(&mut Config)) -> Design {
    verilated::design(cols, rows, |c| {
        (c.model.heads, c.model.kv_heads, c.model.max_streams) = (6, 3, 4);
        c.pad.fifo_depth = Some(16);
        c.takv.swap_epoch = Some(0);
        (c.kv.uram_per_tile, c.kv.banks) = (1, 2);
        change(c);
    })
}

/// All tokens of one stream, one layer, tile by head.
pub const LOAD: Workload = Workload {
    tokens: 64,
    batch: 1,
    prefix: 0,
    mapping: Mapping::HeadTile,
    sharing: Sharing::KvHead,
    segments: None,
    layers: 1,
    stride: 1,
    append: false,
};

pub const MAPPINGS: [Mapping; 3] = [Mapping::HeadTile, Mapping::RowAligned, Mapping::StreamStriped];
pub const SHARINGS: [Sharing; 2] = [Sharing::KvHead, Sharing::Segment];

/// The form that builds fastest; `tests/fabric/pieces.rs` shows that it equals the whole fabric.
pub const FORM: BuildForm = BuildForm::FabricPieces;

/// The library of a design.
pub fn whole_library(design: &Design) -> Library {
    library_of(FORM, design, &emitted(design))
}

/// The plan of a workload, one step of it.
pub fn plan(design: &Design, load: &Workload) -> Plan {
    Plan::new(design, step(design, load).unwrap().descriptors, 7)
}

/// Runs a plan on a fabric of its own, in lockstep with the model.
pub fn run_on(library: &Library, design: &Design, plan: &Plan) -> Result<Decoded, DecodeError> {
    let both = beside(library, power_up(plan.seed), Bench::model(design), &Bench::ports(design), design);
    Bench::on(both.unwrap(), design).unwrap().run(plan, &mut |_| false)
}

/// Runs a plan on the Verilog alone, for changed sources or behaviour that no model covers.
pub fn run_alone(library: &Library, design: &Design, plan: &Plan) -> Result<Decoded, DecodeError> {
    Bench::on(verilated(library, power_up(plan.seed)).unwrap(), design).unwrap().run(plan, &mut |_| false)
}

/// Runs a plan that must end without a violation.
pub fn run_clean(library: &Library, design: &Design, plan: &Plan, what: &str) -> Decoded {
    let done = run_on(library, design, plan).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(done.violations, 0, "{what}: {:#?}", done.violation_list);
    done
}
