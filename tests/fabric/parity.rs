//! `noc.parity`: a flipped bit is named with its place, wherever it flips between staging memory and array; no other is.

use crate::support::decode::{plan, run_alone, run_clean, small, whole_library, FORM, LOAD, MAPPINGS};
use crate::support::sources::source_mut;
use crate::support::verilated::library_of;
use meshkv::config::Config;
use meshkv::cosim::build::Library;
use meshkv::cosim::dut::ports::LinkFlip;
use meshkv::cosim::dut::verilated::verilated_ports::verilated;
use meshkv::cosim::dut::watched::power_up;
use meshkv::cosim::workloads::decode::{Bench, DecodeError, Plan, Workload};
use meshkv::cosim::workloads::{TileError, TileErrorKind};
use meshkv::design::{Design, Flaw, Mapping, Port};
use meshkv::emit::emit;

const ROW_ALIGNED: Workload = Workload { mapping: Mapping::RowAligned, tokens: 40, ..LOAD };

fn checked(change: impl FnOnce(&mut Config)) -> Design {
    small(|c| {
        c.noc.parity = true;
        change(c);
    })
}

/// Places that tiles report in a run that ends.
fn flaws(library: &Library, design: &Design, plan: &Plan) -> Vec<TileError> {
    match run_alone(library, design, plan) {
        Ok(_) => Vec::new(),
        Err(DecodeError::Reported { all, .. }) => all,
        Err(other) => panic!("{other}"),
    }
}

/// The library with another text in a module.
fn slip(design: &Design, module: &str, from: &str, to: &str) -> Library {
    let mut files = emit(design).unwrap();
    let file = source_mut(&mut files, module);
    assert_eq!(file.text.matches(from).count(), 1, "{module}: {from}");
    file.text = file.text.replace(from, to);
    library_of(FORM, design, &files)
}

#[test]
fn what_comes_as_it_was_sent_is_no_flaw() {
    for stages in [2, 3] {
        for multicast in [true, false] {
            let design = checked(|c| {
                (c.noc.router_stages, c.mare.multicast, c.kv.append) = (stages, multicast, multicast);
                c.floorplan.slr_registers = stages == 3;
            });
            let library = whole_library(&design);
            for mapping in MAPPINGS {
                let load = Workload { tokens: 61, batch: 2, mapping, append: multicast, ..LOAD };
                let done = run_clean(&library, &design, &plan(&design, &load), &format!("{mapping:?}"));
                assert_eq!(done.faults, []);
            }
        }
    }
}

#[test]
fn a_flipped_flit_is_named_where_it_comes() {
    let design = checked(|_| {});
    let library = whole_library(&design);
    let (mesh, mut reached) = (design.mesh, 0);
    for node in mesh.nodes() {
        for side in Port::ALL.into_iter().filter(|&side| mesh.neighbour(node, side).is_some()) {
            // Of each link another flit and bit.
            let at = 4 * node.index() + side.index();
            let flip = LinkFlip {
                tile: node.index() as u32,
                side,
                number: at as u64 % 7,
                // Not one of those that say what a fetch asks for.
                bit: 32 + (13 * at as u32) % 32,
            };
            let plan = Plan { flip: Some(flip), ..plan(&design, &Workload { batch: 2, ..ROW_ALIGNED }) };
            let dut = verilated(&library, power_up(plan.seed)).unwrap();
            let done = Bench::on(dut, &design).unwrap().run_through(&plan, &mut |_| false).unwrap();
            let named =
                TileError { tile: mesh.coords(node), kind: TileErrorKind::Parity(Flaw::Router(side)) };
            assert_eq!(done.faults.contains(&named), done.flipped.is_some(), "{flip:?}: {:?}", done.faults);
            assert!(done.flipped.is_some() || done.faults.is_empty(), "{flip:?}: {:?}", done.faults);
            reached += u32::from(done.flipped.is_some());
        }
    }
    assert!(reached >= 8, "{reached} links carry flits");
}

#[test]
fn an_upset_within_a_tile_is_named_by_the_next_check() {
    let design = checked(|c| c.kv.append = true);
    let load = plan(&design, &Workload { append: true, batch: 2, ..ROW_ALIGNED });
    // A flit that leaves the tile is checked by its router, one that stays before the array.
    let of_staging = [Flaw::Router(Port::Local), Flaw::Array];
    let links = [Port::North, Port::South, Port::East, Port::West].map(Flaw::Router);
    let of_buffers = [&links[..], &[Flaw::Tile]].concat();
    for (module, from, to, places) in [
        ("meshkv_staging_memory", "out_q <= read_q;", "out_q <= read_q ^ 1'b1;", &of_staging[..]),
        ("meshkv_staging_memory", "{^patch_data[8*(i%8)+:8],", "{1'b0,", &of_staging[..]),
        (
            "meshkv_input_port",
            "flit_mem[wr_addr]  <= {rx_meta, rx_data};",
            "flit_mem[wr_addr]  <= {rx_meta, rx_data ^ (1'b1 << 40)};",
            &of_buffers[..],
        ),
        ("meshkv_requester", "x_data_q <= rx_data;", "x_data_q <= rx_data ^ 1'b1;", &[Flaw::Array][..]),
    ] {
        let found = flaws(&slip(&design, module, from, to), &design, &load);
        assert!(!found.is_empty(), "{module}: {to}: nothing is reported");
        // What is not repaired on its way is named by later checks as well.
        let first = |flaw: &Flaw| places.contains(flaw) || *flaw != Flaw::Router(Port::Local);
        for error in &found {
            let TileErrorKind::Parity(flaw) = error.kind else { panic!("{error}") };
            assert!(first(&flaw), "{module}: {error}");
        }
        let named = found.iter().any(|e| places.iter().any(|&flaw| e.kind == TileErrorKind::Parity(flaw)));
        assert!(named, "{module}: {found:?}");
    }
}
