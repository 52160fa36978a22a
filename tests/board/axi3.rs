//! Converters to a pseudo-channel of HBM under Icarus: any clocks, widths, pauses and lengths; errors; IDs; mutants.

use crate::support::icarus::{change, Bench};
use meshkv::config::Config;
use meshkv::design::Design;
use meshkv::emit::{emit_block, SourceFile};

/// Periods of AXI4 and HBM, the phase of HBM, and how far an edge may be late.
const CLOCKS: [[u32; 4]; 6] = [
    [4000, 2222, 0, 0],
    [4000, 2222, 770, 60],
    [3332, 2222, 10, 70],
    [2222, 4000, 3, 20],
    [2000, 2000, 500, 0],
    [7000, 1000, 123, 30],
];

fn sources(flit_width: u32) -> Vec<SourceFile> {
    let mut config = Config::default();
    config.noc.flit_width = flit_width;
    // A tile a port: an ID has five bits, as in the bench.
    config.memory.tiles_per_port = Some(1);
    (config.mesh.cols, config.kv.uram_per_tile) = (4, 15);
    let design = Design::from_config("test", &config).expect("it is legal");
    emit_block(&design, "meshkv_axi3_io").expect("it is emitted")
}

fn bench(files: &[SourceFile], flit_width: u32) -> Bench {
    Bench::of(files, "board/axi3_tb", &[("FLIT_WIDTH", flit_width)])
}

const BURSTS: u32 = 400;

fn said(bench: &Bench, [period, hbm_period, phase, jitter]: [u32; 4], pause: u32, seed: u32) -> String {
    let clocks = [("period", period), ("hbm_period", hbm_period), ("phase", phase), ("jitter", jitter)];
    // HBM takes an address at once, now and then, or rarely: then they fill their FIFO.
    let slow = [1, 3, 24][seed as usize % 3];
    let rest = [("pause", pause), ("slow", slow), ("seed", seed), ("bursts", BURSTS)];
    bench.run("", &[&clocks[..], &rest].concat())
}

#[test]
fn every_burst_is_answered_once_in_order_with_its_id_data_and_worst_error() {
    for flit_width in [256, 512, 1024] {
        let bench = bench(&sources(flit_width), flit_width);
        for (seed, clocks) in (1..).zip(CLOCKS) {
            let said = said(&bench, clocks, 2 + seed % 3, seed);
            assert_eq!(said, format!("{BURSTS} reads, {BURSTS} writes\n"), "{flit_width}, {clocks:?}");
        }
    }
}

#[test]
fn reads_of_two_beats_a_flit_take_every_cycle_of_hbm() {
    let said = said(&bench(&sources(512), 512), CLOCKS[0], 1, 3);
    let ns = said.strip_prefix(&format!("{} beats in ", 16 * BURSTS)).and_then(|s| s.strip_suffix(" ns\n"));
    let ns: f64 = ns.unwrap_or_else(|| panic!("{said}")).parse().unwrap();
    let least = f64::from(2 * 16 * BURSTS) * 2.222;
    assert!(ns < 1.01 * least, "{ns} instead of {least}");
}

#[test]
fn faults_of_the_converters_are_found() {
    let (split, read, write) = ("meshkv_axi3_split", "meshkv_axi3_read", "meshkv_axi3_write");
    let mutants = [
        [split, "addr_q[11:9] + 1'b1", "addr_q[11:9]"],
        [split, "|s_addr[63:HBM_ADDR_WIDTH]", "1'b0"],
        [split, "assign m_last   = ~|left_q", "assign m_last   = |left_q"],
        [split, "busy_q & ~(send & m_last)", "busy_q & ~send"],
        [read, "s_axi_rlast  = beat_last & of_last", "s_axi_rlast  = beat_last"],
        [read, "beat_resp | {2{of_beyond} }", "beat_resp"],
        [read, "resp_q | m_axi_rresp", "m_axi_rresp"],
        [read, "part_q[RATIO-1] ? 2'b00 : joined_resp", "joined_resp"],
        [read, "s_valid=ask_valid & ask_room", "s_valid=ask_valid"],
        [read, "assign m_axi_rready = beat_room", "assign m_axi_rready = 1'b1"],
        [read, "m_ready=beat_valid & s_axi_rready & beat_last", "m_ready=beat_valid & beat_last"],
        [write, "{FLIT_BYTES_NUM{~dropped_q} }", "{FLIT_BYTES_NUM{1'b1} }"],
        [write, "m_axi_wlast  = beat_ends & last_part", "m_axi_wlast  = beat_ends"],
        [write, "assign s_axi_bvalid = done_valid & of_last", "assign s_axi_bvalid = done_valid"],
        [write, "worst_q | done_resp | {2{of_beyond} }", "done_resp | {2{of_beyond} }"],
        [write, "assign done_ready   = s_axi_bready | ~of_last", "assign done_ready   = 1'b1"],
        [write, "assign s_axi_wready = open_q & beat_room", "assign s_axi_wready = open_q"],
        [write, "left_q    <= ask_len >> RATIO_LOG", "left_q    <= ask_len"],
    ];
    let whole = sources(512);
    for [module, from, to] in mutants {
        let mut files = whole.clone();
        // The emitted text of a connection is `.s_valid(...)`.
        let of = |text: &str| match text.split_once('=') {
            Some((port, expr)) if port.ends_with("_valid") || port.ends_with("_ready") => {
                if expr.starts_with(' ') || port.contains(' ') {
                    text.to_owned()
                } else {
                    format!("({expr})")
                }
            }
            _ => text.to_owned(),
        };
        change(&mut files, module, &of(from), &of(to));
        let bench = bench(&files, 512);
        // HBM is a little faster than AXI4, takes addresses rarely, is much faster, and slower.
        let found = [(1, 1), (2, 2), (2, 5), (3, 3)].into_iter().any(|(seed, clocks)| {
            let said = said(&bench, CLOCKS[clocks], 2 + seed, seed);
            said != format!("{BURSTS} reads, {BURSTS} writes\n")
        });
        assert!(found, "{module}: `{from}` to `{to}` is not found");
    }
}
