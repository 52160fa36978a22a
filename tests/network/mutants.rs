//! A router with any deliberate fault is caught, and the message names the place.
//!
//! Each mutant is the emitted text with one change. The unchanged text passes the same traffic (`timing.rs`), so the
//! finding is the mutation.

use crate::support::sources::source_mut;
use crate::support::verilated::{design, library_of, mixed, multicast, open, under, unicast};
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::checks::violation::ViolationKind;
use meshkv::cosim::traffic::generator::{Traffic, VirtualNetworks};
use meshkv::cosim::traffic::pattern::PatternKind;
use meshkv::cosim::workloads::network::measure::RunError;
use meshkv::design::Design;
use meshkv::emit::{emit, MESH};

/// The outcome of a run of a broken fabric.
#[derive(Debug)]
enum Caught {
    /// The scoreboard: kinds of the violations that it kept, and the first message.
    Violations(Vec<ViolationKind>, String),
    /// The watchdog, with the routers that hold flits.
    Stalled(String),
    /// A check in the RTL or of the local link.
    Stopped(String),
}

impl Caught {
    /// Tests whether the scoreboard found `kind`; the message must name the place.
    fn has(&self, kind: ViolationKind) -> bool {
        match self {
            Caught::Violations(kinds, message) => {
                assert!(message.contains("tile (") || message.contains("link"), "no place: {message}");
                kinds.contains(&kind)
            }
            _ => false,
        }
    }
}

fn small() -> Design {
    design(3, 2, |_| {})
}

/// Replaces every `from` by `to` in one emitted module and runs the traffic.
fn mutant(module: &str, from: &str, to: &str, traffic: &Traffic) -> Caught {
    let design = small();
    let mut files = emit(&design).unwrap();
    let file = source_mut(&mut files, module);
    assert!(file.text.contains(from), "{module} has no `{from}` to break");
    file.text = file.text.replace(from, to);
    // What joins the routers is no part of a router.
    let form = if module == MESH { BuildForm::WholeMesh } else { BuildForm::OneRouter };
    match under(&mut open(&library_of(form, &design, &files), &design), &design, traffic) {
        Ok(measured) => {
            let kinds: Vec<_> = measured.violations.iter().map(|v| v.kind).collect();
            assert!(!kinds.is_empty(), "not caught: {module}: {to}");
            Caught::Violations(kinds, measured.violations[0].message.clone())
        }
        Err(RunError::Stalled { blocked, .. }) => {
            assert!(blocked.contains("router ("), "no place: {blocked}");
            Caught::Stalled(blocked)
        }
        Err(error) => Caught::Stopped(format!("{error:#}")),
    }
}

fn single(load: f64) -> Traffic {
    unicast(PatternKind::Uniform, VirtualNetworks::Both, load, 1)
}

#[test]
fn a_dropped_credit_is_caught() {
    // One in every turn of the ring: the buffers seem fuller and fuller.
    let to = "credit_q <= (done & {VCS{|rd_slots[0]}})";
    let found = mutant("meshkv_input_port", "credit_q <= done", to, &single(0.3));
    assert!(matches!(found, Caught::Stalled(_)) || found.has(ViolationKind::Credits), "{found:?}");
}

#[test]
fn a_credit_given_twice_is_caught_by_the_counter_it_overflows() {
    let to = "credit_q <= done | credit_q";
    match mutant("meshkv_input_port", "credit_q <= done", to, &single(0.3)) {
        Caught::Stopped(text) => assert!(
            text.contains("$stop at src/rtl/network/meshkv_credit_pointers.v") || text.contains("tile "),
            "{text}"
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_sender_that_counts_too_many_slots_is_caught_by_the_buffer_it_overflows() {
    // A ring of eight slots where the buffer has four.
    let from =
        "meshkv_credit_pointers #(\n                .PTR_WIDTH(PTR_WIDTH),\n                .RING     (RING)";
    let to = "meshkv_credit_pointers #(\n                .PTR_WIDTH(3),\n                .RING     (8'h2b)";
    match mutant("meshkv_output_credits", from, to, &single(1.0)) {
        Caught::Stopped(text) => {
            assert!(text.contains("$stop at src/rtl/network/meshkv_input_port.v"), "{text}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn swapped_ports_are_caught_as_flits_at_the_wrong_tile() {
    let (from, to) = ("({n_to_l, 2'b00, n_to_s, 1'b0})", "({n_to_s, 2'b00, n_to_l, 1'b0})");
    let found = mutant("meshkv_router", from, to, &single(0.2));
    // Bound south from the southernmost row, a flit leaves the mesh.
    let lost = found.has(ViolationKind::WrongTile) || found.has(ViolationKind::Lost);
    assert!(lost || matches!(found, Caught::Stalled(_)), "{found:?}");
}

#[test]
fn swapped_links_are_caught() {
    let (from, to) = ("gen_col[x+1].tx_w_data", "gen_col[x+1].tx_n_data");
    let found = mutant("meshkv_mesh", from, to, &single(0.2));
    assert!(found.has(ViolationKind::Corrupt) || found.has(ViolationKind::Duplicate), "{found:?}");
}

#[test]
fn a_lost_flit_is_caught() {
    // Its credit comes home and everything goes on: only the scoreboard can know.
    let from = "({s_to_l, 3'b000, s_to_n})";
    let to = "({s_to_l, 3'b000, s_to_n} & {5{rx_s_data[4:0] != 5'd9}})";
    assert!(mutant("meshkv_router", from, to, &single(0.2)).has(ViolationKind::Lost));
}

#[test]
fn a_duplicated_flit_is_caught() {
    // The first of two grants frees nothing.
    let from = "assign done = rd_vc & {VCS{|grant}}";
    let again = "reg again_q;\n    always @(posedge clk) again_q <= |grant & ~|done;\n";
    let to = format!("{again}    {from} & {{VCS{{|rd_slots[0] | again_q}}}}");
    let part = unicast(PatternKind::Uniform, VirtualNetworks::Vn0, 0.2, 1);
    let found = mutant("meshkv_input_port", from, &to, &part);
    assert!(found.has(ViolationKind::Duplicate), "{found:?}");
}

#[test]
fn a_multicast_branch_that_sends_twice_is_caught() {
    // The tile's copy stays owed while there are others.
    let from = "wire [VCS-1:0] served = rd_vc & SEVERAL & {VCS{grant[o]}}";
    let to = format!("{from} & ~(unserved & {{VCS{{o == 4}}}})");
    let found = mutant("meshkv_input_port", from, &to, &multicast(4, 0.3, 1));
    assert!(found.has(ViolationKind::Duplicate), "{found:?}");
}

#[test]
fn a_forgotten_multicast_branch_is_caught() {
    // The first copy to leave releases the flit, as it may with one destination only.
    let (from, to) = ("& ~(unserved & SEVERAL);", ";");
    let found = mutant("meshkv_input_port", from, to, &multicast(4, 0.3, 1));
    // The rest of its copies are then owed by the flit behind it, until a buffer overflows.
    assert!(matches!(found, Caught::Stopped(_)) || found.has(ViolationKind::Lost), "{found:?}");
}

#[test]
fn a_branch_that_is_not_taken_at_a_fork_is_caught() {
    let (from, to) = ("rx_w_ahead, w_to_s, w_to_n}", "rx_w_ahead, w_to_s, w_to_n & ~rx_w_ahead}");
    assert!(mutant("meshkv_router", from, to, &multicast(4, 0.05, 1)).has(ViolationKind::Lost));
}

#[test]
fn a_spoilt_payload_or_header_bit_is_caught_and_numbered() {
    let (from, to) = ("tx_data_q <= data_b;", "tx_data_q <= data_b ^ {{FLIT_WIDTH-1{1'b0}}, 1'b1};");
    assert!(mutant("meshkv_output_port", from, to, &single(0.1)).has(ViolationKind::Corrupt));
    let (from, to) =
        ("(rd_meta_n[HEAD_WIDTH-1:0])", "({~rd_meta_n[HEAD_WIDTH-1], rd_meta_n[HEAD_WIDTH-2:0]})");
    match mutant("meshkv_router", from, to, &single(0.1)) {
        Caught::Violations(kinds, message) => {
            assert!(kinds.iter().all(|&k| k == ViolationKind::Corrupt), "{kinds:?}");
            let bit = small().flit.head_width - 1;
            assert!(message.contains(&format!("has head bit {bit} inverted")), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_flit_on_the_wrong_channel_is_caught() {
    let (from, to) = ("= rd_vc[VCS-1:VN0_VCS];", "= {rd_vc[VN0_VCS], rd_vc[VN0_VCS+1]};");
    assert!(mutant("meshkv_vc_request", from, to, &mixed(2, 0.05, 1)).has(ViolationKind::WrongVc));
}

#[test]
fn packets_that_share_a_channel_are_caught() {
    let (from, to) = ("assign free[v] = avail[v] & ~locked_q;", "assign free[v] = avail[v];");
    let long = unicast(PatternKind::Uniform, VirtualNetworks::Vn0, 0.6, 6);
    assert!(mutant("meshkv_output_credits", from, to, &long).has(ViolationKind::Interleaved));
}

#[test]
fn a_packet_that_takes_its_rivals_channel_is_caught() {
    // The fault of a first version of this router.
    let from = "(begins & {VN0_VCS{given[k]}})";
    match mutant(
        "meshkv_vc_request",
        from,
        "(begins & {VN0_VCS{given[k] | express_given[k]}})",
        &mixed(2, 0.2, 3),
    ) {
        Caught::Stopped(text) => {
            assert!(text.contains("two VCs at once") || text.contains("$stop at src/rtl/"), "{text}")
        }
        found => assert!(found.has(ViolationKind::Interleaved), "{found:?}"),
    }
}

#[test]
fn an_output_that_never_grants_ends_in_a_stall() {
    let (from, to) = (".want_l       (ask_l_n)", ".want_l       (4'b0000)");
    match mutant("meshkv_switch_allocator", from, to, &single(0.2)) {
        Caught::Stalled(blocked) => assert!(blocked.contains("local VC"), "{blocked}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_link_counter_that_misses_flits_is_caught() {
    let (from, to) = ("= events[o*4+:4];", "= events[o*4+:4] & 4'b1110;");
    let found = mutant("meshkv_link_counters", from, to, &single(0.2));
    assert!(found.has(ViolationKind::Links), "{found:?}");
}
