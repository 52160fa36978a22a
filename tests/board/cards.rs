//! The files of each card: constraints and scripts find what they name, the link has the memory of queries that the
//! configuration asks for, and the tools' releases are the card's.

use crate::emit::constraints::Bench;
use crate::support::verilated::design;
use meshkv::config::{Board, IoMemory};
use meshkv::cosim::workloads::decode::{step, Workload};
use meshkv::design::{Choice, Design, Fpga, Mapping, Sharing};
use meshkv::emit::emit;
use meshkv::synth::lint::vivado::Installation;
use std::path::Path;

/// A small design for a card, with converters to HBM.
fn of_card(board: Board, io: Option<IoMemory>) -> Design {
    design(2, 2, |c| {
        (c.board, c.memory.io) = (board, io);
        (c.noc.flit_width, c.pe.head_dim, c.kv.segment_tokens) = (256, 128, 16);
    })
}

fn text(design: &Design, path: &str) -> String {
    let files = emit(design).unwrap();
    let found = files.into_iter().find(|file| file.path == path);
    found.unwrap_or_else(|| panic!("no {path}")).text
}

#[test]
fn constraints_and_scripts_of_every_card_find_what_they_name() {
    for fpga in Fpga::all() {
        let bench = Bench::new(&of_card(fpga.board, None));
        for found in [bench.constraints(), bench.pins(), bench.scripts()] {
            assert_eq!(found, [""; 0], "{}", fpga.name);
        }
        let xdc = format!("constraints/{}.xdc", fpga.board.name());
        let found = bench.with(&xdc, "get_ports hbm_cattrip", "get_ports hbm_cat", Bench::pins);
        assert!(found.iter().any(|text| text.contains("hbm_cat")), "{}: {found:?}", fpga.name);
    }
}

#[test]
fn a_script_names_the_interfaces_of_hbm_as_the_stacks_of_the_card_have_them() {
    let bench = Bench::new(&of_card(Board::U55c, None));
    let system = |bench: &Bench| bench.script("system", Installation::default());
    assert_eq!(system(&bench), [""; 0]);
    let wrong = "set design_hbm_interface {}";
    let found = bench.with("scripts/design.tcl", "set design_hbm_interface {_8HI}", wrong, system);
    assert!(found[0].contains("SAXI_00 is no interface of hbm with these stacks"), "{found:?}");
}

#[test]
fn the_scripts_of_each_card_accept_its_releases_and_no_others() {
    let tried = ["2021.2", "2022.1", "2023.1", "2023.2", "2024.2", "2025.2", "2026.1"];
    for (board, accepted) in [(Board::U280, 1..3), (Board::U55c, 1..6)] {
        let bench = Bench::new(&of_card(board, None));
        let [first, last] = Fpga::of(board).releases.shown();
        for (at, release) in tried.into_iter().enumerate() {
            let found = bench.script("kernel", Installation { release, ..Installation::default() });
            if accepted.contains(&at) {
                assert_eq!(found, [""; 0], "{board:?}, {release}");
            } else {
                assert_eq!(found.len(), 1, "{board:?}, {release}");
                assert!(found[0].contains(&format!("not one of {first} to {last}")), "{found:?}");
                assert!(found[0].contains(Fpga::of(board).name), "{found:?}");
            }
        }
    }
}

#[test]
fn the_link_has_queries_and_outputs_in_the_memory_that_is_asked_for() {
    let bank = |board, io| {
        let link = text(&of_card(board, io), "scripts/link.cfg");
        let line = link.lines().find_map(|line| line.strip_prefix("sp=meshkv_1.m_axi_io:"));
        line.unwrap_or_else(|| panic!("{link}")).to_owned()
    };
    assert_eq!([None, Some(IoMemory::Ddr)].map(|io| bank(Board::U280, io)), ["DDR[0]"; 2]);
    for board in Board::ALL {
        assert_eq!(bank(board, Some(IoMemory::Host)), "HOST[0]");
        // Four ports of eight channels: the second has no home.
        assert_eq!(bank(board, Some(IoMemory::Hbm)), "HBM[1]");
    }
    assert_eq!(bank(Board::U55c, None), "HOST[0]");
}

#[test]
fn the_files_of_a_card_name_no_other() {
    for fpga in Fpga::all() {
        let other = Fpga::all().iter().find(|other| other.board != fpga.board).unwrap();
        let files = emit(&of_card(fpga.board, None)).unwrap();
        let name = fpga.board.name();
        for path in [format!("board/meshkv_{name}.v"), format!("constraints/{name}.xdc")] {
            assert!(files.iter().any(|file| file.path == path), "{path}");
        }
        for file in files.iter().filter(|file| !file.path.starts_with("host/")) {
            assert!(!file.text.contains(other.part), "{} names {}", file.path, other.part);
            assert!(!file.text.contains(other.platform), "{} names {}", file.path, other.platform);
            assert!(!file.path.contains(other.board.name()), "{}", file.path);
        }
    }
}

#[test]
fn the_host_and_the_converters_have_the_channels_of_the_card() {
    for (board, bytes, bits) in [(Board::U280, 256_u64 << 20, 33), (Board::U55c, 512 << 20, 34)] {
        let design = of_card(board, None);
        let shape = text(&design, "sw/meshkv_shape.h");
        let line = shape.lines().find(|line| line.starts_with("#define MESHKV_CHANNEL_BYTES "));
        assert!(line.unwrap().split_whitespace().nth(2) == Some(&bytes.to_string()), "{shape}");
        let read = text(&design, "rtl/board/meshkv_axi3_read.v");
        assert!(read.contains(&format!("parameter HBM_ADDR_WIDTH = {bits}")), "{read}");
        let script = text(&design, "scripts/design.tcl");
        assert!(script.contains(&format!("set design_hbm_memory_bytes {bytes}")), "{script}");
    }
}

/// Bytes, memory and cycles of the forecast of a layer of `u280_4x8`, one stream.
fn forecast(io: IoMemory, tokens: u32) -> [u64; 3] {
    let (design, _) = Design::load(Path::new("configs/u280_4x8.toml")).unwrap();
    let mut config = design.configuration().clone();
    config.memory.io = Some(io);
    let design = Design::from_config("shared", &config).unwrap();
    let (mapping, sharing) = (Mapping::RowAligned, Sharing::KvHead);
    let (batch, prefix, segments, layers) = (1, 0, None, 1);
    let load =
        Workload { tokens, batch, prefix, mapping, sharing, segments, layers, stride: 1, append: false };
    let choice = Choice::new(&design, &step(&design, &load).unwrap().descriptors);
    let (_, found) = choice.forecasts.into_iter().find(|(of, _)| *of == mapping).unwrap();
    let found = found.unwrap();
    [found.bounds.bytes, found.bounds.memory, found.cycles]
}

#[test]
fn queries_and_outputs_in_a_channel_of_homes_count_on_it() {
    for tokens in [64, 4096] {
        let elsewhere = forecast(IoMemory::Ddr, tokens);
        assert_eq!(forecast(IoMemory::Host, tokens), elsewhere);
        let [bytes, memory, cycles] = forecast(IoMemory::Hbm, tokens);
        // 256 flits of 64 bytes: a channel gives 57.5 bytes a cycle, less its refresh.
        let more = 256.0 * 64.0 / (57.5 * (1.0 - 65.0 / 975.0));
        assert!((memory as f64 - elsewhere[1] as f64 - more).abs() <= 2.0, "{memory} for {elsewhere:?}");
        assert!((bytes as f64 - elsewhere[0] as f64 - more / 32.0).abs() <= 2.0, "{bytes} for {elsewhere:?}");
        assert!(
            cycles > elsewhere[2] && cycles <= elsewhere[2] + 2 * more as u64,
            "{cycles} for {elsewhere:?}"
        );
    }
}
