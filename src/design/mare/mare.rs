//! Parameters of MaRe: home agents and requesters (section MaRe of the paper).
//!
//! A slice is fetched, coalesced, suppressed and streamed in chunks of [`Mare::chunk_flits`], so that a
//! requester's reservation fits its FIFO. The key `pad.fifo_depth` is a parameter of the requester, hence
//! here.

use crate::config::Config;
use crate::design::mare::slice::{chunk_flits, fifo_depth, half_flits, key_base, scale_flits, slice_flits};
use crate::design::mare::staging::Staging;

/// Most ranges that a requester can have in flight.
const MAX_SLOTS: u32 = 8;
/// Most completed ranges that a requester remembers.
const MAX_HISTORY: u32 = 64;
/// Most slices a home's staging memory is divided into.
const MAX_STAGING_SLOTS: u32 = 16;
/// Most periods after which a range is fetched again.
const MOST_TICKS: u32 = 1 << 20;
/// Cycles from an entry of the request table whose time has come to the chunk that is due.
const CHOICE_CYCLES: u32 = 1;
/// Cycles of the duplicate filter's look-up, from a chunk that is due to its remaining destinations.
const LOOKUP_CYCLES: u32 = 3;

/// Parameters of the home agent, the duplicate filter and the requester of every tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mare {
    /// True if the engine is built; else homes send unicast copies and suppress nothing.
    pub enable: bool,
    /// Cycles for which a request can be joined; 0 builds no joining at all.
    pub coalesce_window: u32,
    /// Cycles from the end of the window until the first chunk is chosen. The cycles to build the tree, less those
    /// of the choice and of the duplicate filter's look-up, which pass meanwhile; 0 without multicast.
    pub tree_cycles: u32,
    /// True if duplicates are suppressed.
    pub dedup: bool,
    /// Bits of one bank of the Bloom filter.
    pub bloom_bits: u32,
    /// Exact tags.
    pub tag_entries: u32,
    /// Cycles of a period; entries live to the end of the next period.
    pub bloom_refresh: u32,
    /// Entries of the request table.
    pub request_entries: u32,
    /// Flits of one slice.
    pub slice_flits: u32,
    /// Flits of its K rows, and of its V rows.
    pub half_flits: u32,
    /// Flits of the scales of its tokens, which come first; none where tokens have no scales.
    pub scale_flits: u32,
    /// The first flit of K: whole chunks are before it.
    pub key_base: u32,
    /// Flits of one chunk: a power of two that divides each half of the slice, so that rows of K and V can be
    /// fetched separately.
    pub chunk_flits: u32,
    /// Flits of the requester's FIFO.
    pub fifo_depth: u32,
    /// Ranges that a requester can have in flight.
    pub fetch_slots: u32,
    /// Completed ranges that a requester remembers.
    pub fetch_history: u32,
    /// Periods without a flit after which a range is fetched again.
    pub retry_ticks: u32,
    /// Slices the staging memory holds.
    pub staging_slots: u32,
    /// Flits the staging memory holds.
    pub staging_depth: u32,
    /// Flits of one of its windows.
    pub window_flits: u32,
}

impl Mare {
    /// Computes the parameters from a legal configuration.
    pub(in crate::design) fn new(config: &Config) -> Mare {
        let (mare, slice_flits, half_flits) = (&config.mare, slice_flits(config), half_flits(config));
        let multicast = mare.enable && mare.multicast;
        let fifo_depth = fifo_depth(config);
        let chunk_flits = chunk_flits(config);
        let fetch_slots = (fifo_depth / chunk_flits).min(MAX_SLOTS);
        // All that arrives within three periods, the longest that an entry lives.
        let history = (3 * mare.bloom_refresh).div_ceil(chunk_flits) + fetch_slots;
        let dedup = mare.enable && mare.dedup;
        let build = if multicast { mare.tree_build_cycles } else { 0 };
        let staging = Staging::new(config);
        let in_window = (staging.window_flits / slice_flits).max(1);
        // A slice with scales does not divide a window. Slots may cross the bounds of windows.
        let slots = match key_base(config) {
            0 => in_window * config.kv.banks,
            _ => staging.flits / slice_flits,
        };
        let shape = Mare {
            enable: mare.enable,
            coalesce_window: if mare.enable { mare.coalesce_window } else { 0 },
            tree_cycles: build.saturating_sub(if dedup {
                CHOICE_CYCLES + LOOKUP_CYCLES
            } else {
                CHOICE_CYCLES
            }),
            dedup,
            bloom_bits: mare.bloom_bits,
            tag_entries: mare.tag_entries,
            bloom_refresh: mare.bloom_refresh,
            request_entries: mare.request_entries,
            slice_flits,
            half_flits,
            scale_flits: scale_flits(config),
            key_base: key_base(config),
            chunk_flits,
            fifo_depth,
            fetch_slots,
            fetch_history: history.min(MAX_HISTORY),
            retry_ticks: 0,
            staging_slots: slots.min(MAX_STAGING_SLOTS),
            staging_depth: staging.flits,
            window_flits: staging.window_flits,
        };
        shape.with_fill(config, 0)
    }

    /// The same where memory fills a slice within so many cycles: a range is not fetched again before.
    pub(in crate::design) fn with_fill(self, config: &Config, cycles: u32) -> Mare {
        // The longest time that a home can be busy with the requests of all tiles, and twice the longest time
        // that it remembers.
        let (mare, tiles) = (&config.mare, config.mesh.cols * config.mesh.rows);
        let request = self.chunk_flits + mare.coalesce_window + mare.tree_build_cycles;
        let backlog = (tiles * self.fetch_slots * request).saturating_add(cycles);
        let ticks = backlog.div_ceil(mare.bloom_refresh).min(MOST_TICKS);
        Mare { retry_ticks: ticks.next_power_of_two().max(4), ..self }
    }

    /// Shortest and longest time in cycles after which a range is fetched again.
    pub fn retry_cycles(&self) -> (u32, u32) {
        ((self.retry_ticks - 1) * self.bloom_refresh, self.retry_ticks * self.bloom_refresh)
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{KvFormat, KvScales};
    use crate::design::mare::mare::*;

    fn mare(change: impl Fn(&mut Config)) -> Mare {
        let mut config = Config::default();
        change(&mut config);
        Mare::new(&config)
    }

    #[test]
    fn three_chunks_fit_the_fifo_and_chunks_divide_both_halves_of_the_slice() {
        let shape = mare(|_| {});
        assert_eq!((shape.slice_flits, shape.chunk_flits, shape.fetch_slots), (512, 32, 3));
        let papers = mare(|c| c.pad.fifo_depth = Some(48));
        assert_eq!((papers.slice_flits, papers.chunk_flits, papers.fetch_slots), (512, 16, 3));
        for (tokens, depth) in [(1, 2), (5, 16), (7, 48), (64, 1024), (33, 100)] {
            let shape = mare(|c| (c.kv.segment_tokens, c.pad.fifo_depth) = (tokens, Some(depth)));
            assert_eq!(shape.half_flits % shape.chunk_flits, 0, "{tokens} {depth}");
            assert_eq!(shape.slice_flits, 2 * shape.half_flits);
            assert_eq!((shape.scale_flits, shape.key_base), (0, 0));
            assert!(shape.fetch_slots >= 2 && shape.fetch_slots * shape.chunk_flits <= depth, "{shape:?}");
            assert!(shape.fetch_history > shape.fetch_slots, "{shape:?}");
        }
    }

    #[test]
    fn scales_of_tokens_take_whole_chunks_before_k() {
        let shape = mare(|c| {
            (c.kv.format, c.kv.scales, c.kv.segment_tokens) = (KvFormat::Int8, KvScales::Token, 128);
        });
        assert_eq!((shape.scale_flits, shape.chunk_flits, shape.key_base), (8, 32, 32));
        assert_eq!((shape.slice_flits, shape.staging_slots), (32 + 2 * 256, 7));
    }

    #[test]
    fn wide_flits_have_a_deep_fifo_by_default() {
        let depth =
            |flit_width| mare(|c| (c.noc.flit_width, c.kv.uram_per_tile) = (flit_width, 15)).fifo_depth;
        assert_eq!([64, 128, 256, 512, 1024].map(depth), [48, 48, 48, 96, 96]);
        assert_eq!(mare(|c| c.pad.fifo_depth = Some(33)).fifo_depth, 33);
    }

    #[test]
    fn a_retry_comes_later_than_anything_is_remembered() {
        for refresh in [1, 7, 96, 4095] {
            let shape = mare(|c| c.mare.bloom_refresh = refresh);
            assert!(shape.retry_cycles().0 > 2 * refresh, "{shape:?}");
        }
    }

    #[test]
    fn what_is_switched_off_takes_no_time() {
        let shape = mare(|c| c.mare.enable = false);
        assert_eq!((shape.coalesce_window, shape.tree_cycles, shape.dedup), (0, 0, false));
        assert_eq!(mare(|c| c.mare.multicast = false).tree_cycles, 0);
    }

    #[test]
    fn the_look_up_takes_no_time_of_its_own_while_a_tree_is_built() {
        let tree =
            |build, dedup| mare(|c| (c.mare.tree_build_cycles, c.mare.dedup) = (build, dedup)).tree_cycles;
        assert_eq!([0, 1, 4, 6].map(|build| tree(build, true)), [0, 0, 0, 2]);
        assert_eq!([0, 1, 2, 4].map(|build| tree(build, false)), [0, 0, 1, 3]);
    }
}
