//! The host example compiles, lays out the cache as the fabric reads it, accesses registers in order, and names errors.

use crate::support::device::host_build::HostBuild;
use crate::support::verilated::design;
use meshkv::cosim::workloads::decode::{step, Workload};
use meshkv::design::device::registers::{named, LIST_SLOT_BYTES};
use meshkv::design::{Choice, Design, Mapping, Sharing};
use meshkv::emit::emit;
use meshkv::model::datapath::layout::{k_flits, v_flits};
use meshkv::model::State;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

const TOKENS: u32 = 21;
const STREAMS: u32 = 2;

/// The example, built for a design against a stand-in for the card.
struct Host {
    build: HostBuild,
}

impl Host {
    fn new(design: Design) -> Host {
        let host = Host { build: HostBuild::new(design) };
        host.build.compile(Path::new("host/meshkv_host.cpp"), "meshkv_host", &[]);
        for (name, heads, rows) in [
            ("queries", host.heads(), STREAMS),
            ("keys", host.kv_heads(), TOKENS),
            ("values", host.kv_heads(), TOKENS),
        ] {
            let bytes: Vec<u8> =
                host.numbers(name, heads * rows).into_iter().flat_map(u16::to_le_bytes).collect();
            std::fs::write(host.path(name), bytes).unwrap();
        }
        host
    }

    /// Compiles a program of the tests.
    fn compile(&self, name: &str) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device").join(format!("{name}.cpp"));
        self.build.compile(&source, name, &[]);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.build.path(name)
    }

    fn design(&self) -> &Design {
        &self.build.design
    }

    fn heads(&self) -> u32 {
        self.design().model.heads
    }

    fn kv_heads(&self) -> u32 {
        self.design().model.kv_heads
    }

    /// Numbers that encode their position, different in each file.
    fn numbers(&self, name: &str, rows: u32) -> Vec<u16> {
        let seed = name.len() as u32 * 7919;
        (0..rows * self.design().pe.head_dim)
            .map(|n| (n.wrapping_mul(40_503).wrapping_add(seed) >> 3) as u16)
            .collect()
    }

    fn run(&self, fault: &str, more: &[&str]) -> Output {
        let (tokens, streams) = (TOKENS.to_string(), STREAMS.to_string());
        let mut command = self.build.command("meshkv_host");
        command.args([
            "card.xclbin",
            "--tokens",
            &tokens,
            "--streams",
            &streams,
            "--queries",
            "queries",
            "--keys",
            "keys",
        ]);
        command.args(["--values", "values", "--outputs", "outputs", "--layer", "1"]).args(more);
        command.env("MESHKV_FAKE_FAULT", fault).output().unwrap()
    }

    /// The writes to registers, in order.
    fn log(&self) -> Vec<(u32, u32)> {
        let hex = |word: &str| u32::from_str_radix(word, 16).unwrap();
        let text = std::fs::read_to_string(self.path("log")).unwrap();
        text.lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(at, value)| (hex(at), hex(value)))
            .collect()
    }

    /// The words of the descriptors that the last run took from the list, by the registers' names.
    fn listed(&self) -> Vec<BTreeMap<&'static str, u32>> {
        let log = self.log();
        let bell = log.iter().rev().find(|(at, _)| *at == named("DOORBELL").offset).unwrap().1;
        let [count, slot] = [0, 1].map(|field: usize| named("DOORBELL").fields[field].of(bell));
        let list = argument(&log, self.design().list_argument()) + u64::from(slot * LIST_SLOT_BYTES);
        let count = count as usize;
        let names = ["CACHE", "FIRST", "STRIDE", "COUNT", "ROWS", "STREAMS", "PUSH"];
        let bytes = self.memory(list, 32 * count);
        let words = |one: &[u8]| {
            let words = one.chunks(4).map(|four| u32::from_le_bytes(four.try_into().unwrap()));
            names.into_iter().zip(words).collect()
        };
        bytes.chunks(32).map(words).collect()
    }

    /// Bytes of the card's memory from an address.
    fn memory(&self, address: u64, bytes: usize) -> Vec<u8> {
        let all = std::fs::read(self.path("memory")).unwrap();
        let word = |at: usize| u64::from_le_bytes(all[at..at + 8].try_into().unwrap());
        let mut at = 0;
        while at < all.len() {
            let (first, size) = (word(at), word(at + 8));
            if (first..first + size).contains(&address) {
                let from = at + 16 + (address - first) as usize;
                return all[from..from + bytes].to_vec();
            }
            at += 16 + size as usize;
        }
        panic!("nothing is at {address:#x}");
    }
}

/// The 64-bit argument that was written.
fn argument(log: &[(u32, u32)], number: u32) -> u64 {
    let at = Design::argument_offset(number);
    let word = |offset: u32| u64::from(log.iter().find(|(o, _)| *o == offset).expect("it is written").1);
    word(at) | word(at + 4) << 32
}

/// Asserts that all slices lie where the fabric reads them, in any buffer.
fn cache_is_where_the_fabric_reads(host: &Host) {
    let ran = host.run("", &[]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let (design, log) = (host.design(), host.log());
    let (dims, per_segment) = (design.pe.head_dim as usize, design.placement.segment_tokens as usize);
    let (keys, values) =
        (host.numbers("keys", host.kv_heads() * TOKENS), host.numbers("values", host.kv_heads() * TOKENS));
    let lanes = design.flit.data_width / 16;
    for head in 0..host.kv_heads() {
        let of =
            |all: &[u16]| all[head as usize * TOKENS as usize * dims..][..TOKENS as usize * dims].to_vec();
        let (k, v) = (of(&keys), of(&values));
        for (segment, (k, v)) in (0..).zip(k.chunks(per_segment * dims).zip(v.chunks(per_segment * dims))) {
            let mut flits = k_flits(k, lanes);
            flits.resize(design.mare.half_flits as usize, vec![0; lanes as usize]);
            flits.extend(v_flits(v, dims as u32, lanes));
            let bytes: Vec<u8> = flits.into_iter().flatten().flat_map(u16::to_le_bytes).collect();
            let home = design.placement.home_of(0, 1, segment, head);
            let (x, y) = design.mesh.coords(home);
            let port = design.memory.port(x, y);
            let address = argument(&log, 2 + port).wrapping_add(design.slice_address(0, 1, segment, head));
            assert_eq!(host.memory(address, bytes.len()), bytes, "KV head {head}, segment {segment}");
        }
    }
}

#[test]
fn the_cache_lies_where_the_fabric_reads_it() {
    let changes: [fn(&mut meshkv::config::Config); 4] = [
        |c| (c.takv.spread, c.takv.swap_epoch) = (meshkv::config::Spread::Slice, None),
        |_| {},
        |c| c.takv.swap_epoch = Some(0),
        |c| (c.takv.swap_epoch, c.takv.placement) = (Some(0), meshkv::design::PlacementKind::RoundRobin),
    ];
    for change in changes {
        cache_is_where_the_fabric_reads(&Host::new(small(change)));
    }
}

/// A small fabric with room for the test's tokens.
fn small(change: impl Fn(&mut meshkv::config::Config)) -> Design {
    design(3, 2, |c| {
        (c.noc.flit_width, c.kv.segment_tokens, c.kv.uram_per_tile, c.pe.head_dim) = (64, 8, 1, 32);
        (c.model.layers, c.model.heads, c.model.kv_heads) = (6, 6, 3);
        (c.model.max_tokens, c.model.max_streams) = (256, 2);
        change(c);
    })
}

#[test]
fn registers_are_written_in_the_order_of_a_run_and_outputs_come_back() {
    for more in [&[][..], &["--interrupt"]] {
        let host = Host::new(small(|_| {}));
        let ran = host.run("", more);
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let log = host.log();
        // The run is the last of it: a driver writes some of these as it begins, too.
        let at = |name: &str| {
            log.iter().rposition(|(o, _)| *o == named(name).offset).unwrap_or_else(|| panic!("no {name}"))
        };
        let first_error = log.iter().position(|(o, _)| *o == named("ERROR").offset).unwrap();
        assert!(at("SOFT_RESET") < first_error && first_error < at("DOORBELL"));
        let bell = log[at("DOORBELL")].1;
        let fields: Vec<_> = named("DOORBELL").fields.iter().map(|field| field.of(bell)).collect();
        assert_eq!(fields, [1, 1, STREAMS, 0], "count, the slot of layer 1, streams, tokens");
        let listed = &host.listed()[0];
        assert_eq!(listed["COUNT"], TOKENS.div_ceil(8));
        assert_eq!(listed["ROWS"], ((TOKENS - 1) % 8) << 16);
        assert_eq!(listed["STREAMS"], STREAMS << 16);
        assert_eq!(log.contains(&(named("GIE").offset, 1)), !more.is_empty());
        let [outputs, queries] = ["outputs", "queries"].map(|name| std::fs::read(host.path(name)).unwrap());
        assert_eq!(outputs, queries);
    }
}

#[test]
fn the_mapping_of_a_run_is_the_chosen_one_unless_another_is_asked_for() {
    let host = Host::new(small(|_| {}));
    let segments = TOKENS.div_ceil(8);
    let pushed = |more: &[&str]| {
        let ran = host.run("", more);
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let push = named("DESC_PUSH");
        let value = host.listed()[0]["PUSH"];
        let field = push.fields.iter().find(|field| field.name == "MAPPING").unwrap();
        value >> field.lsb & ((1 << field.width) - 1)
    };
    let load = Workload {
        // The table of the host has whole segments, and steps of four times as many.
        tokens: 4_u32.pow(segments.ilog(4)) * 8,
        batch: STREAMS,
        prefix: 4_u32.pow(segments.ilog(4)) * 8,
        mapping: Mapping::HeadTile,
        sharing: Sharing::KvHead,
        segments: None,
        layers: 1,
        stride: 1,
        append: false,
    };
    let chosen = Choice::new(host.design(), &step(host.design(), &load).unwrap().descriptors).mapping;
    assert_eq!([pushed(&[]), pushed(&["--mapping", "auto"])], [chosen.number(); 2]);
    for mapping in Mapping::ALL {
        let number = mapping.number();
        assert_eq!(pushed(&["--mapping", &number.to_string()]), number);
    }
    let ran = host.run("", &["--mapping", "3"]);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.code() == Some(2) && said.contains("--mapping is 3: 0 to 2 are possible"), "{said}");
}

/// Where it matters: a short context of eight streams on the fabric for the card, in groups of four heads.
#[test]
fn a_host_takes_another_mapping_for_short_contexts_than_for_long_ones() {
    let rows = mappings_of("u280_4x8_strided");
    assert_eq!(rows[3][0], Mapping::HeadTile.number(), "{rows:?}");
    assert_eq!(rows[0][4], Mapping::RowAligned.number(), "{rows:?}");
    // With homes by slice the tile at the home is the best from the first segment on.
    let rows = mappings_of("u280_4x8");
    assert!(rows.iter().flatten().all(|&mapping| mapping == Mapping::RowAligned.number()), "{rows:?}");
}

/// The table of mappings of a host, for 1, 2, 4 and 8 streams of 1 to 256 segments.
fn mappings_of(name: &str) -> Vec<Vec<u32>> {
    let (design, _) = Design::load(&Path::new("configs").join(format!("{name}.toml"))).unwrap();
    let mut config = design.configuration().clone();
    (config.model.kv_heads, config.model.max_streams, config.model.max_tokens) = (8, 8, 16_384);
    let design = Design::from_config("test", &config).unwrap();
    let files = emit(&design).unwrap();
    let shape = files.iter().find(|file| file.path.ends_with("meshkv_shape.h")).unwrap();
    let (_, table) = shape.text.split_once("meshkv_mappings[").unwrap();
    let numbers =
        |line: &str| line.split(['{', '}', ',', ' ']).filter_map(|n| n.parse().ok()).collect::<Vec<u32>>();
    let rows: Vec<_> =
        table.lines().skip(1).take_while(|line| line.starts_with("    {")).map(numbers).collect();
    assert_eq!(rows.len(), 4, "one, two, four, eight streams");
    assert!(rows.iter().all(|row| row.len() == 5), "1 to 256 segments: {rows:?}");
    rows
}

#[test]
fn what_goes_wrong_is_named() {
    let host = Host::new(small(|_| {}));
    for (fault, more, code, says) in [
        ("magic", &[][..], 1, "MAGIC is 0xdeadbeef"),
        ("design", &[], 1, "generated from another configuration"),
        ("desc", &[], 1, "DESC_LAYER"),
        ("memory", &[], 1, "MEMORY (A read of external memory was answered by an error; tile: 3)"),
        ("hang", &["--timeout", "30"], 1, "longer than 30 ms"),
        ("", &["--layer", "6"], 2, "--layer is 6: 0 to 5 are possible"),
        ("", &["--tokens", "22"], 2, "keys has"),
        ("", &["--streams", "x"], 2, "which is no number"),
        ("", &["--quiet", "1"], 2, "--quiet is no option"),
    ] {
        let ran = host.run(fault, more);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(code), "{fault} {more:?}: {said}");
        assert!(said.starts_with("error: ") && said.contains(says), "{fault} {more:?}: {said}");
    }
}

#[test]
fn outputs_that_are_void_are_written_and_named() {
    let host = Host::new(small(|_| {}));
    for more in [&[][..], &["--interrupt"]] {
        let ran = host.run("logit", more);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(1), "{said}");
        assert!(said.contains("SATURATED (") && said.contains("stream * QUERY_HEADS + head: 7"), "{said}");
        let [outputs, queries] = ["outputs", "queries"].map(|name| std::fs::read(host.path(name)).unwrap());
        assert_eq!(outputs, queries);
        std::fs::remove_file(host.path("outputs")).unwrap();
    }
}

#[test]
fn a_cache_larger_than_the_memory_is_an_error_that_says_what_to_lower() {
    let host =
        Host::new(small(|c| (c.model.max_tokens, c.model.layers, c.model.max_streams) = (1 << 20, 64, 8)));
    let ran = host.run("", &[]);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("lower model.max_tokens"), "{said}");
}

/// Numbers of a state that are easy and hard to merge.
fn number(random: &mut u64) -> f32 {
    *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let exponent = 120 + (*random >> 60) as u32;
    f32::from_bits((*random >> 63) as u32 & 1 << 31 | exponent << 23 | (*random >> 40) as u32 & 0x7f_ffff)
}

#[test]
fn the_host_merges_partial_results_as_meshkv_does() {
    let host = Host::new(small(|_| {}));
    host.compile("partials");
    let design = host.design();
    let (dim, heads, streams) = (design.pe.head_dim as usize, host.heads(), STREAMS);
    let bytes = design.output_bytes(streams, true) as usize;
    let mut random = 5;
    let mut state = |kind: u32| match kind {
        0 => State::empty(dim),
        1 => State { l: f32::NAN, max: f32::NAN, o: vec![f32::NAN; dim] },
        _ => {
            let max = (number(&mut random) * 40.0).round();
            State { l: number(&mut random).abs(), max, o: (0..dim).map(|_| number(&mut random)).collect() }
        }
    };
    let mut merged = vec![State::empty(dim); (streams * heads) as usize];
    let mut files = Vec::new();
    for buffer in 0..3_u32 {
        let mut all = vec![0xa5; bytes];
        for (place, merged) in merged.iter_mut().enumerate() {
            // A head without any token, one with a NaN, and every turn of empty ones.
            let here = match place {
                0 => state(0),
                1 if buffer == 1 => state(1),
                _ => state((place as u32 + buffer) % 3 + if place > 4 { 2 } else { 0 }),
            };
            let at = design.partial_states_at() as usize + place * design.flit.data_width as usize / 8;
            all[at..at + 4].copy_from_slice(&here.l.to_le_bytes());
            all[at + 4..at + 8].copy_from_slice(&here.max.to_le_bytes());
            let at = design.partial_sums_at() as usize + place * dim * 4;
            for (into, o) in all[at..at + dim * 4].chunks_mut(4).zip(&here.o) {
                into.copy_from_slice(&o.to_le_bytes());
            }
            *merged = merged.merge(&here);
        }
        files.push(format!("buffer{buffer}"));
        std::fs::write(host.path(&files[buffer as usize]), all).unwrap();
    }
    let ran = host.build.command("partials").args(&files).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let print = |number: f32| if number.is_nan() { 0x7fc0_0000 } else { number.to_bits() };
    let expected: Vec<String> = merged
        .iter()
        .flat_map(|state| [state.l, state.max].into_iter().chain(state.output()))
        .map(|number| format!("{:08x}", print(number)))
        .collect();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
    assert!(said.contains("7fc00000") && said.contains("ff800000") && said.contains("3f"));
}

#[test]
fn a_driver_refuses_slices_that_are_named_twice_in_a_run_however_the_last_one_ended() {
    let host = Host::new(small(|_| {}));
    host.compile("named_twice");
    let ran = host.build.command("named_twice").output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    let of = |segment| format!("segment {segment} of cache 0 is named by two descriptors of one run");
    let refused = "for the run before was refused and its descriptors wait still: reset the device";
    let [two, three, six] = [2, 3, 6].map(of);
    let late = format!("{three}, {refused}");
    let expected = [
        &["0 wait", "taken", "taken", "taken", &three, "taken", &six, "taken", "taken", "taken"][..],
        &["a run that is cut off", "taken", "taken"],
        &["a run that is refused", &two, "taken"],
        &["a run that is refused while the next is pushed", "taken", &late],
    ];
    assert_eq!(said, expected.concat().join("\n") + "\n");
}
