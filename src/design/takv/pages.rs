//! Pages of the cache: the page of a common pool in which each segment of each cache lies.
//!
//! A page has the slices of one segment, of all layers and KV heads. The placement takes its number where it takes that of
//! a segment without pages. So a page whose number is that of its segment, modulo the homes of a round, has the homes that
//! the segment would have: such pages are *coloured*.

use crate::config::Config;
use crate::design::mare::staging::{ultra_blocks, URAM_WIDTH};
use crate::design::network::flit::index_bits;
use crate::design::takv::placement::Placement;
use std::sync::Arc;

/// Bits of a register, which names a cache, a segment and a page at once.
pub(in crate::design) const PAGE_WRITE_BITS: u32 = 32;
/// Bits of a lane of an UltraRAM that has a write enable of its own.
const BYTE_BITS: u32 = 9;
/// Entries of a table that is kept in UltraRAM.
const ULTRA_FROM: u32 = 1024;

/// The table of pages, and what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pages {
    /// Caches that the table has room for.
    pub caches: u32,
    /// Segments of a cache at the longest context.
    pub segments: u32,
    /// Pages of the pool.
    pub count: u32,
    /// Page of each segment, cache by cache.
    table: Arc<[u32]>,
    /// By page, the first entry of the table that has it.
    entries: Arc<[Option<u32>]>,
}

/// Caches of a configuration with pages.
pub(in crate::design) fn caches(config: &Config) -> u32 {
    config.kv.caches.unwrap_or(config.model.max_streams)
}

impl Pages {
    /// The pages of a configuration, coloured in the order of the caches; none without `kv.pages`.
    pub(in crate::design) fn new(config: &Config, placement: &Placement) -> Option<Pages> {
        config.kv.pages.then(|| {
            let (caches, segments) = (caches(config), placement.segments);
            let none = Pages {
                caches,
                segments,
                count: placement.places,
                table: Arc::new([]),
                entries: Arc::new([]),
            };
            none.filled(coloured(placement, caches))
        })
    }

    /// These caches and pages with another table.
    fn filled(self, table: Vec<u32>) -> Pages {
        let mut entries = vec![None; self.count as usize];
        for (entry, page) in (0..).zip(&table) {
            entries[*page as usize].get_or_insert(entry);
        }
        Pages { table: table.into(), entries: entries.into(), ..self }
    }

    /// The first cache and segment that a page holds; none of a page that is free.
    pub fn holds(&self, page: u32) -> Option<(u32, u32)> {
        let entry = (*self.entries.get(page as usize)?)?;
        Some((entry / self.segments, entry % self.segments))
    }

    /// The page of a segment of a cache.
    pub fn of(&self, cache: u32, segment: u32) -> u32 {
        self.table[(cache * self.segments + segment) as usize]
    }

    /// Bits of the number of a cache.
    pub fn cache_width(&self) -> u32 {
        index_bits(self.caches)
    }

    /// Bits of the number of a segment in the table.
    pub fn segment_width(&self) -> u32 {
        index_bits(self.segments)
    }

    /// Bits of the number of a page.
    pub fn page_width(&self) -> u32 {
        index_bits(self.count)
    }

    /// Bits of the number of an entry: a cache, and a segment of it below.
    pub fn entry_width(&self) -> u32 {
        self.cache_width() + self.segment_width()
    }

    /// The number of an entry of the table.
    pub fn entry(&self, cache: u32, segment: u32) -> u32 {
        cache << self.segment_width() | segment
    }

    /// Places of the table, those without a cache or segment among them.
    fn places(&self) -> u32 {
        1 << self.entry_width()
    }

    /// True if the table of a column is kept in UltraRAM.
    pub fn in_ultra(&self) -> bool {
        self.places() >= ULTRA_FROM
    }

    /// Entries of a word of the table, a power of two: each can be written by itself.
    pub fn lanes(&self) -> u32 {
        match self.in_ultra() {
            true => 1 << (URAM_WIDTH / self.lane_width()).max(1).ilog2(),
            false => 1,
        }
    }

    /// Bits of an entry.
    pub fn lane_width(&self) -> u32 {
        match self.in_ultra() {
            true => self.page_width().next_multiple_of(BYTE_BITS),
            false => self.page_width(),
        }
    }

    /// UltraRAMs of the table of a column.
    pub fn ultra_rams(&self) -> u32 {
        match self.in_ultra() {
            true => ultra_blocks(self.lanes() * self.lane_width(), self.places() / self.lanes()),
            false => 0,
        }
    }

    /// The same caches in other pages: that of each segment, cache by cache.
    ///
    /// # Panics
    /// If there are not as many, or a page is none of the pool.
    #[must_use]
    pub fn with(&self, table: Vec<u32>) -> Pages {
        assert_eq!(table.len(), self.table.len(), "one page a segment");
        assert!(table.iter().all(|page| *page < self.count), "pages of the pool");
        self.clone().filled(table)
    }

    /// The pages of all segments, cache by cache.
    pub fn table(&self) -> &[u32] {
        &self.table
    }
}

/// Coloured pages of each segment, cache by cache: a cache has whole rounds, and within a round its segments are turned as
/// the placement without pages turns them. A pool that ends before the caches do is begun again.
fn coloured(placement: &Placement, caches: u32) -> Vec<u32> {
    let (segments, round) = (placement.segments, placement.round());
    let rounds = segments.div_ceil(round);
    let turns = if placement.by_slice() { 1 } else { 0 };
    let page = |cache: u32, segment: u32| {
        let begin = u64::from(cache * rounds + segment / round) * u64::from(round);
        let place = (u64::from(segment) + u64::from(turns * cache)) % u64::from(round);
        ((begin + place) % u64::from(placement.places)) as u32
    };
    (0..caches).flat_map(|cache| (0..segments).map(move |segment| page(cache, segment))).collect()
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::design::takv::placement::Spread;
    use crate::design::Design;
    use std::collections::BTreeSet;

    fn designs(change: impl Fn(&mut Config)) -> [Design; 2] {
        [false, true].map(|pages| {
            let mut config = Config::default();
            change(&mut config);
            config.kv.pages = pages;
            Design::from_config("test", &config).unwrap()
        })
    }

    #[test]
    fn coloured_pages_have_the_homes_of_their_segments() {
        let change: [fn(&mut Config); 3] = [
            |c| (c.mesh.cols, c.mesh.rows, c.takv.spread) = (4, 8, Spread::Slice),
            |c| (c.mesh.cols, c.mesh.rows, c.takv.column_stride) = (3, 5, 1),
            |c| c.takv.column_stride = 0,
        ];
        for change in change {
            let [without, with] = designs(|c| {
                (c.model.layers, c.model.max_tokens, c.model.max_streams) = (3, 64 * 21, 3);
                change(c);
            });
            let mut numbers = BTreeSet::new();
            let all = || (0..3).flat_map(|c| (0..3).flat_map(move |l| (0..21).map(move |s| (c, l, s))));
            for (cache, layer, segment) in all() {
                for kv_head in 0..with.model.kv_heads {
                    let [a, b] = [&without, &with].map(|d| d.home_of(cache, layer, segment, kv_head));
                    assert_eq!(a, b, "cache {cache}, layer {layer}, segment {segment}, KV head {kv_head}");
                    assert!(numbers.insert(with.slice_number(cache, layer, segment, kv_head)));
                }
            }
        }
    }

    #[test]
    fn a_table_of_the_card_takes_an_ultra_ram() {
        let [_, design] = designs(|c| (c.model.max_streams, c.model.max_tokens) = (32, 32_768));
        let pages = design.pages.unwrap();
        assert_eq!((pages.count, pages.page_width(), pages.entry_width()), (32 * 512, 14, 14));
        assert_eq!((pages.lanes(), pages.lane_width(), pages.ultra_rams()), (4, 18, 1));
        let [_, small] = designs(|c| (c.model.max_streams, c.model.max_tokens) = (2, 512));
        let pages = small.pages.unwrap();
        assert_eq!((pages.in_ultra(), pages.lanes(), pages.ultra_rams()), (false, 1, 0));
    }

    #[test]
    fn a_page_is_shared_where_the_table_says_so() {
        let [_, mut design] = designs(|c| (c.model.max_streams, c.model.max_tokens) = (2, 256));
        let pages = design.pages.clone().unwrap();
        let mut table = pages.table().to_vec();
        table[4] = table[0];
        design.pages = Some(pages.with(table));
        assert_eq!(design.slice_number(0, 1, 0, 2), design.slice_number(1, 1, 0, 2));
        assert_ne!(design.slice_number(0, 1, 1, 2), design.slice_number(1, 1, 1, 2));
    }
}
