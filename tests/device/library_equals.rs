//! The library on a co-simulated device computes what `meshkv run` computes, bit by bit, and knows the design it is for.

use crate::support::attention::{on_model, Trouble};
use crate::support::device::card::Card;
use crate::support::device::host_build::{roomy, HostBuild};
use meshkv::config::{Config, KvFormat};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::workloads::attention::{Job, Own};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::model::datapath::tensors::{synthetic, Logits, Synthetic, Tensors};
use meshkv::model::State;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The mapping that the program asks for, except of streams that share.
const MAPPING: Mapping = Mapping::RowAligned;

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device").join(name)
}

/// A window of 16 tokens over two segments, and heads of 20 elements in rows of 32.
fn windowed(append: bool) -> Design {
    let mut config = roomy(append).configuration().clone();
    (config.model.sliding_window, config.model.head_dim) = (Some(16), Some(20));
    Design::from_config("windowed", &config).unwrap()
}

/// Tensors without the zeros that fill up rows.
fn drawn(design: &Design, tokens: u32, positions: usize) -> Tensors {
    let model = &design.model;
    synthetic(&Synthetic {
        seed: u64::from(tokens),
        heads: model.heads as usize,
        kv_heads: model.kv_heads as usize,
        positions,
        tokens: tokens as usize,
        head_dim: design.model.head_dim as usize,
        logits: Logits::Normal,
    })
}

/// Writes the tensors as the program reads them, runs it on a new card and returns the bytes of its outputs.
fn by_library(build: &HostBuild, how: &str, lengths: &[u32], tensors: &Tensors) -> Vec<u8> {
    let ([heads, _, positions, _, dim], [q, k, v]) = tensors.clone().into_parts();
    let rows = (0..positions).flat_map(|stream| (0..heads).map(move |head| head * positions + stream));
    let q: Vec<u16> = rows.flat_map(|row| q[row * dim..][..dim].to_vec()).collect();
    for (name, all) in [("t.q", q), ("t.k", k), ("t.v", v)] {
        let bytes: Vec<u8> = all.into_iter().flat_map(u16::to_le_bytes).collect();
        std::fs::write(build.path(name), bytes).unwrap();
    }
    let mut command = build.command("library_equals");
    command.args(["t", how]).args(lengths.iter().map(u32::to_string));
    let ran = Card::new(&build.design).serve(&mut command);
    assert!(ran.status.success(), "{how} {lengths:?}: {}", String::from_utf8_lossy(&ran.stderr));
    std::fs::read(build.path("t.o")).unwrap()
}

/// Outputs of the job, as the program writes them.
fn by_run(job: &Job) -> Vec<u8> {
    let done = on_model(job, Trouble::default(), Clocks::IN_STEP, true);
    let bytes = |output: &Vec<u16>| -> Vec<u8> {
        if !job.partials {
            return job.tensors.of_model(output).into_iter().flat_map(u16::to_le_bytes).collect();
        }
        let state = State::of_halves(output);
        let o = job.tensors.of_model(&state.o);
        [state.l, state.max].into_iter().chain(o).flat_map(f32::to_le_bytes).collect()
    };
    done.outputs.values().flat_map(bytes).collect()
}

fn filled(design: &Design, tensors: Tensors) -> Tensors {
    tensors.filled_up(design.pe.head_dim as usize)
}

fn built(design: Design) -> HostBuild {
    let build = HostBuild::new(design);
    build.compile(&source("library_equals.cpp"), "library_equals", &[]);
    build
}

/// Streams with a cache each: of one token, the last of a segment, the first of the next, and several.
fn streams_equal(build: &HostBuild, how: &str, lengths: &[u32]) {
    let design = &build.design;
    let tensors = drawn(design, lengths.iter().sum(), lengths.len());
    let ours = by_library(build, how, lengths, &tensors);
    let tensors = filled(design, tensors);
    let job = Job::ragged(design, &tensors, 0, lengths, MAPPING, Sharing::KvHead).unwrap();
    assert_eq!(ours, by_run(&job), "{how} {lengths:?}");
}

#[test]
fn outputs_of_the_library_are_those_of_a_run_in_every_bit() {
    for append in [false, true] {
        let build = built(roomy(append));
        for lengths in [&[61][..], &[1, 16, 17, 40]] {
            streams_equal(&build, "attend", lengths);
            streams_equal(&build, "append", lengths);
        }
    }
}

#[test]
fn the_library_has_the_window_and_the_heads_of_the_model() {
    let build = built(windowed(true));
    for lengths in [&[100][..], &[1, 16, 17, 43]] {
        streams_equal(&build, "attend", lengths);
        streams_equal(&build, "append", lengths);
    }
    partials_equal(&build, 15);
}

/// Partial results of one stream over all its tokens.
fn partials_equal(build: &HostBuild, tokens: u32) {
    let tensors = drawn(&build.design, tokens, 1);
    let ours = by_library(build, "partials", &[tokens], &tensors);
    let tensors = filled(&build.design, tensors);
    let job = Job::new(&build.design, &tensors, (0, 1), MAPPING, Sharing::KvHead).unwrap();
    assert_eq!(ours, by_run(&job.part(0..tokens)), "{tokens} tokens");
}

#[test]
fn partial_results_of_the_library_are_those_of_a_run_in_every_bit() {
    let build = built(roomy(false));
    for tokens in [1, 61] {
        partials_equal(&build, tokens);
    }
}

#[test]
fn streams_that_share_a_prefix_get_the_outputs_of_a_run_in_every_bit() {
    let build = built(roomy(true));
    let (design, prefix, own) = (&build.design, 16, [5, 9]);
    let tensors = drawn(design, prefix + own[0] + own[1], 2);
    let ours = by_library(&build, "share", &[prefix, own[0], own[1]], &tensors);
    // A run has each stream's tokens in a row, the prefix of every stream included.
    let ([heads, kv_heads, positions, tokens, dim], [q, k, v]) = tensors.into_parts();
    let spread = |all: Vec<u16>| -> Vec<u16> {
        let cut = |head: &[u16], from: u32, to: u32| head[from as usize * dim..to as usize * dim].to_vec();
        let (first, all_tokens) = (prefix + own[0], tokens as u32);
        let of_head =
            |head: &[u16]| [cut(head, 0, first), cut(head, 0, prefix), cut(head, first, all_tokens)].concat();
        all.chunks(tokens * dim).flat_map(of_head).collect()
    };
    let shape = [heads, kv_heads, positions, tokens + prefix as usize, dim];
    let tensors = Tensors::new(shape, [q, spread(k), spread(v)]);
    let streams = [(0, 0..prefix + own[0]), (1, prefix + own[0]..2 * prefix + own[0] + own[1])];
    let own = streams.map(|(cache, tokens)| Own { cache, tokens, query: cache as usize, append: false });
    // Tiles of a head visit all segments one by one, so it does not matter in which cache they are.
    let job = Job {
        design,
        tensors: &tensors,
        position: 0,
        streams: 2,
        own: Some(own.to_vec()),
        prefix,
        rows: 0..tensors.tokens as u32,
        mappings: vec![Mapping::HeadTile],
        sharing: Sharing::KvHead,
        partials: false,
    };
    assert_eq!(ours, by_run(&job));
}

#[test]
fn a_batch_of_a_model_with_a_window_attends_to_its_last_tokens() {
    let mut config = roomy(false).configuration().clone();
    config.model.sliding_window = Some(16);
    let build = HostBuild::new(Design::from_config("windowed", &config).unwrap());
    build.compile(&source("library_windows.cpp"), "library_windows", &[]);
    let ran = build.command("library_windows").output().unwrap();
    let expected = "\
15 tokens
  0:0-14>0+1c
and a new one
  0:0-15>0+1c
16 and a new one
  0:1-16>0+1c
100
  0:84-99>0+1c
partial results of 100
  0:84-99>0+1c
shared
  0:84-99>1+2c
shared, and a new token
  0:85-99>1+2 1:0-0>1+1c 2:0-0>2+1c
3 own ones beside none
  0:87-99>1+1 1:0-2>1+1c
  0:84-99>2+1c
15 own ones
  0:99-99>1+1 1:0-14>1+1c
and a new one
  1:0-15>1+1c
25 own ones, in a batch
  0:84-99>0+1c 1:9-24>1+1c
  0:84-99>2+1c
";
    assert_eq!(String::from_utf8_lossy(&ran.stdout), expected);
}

#[test]
fn every_fact_that_bytes_of_the_host_depend_on_is_read_by_the_library() {
    let design = roomy(true);
    let sources: Vec<_> = std::fs::read_dir("host").unwrap().map(|one| one.unwrap().path()).collect();
    let text: String = sources.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let words: Vec<_> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    for fact in design.shape_facts().iter().chain(&design.buffer_facts()) {
        let is_read = words.contains(&format!("MESHKV_{}", fact.name).as_str());
        assert!(is_read, "{} reaches no line of host/", fact.name);
    }
}

/// What the compiler says of the library with a header that another design has, or another format of numbers.
fn refusal(change: impl Fn(&HostBuild)) -> String {
    let build = HostBuild::new(roomy(false));
    change(&build);
    let cxx = meshkv::tools::find(&meshkv::tools::CXX).expect("the host's sources need a C++ compiler");
    let mut command = Command::new(cxx.path);
    command.args(["-std=c++17", "-fsyntax-only", "-Isw", "-Ihost"]).arg(source("library_windows.cpp"));
    let ran = command.arg("host/meshkv_cache.hpp").current_dir(build.dir.path()).output().unwrap();
    String::from_utf8_lossy(&ran.stderr).into_owned()
}

#[test]
fn headers_of_different_designs_do_not_compile() {
    let of = |build: &HostBuild, name: &str| std::fs::read_to_string(build.path(name)).unwrap();
    type Change = fn(&mut Config);
    let changes: [Change; 2] = [|c| c.model.sliding_window = Some(16), |c| c.kv.format = KvFormat::Fp8E4m3];
    for change in changes {
        let mixed = refusal(|build| {
            let mut config = build.design.configuration().clone();
            change(&mut config);
            let other = HostBuild::new(Design::from_config("other", &config).unwrap());
            std::fs::write(build.path("sw/meshkv_shape.h"), of(&other, "sw/meshkv_shape.h")).unwrap();
        });
        assert!(mixed.contains("meshkv_shape.h and meshkv_registers.h are of different designs"), "{mixed}");
    }
}
