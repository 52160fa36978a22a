//! Rules over several keys of a configuration: errors for combinations that cannot be built, warnings for
//! unwise ones.
//!
//! The schema judges each key by itself ([`config::violations`]). `head_dim` and the elements of a flit are
//! powers of two, so one always divides the other.

mod card;
mod format;
mod idle;
mod layers;
mod memory;
mod pages;
mod placement;
mod ports;

use super::design::Design;
use crate::config::{self, Advice, Config, Finding, Severity};
use crate::design::card::floorplan::Floorplan;
use crate::design::card::fpga::Fpga;
use crate::design::mare::slice::{chunk_flits, fifo_depth, slice_flits};
use crate::design::mare::staging::{Staging, URAM_DEPTH, URAM_WIDTH};
use crate::design::network::mesh::Mesh;
use crate::design::network::round_trip::round_trip;
use crate::design::pad::head::row_of;
use crate::design::pad::root::most_lanes;
use crate::design::takv::mapping::Heads;
use ports::smaller;

/// A rule over several keys, by the name that its findings have.
struct Rule {
    name: &'static str,
    judge: fn(&Config) -> Option<Finding>,
}

const fn rule(name: &'static str, judge: fn(&Config) -> Option<Finding>) -> Rule {
    Rule { name, judge }
}

/// Rules of every design.
const RULES: [Rule; 32] = [
    rule("stride-visits-every-row", placement::stride_visits_every_row),
    rule("column-stride-within-mesh", placement::columns_have_room_for_the_stride),
    rule("hub-within-mesh", placement::hub_is_in_a_column),
    rule("hub-within-mesh", placement::hub_is_in_a_row),
    rule("slices-have-columns", placement::slices_have_columns),
    rule("slices-are-not-swapped", placement::slices_are_not_swapped),
    rule("cache-fits-memory", placement::cache_fits_the_memory),
    rule(SPREAD, placement::blocks_are_spread_evenly),
    rule("port-within-row", ports::a_row_has_the_tiles_of_a_port),
    rule("port-has-channel", ports::every_port_has_a_channel),
    rule("memory-answers-in-time", memory::memory_answers_before_a_home_gives_it_up),
    rule("refresh-ends-in-time", memory::a_refresh_ends_before_the_next),
    rule("card-has-memory", memory::the_card_has_the_memory_of_queries),
    rule("heads-fit-mask", heads_fit_a_mask),
    rule("kv-heads-divide-heads", kv_heads_divide_heads),
    rule("uram-as-wide-as-flit", uram_is_as_wide_as_a_flit),
    rule("window-holds-slice", window_holds_a_slice),
    rule("format-has-bytes", format::a_format_has_its_bytes),
    rule("integers-have-scales", format::integers_have_scales),
    rule("token-scales-have-format", format::token_scales_have_a_format),
    rule("append-has-factors", format::new_tokens_have_factors),
    rule("token-fills-flits", format::a_new_token_fills_flits),
    rule("root-lanes-within-flit", a_flit_has_the_numbers_of_a_root),
    rule(URAM, uram_fits_the_device),
    rule(WINDOW, layers::sliding_window_acts),
    rule("layers-have-one-window", layers::layers_have_one_window),
    rule("sinks-have-scales", layers::sinks_have_scales),
    rule("pool-holds-cache", pages::pages_hold_a_cache),
    rule("streams-have-caches", pages::streams_have_caches),
    rule("write-names-page", pages::a_write_names_a_page),
    rule("row-holds-head", a_row_holds_a_head),
    rule(FILLED, a_row_is_filled_by_a_head),
];

/// Rules of a design that is built for the card.
const CARD_RULES: [Rule; 7] = [
    rule(CACHES, card::caches_fit_the_card),
    rule("arrays-fit-card", card::arrays_fit_the_card),
    rule("contexts-fit-card", card::contexts_fit_the_card),
    rule("queries-have-room", memory::queries_have_room_in_their_channel),
    rule(CHANNELS, ports::no_channel_idles_beside_a_shared_one),
    rule(REACH, ports::a_layer_reaches_the_ports),
    rule(CARRY, ports::ports_carry_the_bandwidth),
];

const URAM_KEY: &str = "kv.uram_per_tile";
/// Largest legal value of it.
const MOST_URAM: u32 = 64;
/// Legal widths of a flit.
const FLITS: [u32; 5] = [64, 128, 256, 512, 1024];

const SPREAD: &str = "blocks-spread-evenly";
const URAM: &str = "uram-fits-device";
const WINDOW: &str = "sliding-window-acts";
const FILLED: &str = "head-fills-row";
const FIFO: &str = "fifo-covers-round-trip";
const IDLE: &str = "key-has-effect";
const CACHES: &str = "caches-fit-card";
const CHANNELS: &str = "no-channel-idles";
const REACH: &str = "layer-reaches-ports";
const CARRY: &str = "ports-carry-bandwidth";

/// Names of the warnings that [`check`] can give.
pub const WARNINGS: [&str; 6] = [SPREAD, URAM, WINDOW, FILLED, FIFO, IDLE];
/// Names of those that [`check_for_the_card`] adds.
pub const CARD_WARNINGS: [&str; 4] = [CACHES, CHANNELS, REACH, CARRY];

impl Rule {
    fn finding(&self, config: &Config) -> Option<Finding> {
        (self.judge)(config).map(|finding| finding.of(self.name))
    }
}

/// Finds all errors and warnings of a configuration named `name`, whatever its source.
///
/// Combinations are judged only once each key is legal by itself, since their rules may
/// divide by a key.
pub fn check(name: &str, config: &Config) -> Vec<Finding> {
    let mut violations = config::violations(config);
    violations.extend(name_is_plain(name).map(|finding| finding.of("name-is-plain")));
    if !violations.is_empty() {
        return violations;
    }
    let mut findings: Vec<_> = RULES.iter().filter_map(|rule| rule.finding(config)).collect();
    // The floorplan depends on widths that only a legal design has.
    let plan = if findings.iter().all(|f| f.severity == Severity::Warning) {
        Design::decide(name, config).floorplan
    } else {
        Floorplan::by_shares(Mesh::new(config.mesh.cols, config.mesh.rows), Fpga::of(config.board))
    };
    findings.extend(fifo_covers_the_round_trip(config, &plan).map(|finding| finding.of(FIFO)));
    findings.extend(idle::keys_without_effect(config).into_iter().map(|finding| finding.of(IDLE)));
    findings
}

/// Adds to [`check`] the findings of a design that is built for the card.
pub fn check_for_the_card(name: &str, config: &Config) -> Vec<Finding> {
    let mut findings = check(name, config);
    if findings.iter().all(|f| f.severity == Severity::Warning) {
        findings.extend(CARD_RULES.iter().filter_map(|rule| rule.finding(config)));
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
            "the heads of a layer are dealt to the columns",
        )
        .advising([Advice::set("model.heads", fitting)])
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
            "every KV head serves the same number of query heads",
        )
        .advising([Advice::set("model.kv_heads", nearest)])
        .with(&["model.heads"])
    })
}

fn uram_is_as_wide_as_a_flit(config: &Config) -> Option<Finding> {
    let (blocks, flit) = (config.kv.uram_per_tile, config.noc.flit_width);
    let needed = Staging::new(config).blocks_wide;
    (blocks < needed).then(|| {
        let width = blocks * URAM_WIDTH;
        let narrower = FLITS.into_iter().rev().find(|flit| *flit <= width);
        let narrower = narrower.map(|flit| Advice::set("noc.flit_width", flit));
        Finding::value(
            URAM_KEY,
            blocks,
            format!("is {width} bits wide, less than noc.flit_width = {flit}"),
            "a flit is read in one cycle from blocks side by side",
        )
        .advising([Advice::set(URAM_KEY, needed)].into_iter().chain(narrower))
        .with(&["noc.flit_width"])
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
    let more_blocks = (blocks <= MOST_URAM).then(|| Advice::set(URAM_KEY, blocks));
    let fewer_banks = [8, 4, 2].into_iter().filter(|fewer| *fewer < banks).find(|&banks| {
        let mut fewer = config.clone();
        fewer.kv.banks = banks;
        slice <= Staging::new(&fewer).window_flits
    });
    let fewer_banks = fewer_banks.map(|banks| Advice::set("kv.banks", banks));
    // Where that is not enough, segments are shorter as well.
    let fits = |banks: u32, tokens: u32| {
        let mut both = config.clone();
        (both.kv.banks, both.kv.segment_tokens) = (banks, tokens);
        slice_flits(&both) <= Staging::new(&both).window_flits
    };
    let both = [8, 4, 2].into_iter().filter(|fewer| *fewer < banks).find(|&banks| fits(banks, 1));
    let both = both.filter(|_| fewer_banks.is_none() && !fits(banks, 1)).map(|banks| {
        let most = (0..12).map(|log| 1 << log).take_while(|&tokens| fits(banks, tokens)).last();
        Advice::set("kv.banks", banks).and("kv.segment_tokens", most.unwrap_or(1))
    });
    let shorter = Advice::set("kv.segment_tokens", fitting.max(1));
    // Segments of a power of two are spread evenly more often.
    let even = Advice::set("kv.segment_tokens", 1_u64 << fitting.max(1).ilog2());
    Some(
        Finding::value(
            "kv.segment_tokens",
            tokens,
            format!(
                "makes slices of {slice} flits, more than the {} of a staging window",
                staging.window_flits
            ),
            "a window is filled with whole slices before they are read",
        )
        .advising(more_blocks.into_iter().chain(fewer_banks).chain(both).chain([shorter, even]))
        .with(&["kv.banks", "kv.uram_per_tile", "noc.flit_width", "pe.head_dim", "kv.format"]),
    )
}

fn a_flit_has_the_numbers_of_a_root(config: &Config) -> Option<Finding> {
    let (lanes, most, flit) = (config.pe.root_lanes?, most_lanes(config), config.noc.flit_width);
    (lanes > most).then(|| {
        Finding::value(
            "pe.root_lanes",
            lanes,
            format!("is more than the FP32 numbers of a flit, noc.flit_width = {flit}"),
            "a root merges numbers of one flit a cycle",
        )
        .advising([Advice::set("pe.root_lanes", most), Advice::leave_out("pe.root_lanes")])
        .with(&["noc.flit_width"])
    })
}

/// Only a warning: meshes up to 16x16 are also generated for studies without a card. The area estimate
/// decides whether a design fits, not a count of memories.
fn uram_fits_the_device(config: &Config) -> Option<Finding> {
    let (cols, rows, each) = (config.mesh.cols, config.mesh.rows, config.kv.uram_per_tile);
    let total = cols * rows * each;
    let fpga = Fpga::of(config.board);
    let there = fpga.has.uram as u32;
    let fitting = there / (cols * rows);
    (total > there).then(|| {
        let needed = |flit: u32| flit.div_ceil(URAM_WIDTH);
        let fewer = (fitting >= needed(config.noc.flit_width)).then(|| Advice::set(URAM_KEY, fitting));
        let narrower = FLITS.into_iter().rev().find(|flit| needed(*flit) <= fitting);
        let narrower = narrower.filter(|flit| *flit < config.noc.flit_width);
        let narrower = narrower.map(|flit| Advice::set("noc.flit_width", flit).and(URAM_KEY, fitting));
        let smaller = smaller(config, &|config| config.mesh.cols * config.mesh.rows * each <= there);
        Finding::value(
            URAM_KEY,
            each,
            format!("is {total} URAM288 in {cols} x {rows} tiles, more than the {there} of the {}", fpga.name),
            format!(
                "it can be simulated but not placed: at most {} such tiles, or {fitting} blocks a tile for flits of up to {} bits",
                there / each,
                fitting * URAM_WIDTH
            ),
        )
        .advising(fewer.into_iter().chain(narrower).chain(smaller))
        .with(&["mesh.cols", "mesh.rows"])
        .as_warning()
    })
}

/// Largest legal `pad.fifo_depth`.
const DEEPEST: u32 = 1024;

/// The least FIFO depth above the present one that holds `rest` flits and one chunk of the size that this depth gives. A
/// depth below it may do as well, by smaller chunks; that would be a step back.
fn deep_enough(config: &Config, rest: u32) -> Option<u32> {
    let chunk = |depth: u32| {
        let mut deeper = config.clone();
        deeper.pad.fifo_depth = Some(depth);
        chunk_flits(&deeper)
    };
    (fifo_depth(config) + 1..=DEEPEST).find(|&depth| depth >= rest + chunk(depth))
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
        let deeper = deep_enough(config, needed - chunk).map(|depth| Advice::set("pad.fifo_depth", depth));
        let short = (needed - depth).min(window);
        let shorter = (short == needed - depth).then(|| Advice::set("mare.coalesce_window", window - short));
        Finding::value(
            "pad.fifo_depth",
            depth,
            format!(
                "is below what a loaded row takes: the round trip of {trip} cycles, the coalescing window of {window}, {build} to \
                 build the tree, and a chunk of {chunk} flits for another tile"
            ),
            "the array will wait for flits",
        )
        .advising(deeper.into_iter().chain(shorter))
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

fn a_row_holds_a_head(config: &Config) -> Option<Finding> {
    let (head, row) = (config.model.head_dim?, config.pe.head_dim);
    (head > row).then(|| {
        let what = format!("is above the elements of a row, pe.head_dim = {row}");
        let smallest = row_of(head).expect("the schema ends where rows end");
        let help = format!("zeros fill rows up, and the scale stays 1 / sqrt({head})");
        let ways = [Advice::set("pe.head_dim", smallest), Advice::set("model.head_dim", row)];
        Finding::value("model.head_dim", head, what, help).advising(ways).with(&["pe.head_dim"])
    })
}

fn a_row_is_filled_by_a_head(config: &Config) -> Option<Finding> {
    let (head, row) = (config.model.head_dim?, config.pe.head_dim);
    let smallest = row_of(head).expect("the schema ends where rows end");
    (head <= row && smallest < row).then(|| {
        let what = format!("is filled up with zeros to pe.head_dim = {row}, where {smallest} are enough");
        let help = "memory, network and arrays carry the zeros, too";
        let ways = [Advice::set("pe.head_dim", smallest), Advice::leave_out("model.head_dim")];
        Finding::value("model.head_dim", head, what, help).advising(ways).with(&["pe.head_dim"]).as_warning()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_name_and_every_warning_is_one_of_a_rule() {
        let names: Vec<_> =
            RULES.iter().chain(&CARD_RULES).map(|rule| rule.name).chain([FIFO, IDLE]).collect();
        for name in WARNINGS.iter().chain(&CARD_WARNINGS) {
            assert!(names.contains(name), "{name}");
        }
        for name in names {
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
        }
    }

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
