//! Rules over several keys of a configuration: errors for combinations that cannot be built, warnings for
//! unwise ones.
//!
//! The schema judges each key by itself ([`config::violations`]). `head_dim` and the elements of a flit are
//! powers of two, so one always divides the other.

mod card;
mod idle;
mod memory;
mod placement;
mod ports;

use super::design::Design;
use super::floorplan::Floorplan;
use super::fpga::Fpga;
use super::head::row_of;
use super::mapping::Heads;
use super::mare::{chunk_flits, fifo_depth};
use super::mesh::Mesh;
use super::root::most_lanes;
use super::round_trip::round_trip;
use super::slice::slice_flits;
use super::staging::{Staging, URAM_DEPTH, URAM_WIDTH};
use crate::config::{self, Config, Finding, Severity};

/// Finds all errors and warnings of a configuration named `name`, whatever its source.
///
/// Combinations are judged only once each key is legal by itself, since their rules may
/// divide by a key.
pub fn check(name: &str, config: &Config) -> Vec<Finding> {
    let mut violations = config::violations(config);
    violations.extend(name_is_plain(name));
    if !violations.is_empty() {
        return violations;
    }
    let rules: [fn(&Config) -> Option<Finding>; 19] = [
        placement::stride_visits_every_row,
        placement::columns_have_room_for_the_stride,
        placement::hub_is_in_a_column,
        placement::hub_is_in_a_row,
        placement::cache_fits_the_memory,
        placement::blocks_are_spread_evenly,
        ports::a_row_has_the_tiles_of_a_port,
        ports::every_port_has_a_channel,
        memory::memory_answers_before_a_home_gives_it_up,
        memory::a_refresh_ends_before_the_next,
        heads_fit_a_mask,
        kv_heads_divide_heads,
        uram_is_as_wide_as_a_flit,
        window_holds_a_slice,
        a_new_token_fills_flits,
        a_flit_has_the_numbers_of_a_root,
        uram_fits_the_device,
        sliding_window_acts,
        a_row_holds_a_head,
    ];
    let mut findings: Vec<_> = rules.iter().filter_map(|rule| rule(config)).collect();
    // The floorplan depends on widths that only a legal design has.
    let plan = if findings.iter().all(|f| f.severity == Severity::Warning) {
        Design::decide(name, config).floorplan
    } else {
        Floorplan::by_shares(Mesh::new(config.mesh.cols, config.mesh.rows), Fpga::of(config.board))
    };
    findings.extend(fifo_covers_the_round_trip(config, &plan));
    findings.extend(idle::keys_without_effect(config));
    findings
}

/// Adds to [`check`] the findings of a design that is built for the card.
pub fn check_for_the_card(name: &str, config: &Config) -> Vec<Finding> {
    let mut findings = check(name, config);
    if findings.iter().all(|f| f.severity == Severity::Warning) {
        let rules: [fn(&Config) -> Option<Finding>; 6] = [
            card::caches_fit_the_card,
            card::arrays_fit_the_card,
            card::contexts_fit_the_card,
            ports::no_channel_idles_beside_a_shared_one,
            ports::a_layer_reaches_the_ports,
            ports::ports_carry_the_bandwidth,
        ];
        findings.extend(rules.iter().filter_map(|rule| rule(config)));
    }
    findings
}

/// Rejects a name that is unfit for file names, the FuseSoC core and comments of the Verilog.
fn name_is_plain(name: &str) -> Option<Finding> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let legal = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(plain);
    (!legal).then(|| {
        Finding::error(
            "",
            format!("{name:?} is the name of the design, and is not a plain word"),
            "the design is named after its file: use letters, digits, - and _, a letter first",
        )
    })
}

/// Widest head mask, here and in co-simulation.
const MASK_BITS: u32 = 64;

fn heads_fit_a_mask(config: &Config) -> Option<Finding> {
    let (heads, kv_heads) = (config.model.heads, config.model.kv_heads);
    // Another rule rejects groups that do not divide the heads.
    let most = if heads % kv_heads == 0 { Heads::new(config).most() } else { 0 };
    (most > MASK_BITS).then(|| {
        let cols = config.mesh.cols;
        // A single group is dealt head by head, so some number always fits.
        let fits = |heads: &u32| {
            let mut fewer = config.clone();
            fewer.model.heads = *heads;
            heads.is_multiple_of(kv_heads) && Heads::new(&fewer).most() <= MASK_BITS
        };
        let fitting = (1..heads).rev().find(fits).unwrap_or(kv_heads);
        Finding::value(
            "model.heads",
            heads,
            format!(
                "is {most} heads in one of {cols} columns, more than the {MASK_BITS} bits of a head mask"
            ),
            format!("the heads of a layer are dealt to the columns; try more columns, or heads = {fitting}"),
        )
        .with(&["mesh.cols", "model.kv_heads"])
    })
}

fn kv_heads_divide_heads(config: &Config) -> Option<Finding> {
    let (heads, kv_heads) = (config.model.heads, config.model.kv_heads);
    (heads % kv_heads != 0).then(|| {
        let nearest = (1..=kv_heads.min(heads)).rev().find(|k| heads % k == 0).unwrap_or(1);
        Finding::value(
            "model.kv_heads",
            kv_heads,
            format!("does not divide model.heads = {heads}"),
            format!("every KV head serves the same number of query heads; try kv_heads = {nearest}"),
        )
        .with(&["model.heads"])
    })
}

fn uram_is_as_wide_as_a_flit(config: &Config) -> Option<Finding> {
    let (blocks, flit) = (config.kv.uram_per_tile, config.noc.flit_width);
    let needed = Staging::new(config).blocks_wide;
    (blocks < needed).then(|| {
        let width = blocks * URAM_WIDTH;
        Finding::value(
            "kv.uram_per_tile",
            blocks,
            format!("is {width} bits wide, less than noc.flit_width = {flit}"),
            format!("a flit is read in one cycle from blocks side by side; try uram_per_tile = {needed} or a narrower flit"),
        )
        .with(&["noc.flit_width"])
    })
}

/// A new token's K is written as whole flits.
fn a_new_token_fills_flits(config: &Config) -> Option<Finding> {
    let (row, flit) = (config.pe.head_dim * config.kv.bytes_per_element * 8, config.noc.flit_width);
    (config.kv.append && row < flit).then(|| {
        Finding::value(
            "kv.append",
            true,
            format!("needs flits that hold one token of a KV head at most, {row} bits, and noc.flit_width = {flit}"),
            format!("set noc.flit_width = {row}, a larger pe.head_dim, or append = false"),
        )
        .with(&["noc.flit_width", "pe.head_dim"])
    })
}

fn window_holds_a_slice(config: &Config) -> Option<Finding> {
    let (slice, staging) = (slice_flits(config), Staging::new(config));
    // Without any memory, the rule on its width has already failed.
    if staging.flits == 0 || slice <= staging.window_flits {
        return None;
    }
    let (tokens, banks) = (config.kv.segment_tokens, config.kv.banks);
    let blocks = staging.blocks_wide * (slice * banks).div_ceil(URAM_DEPTH);
    let fitting = u64::from(tokens) * u64::from(staging.window_flits) / u64::from(slice);
    let more_blocks = if blocks <= 64 { format!("uram_per_tile = {blocks}, ") } else { String::new() };
    Some(
        Finding::value(
            "kv.segment_tokens",
            tokens,
            format!(
                "makes slices of {slice} flits, more than the {} of a staging window",
                staging.window_flits
            ),
            format!(
                "a window is filled with whole slices before they are read; try {more_blocks}fewer banks or segment_tokens = {}",
                fitting.max(1)
            ),
        )
        .with(&["kv.banks", "kv.uram_per_tile", "noc.flit_width", "pe.head_dim", "kv.bytes_per_element"]),
    )
}

fn a_flit_has_the_numbers_of_a_root(config: &Config) -> Option<Finding> {
    let (lanes, most, flit) = (config.pe.root_lanes?, most_lanes(config), config.noc.flit_width);
    (lanes > most).then(|| {
        Finding::value(
            "pe.root_lanes",
            lanes,
            format!("is more than the FP32 numbers of a flit, noc.flit_width = {flit}"),
            format!("a root merges numbers of one flit a cycle; try root_lanes = {most}, or leave it out"),
        )
        .with(&["noc.flit_width"])
    })
}

/// Only a warning: meshes up to 16x16 are also generated for studies without a card. The area estimate
/// decides whether a design fits, not a count of memories.
fn uram_fits_the_device(config: &Config) -> Option<Finding> {
    let (cols, rows, each) = (config.mesh.cols, config.mesh.rows, config.kv.uram_per_tile);
    let total = cols * rows * each;
    let there = Fpga::of(config.board).has.uram as u32;
    let fitting = there / (cols * rows);
    (total > there).then(|| {
        Finding::value(
            "kv.uram_per_tile",
            each,
            format!("is {total} URAM288 in {cols} x {rows} tiles, more than the {there} of the U280"),
            format!(
                "it can be simulated but not placed: at most {} such tiles, or {fitting} blocks a tile for flits of up to {} bits",
                there / each,
                fitting * URAM_WIDTH
            ),
        )
        .with(&["mesh.cols", "mesh.rows"])
        .as_warning()
    })
}

/// The least FIFO depth that holds `rest` flits and one chunk of the size that this depth gives.
fn deep_enough(config: &Config, rest: u32) -> u32 {
    let chunk = |depth: u32| {
        let mut deeper = config.clone();
        deeper.pad.fifo_depth = Some(depth);
        chunk_flits(&deeper)
    };
    (rest..).find(|&depth| depth >= rest + chunk(depth)).unwrap_or(rest)
}

/// Warns of a FIFO that does not cover the round trip. On a loaded row the home first streams a chunk for
/// another tile.
fn fifo_covers_the_round_trip(config: &Config, plan: &Floorplan) -> Option<Finding> {
    let mare = &config.mare;
    let window = if mare.enable { mare.coalesce_window } else { 0 };
    let build = if mare.enable && mare.multicast { mare.tree_build_cycles } else { 0 };
    let (depth, chunk, trip) = (fifo_depth(config), chunk_flits(config), round_trip(config, plan));
    let needed = trip + window + build + chunk;
    // Without PaD nothing is prefetched, so there is no latency to hide.
    (config.pad.enable && depth < needed).then(|| {
        Finding::value(
            "pad.fifo_depth",
            depth,
            format!(
                "is below what a loaded row takes: the round trip of {trip} cycles, the coalescing window of {window}, {build} to \
                 build the tree, and a chunk of {chunk} flits for another tile"
            ),
            format!("the array will wait for flits; try fifo_depth = {} or more", deep_enough(config, needed - chunk)),
        )
        .with(&[
            "mare.coalesce_window",
            "mesh.cols",
            "mesh.rows",
            "mare.enable",
            "pad.enable",
            "floorplan.slr_registers",
        ])
        .as_warning()
    })
}

fn sliding_window_acts(config: &Config) -> Option<Finding> {
    let (window, tokens) = (config.model.sliding_window?, config.model.max_tokens);
    (window > tokens).then(|| {
        Finding::value(
            "model.sliding_window",
            window,
            format!("is above model.max_tokens = {tokens}, so it never acts"),
            "raise max_tokens to the longest context, or leave sliding_window out",
        )
        .with(&["model.max_tokens"])
        .as_warning()
    })
}

fn a_row_holds_a_head(config: &Config) -> Option<Finding> {
    let (head, row) = (config.model.head_dim?, config.pe.head_dim);
    let smallest = row_of(head).expect("the schema ends where rows end");
    let found = |what: String, help: String| {
        Some(Finding::value("model.head_dim", head, what, help).with(&["pe.head_dim"]))
    };
    if head > row {
        return found(
            format!("is above the elements of a row, pe.head_dim = {row}"),
            format!("set pe.head_dim = {smallest}; zeros fill rows up, and the scale stays 1 / sqrt({head})"),
        );
    }
    if smallest < row {
        let finding = found(
            format!("is filled up with zeros to pe.head_dim = {row}, where {smallest} are enough"),
            format!("set pe.head_dim = {smallest}: memory, network and arrays then carry fewer zeros"),
        );
        return finding.map(Finding::as_warning);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(change: impl Fn(&mut Config)) -> Vec<(String, Severity)> {
        let mut config = Config::default();
        change(&mut config);
        check("test", &config).into_iter().map(|f| (f.key, f.severity)).collect()
    }

    #[test]
    fn the_default_configuration_is_legal_and_wise() {
        assert_eq!(check("u280_8x8", &Config::default()), []);
    }

    #[test]
    fn the_round_trip_of_an_8x8_mesh_is_the_papers_and_that_of_registers_between_slrs() {
        let mut config = Config::default();
        let trip = |config: &Config| {
            let design = Design::from_config("test", config).unwrap();
            round_trip(config, &design.floorplan)
        };
        assert_eq!(trip(&config), 24);
        config.floorplan.slr_registers = false;
        assert_eq!(trip(&config), 22);
    }

    #[test]
    fn every_legal_head_dim_and_flit_divide_one_another() {
        for head_dim in [32, 64, 128, 256] {
            for flit_width in [64, 128, 256, 512, 1024] {
                let elements = flit_width / 16;
                assert!(head_dim % elements == 0 || elements % head_dim == 0, "{head_dim} {flit_width}");
            }
        }
    }

    #[test]
    fn a_design_over_the_device_is_a_warning() {
        let found = findings(|c| (c.mesh.cols, c.mesh.rows) = (16, 16));
        assert_eq!(found, [("kv.uram_per_tile".to_owned(), Severity::Warning)]);
    }

    #[test]
    fn a_name_that_would_break_a_file_list_is_refused() {
        for name in ["", "my config", "a/b", "8x8", "tiny\n", "tüny"] {
            assert_eq!(check(name, &Config::default()).len(), 1, "{name:?}");
        }
    }

    #[test]
    fn illegal_numbers_made_by_a_program_are_caught_before_any_rule_divides() {
        let found = findings(|c| {
            (c.mesh.rows, c.kv.banks, c.model.kv_heads) = (0, 0, 0);
            c.clock.noc_mhz = f64::NAN;
        });
        let keys = ["mesh.rows", "kv.banks", "model.kv_heads", "clock.noc_mhz"];
        assert_eq!(found, keys.map(|k| (k.to_owned(), Severity::Error)));
    }
}
