//! Checks that the card holds what the fabric has: caches in its memory, arrays and their contexts in its FPGA.
//!
//! It judges only designs for which files for the card are made: larger ones are still simulated and measured. Caches
//! give a warning, since a host may use a fabric for less.

use super::placement::{fewer, placement, size};
use super::ports::smaller;
use crate::config::{Advice, Config, Finding};
use crate::design::card::caches::{worst, Demand};
use crate::design::card::fpga::Fpga;
use crate::design::mare::slice::flit_elements;
use crate::design::pad::array::SUMS_READ;
use crate::design::takv::mapping::Heads;
use crate::design::takv::placement::Placement;

/// Only a warning: the fabric can be simulated, and a host may use it for less.
pub(super) fn caches_fit_the_card(config: &Config) -> Option<Finding> {
    let placement = placement(config)?;
    let demand = worst(config, &placement);
    if demand.needed <= demand.there {
        return None;
    }
    if placement.pages {
        return Some(pages_beyond_the_card(config, &placement, demand));
    }
    let (streams, tokens) = (config.model.max_streams, config.model.max_tokens);
    let fits = |streams: u32, segments: u32| {
        let mut fewer = config.clone();
        fewer.model.max_streams = streams;
        let demand = worst(&fewer, &placement.of_segments(segments));
        demand.needed <= demand.there
    };
    let fewer_streams = (1..streams).rev().find(|&n| fits(n, placement.segments));
    // More segments never take less, so bisection finds the most that fit.
    let longest = |streams| {
        let (mut fitting, mut too_many) = (0, placement.segments);
        while too_many - fitting > 1 {
            let middle = fitting + (too_many - fitting) / 2;
            *(if fits(streams, middle) { &mut fitting } else { &mut too_many }) = middle;
        }
        (fitting > 0).then_some(fitting * config.kv.segment_tokens)
    };
    let streams_way = fewer_streams.map(|n| Advice::set(STREAMS, n)).or_else(|| {
        let one = Advice::set(STREAMS, 1);
        longest(1).filter(|_| streams > 1).map(|n| one.and(TOKENS, n))
    });
    let tokens_way = longest(streams).map(|n| Advice::set(TOKENS, n));
    let fewer = fewer(config, &|fewer| {
        let demand = self::placement(fewer).map(|placement| worst(fewer, &placement));
        demand.is_some_and(|demand| demand.needed <= demand.there)
    });
    let ways = tokens_way.into_iter().chain(streams_way).chain(fewer);
    let (needed, there) = (size(demand.needed), size(demand.there));
    let fault = match demand.port {
        None => format!(
            "with model.max_streams = {streams} makes caches of {needed}, more than the {there} of HBM of the card"
        ),
        Some(port) => format!(
            "with model.max_streams = {streams} makes caches of {needed} at memory port {port}, more than the {there} of HBM that it is wired to"
        ),
    };
    let help = "it can be simulated, but a host cannot fill it";
    let involved = [
        "model.max_streams",
        "model.layers",
        "model.kv_heads",
        "takv.placement",
        "takv.spread",
        "takv.swap_epoch",
        "mesh.cols",
        "mesh.rows",
        "memory.tiles_per_port",
    ];
    Some(Finding::value(TOKENS, tokens, fault, help).advising(ways).with(&involved).as_warning())
}

/// The finding on a pool that is larger than the memory of the card.
fn pages_beyond_the_card(config: &Config, placement: &Placement, demand: Demand) -> Finding {
    let fits = |places| {
        let demand = worst(config, &Placement { places, ..*placement });
        demand.needed <= demand.there
    };
    // More pages never take less, so bisection finds the most that fit.
    let (mut fitting, mut too_many) = (0, placement.places);
    while too_many - fitting > 1 {
        let middle = fitting + (too_many - fitting) / 2;
        *(if fits(middle) { &mut fitting } else { &mut too_many }) = middle;
    }
    let most = (fitting > 0).then(|| Advice::set(PAGES, fitting));
    let (needed, there) = (size(demand.needed), size(demand.there));
    let fault = match demand.port {
        None => format!("makes pages of {needed}, more than the {there} of HBM of the card"),
        Some(port) => format!(
            "makes pages of {needed} at memory port {port}, more than the {there} of HBM that it is wired to"
        ),
    };
    let involved = ["model.max_tokens", STREAMS, "model.layers", "model.kv_heads", "kv.segment_tokens"];
    let help = "it can be simulated, but a host cannot fill it";
    Finding::value(PAGES, placement.places, fault, help).advising(most).with(&involved).as_warning()
}

const PAGES: &str = "kv.page_count";
const TOKENS: &str = "model.max_tokens";
const STREAMS: &str = "model.max_streams";

/// Elements of a flit, each with a multiplier in each row of the array.
fn multipliers(config: &Config) -> u64 {
    u64::from(config.mesh.cols * config.mesh.rows) * u64::from(flit_elements(config))
}

/// A row of the array takes a DSP slice for each element of a flit.
pub(super) fn arrays_fit_the_card(config: &Config) -> Option<Finding> {
    let (fpga, rows) = (Fpga::of(config.board), config.pe.array_rows);
    let (of_row, there) = (multipliers(config), fpga.has.dsp);
    let needed = of_row * u64::from(rows);
    (needed > there).then(|| {
        let (tiles, lanes) = (config.mesh.cols * config.mesh.rows, flit_elements(config));
        let one_row = format!("at most {} tiles of such flits fit with one row", there / u64::from(lanes));
        let fewer = (there / of_row > 0).then(|| Advice::set("pe.array_rows", there / of_row));
        let ends = |config: &Config| multipliers(config) * u64::from(config.pe.array_rows) <= there;
        let narrower = [512, 256, 128, 64].into_iter().filter(|width| *width < config.noc.flit_width).find(|&width| {
            let mut other = config.clone();
            other.noc.flit_width = width;
            ends(&other)
        });
        let narrower = narrower.map(|width| Advice::set("noc.flit_width", width));
        let ways = fewer.into_iter().chain(narrower).chain(smaller(config, &ends));
        Finding::value(
            "pe.array_rows",
            rows,
            format!(
                "makes {needed} multipliers, one for each row and each of the {lanes} elements of a flit in {tiles} tiles, more than the \
                 {there} DSP slices of the card"
            ),
            format!("it can be simulated, but not built: {one_row}"),
        )
        .advising(ways)
        .with(&["mesh.cols", "mesh.rows", "noc.flit_width"])
    })
}

/// Bits that a tile keeps for a context: a query's significands, and sums of which each has 36 bits below its point and
/// some above. Sums are kept as often as they are read in a cycle.
fn context_bits(config: &Config) -> u64 {
    const QUERY: u64 = 17;
    const SUM: u64 = 40;
    u64::from(config.pe.head_dim) * (QUERY + SUM * u64::from(SUMS_READ))
}

/// Bits of contexts.
struct Contexts {
    /// Bits of the contexts of one stream in all tiles.
    of_stream: u64,
    /// Bits of the memories that the staging memories leave.
    there: u64,
    /// Heads of a stream in a tile.
    heads: u64,
}

impl Contexts {
    fn of(config: &Config) -> Contexts {
        const BRAM36_BITS: u64 = 36 << 10;
        const URAM_BITS: u64 = 72 * 4096;
        let fpga = Fpga::of(config.board);
        let tiles = u64::from(config.mesh.cols * config.mesh.rows);
        let staging = (tiles * u64::from(config.kv.uram_per_tile)).min(fpga.has.uram);
        let there = fpga.has.bram36 * BRAM36_BITS + (fpga.has.uram - staging) * URAM_BITS;
        let heads = u64::from(Heads::new(config).most());
        Contexts { of_stream: tiles * heads * context_bits(config), there, heads }
    }
}

/// Contexts, heads of streams, are kept in the memories of the FPGA that staging leaves.
pub(super) fn contexts_fit_the_card(config: &Config) -> Option<Finding> {
    let Contexts { of_stream, there, heads } = Contexts::of(config);
    let streams = config.model.max_streams;
    let needed = of_stream * u64::from(streams);
    (needed > there).then(|| {
        let ends = |config: &Config| {
            let Contexts { of_stream, there, .. } = Contexts::of(config);
            of_stream * u64::from(config.model.max_streams) <= there
        };
        let fewer = (there / of_stream > 0).then(|| Advice::set(STREAMS, there / of_stream));
        let ways = fewer.into_iter().chain(smaller(config, &ends));
        let (contexts, needed, there) =
            (heads * u64::from(streams), size(needed as f64 / 8.0), size(there as f64 / 8.0));
        Finding::value(
            "model.max_streams",
            streams,
            format!(
                "makes {contexts} contexts a tile, {heads} heads of each stream, whose queries and sums take {needed} in all tiles, more than \
                 the {there} of block RAM and UltraRAM that staging leaves on the card"
            ),
            "it can be simulated, but not built",
        )
        .advising(ways)
        .with(&["model.heads", "mesh.cols", "mesh.rows", "pe.head_dim", "kv.uram_per_tile"])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{PlacementKind, Severity};

    fn config(change: impl Fn(&mut Config)) -> Config {
        let mut config = Config::default();
        change(&mut config);
        config
    }

    /// 32 layers of 512 segments of 32 KV heads: 16 GiB a stream, of 8 that the card has.
    #[test]
    fn the_reference_needs_sixteen_times_what_the_card_has() {
        let config = config(|_| {});
        let demand = worst(&config, &placement(&config).unwrap());
        assert_eq!((demand.needed, demand.there), ((1_u64 << 37) as f64, (1_u64 << 33) as f64));
        let found = caches_fit_the_card(&config).unwrap();
        assert_eq!((found.severity, found.key.as_str()), (Severity::Warning, "model.max_tokens"));
        let text = found.help_text();
        assert!(
            text.contains("; try max_tokens = 2048, or max_streams = 1 and max_tokens = 16384"),
            "{text}"
        );
    }

    #[test]
    fn what_is_advised_fits_and_nothing_more_does() {
        for swap_epoch in [0, 128] {
            for kind in [PlacementKind::Takv, PlacementKind::RoundRobin, PlacementKind::Hub] {
                let with = |tokens, streams| {
                    caches_fit_the_card(&config(|c| {
                        (c.takv.swap_epoch, c.takv.placement) = (Some(swap_epoch), kind);
                        (c.model.max_tokens, c.model.max_streams) = (tokens, streams);
                        c.model.layers = 8;
                    }))
                };
                let ways = with(32_768, 8).unwrap().advice;
                let help = format!("{ways:?}");
                let advised = |key: &str| -> Option<u32> {
                    let way = ways.iter().find(|way| way.set.len() == 1 && way.set[0].key == key)?;
                    way.set[0].value.as_u64()?.try_into().ok()
                };
                if let Some(tokens) = advised(TOKENS) {
                    assert_eq!(
                        (with(tokens, 8), with(tokens + 1, 8).is_some()),
                        (None, true),
                        "{kind:?}: {help}"
                    );
                }
                if let Some(streams) = advised(STREAMS) {
                    assert_eq!(
                        (with(32_768, streams), with(32_768, streams + 1).is_some()),
                        (None, true),
                        "{help}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_port_without_swaps_has_only_its_own_channels() {
        // Two tiles share a channel of 256 MiB; with swaps every tile reaches all channels.
        let caches = |swap_epoch, kind| {
            caches_fit_the_card(&config(|c| {
                (c.takv.swap_epoch, c.takv.placement) = (Some(swap_epoch), kind);
                (c.model.max_tokens, c.model.max_streams) = (1024, 1);
            }))
        };
        assert_eq!(caches(0, PlacementKind::Takv), None);
        assert_eq!(caches(128, PlacementKind::Hub).map(|f| f.fault.contains("port 0")), Some(true));
    }

    #[test]
    fn arrays_and_contexts_beyond_the_fpga_are_errors_with_a_way_out() {
        let of = |rule: fn(&Config) -> Option<Finding>, change: &dyn Fn(&mut Config)| rule(&config(change));
        let rows = |rows| of(arrays_fit_the_card, &|c| (c.pe.array_rows, c.noc.flit_width) = (rows, 512));
        assert_eq!(rows(4), None);
        let found = rows(5).unwrap();
        assert_eq!((found.severity, found.key.as_str()), (Severity::Error, "pe.array_rows"));
        assert!(found.fault.contains("makes 10240 multipliers"), "{found:?}");
        assert!(found.help_text().contains("; try array_rows = 4, or "), "{found:?}");
        let large = of(arrays_fit_the_card, &|c| {
            (c.mesh.cols, c.mesh.rows, c.noc.flit_width) = (16, 16, 1024);
        });
        assert!(large.unwrap().help.contains("at most 141 tiles of such flits fit with one row"));

        let streams = |streams| {
            of(contexts_fit_the_card, &|c| (c.mesh.cols, c.mesh.rows, c.model.max_streams) = (4, 8, streams))
        };
        let found = (1..).find_map(streams).unwrap();
        let most = found.advice[0].set[0].value.as_u64().unwrap() as u32;
        assert_eq!(
            (found.severity, streams(most), streams(most + 1).is_some()),
            (Severity::Error, None, true)
        );
    }
}
